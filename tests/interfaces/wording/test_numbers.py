from neardup.interfaces.wording.numbers import percentage


def test_percentages():
    assert [percentage(share) for share in (0, 0.5, 0.8, 0.802, 1 / 3, 1)] == [
        "0 %",
        "50 %",
        "80 %",
        "80.2 %",
        "33.33 %",
        "100 %",
    ]
