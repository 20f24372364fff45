import json

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


def test_urls_may_be_removed_by_any_form(neardup, tmp_path):
    pages = ["http://a.example/", "http://b.example/x", "HTTP://as-written.example/"]
    with Index.create(tmp_path / "seen") as index:
        index.admit(pages, [STORM, BAKER, f"{BAKER} again"])
    given = [
        "HTTP://A.example:80/?utm_source=x#top",
        "http://a.example",
        "HTTP://as-written.example/",
        "http://c.example",
    ]
    (tmp_path / "gone").write_text("\n".join(given))
    shown = neardup("remove", "seen", "--ids", "gone").out
    assert "2  documents removed\n1  id not in the index: http://c.example\n" in shown
    assert ids("seen") == ["http://b.example/x"]
    (tmp_path / "many").write_text("\n".join(map(str, range(7))))
    assert "7  ids not in the index: 0, 1, 2, 3, 4 and 2 more\n" in neardup("remove", "seen", "--ids", "many").out


def test_urls_follow_the_rules_of_their_host(neardup, tmp_path):
    rules = UrlRules({"a.example": HostRules(parameters={"view": RuleEvidence(12, 11, 0.9231)})})
    (tmp_path / "rules.json").write_bytes(rules.to_bytes())
    (tmp_path / "pages.jsonl").write_text(json.dumps({"url": "http://a.example/?view=1", "text": STORM}) + "\n")
    neardup("index", "pages.jsonl", "--to", "seen", "--url", "url", "--rules", "rules.json")
    (tmp_path / "plain").write_text("other\n")
    assert "1  id not in the index" in neardup("remove", "seen", "--ids", "plain").out
    (tmp_path / "gone").write_text("http://a.example/?view=2\n")
    (tmp_path / "no.json").write_bytes(UrlRules().to_bytes())
    refused = neardup("remove", "seen", "--ids", "gone", "--rules", "no.json", code=2).err
    assert "its ids follow the URL rules" in refused
    assert "1  document removed" in neardup("remove", "seen", "--ids", "gone").out


def test_a_cluster_whose_representative_is_removed_has_another(neardup, seen, tmp_path):
    (tmp_path / "gone").write_text("first\n")
    told = neardup("remove", "seen", "--ids", "gone", "--json").json
    assert told == {"removed": 1, "unknown": 0, "promoted": 1, "documents": 3}
    with Index.open(seen) as index:
        assert index.judge([STORM])[0].representative == "second"


def test_documents_that_are_removed_in_the_same_run_are_not_promoted(neardup, tmp_path):
    with Index.create(tmp_path / "seen") as index:
        index.admit(["first", "second"], [STORM, STORM])
    (tmp_path / "gone").write_text("first\nsecond\n")
    told = neardup("remove", "seen", "--ids", "gone", "--json").json
    assert (told["removed"], told["promoted"], told["documents"]) == (2, 0, 0)


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
