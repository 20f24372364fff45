import json
import re
import tempfile

import pytest
from json_lines import write_lines

from neardup import Index
from neardup.interfaces.cli import demo, main
from neardup.interfaces.http import server
from neardup.pipeline.query.search import Search


@pytest.fixture
def collection(tmp_path, monkeypatch):
    """Show a collection of our own instead of the bundled one."""

    def collection(documents):
        write_lines(tmp_path / "collection.jsonl", [{"id": name, "text": text} for name, text in documents])
        monkeypatch.setattr(demo, "files", lambda _package: tmp_path)

    return collection


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Let the demonstration use a folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def shown(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def shown(*options):
        assert main(["demo", *options]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return shown


def test_it_shows_the_numbers_and_some_clusters_within_80_columns(shown):
    out = shown()
    assert "which are repeats, which are kept, and why?" in out
    assert "224  kept" in out
    assert "resemblance at least 0.6 (verified)" in out
    assert out.count(" dropped for ") == 4
    assert "same features" in out
    assert "neardup dedup FILE.jsonl --out kept.jsonl --report why.jsonl" in out
    without_paths = (line for line in out.splitlines() if "neardup-demo.html" not in line and ".jsonl:" not in line)
    assert max(map(len, without_paths)) <= 80
    assert "\x1b" not in out


def test_it_is_the_same_every_time(shown):
    def steady(out):
        return [line for line in out.splitlines() if not line.endswith(" s")]

    assert steady(shown()) == steady(shown())


def test_as_json_it_counts_what_dedup_counts(shown):
    counted = json.loads(shown("--json"))
    assert counted["documents"] >= 300
    assert counted["kept"] + counted["exact"] + counted["near"] == counted["documents"]
    assert counted["near"] >= 100
    assert counted["rejected"] == []


def test_what_differs_is_marked(shown, collection):
    words = [f"word{number}" for number in range(200)]
    changed = [*words[:90], "Changed", "twice", *words[92:]]
    collection([("one", " ".join(words)), ("two", " ".join(changed).upper())])
    out = " ".join(shown().split())
    assert "*word90 word91*" in out
    assert "*CHANGED TWICE*" in out
    assert "WORD92" in out
    assert "*WORD92" not in out


def test_documents_cannot_steer_the_terminal(shown, collection):
    words = "one two three four five six seven \x1b[2J \u202e [red] [/] eight nine ten"
    collection([("\x1b]0;title\x07[bold]", words), ("[/]", words + " eleven"), ("twin", words)])
    out = shown()
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "[/] dropped for \\x1b]0;title\\x07[bold]" in out
    assert "[red]" in out


@pytest.mark.parametrize("documents", [[], [("one", "x")], [("one", None), ("two", "a b c d"), ("three", "a b c d")]])
def test_collections_of_few_documents_are_counted(shown, collection, documents):
    collection(documents)
    assert re.search(rf"(?m)^{len(documents)}  documents?$", shown())


def test_it_writes_a_report_and_says_where(shown, temporary):
    place = temporary / "neardup-demo.html"
    assert shown().rstrip().endswith(f"to open in a browser:\n{place}")
    first = place.read_bytes()
    assert b"224" in first
    assert json.loads(shown("--json"))["report"] == str(place)
    assert place.read_bytes() == first
    assert [path.name for path in temporary.iterdir()] == [place.name]


def test_the_report_follows_no_link_and_replaces_no_folder(shown, temporary, tmp_path):
    precious, place = tmp_path / "precious", temporary / "neardup-demo.html"
    precious.write_text("as it was")
    place.symlink_to(precious)
    shown()
    assert precious.read_text() == "as it was"
    assert not place.is_symlink()
    place.unlink()
    place.mkdir()
    assert json.loads(shown("--json"))["report"] != str(place)
    assert len(list(temporary.iterdir())) == 2


def test_without_a_place_for_the_report_it_continues(shown, temporary):
    temporary.rmdir()
    assert "open in a browser" not in shown()


def test_served_it_can_be_searched_until_it_ends_and_nothing_stays(shown, temporary, tmp_path, monkeypatch):
    texts = {"a": "The ferry left the harbour at dawn", "b": "The ferry left the harbour at dusk"}
    write_lines(
        tmp_path / "collection.jsonl",
        [{"id": own, "text": text, "url": f"http://{own}.example/"} for own, text in texts.items()],
    )
    monkeypatch.setattr(demo, "files", lambda _package: tmp_path)
    served = []

    def run(plan, *, started, report):
        assert (plan.host, plan.port, plan.token_file) == ("127.0.0.1", 0, None)
        assert str(temporary) in plan.folder
        with Index.open(plan.folder) as index, Search.open(index) as search:
            served.append({group.shown[0].id for group in search.answer("ferry", collapse="off").results})
        started("http://127.0.0.1:4711/", None)
        return 0

    monkeypatch.setattr(server, "run", run)
    out = shown("--serve")
    assert served == [set(texts)]
    assert "http://127.0.0.1:4711/\nEnded.\n" in out
    assert [one.name for one in temporary.iterdir()] == ["neardup-demo.html"]


def test_json_and_a_page_do_not_go_together(capsys):
    assert main(["demo", "--json", "--serve"]) == 2
    assert "--json cannot be used with --serve" in capsys.readouterr().err
