import gzip
import inspect
import os
import re
import shutil
import threading
from argparse import Namespace
from importlib import import_module
from pathlib import Path
from unittest.mock import Mock

import pytest

from neardup.interfaces import cli
from neardup.interfaces.cli import main, options
from neardup.interfaces.cli.advice import advice, advice_on_quotes, advice_on_rejected, more_memory
from neardup.model.changes import Change
from neardup.model.errors import (
    DataError,
    ExtraMissing,
    FieldMissing,
    OutputError,
    OutputRefused,
    OutputsOverlap,
    ParameterConflict,
    ParameterError,
    QueryTimeout,
    RunChanged,
    StorageDamaged,
    StorageFailed,
    StorageRefused,
)
from neardup.sources.record_faults import QuotedLines, Rejected, nothing_left

DEDUP = Namespace(verb="dedup", text="text", id="id", quoting="auto")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            ParameterError("min_length", 0, "must be an integer of at least 1"),
            "--min-length 0: the value must be an integer",
        ),
        (ExtraMissing("resiliparse", "warc"), "'neardup[warc]'; or use --text-view visible, which needs no library"),
        (ParameterError("threshold", 80.0, "must be at most 1"), "--threshold 80: the value must be at most 1"),
        (ParameterError("stem", "", "must be one of english"), "--stem '': the value must be one of english"),
        (
            ParameterConflict("representative", "closest", "gather", "components"),
            "--representative closest cannot be used with --gather components",
        ),
        (ParameterError("bag", None, "does not go with this"), "--bag does not go with this"),
        (ParameterError("fields", ["a", "b"], "must have different names"), "fields a b must have different names"),
        (ParameterError("field", "id", "must not contain"), "--id id: the value must not contain"),
        (ParameterError("field", "body", "must not contain"), "field body must not contain"),
        (ParameterError("text", "x" * 500, "must be short"), f"--text {'x' * 200}...: the value must be short"),
        (QueryTimeout(1.5), "the search was stopped after 1.5 seconds; use fewer or rarer words"),
        (
            OutputError("out.jsonl", "its folder is not writable", "permission"),
            "change its permissions, name another path",
        ),
        (StorageFailed("log", "cannot be written"), "log cannot be written"),
        (StorageFailed("folder", "2 GB are needed", "no room"), "needed; make room; run the same command again"),
        (OutputError.by(OSError(28, "No space left"), "out.jsonl"), "make room; run the same command again"),
        (
            DataError.by(PermissionError(13, "no"), "in.jsonl"),
            "Permission denied; change its permissions, name another",
        ),
        (DataError("a.jsonl", "is a JSON array", "json array"), "convert it: jq -c '.[]' a.jsonl > lines.jsonl"),
        (DataError("a.jsonl", "is", "json over lines"), "convert it: jq -c . a.jsonl > lines.jsonl"),
        (DataError("my pages.jsonl", "is", "json over lines"), "convert it: jq -c . 'my pages.jsonl' > lines.jsonl"),
        (DataError("http://a.example/a.jsonl", "is", "json over lines"), "convert it: jq -c . FILE > lines.jsonl"),
        (DataError("a.jsonl", "is", "utf-32"), "iconv -f UTF-32 -t UTF-8"),
        (DataError("a.jsonl", "is", "utf-16be"), "iconv -f UTF-16BE -t UTF-8"),
        (DataError("a.jsonl:3", "is wrong"), "a.jsonl:3 is wrong"),
        (DataError("a.jsonl:3", "it is wrong"), "a.jsonl:3: it is wrong"),
        (
            RunChanged("work", [Change("setting", "max_bytes", 5, 6), Change("added", "b.jsonl")]),
            "--max-bytes was 5 and is 6; b.jsonl was added; the same command with --restart begins again",
        ),
        (
            RunChanged("work", [Change("time", "a b.jsonl", 1_700_000_001_000_000_007, 5)]),
            "if its content is the same, restore its time: touch -d @1700000001.000000007 'a b.jsonl'; otherwise",
        ),
        (DataError("b.csv", "its header differs", "other columns"), "name a .jsonl file, or a folder, which receives"),
        (ParameterError("output", "kept", "must end in .csv", "output ending"), "the name of a folder of outputs has"),
        (OutputRefused("kept", "it is a folder", "folder"), "it is a folder; name a file in it"),
        (DataError("data", "holds", "mixed folder"), "name the tables by a pattern, or choose the texts"),
        (
            ParameterError("templates", 1, "has another view", "other view"),
            "leave out --text-view, or use the view of the templates",
        ),
        (DataError("a.csv", "begins with {", "json as table"), "to read it as JSON lines, use --format jsonl"),
        (StorageRefused("seen", "was created with a key", "key needed"), "name the file of its key with --key-file"),
        (StorageRefused("seen", "is of format 1", "older format"), "make the index again from its documents"),
        (StorageRefused("seen", "is an index already", "index exists"), "run the same command again"),
        (StorageRefused("w", "files are missing", "decisions damaged"), "add --force and --keep-work to its command"),
        (StorageDamaged("split", "it is missing", "run damaged"), "the same command with --restart begins again"),
        (DataError("a", "only Parquet can keep them", "only Parquet"), "name an output that ends in .parquet"),
        (
            FieldMissing("a.jsonl", "is missing", "field", "text", ("Text", "id")),
            "--text names the field of the text, such as --text Text",
        ),
    ],
)
def test_what_to_do_next(error, words):
    assert words in advice(error, DEDUP)


@pytest.mark.parametrize("verb", ["dedup", "pairs"])
def test_on_a_full_disk_a_run_in_pieces_continues(verb):
    error = OutputError.by(OSError(28, "No space left"), "out.jsonl")
    words = "make room; the same command continues the run in w"
    assert advice(error, Namespace(verb=verb, work="w")).endswith(words)


@pytest.mark.parametrize(
    ("field", "given", "words"),
    [
        ("representative", {"verb": "mirrors"}, "this must be a report that `neardup dedup --report` has written"),
        ("representative", {"verb": "rules"}, "this must be a report that"),
        ("address", {"verb": "mirrors", "url": "address"}, "--url names the field of the URL"),
        ("position", {"verb": "audit", "text": "text", "id": "id"}, "this must be a report that"),
        ("rule", {"verb": "audit", "text": "rule", "id": "id"}, "--text names the field of the text"),
        ("body", {"verb": "pairs", "text": "body"}, "--text names the field of the text"),
        ("html", {"verb": "templates"}, "--html names the field of the HTML"),
        ("page", {"verb": "templates", "html": "page"}, "--html names the field of the HTML"),
        ("canonical", {"verb": "dedup", "keep": "canonical,max:n"}, "--keep canonical ranks by this field"),
        ("a:b", {"verb": "index", "field": ["a:b:string"]}, "--field names the fields to store"),
    ],
)
def test_the_option_that_names_a_missing_field(field, given, words):
    assert words in advice(FieldMissing("a.jsonl", "is missing", "field", field, ("a", "b")), Namespace(**given))


def test_a_strict_run_names_the_way_to_read_the_other_records():
    words = "leave out --strict: such records are then rejected"
    error = DataError("a.jsonl:2", "it is not valid JSON", "json")
    assert words in advice(error, Namespace(**vars(DEDUP), strict=True))
    assert words not in advice(error, DEDUP)


def test_an_index_with_too_few_keys_names_the_settings():
    error = StorageRefused("seen", "has keys for a distance of 3, not for 4", "too few keys")
    assert "lower recall, or leave out the threshold, the distance and needed; or make another" in advice(
        error, Namespace(verb="index")
    )


def test_outputs_are_named_by_their_options():
    error = OutputsOverlap("kept", "out", "host-urlnormalizer.txt")
    rule = "must be different paths, and neither inside the other"
    assert str(error) == f"kept: out and host-urlnormalizer.txt {rule}"
    assert advice(error, Namespace(verb="rules", out="kept")) == f"kept: --out and host-urlnormalizer.txt {rule}"


def test_a_damaged_state_is_not_rescued():
    of_state = Namespace(verb="index", to="seen", **{"from": "crawls"})
    error = StorageDamaged("crawls/state.json", "it is missing: restore the state from a copy")
    assert advice(error, of_state) == str(error)
    assert "neardup rescue seen TO" in advice(StorageDamaged("seen/manifest.json", "is missing"), of_state)


def test_lines_that_were_answered_before_a_disk_was_full_are_skipped():
    full = OutputError.by(OSError(28, "No space left"), "seen/log")
    way_out = "make room; continue with --skip N, where N is the line of the last answer (a page that was admitted"
    assert way_out in advice(full, Namespace(verb="seen", index="seen", admit=True))
    assert "--skip" not in advice(full, Namespace(verb="index", to="seen"))


def test_the_command_that_builds_a_search_table_names_the_index():
    error = StorageRefused("my index", "has no search table; build it", "search table")
    assert advice(error, Namespace(verb="search", index="my index")).endswith("; build it: neardup reindex 'my index'")


def test_verbs_that_read_no_files_do_not_name_their_options():
    error = DataError("a.gz", "expands to more than 8 GiB", "too large")
    assert "--max-bytes" in advice(error, DEDUP)
    assert "--max-bytes" not in advice(error, Namespace(verb="compare"))


OWN = re.compile(r"--[a-z][a-z-]*")
COMMANDS = re.compile(r"`?neardup [a-z][^;:,`]*")  # whose options are their own
SOURCE = import_module("neardup.interfaces.cli.advice")  # whose name in the package is that of its function
CODES_OF_READING = {"mixed folder", "too large", "ending", *SOURCE._IN_SITUATIONS["reading"], *SOURCE._OF_READ_RECORDS}


def options_of(verb):
    """The parser of a verb, and its options."""
    _, verbs = cli._parsers([verb])
    cli._describe(import_module(f"neardup.interfaces.cli.{verb}"), verbs[verb])
    return verbs[verb], {*OWN.findall(verbs[verb].format_help())}


def test_advice_names_options_that_exist():
    known = [options_of(verb)[1] for verb in cli._VERBS]
    texts = {*SOURCE._NEXT.values(), *(text for one in SOURCE._IN_SITUATIONS.values() for text in one.values())}
    for text in texts:
        named = {*OWN.findall(COMMANDS.sub("", text))}
        assert any(named <= one for one in known), text


@pytest.mark.parametrize("verb", cli._VERBS)
def test_advice_on_inputs_names_only_options_of_the_verb(verb):
    parser, known = options_of(verb)
    given = Namespace(verb=verb, **{action.dest: action.default for action in parser._actions})
    vars(given).update({name: "x" for name in ("text", "id", "index", "to") if name in given})
    for name in [name for name, value in vars(given).items() if value == "==SUPPRESS=="]:
        delattr(given, name)
    for code in CODES_OF_READING:
        advised = [advice(DataError("a.csv", "is wrong", code), given)]
        advised += [advice(nothing_left(["a.csv"], [Rejected("a.csv", 2, "why", code)]), given)]
        advised += advice_on_rejected([Rejected("a.csv", 1, "why", code)], given)
        for text in advised:
            assert {*OWN.findall(COMMANDS.sub("", text))} <= known, (code, text)
    module = import_module(f"neardup.interfaces.cli.{verb}")
    if re.search(r"note_quoted_lines|texts_of|read_inputs", inspect.getsource(module)):
        assert {*OWN.findall(advice_on_quotes(3))} <= known


def test_most_verbs_with_files_have_the_options_of_advice():
    verbs = [
        verb for verb in cli._VERBS if options.QUOTING in getattr(import_module(f"{cli.__name__}.{verb}"), "USAGE", "")
    ]
    assert {*verbs} == {"dedup", "pairs", "contamination", "audit", "label", "tune", "index", "seen"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"verb": "dedup", "inputs": ["a.jsonl"]}, "add --memory SIZE, or make it smaller"),
        ({"verb": "index", "inputs": ["a.jsonl"]}, "make --memory smaller, or split the input"),
        ({"verb": "compact", "folder": "seen"}, "free some, or raise its limit"),
    ],
)
def test_too_little_memory_for_a_command(given, words):
    assert more_memory(Namespace(**given)).endswith(words)


def test_the_list_of_a_share():
    share = ParameterError("ignore_common", 0.01, "cannot be used", "share with state")
    words = "--dry-run --work DIR --ignore-common 0.01 --common common.npz, with the options of the scheme; then add"
    assert words in advice(share, Namespace(verb="dedup", work="w"))


def test_the_size_and_the_format_of_parts():
    error = ParameterError("part_size", 10**6, "requires a format", "parts of texts")
    words = "--part-size 1M requires a format; --out-format names it, such as --out-format jsonl"
    assert advice(error, Namespace(verb="dedup", work="w")) == words


def test_rejected_records_are_explained_once_for_each_code():
    rejected = [Rejected("a.csv", 1, "too long", "too large"), Rejected("a.csv", 2, "too long", "too large")]
    assert advice_on_rejected(rejected, DEDUP) == ["--max-bytes raises the cap"]
    assert advice_on_rejected([Rejected("a.csv", 1, "other", "other")], DEDUP) == []
    [hint] = advice_on_rejected([Rejected("a.jsonl", 1, "it is not valid UTF-8", "encoding")], DEDUP)
    assert "iconv -f WINDOWS-1252 -t UTF-8" in hint
    assert "such as PDF, extract the text first" in hint
    [hint] = advice_on_rejected([Rejected("a.jsonl", 1, "its 'messages' must be a string, not a list", "type")], DEDUP)
    assert "an id as a string or a number" in hint
    [hint] = advice_on_rejected([Rejected("a.txt", 1, "it is UTF-16 text", "utf-16")], DEDUP)
    assert "iconv -f UTF-16 -t UTF-8" in hint


@pytest.mark.parametrize(
    ("code", "words"), [("encoding", "iconv -f WINDOWS-1252"), ("utf-16", "iconv -f UTF-16"), ("json", "")]
)
def test_if_all_records_are_rejected_the_first_is_explained(code, words):
    shown = advice(nothing_left(["a.csv"], [Rejected("a.csv", 2, "why", code)]), Namespace(verb="dedup"))
    begin, _, following = shown.partition("; nothing was written")
    assert begin == "a.csv: its only record, a.csv:2, was rejected: why"
    assert words in following
    assert bool(words) == bool(following)


def test_records_over_several_lines_are_counted():
    assert advice_on_quotes(QuotedLines(1, "a.tsv", 3, 1200)).startswith("1 record has line ends")
    assert "lines 3 to 1,200 of a.tsv" in advice_on_quotes(QuotedLines(1500, "a.tsv", 3, 1200))


def test_a_stream_that_is_compressed_is_to_be_expanded(neardup, tmp_path):
    packed = gzip.compress(b'{"text": "one two"}\n')
    (tmp_path / "a.jsonl").write_bytes(packed)
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(packed,))
    writer.start()
    way_out = "leave out --format, and name the file with the ending of its format; or expand it first: zcat FILE |"
    for name in ("a.jsonl", "pipe"):
        assert neardup("dedup", name, "--format", "jsonl", "--dry-run", code=1).err.endswith(
            f"gzip; {way_out} neardup ...\n"
        )
    writer.join()


def test_another_view_replaces_only_the_library_of_main_text():
    assert "--text-view" not in advice(ExtraMissing("starlette", "web"), Namespace(verb="serve", text_view="auto"))


_SWALLOWING = """id,text
0,one two three four five six
1,"one two three four five six
2,The only copy
3,5 inches"
4,one two three four five seven
"""
_NOTE = "neardup: 1 record has line ends inside quotation marks"
_ROW = "1  record with line ends inside quotation marks"


@pytest.mark.parametrize(
    ("command", "rows"),
    [
        ("dedup in.csv --dry-run", 1),
        ("index in.csv --to index", 1),
        ("pairs in.csv --out pairs.jsonl", 1),
        ("pairs in.csv --out pairs.jsonl --work work", 1),
        ("pairs other.csv in.csv --out pairs.jsonl", 1),
        ("contamination in.csv --against other.csv", 1),
        ("contamination other.csv --against in.csv", 1),
        ("audit in.csv", 0),
        ("label in.csv --out labels.jsonl", 0),
    ],
)
def test_every_command_notes_line_ends_inside_quotes(neardup, tmp_path, command, rows):
    (tmp_path / "in.csv").write_text(_SWALLOWING)
    (tmp_path / "other.csv").write_text("id,text\n9,one two three four five six\n")
    shown = neardup(*command.split(), stdin=b"")
    assert shown.err.count(_NOTE) == 1
    assert shown.out.count(_ROW) == rows
    if command.startswith(("audit", "label")):
        return
    (tmp_path / "pairs.jsonl").unlink(missing_ok=True)
    told = neardup(*command.split(), "--json", stdin=b"").json["quoted_lines"]
    assert told == {"records": 1, "source": "in.csv", "first": 3, "last": 5}
    (tmp_path / "pairs.jsonl").unlink(missing_ok=True)
    assert _NOTE not in neardup(*command.split(), "--quoting", "minimal", stdin=b"").err


def test_line_ends_inside_quotes_are_noted_for_audits_and_pages(neardup, tmp_path):
    (tmp_path / "in.csv").write_text(_SWALLOWING)
    assert "1 record with line ends inside quotation marks" in neardup("audit", "in.csv").out
    assert neardup("audit", "in.csv", "--json").json["quoted_lines"] == 1
    (tmp_path / "other.csv").write_text("id,text\n9,one two three four five six\n")
    neardup("index", "other.csv", "--to", "index")
    for _ in range(2):
        shown = neardup("seen", "index", "in.csv", "--admit").err
        assert _NOTE in shown
        assert _ROW.split("  ")[1] in shown


TEXTS = "".join(f'{{"id": "{name}", "text": "the {name} of this harbour"}}\n' for name in ("boats", "pilots"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make a folder of each kind, once."""
    folder = tmp_path_factory.mktemp("kinds")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("pages.jsonl").write_text(TEXTS)
        Path("empty").mkdir()
        assert main(["index", "pages.jsonl", "--to", "seen"]) == 0
        assert main(["dedup", "pages.jsonl", "--out", "kept.jsonl", "--state", "crawls"]) == 0
        assert main(["dedup", "pages.jsonl", "--out", "kept2.jsonl", "--work", "run", "--keep-work"]) == 0
    return folder


@pytest.fixture
def kinds(made, tmp_path):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)


@pytest.mark.usefixtures("kinds")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            "stats crawls",
            "crawls is not an index: it has no manifest; to describe a state: neardup state info crawls; to make",
        ),
        (
            "rescue empty new",
            "empty is not an index: it has no manifest; to create an index: neardup index INPUT --to DIR",
        ),
        ("rescue pages.jsonl new", "is a file, not the folder of an index; to create an index: neardup index"),
        ("rescue none new", "there is nothing at this path; to create an index: neardup index"),
        ("index pages.jsonl --to crawls", "is a state; name another folder for an index, and fill it from the state"),
        (
            "state info seen",
            "seen: it is an index, not a state of neardup; to describe an index: neardup stats seen; dedup",
        ),
        ("state info run", "run: it is not a state of neardup; to audit the run of a work folder: neardup audit"),
        (
            "state info empty",
            "it is not a state of neardup; to create a state: neardup dedup INPUT --out KEPT --state DIR",
        ),
        ("state info pages.jsonl", "pages.jsonl: it is a file; a state is a folder; to create a state: neardup dedup"),
        ("state compact none", "none: there is no such folder; to create a state: neardup dedup"),
        ("dedup pages.jsonl --out new.jsonl --state .", "it is not a state of neardup; to create a state: neardup"),
        ("dedup pages.jsonl --dry-run --against run", "--against run is the work folder of a run; compare with a"),
        ("state forget pages.jsonl --before 2020-01-01", "it is a file; a state is a folder"),
        ("work seen", "it is not a work folder: it contains 'log-00000001'; name a new folder for --work"),
        ("work .", "it is not a work folder: it contains 'crawls'; name a new folder for --work"),
        ("pairs pages.jsonl --out new.jsonl --work pages.jsonl", "pages.jsonl: it is a file; name a new folder"),
        ("dedup pages.jsonl --out new.jsonl --work pages.jsonl", "pages.jsonl: it is a file; name a new folder"),
        ("audit pages.jsonl --of empty", "empty is not a kept work folder or the folder of a report"),
        ("audit pages.jsonl --of crawls", "crawls is a state; name the report of the run"),
        ("audit pages.jsonl --of seen", "seen is not a kept work folder or the folder of a report; name the report"),
        ("remove seen --ids empty", "empty: it is a folder, not a file; name a file in it"),
        ("remove seen --ids *.jsonl", "*.jsonl: there is no such file"),
        ("dedup pages.jsonl --dry-run --key-file empty", "the key cannot be read: Is a directory; name a file in it"),
        ("dedup pages.jsonl --dry-run --common empty", "cannot be read: Is a directory; name a file in it"),
        ("pairs pages.jsonl --out empty", "and the output is a file; name a file in it\n"),
        ("config check empty", "empty: the settings cannot be read: Is a directory; name a file in it"),
    ],
)
def test_the_command_for_this_kind_of_folder(neardup, command, words):
    assert words in neardup(*command.split(), code=2).err


@pytest.mark.usefixtures("kinds")
@pytest.mark.parametrize(
    "command",
    [
        "dedup {0} --out new.jsonl",
        "dedup pages.jsonl --dry-run --stop-words {0}",
        "mirrors {0} --out new.jsonl",
        "dedup pages.jsonl --out {0}",
        "dedup pages.jsonl --out {0}/new.jsonl",
        "dedup pages.jsonl --dry-run --work {0}",
        "dedup pages.jsonl --out new.jsonl --state {0}",
        "dedup pages.jsonl --dry-run --against {0}",
        "dedup pages.jsonl --dry-run --config {0}",
        "index pages.jsonl --to {0}",
        "work {0}",
        "copy seen {0}",
        "check {0}",
        "serve {0} --port 0",
    ],
)
def test_a_name_that_no_file_can_have_is_wrong_usage(neardup, tmp_path, command):
    before = {*tmp_path.rglob("*")}
    refused = neardup(*command.format("x" * 256).split(), code=2).err
    assert "xxx" in refused
    assert refused.endswith(": its name is too long for the file system; choose a shorter one\n")
    assert {*tmp_path.rglob("*")} == before


def test_a_folder_that_the_user_may_not_look_into_needs_no_commands(monkeypatch):
    monkeypatch.setattr("pathlib.Path.is_file", Mock(side_effect=PermissionError(13, "Permission denied")))
    error = DataError("folder", "contains no texts", "folder of other files")
    assert advice(error, DEDUP) == "folder: contains no texts; --glob reads others as text, such as --glob '*.py'"


def test_an_audit_reads_what_its_run_has_read():
    error = DataError("a.jsonl", "it was changed after the run had begun", "changed")
    assert advice(error, Namespace(verb="audit", text="text", id="id")).endswith("or repeat the run and then the audit")


def test_a_system_without_a_folder_for_temporary_files_is_explained(crawl, capsys, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", list)
    monkeypatch.setattr("neardup.interfaces.cli._abandon_stdout", lambda: None)
    assert main(["dedup", str(crawl / "crawl.warc.gz"), "--dry-run"]) == 1
    assert "that for temporary files: it was removed, or cannot be written" in capsys.readouterr().err


def test_a_current_folder_that_was_removed_is_named(tmp_path, capsys, monkeypatch):
    (tmp_path / "removed").mkdir()
    monkeypatch.chdir(tmp_path / "removed")
    (tmp_path / "removed").rmdir()
    monkeypatch.setattr("neardup.interfaces.cli._abandon_stdout", lambda: None)
    assert main(["warm"]) == 1
    assert "the current folder, or that for temporary files: it was removed" in capsys.readouterr().err
