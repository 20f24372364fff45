import gzip
import json
import shlex
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from json_lines import read_lines, write_lines

import neardup

ESCAPE, OVERRIDE = "\x1b", "\u202e"

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
BAKER = 'A baker from the old town says "rye, water and time"\nand nothing else belongs into an honest loaf'
TEXTS = {
    "storm": STORM,
    "storm-edited": f"{STORM} on Tuesday",
    "storm-copy": STORM,
    "baker": BAKER,
    "baker-loud": BAKER.upper(),
    "short": "...",
    "empty": "",
    "heron": "Seven herons stood in the shallow water below the weir and watched each other fish",
}
KEPT = ["storm", "baker", "short", "empty", "heron"]
DROPPED = ["storm-edited", "storm-copy", "baker-loud"]

MAKE_ROOM = "make room; run the same command again"
UNPACK = "unpack it first, and use the files in it, or their folder, as inputs"
NEED_FORCE = "; outputs that were complete need --force"


@pytest.fixture
def run(neardup):
    """Run the verb."""
    return partial(neardup, "dedup")


def jsonl(path, documents, **more):
    """Write (id, text) pairs."""
    return write_lines(path, [{"id": name, "text": text, **more} for name, text in documents])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def source(tmp_path):
    return jsonl(tmp_path / "in.jsonl", TEXTS.items())


# Formats and outputs


def test_each_output_has_its_documents(run, tmp_path, source):
    expected = {"kept.jsonl": KEPT, "gone.jsonl": DROPPED, "marked.jsonl": [*TEXTS], "why.jsonl": [*TEXTS]}
    out, dropped, mark, report = expected
    run(source, "--out", out, "--dropped", dropped, "--mark", mark, "--report", report)
    assert {name: [row["id"] for row in read_lines(tmp_path / name)] for name in expected} == expected


@pytest.mark.parametrize("name", ["why.html", "WHY.HTM"])
def test_a_report_may_be_a_page(run, tmp_path, source, name):
    for force in ([], ["--force"]):
        run(source, "--out", "kept.jsonl", "--report", name, "--dropped", "gone.jsonl", *force)
        page = (tmp_path / name).read_text("utf-8")
        assert page.startswith("<!DOCTYPE html>")
        assert '<b class="id">storm-edited</b> dropped for <b class="id">storm</b>' in page
        assert "<mark>on Tuesday</mark>" in page
    assert names(tmp_path) == sorted([name, "gone.jsonl", "in.jsonl", "kept.jsonl"])


def test_a_dry_run_writes_nothing(run, tmp_path, source):
    assert "3  dropped" not in run(source, "--dry-run").err
    run(source, "--dry-run", "--out", "kept.jsonl")
    assert names(tmp_path) == ["in.jsonl"]


def test_json_has_every_count(run, source):
    counted = run(source, "--dry-run", "--json").json
    expected = {"documents": 8, "kept": 5, "exact": 1, "near": 2, "empty": 1, "too_short": 1, "duplicate_ids": 0}
    assert expected.items() <= counted.items()
    assert counted["policy"] == {"keep": "first", "verify": "exact", "gather": "kept", "representative": "best-ranked"}
    assert (counted["scheme"], counted["threshold"], counted["rejected"]) == ("minhash", 0.6, [])


def test_the_summary_tells_a_person_the_same(run, source):
    shown = run(source, "--dry-run")
    assert [line.split("  ") for line in shown.out.splitlines()[:-1]] == [
        ["8", "documents"],
        ["5", "kept"],
        ["1", "dropped: exact duplicate, equal byte by byte"],
        ["2", "dropped: near duplicates, resemblance at least 0.6 (verified)"],
        ["1", "empty, kept"],
        ["1", "no words to compare, kept unless equal byte by byte"],
    ]
    assert shown.err == ""


def test_documents_on_standard_output_leave_the_summary_to_standard_error(run, source):
    for where in ("-", "/dev/stdout"):
        shown = run(source, "--out", where)
        assert [json.loads(line)["id"] for line in shown.out.splitlines()] == KEPT
        assert "5  kept" in shown.err
    shown = run(source, "--dry-run", "--report", "-", "--json")
    assert len(shown.out.splitlines()) == json.loads(shown.err)["documents"]


# What counts as the same, and what is done with it


@pytest.mark.parametrize(
    ("options", "policy"),
    [
        (
            "--keep longest --verify estimate --gather components",
            {"keep": "longest", "verify": "estimate", "gather": "components", "representative": "best-ranked"},
        ),
        (
            "--representative closest",
            {"keep": "first", "verify": "exact", "gather": "kept", "representative": "closest"},
        ),
    ],
)
def test_options_of_the_policy_are_used(run, source, options, policy):
    assert run(source, "--dry-run", "--json", *options.split()).json["policy"] == policy


def test_options_of_the_scheme_are_used(run, source):
    Path("key").write_bytes(bytes(range(16)))
    options = ("--threshold", 0.7, "--shingle", 3, "--permutations", 64, "--key-file", "key")
    counted = run(source, "--dry-run", "--json", *options).json
    scheme = neardup.MinHash(shingle=3, permutations=64, key=bytes(range(16)))
    assert (counted["threshold"], counted["recipe"]) == (0.7, scheme.recipe)


def test_the_text_and_the_id_may_have_any_name(run, tmp_path):
    source = tmp_path / "in.csv"
    source.write_text(f"url,content\n/a,{STORM}\n/b,{STORM}\n,x y z\n")
    run(source, "--text", "content", "--id", "url", "--report", "why.jsonl", "--dry-run")
    assert [row["id"] for row in read_lines(tmp_path / "why.jsonl")] == ["/a", "/b", f"{source}:4"]


# Hostile records: what is rejected, where, and why


def test_a_broken_line_is_rejected_with_its_place_and_strict_stops_there(run, tmp_path):
    good = b'{"id": "a", "text": "one two three four"}\n', b'{"id": "b", "text": "five six seven eight"}\n'
    source = tmp_path / "in.jsonl"
    source.write_bytes(good[0] + b'{"text": "x", broken\n' + good[1])
    shown = run(source, "--out", "kept.jsonl", code=1)
    assert (tmp_path / "kept.jsonl").read_bytes() == b"".join(good)
    assert "1  record rejected, in no output" in shown.out
    assert f"{source}:2: it is not valid JSON" in shown.out
    counted = run(source, "--dry-run", "--json", code=1).json
    assert [(one["source"], one["position"]) for one in counted["rejected"]] == [(str(source), 2)]
    shown = run(source, "--strict", "--out", "strict.jsonl", code=1)
    assert shown.err.startswith(f"neardup: {source}:2: it is not valid JSON")
    assert names(tmp_path) == ["in.jsonl", "kept.jsonl"]


def test_of_many_broken_lines_a_few_are_shown(run, tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_bytes(b'{"text": "whole"}\n' + b"broken\n" * 10)
    shown = run(source, "--out", "kept.jsonl", code=1)
    assert (tmp_path / "kept.jsonl").read_bytes() == b'{"text": "whole"}\n'
    assert "10  records rejected" in shown.out
    assert "and 5 more (--json lists all)" in shown.out


def test_an_open_quotation_mark_is_answered_with_the_way_out(run, tmp_path):
    source = tmp_path / "in.csv"
    source.write_text('id,text\n4,good\n5,"never closed\n6,swallowed\n')
    shown = run(source, "--dry-run", code=1)
    assert f"neardup: {source}:3: the quotation mark that opens a field here is never closed" in shown.err
    assert "use --quoting none" in shown.err
    run(source, "--dry-run", "--quoting", "none")


WORDS = "the quick brown fox jumps over the lazy dog and runs far away from the old barn near the river"


def test_a_quotation_mark_that_swallows_rows_is_answered_with_the_way_out(run, tmp_path):
    (tmp_path / "in.tsv").write_text('id\ttext\n1\t"one\n2\ttwo\n3\tShe said "come home"\n4\tlast\n')
    assert run("in.tsv", "--dry-run").out.startswith("4  documents\n")
    shown = run("in.tsv", "--dry-run", "--quoting", "minimal", code=1).out
    assert "rejected: in.tsv:2: a quoted field in it continues to line 4 and is closed there in the middle" in shown
    assert "if quotation marks are plain text there, use --quoting none" in shown


def test_line_ends_inside_quotes_are_reported_unless_they_are_expected(run, tmp_path):
    (tmp_path / "in.csv").write_text(f'id,text\n0,{WORDS}\n1,"{WORDS}\n2,The only copy\n3,5\' 6"\n')
    shown = run("in.csv", "--dry-run")
    assert "1  record with line ends inside quotation marks" in shown.out
    assert "neardup: 1 record has line ends inside quotation marks (lines 3 to 5 of in.csv)" in shown.err
    counted = run("in.csv", "--dry-run", "--json").json["quoted_lines"]
    assert counted == {"records": 1, "source": "in.csv", "first": 3, "last": 5}
    assert run("in.csv", "--dry-run", "--quoting", "minimal").err == ""
    assert run("in.csv", "--dry-run", "--quoting", "none").out.startswith("4  documents")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (
            "a.jsonl",
            b'[{"text": "a"}, {"text": "b"}]',
            "this is one JSON array, not JSON lines; expand it if it is compressed, and convert it: jq -c '.[]' a",
        ),
        (
            "a.jsonl",
            b"junk\n" * 3000,
            "all 3,000 records were rejected; the first is at a.jsonl:1: it is not valid JSON",
        ),
        ("a.csv", b"text,id\n1\n", "its only record, a.csv:2, was rejected: it has 1 field"),
        ("a.json", b'{"text": "a"}', "a JSON array: jq -c '.[]' a.json > lines.jsonl"),
        ("a.txt", b"text", "to read text or HTML files, name their folder"),
    ],
)
def test_an_input_without_a_single_record_is_explained_and_nothing_is_written(run, tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    out = tmp_path / f"kept{Path(name).suffix.replace('.json', '.jsonl').replace('ll', 'l').replace('.txt', '.jsonl')}"
    out.write_text("good and old")
    code = 2 if name in {"a.json", "a.txt"} else 1
    assert message in run(name, "--out", out, "--force", code=code).err
    assert out.read_text() == "good and old"


@pytest.mark.parametrize("kind", ["tsv", "parquet"])
def test_format_says_what_a_file_of_any_name_is(run, tmp_path, kind):
    if kind == "parquet":
        pq.write_table(pa.table({"text": ["one"]}), tmp_path / "data")
    else:
        (tmp_path / "data").write_bytes(b"text\none\n")
    assert "its name does not end in a known format" in run("data", "--dry-run", code=2).err
    assert run("data", "--dry-run", "--format", kind).out.startswith("1  document\n")
    (tmp_path / "data").rename(tmp_path / "data.json")
    run("data.json", "--format", kind, "--out", f"kept.{kind}")
    assert run(f"kept.{kind}", "--dry-run").out.startswith("1  document\n")


def test_glob_chooses_the_files_of_a_folder(run, tmp_path):
    (tmp_path / "code" / "sub").mkdir(parents=True)
    for name in ("a.py", "sub/b.py", "c.rs", "d.txt"):
        (tmp_path / "code" / name).write_text(f"def {name[:-3]}(): return {WORDS}")
    shown = run("code", "--dry-run", "--glob", "*.py", "--glob", "c.*")
    assert shown.out.startswith("3  documents\n")
    assert "1  other file ignored" in shown.out
    assert run("code", "--dry-run", "--glob", "*.py", "--glob", "c.*", "--json").json["ignored"] == 1
    assert "no files that match *.go; its files are: 2 .py, 1" in run("code", "--dry-run", "--glob", "*.go", code=1).err
    (tmp_path / "code" / "d.txt").unlink()
    assert "--glob reads others as text, such as --glob '*.py'" in run("code", "--dry-run", code=1).err


def test_inputs_may_be_before_between_and_after_options(run, tmp_path):
    for name in ("a.jsonl", "b.jsonl", "-c.jsonl"):
        write_lines(tmp_path / name, [{"text": name}])
    for arguments in (
        ("a.jsonl", "b.jsonl", "--dry-run", "--threshold", "0.8"),
        ("--dry-run", "--threshold", "0.8", "a.jsonl", "b.jsonl"),
        ("a.jsonl", "--dry-run", "b.jsonl", "--threshold", "0.8"),
        ("--threshold", "0.8", "a.jsonl", "--dry-run", "b.jsonl"),
        ("--dry-run", "--", "a.jsonl", "-c.jsonl"),
    ):
        assert run(*arguments).out.startswith("2  documents\n")


@pytest.mark.parametrize("name", ["-dash.jsonl", "--dash.jsonl", "-out.jsonl", "-a=b.jsonl", "-it's.jsonl"])
def test_a_file_whose_name_begins_with_a_dash_is_recognised(run, tmp_path, name):
    for one in (name, "b.jsonl"):
        (tmp_path / one).write_text('{"text": "a"}\n')
    way_out = shlex.quote(f"./{name}")
    for arguments in ([name], [name, "b.jsonl", "--dry-run"], ["--dry-run", "b.jsonl", name]):
        message = f"unknown option {name}; if the file of this name is meant, write {way_out}; see `neardup dedup"
        assert message in run(*arguments, code=2).err
    assert run(f"./{name}", "b.jsonl", "--dry-run").out.startswith("2  documents\n")


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        ("nowhere://a.example/x.jsonl", "nowhere://a.example/x.jsonl: nowhere:// is not known; URLs begin with", 2),
        ("''", "INPUT: the path is empty", 2),
        ("in.zip", f"with .gz, .zst or .lz4); {UNPACK}", 2),
        ("in.wacz", f"with .gz, .zst or .lz4); {UNPACK}", 2),
        ("in.tar.gz", f"with .gz, .zst or .lz4); {UNPACK}", 2),
        ("zip.jsonl", f"first bytes are those of zip; {UNPACK}", 1),
        ("in.jsonl", "the fields are: ID, Text; --text names the field of the text, such as --text Text", 1),
        ("in.jsonl --text Text --id key", "'key'; the fields are: ID, Text; --id names the field of the id", 1),
        ("in.jsonl --text Text --keep max:rank", "there is no field 'rank'; the fields are: ID, Text", 1),
        (
            "in.jsonl --text Text --scheme checksum",
            "--scheme checksum compares title and body by default, and --fields names others, such as --fields body",
            1,
        ),
        ("in.jsonl --scheme checksum", "by default, and --fields names others, such as --fields title", 1),
        (
            "in.jsonl --text Text --scheme checksum --fields ID --contribution key",
            "'key'; the fields are: ID, Text; --contribution names the field of the contribution",
            1,
        ),
        (
            "in.jsonl --text Text --stop-words words",
            "no such file; to name words instead of a file, separate them by commas;",
            2,
        ),
        ("semicolons.csv", "the fields are: id;text; the header is one field: CSV needs commas, and TSV needs tabs", 1),
        (
            "bars.csv",
            "id|text; the header is one field: CSV needs commas, and TSV needs tabs; save the file with one of these\n",
            1,
        ),
        (
            "tabs.csv",
            "the header is one field: CSV needs commas, and TSV needs tabs; to read it as TSV, use --format tsv",
            1,
        ),
        ("commas.tsv", "and TSV needs tabs; to read it as CSV, use --format csv", 1),
        ("excel.csv", "and is not the header; remove it, and save the file with commas or tabs\n", 1),
        ("excel-commas.csv", "line 1 is written by Excel, and is not the header; remove it\n", 1),
        ("nested.parquet", "not lists; join the parts of each list into one string first, in another column", 1),
        ("nested.parquet --text doc", "not structs, whose fields are: body; name one of these as COLUMN", 1),
        ("lines.csv", "seems to be JSON lines, but is read as CSV or TSV; to read it as JSON lines, use --format", 1),
        (
            "ranks.csv --keep max:score",
            "ranks.csv:4: its 'score' is 'n/a', which is not a number, but other values are; correct it, or leave",
            1,
        ),
        (
            "in.jsonl --common in.jsonl",
            "not a file of common shingles; `neardup dedup --ignore-common S --common FILE` writes such a file",
            1,
        ),
        ("in.jsonl --format tsv", "seems to be JSON lines, but is read as CSV or TSV; to read it as JSON", 1),
    ],
)
def test_an_input_that_cannot_be_read_is_answered_with_the_way_out(run, tmp_path, arguments, message, code):
    (tmp_path / "in.jsonl").write_text('{"ID": 1, "Text": "a"}\n')
    (tmp_path / "ranks.csv").write_text("text,score\na,9\nb,\nc,n/a\n")
    for name in ("in.zip", "in.wacz", "in.tar.gz", "zip.jsonl"):
        (tmp_path / name).write_bytes(b"PK\x03\x04....")
    (tmp_path / "lines.csv").write_text('\ufeff{"id": 1, "text": "a"}\n')
    pq.write_table(pa.table({"text": [["a"]], "doc": [{"body": "a"}]}), tmp_path / "nested.parquet")
    (tmp_path / "excel.csv").write_text("\ufeffsep=;\r\nid;text\r\n1;a\r\n")
    (tmp_path / "excel-commas.csv").write_text("sep=,\nid,text\n1,a\n")
    for name, separator in (("semicolons.csv", ";"), ("bars.csv", "|"), ("tabs.csv", "\t"), ("commas.tsv", ",")):
        (tmp_path / name).write_text(f"id{separator}text\n1{separator}a\n")
    assert message in run(*shlex.split(arguments), "--dry-run", code=code).err


def test_csv_on_standard_input_is_answered_with_the_way_out(neardup):
    told = neardup("dedup", "-", "--dry-run", stdin=b"id,text\n1,a\n", code=1).err
    assert told.endswith("; name the format of CSV or TSV with --format\n")
    assert "nothing was written" not in told


def test_documents_with_the_id_of_an_earlier_one_are_counted(run, tmp_path):
    source = jsonl(tmp_path / "in.jsonl", [("a", "one"), ("b", "two"), ("a", "three")])
    assert "1  document with an id that occurs earlier in the inputs" in run(source, "--dry-run").out


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl.gz", b'{"text": "a"}\n', "rename it without this ending, or compress it"),
        ("a.jsonl", gzip.compress(b"{}", mtime=0), "rename it with the ending of its format"),
        ("a.csv", '"text"\n'.encode("utf-16"), "iconv -f UTF-16 -t UTF-8"),
    ],
)
def test_files_that_are_not_what_they_should_be(run, tmp_path, name, content, message):
    source = tmp_path / name
    source.write_bytes(content)
    shown = run(source, "--dry-run", code=1)
    assert shown.err.startswith(f"neardup: {source}: ")
    assert message in shown.err


def test_what_expands_beyond_the_cap_is_refused_and_the_cap_can_be_raised(run, tmp_path):
    source = tmp_path / "bomb.jsonl.gz"
    source.write_bytes(gzip.compress(b'{"text": "' + b"0" * 1_000_000 + b'"}\n'))
    assert "expands to more than 100,000 bytes; --max-bytes raises" in (
        run(source, "--dry-run", "--max-bytes", 100_000, code=1).err
    )
    assert "1  kept" in run(source, "--dry-run", "--max-bytes", 2_000_000).out


@pytest.mark.parametrize(
    ("place", "options", "advised"),
    [
        ("neardup.sources.jsonl.JsonLines.__init__", "", "split the input; or use dedup in pieces: add --memory SIZE"),
        ("neardup.pipeline.spilled.signing._of_piece", "--work w", "split the input; or use dedup in pieces"),
    ],
)
def test_an_input_for_which_there_is_not_enough_memory_is_named(run, monkeypatch, place, options, advised):
    Path("large.jsonl").write_text('{"text": "0"}\n')
    monkeypatch.setattr(place, Mock(side_effect=MemoryError))
    shown = run("large.jsonl", "--dry-run", *options.split(), code=1).err
    assert shown.startswith(f"neardup: large.jsonl: there is not enough memory for it; {advised}")


@pytest.mark.parametrize("long", [0, 60])
def test_a_run_in_pieces_prints_what_it_needs_unless_it_is_short(run, monkeypatch, source, long):
    monkeypatch.setattr("neardup.interfaces.cli.dedup._LONG", long)
    forecast = f"this run of about {len(TEXTS)} documents needs about 1 MB of disk, 1.4 GB of memory and 1 min"
    assert (forecast in run(source, "--dry-run", "--work", "w").err) == (not long)
    lines = [json.loads(line) for line in run(source, "--dry-run", "--work", "w", "--json").err.splitlines()]
    (found,) = (line for line in lines if line["stage"] == "forecast")
    assert found["documents"] == len(TEXTS)
    assert 0 < found["disk"] < 100_000
    assert found["seconds"] < 60


@pytest.mark.parametrize("asked", [True, False])
def test_a_continued_run_prints_what_is_finished(run, monkeypatch, source, asked):
    monkeypatch.setattr("neardup.pipeline.files.dedup._LARGE", 0)
    monkeypatch.setattr("neardup.pipeline.files.dedup.available_memory", lambda: 1000)
    monkeypatch.setattr("neardup.interfaces.cli.terminal._SHORT", 0)
    command = [source, "--out", "kept.jsonl", *(["--work", "w"] if asked else [])]
    folder = "w" if asked else "kept.jsonl.neardup-work"

    def interrupted():
        with monkeypatch.context() as patch:
            patch.setattr("neardup.pipeline.spilled.run.settle", Mock(side_effect=KeyboardInterrupt))
            run(*command, "--force", code=130)

    interrupted()
    line = f"the run in {folder} is continued: 1 of 1 part of the inputs have been read; documents have been compared\n"
    assert run(*command, "--force").err.count(line) == 1
    interrupted()
    lines = run(*command, "--force", "--json").err.splitlines()
    found = [json.loads(line) for line in lines if line.startswith("{")]
    stages = [one["stage"] for one in found]
    assert found[stages.index("continue")] == {
        "stage": "continue",
        "folder": folder,
        "read": 1,
        "shards": 1,
        "compared": True,
        "decided": False,
        "again": False,
    }
    assert {"forecast", "settle", "write"} <= {*stages}  # also if pieces were not asked for


def test_a_run_in_pieces_that_was_not_asked_for_is_forecast_and_can_begin_again(run, monkeypatch, source):
    with monkeypatch.context() as patch:
        patch.setattr("neardup.pipeline.files.dedup._LARGE", 0)
        patch.setattr("neardup.pipeline.files.dedup.available_memory", lambda: 1000)
        patch.setattr("neardup.pipeline.spilled.run.rank", Mock(side_effect=KeyboardInterrupt))
        shown = run(source, "--out", "kept.jsonl", code=130).err
    assert "so this is a run in pieces" in shown
    assert f"this run of about {len(TEXTS)} documents needs about" in shown
    with Path(source).open("a", encoding="utf-8") as file:
        file.write('{"text": "one more"}\n')
    refused = run(source, "--out", "kept.jsonl", code=2).err
    assert "was changed; the same command with --restart begins again" in refused
    run(source, "--out", "kept.jsonl", "--restart")
    assert not Path("kept.jsonl.neardup-work").exists()


def test_too_little_memory_for_a_run_names_the_run_in_pieces(run, monkeypatch, source):
    from neardup.pipeline.corpus import memory

    monkeypatch.setattr(memory, "_LARGE", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 1 << 20)
    shown = run(source, "--dry-run").err
    assert "but only 0.0 GB are available; to use less, run in pieces" in shown


def test_a_run_that_ends_for_lack_of_memory_names_what_needs_less(run, monkeypatch, source):
    monkeypatch.setattr("neardup.pipeline.files.dedup.decided_documents", Mock(side_effect=MemoryError))
    shown = run(source, "--dry-run", code=1).err
    assert "not enough memory; split the input; or use dedup in pieces: add --memory SIZE, or make it smaller" in shown


# Usage


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--shingle 0", "--shingle 0: the value must be an integer from 1 to 1,000"),
        ("--threshold nan", "--threshold nan: the value must be a number above 0"),
        ("--keep best", "--keep best: the value must be first, last"),
        ("--keep max:", "--keep 'max:': the value must be first, last"),
        ("--stem english --unit letter", "--stem english selects words, so it cannot be used with unit letter"),
        ("--seed 1 --key-file k", "--seed 1 cannot be used with --key-file: the key alone decides"),
        ("--key-file none.key", "none.key: the key cannot be read"),
        ("--fields a", "--fields a cannot be used with --scheme minhash, only with checksum"),
        ("--measure cosine --scheme minhash", "it has only resemblance; leave out --scheme: --measure chooses it"),
        ("--scheme checksum --fields a,a", "--fields a,a: the value must name each field once"),
        (
            "--scheme simhash --bag",
            "--bag cannot be used with --scheme simhash, only with minhash, fracminhash or trials",
        ),
        ("--scheme checksum --threshold 0.5", "cannot be used with --scheme checksum"),
        ("--scheme nilsimsa", "invalid choice: 'nilsimsa'"),
        ("--verify maybe", "invalid choice: 'maybe'"),
        ("--text id", "--text id: the value must be another field than the id"),
        ("--id text", "--id text: the value must be another field than the text"),
        ("--shingle three", "--shingle: 'three' is not an integer such as 20"),
        ("--report why.csv", "--report why.csv: the value must end in .parquet, or in .jsonl or .ndjson, which"),
        ("--report why.pdf", "followed by .gz, .zst, .bz2 or .xz, or in .html for a page"),
        ("--report no/such/why.jsonl", "its folder does not exist"),
        ("--report no/why.jsonl --memory 200M", "neardup: no/why.jsonl: its folder does not exist: "),
        ("--mark no/marked/", "neardup: no/marked/: its folder does not exist: "),
        ("--dropped gone.txt", "must end in a known format: .jsonl, .ndjson, .csv"),
        ("--dr", "unknown option --dr; did you mean --dropped?"),
        ("--x\x1b[31m", "unknown option --x\\x1b[31m"),
        (
            "--threads many",
            "--threads: 'many' is not an integer such as 20, 20M, 8e9 or 2^34; see `neardup dedup --help`\n",
        ),
        ("--memory 256", "--memory 256: the value must be an integer of at least 64,000,000 (bytes), such as 64M"),
        ("--for-index", "--for-index can only be used with a state; add --state DIR"),
        ("--revisits", "--revisits requires a web archive as output"),
        ("--ignore-common 0.1 --short 3", "--short-threshold is missing: short and short_threshold are used together"),
        ("--common absent.npz", "`neardup dedup --ignore-common S --common FILE` writes such a file"),
        ("--threshold 60", "--threshold 60: the value must be a number above 0 and at most 1; for 60 % write 0.6"),
        ("--threshold 0,8", "--threshold: '0,8' is not a number; write 0.8, with a point"),
        ("--threshold '80 percent'", "--threshold: '80 percent' is not a number"),
        ("--thresh 0.8", "unknown option --thresh; did you mean --threshold?"),
        ("--treshold 0.8", "unknown option --treshold; did you mean --threshold?"),
        ("--ouput k", "unknown option --ouput; did you mean --out?"),
        ("--num_perm 128", "unknown option --num_perm; did you mean --permutations?"),
        ("--ngram 5", "unknown option --ngram; did you mean --shingle?"),
        ("-o k", "unknown option -o; did you mean --out?"),
        ("--out ''", "--out: the path is empty"),
        ("--glob ''", "--glob: the pattern is empty"),
        ("--glob *.py", "--glob *.py can only be used with folders; the inputs are jsonl"),
        ("--keep-work", "--keep-work can only be used with a named work folder; add --work DIR"),
    ],
)
def test_wrong_usage_says_which_rule_is_broken(run, tmp_path, source, options, message):
    shown = run(source, "--dry-run", *shlex.split(options), code=2)
    assert message in shown.err
    assert ESCAPE not in shown.err
    assert shown.err.startswith("neardup: ")
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert names(tmp_path) == ["in.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("in.jsonl", "--out is needed: a path for the kept documents, or --dry-run to write none"),
        ("none.jsonl --dry-run", "none.jsonl: there is no such file or folder"),
        ("*.parquet --dry-run", "*.parquet: no file matches this pattern"),
        ("notes.doc --dry-run", "notes.doc: its name does not end in a known format: .jsonl"),
        ("- - --dry-run", "must name standard input only once"),
        ("in.jsonl --out kept.xml", "--out kept.xml: the value must end in a known format: .jsonl, .ndjson"),
        ("in.jsonl --out in.csv/kept.jsonl", "in.csv is a file"),
        ("in.jsonl --out old.jsonl", "old.jsonl: it exists already; --force replaces it"),
        ("in.jsonl --dry-run --report old.jsonl", "old.jsonl: it exists already"),
        ("in.jsonl --dry-run --dropped old.jsonl", "old.jsonl: it exists already"),
        ("in.jsonl --force --out in.jsonl", "in.jsonl: it is one of the inputs"),
        ("in.jsonl --force --dry-run --report in.jsonl", "in.jsonl: it is one of the inputs"),
        ("in.jsonl --force --dry-run --dropped in.jsonl", "in.jsonl: it is one of the inputs"),
        ("in.jsonl --out new.jsonl --report new.jsonl", "--out and --report must be different paths"),
        ("in.jsonl --dry-run --report new.jsonl --dropped new.jsonl", "--report and --dropped must be different paths"),
        ("in.jsonl --force --out old.jsonl --report old-link.jsonl", "--out and --report must be different paths"),
        ("in.jsonl --out - --report -", "--out and --report cannot both be standard output (-)"),
        ("pages --out pages/kept", "it is inside the input folder"),
        ("pages --out kept --report kept/why.jsonl", "--out and --report must be different paths"),
        ("pages --dry-run --report pages/why.html", "it is inside the input folder"),
        ("in.jsonl --dry-run --report old.html", "old.html: it exists already; --force replaces it"),
        (
            "in.jsonl --out new.jsonl --report new.html --dropped new.html/x.jsonl",
            "--report and --dropped must be different paths",
        ),
        ("in.jsonl --dry-run --report no/such/why.html", "its folder does not exist"),
        ("pages --out -", "must be the name of a folder"),
        ("pages --dry-run --mark marked", "the value must be a table, such as marked.jsonl"),
        ("pages --dry-run --format csv", "--format csv can only be used with files and standard input"),
        ("pages --dry-run --text none", "--text none can only be used with tables: "),
        ("in.csv --dry-run --threads 0", "threads 0"),  # reading this file ends with code 1
        (
            "in.csv --dry-run --scheme checksum --ignore-common 0.1",
            "neardup: --ignore-common 0.1 cannot be used with --scheme checksum: it compares fields, not shingles\n",
        ),
        ("pages --out . --force", "it exists already, and a folder of documents is never written"),
    ],
)
def test_wrong_paths_are_refused_before_anything_is_read_or_written(run, tmp_path, source, arguments, message):
    for name in ("in.csv", "notes.doc", "old.jsonl", "old.html"):
        (tmp_path / name).write_text("as it was")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.txt").write_text(STORM)
    (tmp_path / "old-link.jsonl").symlink_to("old.jsonl")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    shown = run(*arguments.split(), code=2)
    assert message in shown.err
    assert shown.err.startswith("neardup: ")
    assert shown.err.count("\n") == 1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_page_that_cannot_be_written_leaves_nothing_else(run, tmp_path, source):
    (tmp_path / "full.html").symlink_to("/dev/full")
    shown = run(source, "--out", "k.jsonl", "--dropped", "d.jsonl", "--report", "full.html", code=1)
    assert shown.err == f"neardup: full.html: it cannot be written: No space left on device; {MAKE_ROOM}{NEED_FORCE}\n"
    assert names(tmp_path) == ["full.html", "in.jsonl"]


@pytest.mark.parametrize("options", [["--out", "/dev/full"], ["--out", "k.jsonl", "--report", "/dev/full"]])
def test_a_full_disk(run, tmp_path, source, options):
    shown, needs = run(source, *options, code=1), NEED_FORCE if "--report" in options else ""
    assert shown.err == f"neardup: /dev/full: it cannot be written: No space left on device; {MAKE_ROOM}{needs}\n"
    assert names(tmp_path) == ["in.jsonl"]


def test_hostile_names_cannot_steer_the_terminal(run, tmp_path):
    source = tmp_path / f"a{ESCAPE}[2J{OVERRIDE}[red]\n.jsonl"
    source.write_text('{"te\\u001b[31mxt": "a"}\nbroken\n')
    shown = run(source, "--dry-run", code=1)
    assert "there is no field 'text'; the fields are: te\\x1b[31mxt" in shown.err
    source.write_text('{"text": "a"}\nbroken\n')
    shown = run(source, "--dry-run", code=1)
    assert "a\\x1b[2J\\u202e[red] .jsonl:2: it is not valid JSON" in shown.out
    for shown in (run(source, "--dry-run", code=1), run(source, "--dry-run", "--json", code=1)):
        assert ESCAPE not in shown.all
        assert OVERRIDE not in shown.all
    raw = tmp_path / "latin-\udce9.jsonl"
    raw.write_text('{"text": "a"}\nbroken\n')
    assert "latin-\\xe9.jsonl:2" in run(raw, "--dry-run", code=1).out


def test_records_without_text_are_counted_apart(run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "one two"}\n{"txt": "a"}\n{"text": null}\n{"text": ""}\n')
    told = run(path, "--dry-run").out
    assert "1  empty, kept" in told
    assert f"2  without text, kept: field 'text' missing or null, first in {path}:2" in told
    found = run(path, "--dry-run", "--json").json
    assert found["without_text"] == {"records": 2, "source": str(path), "position": 2, "field": "text"}
    run(path, "--dry-run", "--report", tmp_path / "page.html")
    assert "without text, kept" in (tmp_path / "page.html").read_text()


def test_a_scheme_of_fields_counts_documents_without_a_required_field(run, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"title": "T", "text": "one"}\n{"title": "T"}\n{"title": "U", "text": null}\n{"text": "one"}\n{}\n'
    )
    told = run(path, "--dry-run", "--scheme", "checksum", "--fields", "title").out
    assert "1  dropped: near duplicate, equal checksum" in told
    assert "2  without a field that the scheme requires, kept" in told
    assert f"3  without text: field 'text' missing or null, first in {path}:2" in told
    assert "empty, kept" not in told
    assert "no words" not in told


@pytest.mark.parametrize("option", ["--part-size 5", "--out-format jsonl"])
def test_options_of_outputs_need_an_output(run, source, option):
    words = f"{option} needs an output that is a folder; there is no output"
    assert words in run(source, "--dry-run", *option.split(), code=2).err
    assert words in run(source, "--out", "kept", "--dry-run", *option.split(), code=2).err
    run(source, "--dry-run", "--dropped", "dropped", *option.split())


@pytest.mark.parametrize("option", [["--memory", "1G"], ["--restart"]])
def test_options_of_runs_in_pieces_request_one(run, tmp_path, monkeypatch, source, option):
    monkeypatch.setattr("neardup.interfaces.cli.terminal._SHORT", 0)
    usual, asked = (run(source, "--out", "kept.jsonl", "--force", *more).out for more in ([], option))
    assert asked.splitlines()[:-1] == usual.splitlines()[:-1]
    lines = run(source, "--out", "kept.jsonl", "--force", "--json", *option).err.splitlines()
    assert any(json.loads(line)["stage"] == "settle" for line in lines)
    assert names(tmp_path) == ["in.jsonl", "kept.jsonl"]
