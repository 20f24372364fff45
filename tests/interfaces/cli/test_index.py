import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from json_lines import write_lines

from neardup import Index, MinHash, Sentences
from neardup.pipeline.files import ingestion

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
BAKER = "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf"
RECORDS = [
    {"id": "storm", "text": STORM, "url": "http://a.example/storm"},
    {"id": "copy", "text": STORM, "url": "http://b.example/storm"},
    {"id": "edited", "text": f"{STORM} on Tuesday", "url": "http://c.example/?utm_source=x"},
    {"id": "empty", "text": "", "url": "http://d.example/"},
    {"id": "baker", "text": BAKER, "url": "HTTP://A.example:80/baker#top"},
]
COUNTS = {"documents": 5, "new": 2, "exact": 1, "near": 1, "empty": 1, "no_text": 0, "replaced": 0}
COUNTS |= {"unchanged": 0, "repeated": 0, "unnamed": 0}


@pytest.fixture
def pages(tmp_path):
    return write_lines(tmp_path / "pages.jsonl", RECORDS)


def ids(folder):
    with Index.open(folder) as index:
        return list(index.ids())


def test_an_index_is_made_and_its_documents_are_counted(neardup, pages):
    shown = neardup("index", pages, "--to", "seen")
    assert shown.out.splitlines()[:5] == [
        "5  documents",
        "2  new",
        "1  exact duplicate, equal byte by byte to a document admitted before",
        "1  near duplicate of a document admitted before, estimated: the index has no texts (--texts)",
        "1  empty, or without words or fields to compare",
    ]
    assert "5  documents in the index seen (created)" in shown.out
    assert shown.err == ""
    assert ids("seen") == ["storm", "copy", "edited", "empty", "baker"]


def test_json_has_every_count(neardup, pages):
    first = neardup("index", pages, "--to", "seen", "--json").json
    assert COUNTS.items() <= first.items()
    assert (first["created"], first["total"], first["rejected"]) == (True, 5, [])
    again = neardup("index", pages, "--to", "seen", "--json").json
    assert again | {"seconds": 0} == {
        **dict.fromkeys(COUNTS, 0),
        "documents": 5,
        "unchanged": 5,
        "estimated": True,
        "created": False,
        "total": 5,
        "rejected": [],
        "without_text": None,
        "quoted_lines": None,
        "ignored": 0,
        "skipped": {},
        "body_faults": {},
        "hosts_with_templates": None,
        "hosts_learned": 0,
        "lacks_templates": False,
        "seconds": 0,
    }


def test_replaced_documents_are_counted(neardup, pages, tmp_path):
    neardup("index", write_lines(tmp_path / "more.jsonl", [{"id": "storm", "text": BAKER}]), "--to", "seen")
    assert "1  known, with other content: replaced" in neardup("index", pages, "--to", "seen").out


def test_addresses_are_ids(neardup, pages):
    neardup("index", pages, "--to", "seen", "--url", "url", "--field", "url:string", "--field", "host:string")
    with Index.open("seen") as index:
        fields = index.get(["http://a.example/baker"])[0].fields
    assert fields == {"url": "HTTP://A.example:80/baker#top", "host": "a.example"}


def test_a_run_that_lacks_the_field_of_the_ids_counts_the_documents_without_one(neardup, pages, tmp_path):
    urls = [{"url": f"http://a.example/{page}", "text": text} for page, text in enumerate((STORM, BAKER))]
    more = write_lines(
        tmp_path / "more.jsonl", [*urls, {"id": "x", "url": "http://a.example/x", "text": "A third page"}]
    )
    assert "without an id" not in neardup("index", more, "--to", "seen", "--url", "url").out
    again = neardup("index", more, "--to", "seen").out
    assert "2  documents of these without an id, known by file and line; --id or --url names the field\n" in again
    assert neardup("index", more, "--to", "seen", "--json").json["unnamed"] == 2


def test_standard_input_needs_ids(neardup):
    lines = "\n".join(json.dumps(record) for record in ({"text": STORM}, {"id": "a", "text": BAKER}))
    added = neardup("index", "-", "--to", "seen", "--json", stdin=lines.encode(), code=1).json
    assert added["new"] == 1
    assert added["rejected"][0]["position"] == 1
    assert "it has no id" in added["rejected"][0]["reason"]


def test_rejected_records_alone_make_no_index(neardup, tmp_path):
    told = neardup("index", "-", "--to", "seen", stdin=b'{"text": "a b c"}', code=1).err
    assert "its only record, <stdin>:1, was rejected: it has no id" in told
    assert "no index is made" in told
    assert not (tmp_path / "seen").exists()


def test_nothing_makes_an_empty_index(neardup, tmp_path):
    shown = neardup("index", "-", "--to", "seen", "--url", "url", "--field", "url:string", stdin=b"")
    assert "0  documents in the index seen (created)" in shown.out
    assert ids(tmp_path / "seen") == []


def test_other_formats_and_fields(neardup):
    table = pa.table(
        {"key": ["a", "b"], "body": [STORM, BAKER], "rank": [1, 2], "when": ["2026-01-31T12:00:00Z", None]}
    )
    pq.write_table(table, "in.parquet")
    options = ["--text", "body", "--id", "key", "--field", "rank:integer", "--field", "when:time", "--texts"]
    neardup("index", "in.parquet", "--to", "seen", *options)
    with Index.open("seen") as index:
        first, second = index.get(["a", "b"])
    assert (first.text, first.fields["rank"], first.fields["when"].hour) == (STORM, 1, 12)
    assert second.fields == {"rank": 2, "when": None}


def test_the_scheme_is_a_choice_of_the_first_run(neardup, pages):
    neardup("index", pages, "--to", "seen", "--scheme", "sentences", "--size", "32")
    with Index.open("seen") as index:
        assert index.scheme == Sentences(size=32)
    neardup("index", pages, "--to", "seen")
    neardup("index", pages, "--to", "seen", "--scheme", "sentences", "--size", "32", "--threshold", "0.9")
    shown = neardup("index", pages, "--to", "seen", "--scheme", "minhash", code=2)
    assert "was created with other settings: scheme was sentences and is minhash" in shown.err
    neardup("index", pages, "--to", "pairs", "--shingle", "2")
    shown = neardup("index", pages, "--to", "pairs", "--threshold", "0.9", code=2)
    words = "shingle was 2 and is 3; repeat these settings of the index, because options that are left out have their"
    assert f"pairs was created with other settings: {words}" in shown.err


def test_records_without_text_are_counted_apart(neardup, tmp_path):
    write_lines(tmp_path / "in.jsonl", [*RECORDS, {"id": "none", "text": None}, {"id": "missing"}])
    lines = neardup("index", "in.jsonl", "--to", "seen").out.splitlines()
    assert "1  empty, or without words or fields to compare" in lines
    assert "2  without text, kept: field 'text' missing or null, first in in.jsonl:6" in lines


def test_a_key_is_required_each_time(neardup, pages, tmp_path):
    (tmp_path / "key").write_bytes(bytes(range(16)))
    (tmp_path / "other").write_bytes(bytes(16))
    neardup("index", pages, "--to", "seen", "--key-file", "key")
    assert "name the file of its key with --key-file" in neardup("index", pages, "--to", "seen", code=2).err
    assert "another secret key" in neardup("index", pages, "--to", "seen", "--key-file", "other", code=2).err
    neardup("index", pages, "--to", "seen", "--key-file", "key")
    neardup("index", pages, "--to", "seen", "--key-file", "key", "--permutations", "128")
    with Index.open("seen", key=bytes(range(16))) as index:
        assert index.scheme == MinHash(key=bytes(range(16)))
        assert len(index) == 5


def test_trouble_in_the_input_is_rejected_and_named(neardup, tmp_path):
    long = {"id": "x" * 1025, "text": BAKER}
    path = write_lines(tmp_path / "in.jsonl", [RECORDS[0], long])
    path.write_text('{"text": \n' + path.read_text())
    shown = neardup("index", "in.jsonl", "--to", "seen", code=1)
    assert "2  records rejected, not in the index" in shown.out
    assert "rejected: in.jsonl:1: it is incomplete JSON: it ends too early" in shown.out
    assert "rejected: in.jsonl:3: its id has 1,025 bytes, but may have at most 1,024" in shown.out
    assert ids("seen") == ["storm"]
    told = neardup("index", "in.jsonl", "--to", "seen", "--json", code=1).json
    assert [one["code"] for one in told["rejected"]] == ["json", "id too long"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("missing.jsonl --to seen", "there is no such file"),
        ("pages.jsonl --to no/seen", "its folder does not exist"),
        ("pages.jsonl --to pages.jsonl", "it is a file; an index is a folder"),
        ("pages.jsonl --to ''", "--to: the path is empty"),
        ("pages.jsonl --to .", "is not empty: an index needs a folder of its own"),
        ("pages.jsonl --to seen --field a", "--field a: the value must be NAME:KIND, such as score:number"),
        ("pages.jsonl --to seen --field a:text", "--field a:text: the value must have one of these kinds:"),
        ("pages.jsonl --to seen --field a:time --field a:flag", "must name each field once"),
        (
            "pages.jsonl --to seen --memory 256",
            "--memory 256: the value must be an integer of at least 1,048,576 (bytes)",
        ),
        ("pages.jsonl --to seen --url url --id key", "--id key cannot be used with --url"),
        ("pages.jsonl --to seen --id text", "--id text: the value must be another field than the text"),
        ("pages.jsonl", "neardup: the following arguments are required: --to; see"),
    ],
)
def test_wrong_usage_is_reported_and_nothing_made(neardup, pages, options, complaint):
    assert complaint in neardup("index", *shlex.split(options), code=2).err
    assert not os.path.lexists("seen")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--field url:time", "in an existing index; its fields are: url:string. Create another index for that"),
        ("--texts", "--texts cannot be used with this index"),
        ("--search", "--search requires texts"),
        ("--representative closest", "closest cannot be used with this index, which was made with 'best-ranked'"),
    ],
)
def test_what_was_decided_when_it_was_made_cannot_be_changed(neardup, pages, options, complaint):
    neardup("index", pages, "--to", "seen", "--field", "url:string")
    assert complaint in neardup("index", pages, "--to", "seen", *options.split(), code=2).err
    neardup("index", pages, "--to", "seen", "--field", "url:string")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--url link", "there is no field 'link'"),
        ("--field nope:string", "there is no field 'nope'; the fields are: id, text, url"),
        (
            "--text body --texts",
            "there is no field 'body'; the fields are: id, text, url; --text names the field of the",
        ),
    ],
)
def test_a_missing_field_is_an_error_of_the_data(neardup, pages, options, complaint):
    assert complaint in neardup("index", pages, "--to", "seen", *options.split(), code=1).err
    assert not os.path.lexists("seen")


def test_another_writer_is_reported(neardup, pages):
    neardup("index", pages, "--to", "seen")
    with Index.open("seen", "w"):
        assert "is writing to it" in neardup("index", pages, "--to", "seen", code=1).err


def test_an_index_that_another_process_has_just_made_is_not_wrong_usage(neardup, pages, monkeypatch):
    Index.create("seen").close()
    monkeypatch.setattr(ingestion, "is_index", Mock(return_value=False))  # as it was when this process looked
    assert "run the same command again" in neardup("index", pages, "--to", "seen", code=1).err


def test_a_thread_that_cannot_be_started_is_reported(neardup, pages, monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
    error = neardup("index", pages, "--to", "seen", "--durability", "interval", code=1).err
    assert error.startswith(
        "neardup: threads cannot be started: the limit of processes or memory is reached; use fewer"
    )


def test_bytes_that_were_never_acknowledged_are_reported(neardup, pages, tmp_path):
    neardup("index", pages, "--to", "seen")
    log = next((tmp_path / "seen").glob("log-*"))
    with log.open("ab") as file:
        file.write(b"torn")
    shown = neardup("index", pages, "--to", "seen")
    assert "4 bytes behind its last record were never acknowledged" in shown.err
    assert "5  known and unchanged" in shown.out


STOPS = """
import sys, time
from neardup import Index
from neardup.interfaces.cli import main
from neardup.pipeline.files import ingestion

def visit(self, *given, **options):
    if len(self) >= 200:
        print("some steps are done", flush=True)
        time.sleep(1000)
    return visits(self, *given, **options)

ingestion._STEP_DOCUMENTS = 100
visits, Index.visit = Index.visit, visit
sys.exit(main(["index", "in.jsonl", "--to", "seen"]))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_interrupted_it_continues(neardup, tmp_path, number, code):
    words = [f"word{n}" for n in range(5000)]
    records = [{"id": str(n), "text": " ".join(words[n % 97 :: 97] + [f"own{n}"] * 9)} for n in range(500)]
    write_lines(tmp_path / "in.jsonl", records)
    command = [sys.executable, "-c", STOPS]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "some steps are done\n"
        running.send_signal(number)
        _, told = running.communicate(timeout=120)
    assert running.returncode == code, told
    assert "Traceback" not in told
    if number == signal.SIGINT:
        way_on = "run the same command again; documents that were added are skipped"
        assert f"interrupted; no partial output is left; {way_on}\n" in told
    before = len(ids("seen"))
    assert before == 200
    added = neardup("index", "in.jsonl", "--to", "seen", "--json").json
    assert added["unchanged"] == before
    assert added["total"] == 500
    assert neardup("check", "seen").out.endswith("0  problems\n")


def found(neardup, *query):
    answer = neardup("search", "seen", *query, "--json").json
    return [hit["id"] for group in answer["results"] for hit in group["shown"]]


def test_the_table_follows_pages_that_are_answered(neardup, pages, tmp_path, monkeypatch):
    neardup("index", pages, "--to", "seen", "--search")
    write_lines(tmp_path / "lines", [{"id": "z", "text": f"{BAKER} zebra", "title": "Zoo"}])
    for more, expected in (([], []), (["--admit"], ["z"])):
        with (tmp_path / "lines").open() as lines, monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", lines)
            neardup("seen", "seen", *more)
        assert found(neardup, "zebra zoo") == expected


def test_a_broken_search_table_is_reported_before_anything_is_admitted(neardup, pages, tmp_path):
    neardup("index", pages, "--to", "seen", "--search")
    (tmp_path / "seen/search.sqlite").write_bytes(b"no database")
    more = write_lines(tmp_path / "more.jsonl", [{"id": "new", "text": f"{BAKER} zebra"}])
    assert "rebuild it: neardup reindex seen\n" in neardup("index", more, "--to", "seen", code=1).err
    assert "new" not in ids("seen")


@pytest.fixture
def state(neardup, pages):
    neardup("dedup", pages, "--out", "kept.jsonl", "--state", "crawls")
    return "crawls"


def test_an_index_is_filled_from_a_state(neardup, state):
    shown = neardup("index", "--from", state, "--to", "seen", "--url", "url", "--search")
    assert shown.out.splitlines()[0] == "2  kept documents in the state crawls"
    assert shown.out.splitlines()[1].startswith("2  documents in the index seen (created), ")
    assert ids("seen") == ["http://a.example/storm", "http://a.example/baker"]
    assert "baker" in neardup("search", "seen", "loaf").out
    told = neardup("index", "--from", state, "--to", "other", "--json").json
    assert told | {"seconds": 0} == {"documents": 2, "repeated": 0, "rejected": [], "total": 2, "seconds": 0}
    assert ids("other") == ["storm", "baker"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--threshold 0.8", "threshold was 0.6 and is 0.8; use the settings"),
        ("--id name", "--id name cannot be used with --from: the documents come from the state"),
        ("--strict", "--strict cannot be used with --from"),
        ("--text-view main", "--text-view main cannot be used with --from"),
        ("--html page", "--html page cannot be used with --from"),
        ("--templates t.arrow", "--templates t.arrow cannot be used with --from"),
        ("pages.jsonl", "inputs pages.jsonl cannot be used with --from"),
    ],
)
def test_what_differs_from_the_state_is_refused(neardup, state, options, words, tmp_path):
    assert words in neardup("index", *options.split(), "--from", state, "--to", "seen", code=2).err
    assert not (tmp_path / "seen").exists()


def test_only_a_new_index_is_filled(neardup, state, pages):
    neardup("index", pages, "--to", "seen")
    shown = neardup("index", "--from", state, "--to", "seen", code=2).err
    assert "seen has documents already; only a new index can be filled; name a new folder" in shown
    assert "inputs are needed: files of documents, or --from STATE" in neardup("index", "--to", "new", code=2).err


def test_settings_that_an_index_does_not_use_are_named(neardup, pages, tmp_path):
    (tmp_path / "s.toml").write_text("[policy]\nverify = 'estimate'\ngather = 'components'\nkeep = 'longest'\n")
    shown = neardup("index", pages, "--to", "verified", "--texts", "--config", "s.toml").err
    assert "settings of s.toml that are not used: gather components, verify estimate; an index compares the" in shown
    shown = neardup("index", pages, "--to", "estimated", "--config", "s.toml").err
    assert "settings of s.toml that are not used: gather components; " in shown
    (tmp_path / "s.toml").write_text("[policy]\nverify = 'exact'\n")
    assert "not used" not in neardup("index", pages, "--to", "verified", "--config", "s.toml").err
