from types import SimpleNamespace

import pytest

from neardup.interfaces.wording.numbers import Row, percentage, reading_rows, row, total


def test_shares_are_percentages():
    assert [percentage(share) for share in (0, 0.5, 0.8, 0.802, 1 / 3, 1)] == [
        "0 %",
        "50 %",
        "80 %",
        "80.2 %",
        "33.33 %",
        "100 %",
    ]


@pytest.mark.parametrize(
    ("number", "words"), [(1, "1  page not read completely: 1 unk"), (2, "2  pages not read completely: 2 unk")]
)
def test_pages_with_faults_are_counted_in_words(number, words):
    read = SimpleNamespace(skipped={}, body_faults={"unknown coding": number}, quoted_lines=None, ignored=0)
    found = reading_rows(read, [])[-1]
    assert f"{found.number}  {found.words}".startswith(words)


def test_a_total_is_shown_even_if_it_is_0():
    assert total(1, "document", " removed") == Row(1, "document removed", always=True)
    assert (row(0, "id").always, total(0, "id")) == (False, Row(0, "ids", always=True))
