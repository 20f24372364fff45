import pytest

from neardup import Index
from neardup.sources.url_rules import HostRules, RuleEvidence
from neardup.urls import UrlRules

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
BAKER = "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf"


@pytest.fixture
def seen(tmp_path):
    with Index.create(tmp_path / "seen") as index:
        index.admit(["first", "second", "third", "ä b"], [STORM, STORM, f"{STORM} on Tuesday", BAKER])
    return tmp_path / "seen"


def ids(folder):
    with Index.open(folder) as index:
        return list(index.ids())


def test_documents_are_removed_and_unknown_ids_counted(neardup, seen, tmp_path):
    (tmp_path / "gone").write_bytes("first\r\nnobody\n\nfirst\nä b".encode())
    shown = neardup("remove", "seen", "--ids", "gone").out
    assert [text.split()[0] for text in shown.splitlines()] == ["2", "1", "1", "2"]
    assert "1  document became representative: its representative was removed" in shown
    assert ids(seen) == ["second", "third"]
    again = neardup("remove", "seen", "--ids", "gone", "--json").json
    assert again == {"removed": 0, "unknown": 3, "promoted": 0, "documents": 2}


def test_lines_of_a_wrong_file_are_cut(neardup, seen, tmp_path):
    (tmp_path / "wrong").write_text("x" * 5000 + "\n")
    (line,) = [text for text in neardup("remove", "seen", "--ids", "wrong").out.splitlines() if "not in" in text]
    assert line == f"1  id not in the index: {'x' * 99}…"
    (tmp_path / "wrong").write_bytes(b"PAR1")
    assert "a file of ids has one id per line" in neardup("remove", "seen", "--ids", "wrong", code=1).err


def test_few_of_many_unknown_ids_are_shown(neardup, seen, tmp_path):
    (tmp_path / "many").write_text("\n".join(map(str, range(7))))
    assert "7  ids not in the index: 0, 1, 2, 3, 4 and 2 more\n" in neardup("remove", "seen", "--ids", "many").out


def test_other_rules_than_those_of_the_index_are_refused(neardup, seen, tmp_path):
    rules = UrlRules({"a.example": HostRules(parameters={"view": RuleEvidence(12, 11, 0.9231)})})
    (tmp_path / "rules.json").write_bytes(rules.to_bytes())
    (tmp_path / "gone").write_text("http://a.example/?view=2\n")
    refused = neardup("remove", "seen", "--ids", "gone", "--rules", "rules.json", code=2).err
    assert "its ids follow no URL rules" in refused


def test_ids_may_come_from_standard_input(neardup, seen):
    assert "1  document removed" in neardup("remove", seen, "--ids", "-", stdin=b"first\n").out
    assert ids(seen)[0] == "second"


def test_invalid_ids_are_reported_and_nothing_is_removed(neardup, seen, tmp_path):
    (tmp_path / "gone").write_bytes(b"first\n\xff\n")
    assert "gone:2: it is not valid UTF-8" in neardup("remove", "seen", "--ids", "gone", code=1).err
    assert "there is no such file" in neardup("remove", "seen", "--ids", "none", code=2).err
    assert "neardup: the following arguments are required: --ids;" in neardup("remove", "seen", code=2).err
    assert len(ids(seen)) == 4


def test_a_key_is_required(neardup, tmp_path):
    Index.create(tmp_path / "keyed", key=bytes(range(16))).close()
    (tmp_path / "gone").write_text("first\n")
    shown = neardup("remove", "keyed", "--ids", "gone", code=2)
    assert "name the file of its key with --key-file" in shown.err
