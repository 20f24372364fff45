import pytest

from neardup import Index

TEXTS = [
    "the storm broke over the harbour at dawn",
    "a baker from the old town",
    "the storm broke over the harbour at dawn",
]
DAY = 86_400


@pytest.fixture
def seen(tmp_path):
    with Index.create(tmp_path / "seen") as index:
        for number, text in enumerate(TEXTS):
            index.admit([f"d{number}"], [text], at=number * DAY)
        assert index.see(["d0"], at=5 * DAY) == ["d0"]
    return tmp_path / "seen"


@pytest.mark.parametrize(
    ("options", "removed", "promoted"),
    [
        ("--before 1970-01-02", 0, 0),
        ("--before 1970-01-03T00:00:00Z", 1, 0),
        ("--before 1d", 3, 0),
        ("--before 1970-01-02 --by first_seen", 1, 1),
    ],
)
def test_documents_are_removed_by_their_times(neardup, seen, options, removed, promoted):
    told = neardup("expire", "seen", *options.split(), "--json").json
    assert told == {"removed": removed, "promoted": promoted, "documents": 3 - removed}
    with Index.open(seen) as index:
        assert len(index) == 3 - removed


def test_the_summary_is_short(neardup, seen):
    shown = neardup("expire", "seen", "--before", "1970-01-02", "--by", "first_seen").out.splitlines()
    assert shown == [
        "1  document removed",
        "1  document became representative: its representative was removed",
        "2  documents in the index",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "--before"),
        ("--before yesterday", "--before yesterday: the value must be a time such as 2026-01-31"),
        ("--before 2999-01-01", "--before 2999-01-01 is in the future, so everything would be removed; it is"),
        ("--before -5d", "--before: expected one argument"),
        ("--before 2026-02-30", "--before 2026-02-30: the value must be a time such as 2026-01-31"),
        ("--before 0d", "--before 0d is now, so everything would be removed; to do that, write a time: 2"),
        ("--before 2999-01-01 --by first_seen", "is in the future"),
        ("--before 1d --by rank", "--by: invalid choice: 'rank' (choose from 'last_seen', 'first_seen')"),
    ],
)
def test_wrong_usage_is_refused_and_nothing_removed(neardup, seen, options, message):
    assert message in neardup("expire", "seen", *options.split(), code=2).err
    with Index.open(seen) as index:
        assert len(index) == 3
