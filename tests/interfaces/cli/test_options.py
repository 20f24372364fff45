import argparse
from pathlib import Path

import pytest
from json_lines import write_lines

from neardup import Index, MinHash
from neardup.errors import StorageError
from neardup.interfaces.cli.options import CRAWLED, INDEX, KEYED_INDEX, NEEDS_WORK, WORK, crawled_of, opened, refuse
from neardup.interfaces.cli.usage import add_usage
from neardup.model.errors import ParameterError

DOCUMENTS = [
    "A storm took three fishing boats",
    "Bakers ask for more rye this year",
    "Seven herons stood in the shallow water",
    "The mayor opened a bridge on Sunday",
]


def parsed(usage, *given):
    parser = argparse.ArgumentParser()
    add_usage(parser, usage)
    return parser.parse_args([*map(str, given)])


def test_an_index_is_opened_with_the_key_that_is_named(tmp_path):
    Index.create(tmp_path / "index", MinHash(key=bytes(16))).close()
    (tmp_path / "key").write_bytes(bytes(16))
    with opened(parsed(KEYED_INDEX, tmp_path / "index", "--key-file", tmp_path / "key"), "w") as index:
        index.admit(["a"], ["one two three"])
    with pytest.raises(StorageError, match="was created with a secret key"):
        opened(parsed(KEYED_INDEX, tmp_path / "index"), "r")


def test_a_verb_may_need_no_key():
    assert vars(parsed(INDEX, "folder")) == {"index": "folder"}
    with pytest.raises(SystemExit):
        parsed(INDEX, "folder", "--key-file", "key")


@pytest.mark.parametrize(("options", "name"), [([], "a"), (["--url", "address"], "b")])
def test_an_option_names_the_column_of_urls_in_a_report(tmp_path, options, name):
    report = tmp_path / "why.jsonl"
    report.write_text('{"id": "http://a/1", "address": "http://b/1", "representative": null}\n')
    assert list(crawled_of(parsed(CRAWLED, report, *options)).urls) == [f"http://{name}/1"]


def test_the_options_of_a_work_folder():
    usage = WORK % {"large": "large inputs: keep files", "unless": "", "runs": "in pieces"}
    assert vars(parsed(usage)) == {"restart": False}
    given = parsed(usage, "--work", "w", "--memory", "2M", "--restart")
    assert vars(given) == {"work": "w", "memory": 2_000_000, "restart": True}
    assert "for large inputs: keep files in DIR" in " ".join(usage.split())


def test_none_of_them_is_used_without_a_folder():
    refuse({"restart": False}, ("memory", "restart"), NEEDS_WORK)
    for given, name in (({"restart": True}, "restart"), ({"restart": False, "memory": 5}, "memory")):
        with pytest.raises(ParameterError, match="can only be used with a work folder") as caught:
            refuse(given, ("memory", "restart"), NEEDS_WORK)
        assert caught.value.name == name


@pytest.fixture
def source(tmp_path):
    path = write_lines(tmp_path / "in.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(DOCUMENTS)])
    path.with_name("copy.jsonl").write_bytes(path.read_bytes())
    return path


@pytest.mark.parametrize(
    "ways", [["--url", "address"], ["--text-view", "main"], ["--glob", "*.py"], ["--quoting", "none"]]
)
@pytest.mark.parametrize(
    "verb",
    [
        ["dedup", "in.jsonl", "--dry-run"],
        ["dedup", "in.jsonl", "--dry-run", "--work", "work"],
        ["dedup", "in.jsonl", "--dry-run", "--against", "copy.jsonl"],
        ["index", "in.jsonl", "--to", "seen"],
        ["pairs", "in.jsonl", "--out", "pairs.jsonl"],
        ["pairs", "in.jsonl", "copy.jsonl", "--out", "pairs.jsonl", "--work", "work"],
        ["audit", "in.jsonl"],
        ["contamination", "in.jsonl", "--against", "in.jsonl"],
    ],
)
def test_options_for_other_inputs_are_refused(neardup, source, verb, ways):
    rules = {
        "--url": "needs --html FIELD, the pages of a table; for URLs as ids use --id",
        "--text-view": "can only be used with web pages: archives, folders, or a field of HTML",
        "--glob": "can only be used with folders; the inputs are jsonl",
        "--quoting": "can only be used with CSV and TSV; the inputs are jsonl",
    }
    if verb[0] == "contamination":
        rules["--url"] = "needs --templates FILE: it is used only to find the template of the host of a page"
    if (verb[0], ways[0]) != ("index", "--url"):  # there it is the id
        assert f"{' '.join(ways)} {rules[ways[0]]}" in neardup(*verb, *ways, code=2).err
        assert not Path("work").exists()


def test_options_may_be_for_some_of_the_inputs(neardup, source, tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<p>This page has a few words of its own.")
    ways = ("--glob", "*.html", "--text-view", "visible")
    neardup("dedup", "pages", "--against", source, "--dry-run", *ways)
    neardup("contamination", source, "--against", "pages", *ways)
    neardup("pairs", "pages", source, "--out", "pairs.jsonl", "--work", "work", *ways)
    neardup("pairs", "pages", source, "--out", "same.jsonl", *ways)


@pytest.fixture
def inputs(tmp_path):
    """Files for one run of each verb, in the folder where it runs."""
    rows = [{"id": f"d{n}", "text": f"{DOCUMENTS[n % 4]} {n}"} for n in range(8)]
    write_lines(tmp_path / "a.jsonl", rows)
    (tmp_path / "b.csv").write_text("id,text\n" + "".join(f"e{n},story {n}\n" for n in range(3)))
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "one.html").write_text("<p>one page")
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text("one text")
    labels = [
        {"a": f"a{n}", "b": f"b{n}", "label": label, "text_a": DOCUMENTS[n], "text_b": DOCUMENTS[n]}
        for n, label in enumerate(("same", "different", "same", "different"))
    ]
    write_lines(tmp_path / "labels.jsonl", labels)
    (tmp_path / "c.toml").write_text("[policy]\nthreshold = 0.7\n")


LIKE = "label --like labels.jsonl --out mine.jsonl"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "dedup pages --dry-run --work w --format jsonl",
            "--format jsonl can only be used with files and standard input; the inputs are folder",
        ),
        ("templates learn pages --out t.arrow --format jsonl", "--format jsonl can only be used with files"),
        ("tune labels.jsonl --strict", "--strict needs the documents: LABELS INPUT ..."),
        ("tune labels.jsonl --no-templates", "--no-templates needs the documents"),
        (f"{LIKE} --shingle 2", "--shingle 2 cannot be used with --like"),
        (f"{LIKE} --config c.toml", "--config c.toml cannot be used with --like"),
        (f"{LIKE} --text body", "--text body needs INPUT: it describes how documents are read"),
        ("label compare labels.jsonl labels.jsonl --draw 2", "--draw 2 cannot be used with `neardup label compare`"),
        ("label compare labels.jsonl labels.jsonl --bag", "--bag cannot be used with `neardup label compare`"),
        ("label compare labels.jsonl labels.jsonl --port 0", "--port cannot be used with `neardup label compare`"),
        ("label compare labels.jsonl labels.jsonl --serve", "--serve cannot be used with `neardup label compare`"),
    ],
)
@pytest.mark.usefixtures("inputs")
def test_an_option_that_would_have_no_effect_is_refused(neardup, command, message):
    assert message in neardup(*command.split(), code=2).err


@pytest.mark.parametrize(
    "command",
    [
        "dedup a.jsonl --dry-run --verify none --threshold 0.7",
        "dedup a.jsonl --dry-run --force",
        "dedup a.jsonl --dry-run --work w --dropped parts --part-size 1K --out-format csv --force",
        "dedup a.jsonl --dry-run --against b.csv --dropped parts --part-size 1K --restart",
        "compare one.txt pages/one.html --text-view visible --json",
        "compare one.txt two.txt --json --html c.html",
        "label compare labels.jsonl labels.jsonl --json",
    ],
)
@pytest.mark.usefixtures("inputs")
def test_options_with_an_effect_are_used(neardup, command):
    neardup(*command.split())
