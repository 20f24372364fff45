import pytest
from json_lines import read_lines

from neardup import Index


@pytest.fixture
def seen(tmp_path):
    with Index.create(tmp_path / "seen", fields={"host": "string"}) as index:
        index.admit(["a", "b"], ["the storm broke over the harbour"] * 2, {"host": ["h", None]}, at=5)
    return tmp_path / "seen"


def test_documents_are_exported_whole_or_since_a_generation(neardup, seen, tmp_path):
    shown = neardup("export", "seen", "--to", "all.jsonl").out.splitlines()
    assert shown == ["2  documents written", "generation 2: the next export of changes takes --since 2"]
    rows = read_lines(tmp_path / "all.jsonl")
    assert [(row["id"], row["representative"], row["host"]) for row in rows] == [("a", "a", "h"), ("b", "a", None)]
    with Index.open(seen, "w") as index:
        index.remove(["a"])
    told = neardup("export", "seen", "--to", "new.jsonl", "--since", "2", "--json").json
    assert told == {"generation": 2, "documents": 1, "removed": 1}
    shown = neardup("export", "seen", "--to", "new.jsonl", "--since", "2", "--force").out.splitlines()
    assert shown[:2] == ["1  document written", "1  removed document listed"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--to all.csv", "all.csv"),
        ("--to all.jsonl --since 3", "must be a generation that this index reached, at most 2"),
        ("--to seen", "seen"),
        ("--to seen/all.jsonl", "DIR and --to must be different paths, and neither inside the other"),
        ("", "--to"),
    ],
)
def test_wrong_usage_writes_nothing(neardup, seen, tmp_path, options, message):
    assert message in neardup("export", "seen", *options.split(), code=2).err
    assert [path.name for path in tmp_path.iterdir()] == ["seen"]


def test_a_rescued_index_has_no_changes_since_generations_of_the_damaged_one(neardup, seen):
    neardup("rescue", "seen", "new")
    shown = neardup("export", "new", "--to", "new.jsonl", "--since", "1", code=2).err
    assert "does not know all changes since 1 any more; take all documents again; leave out --since" in shown
