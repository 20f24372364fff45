import argparse
import shlex
from argparse import ArgumentTypeError

import pytest

from neardup.interfaces.cli import usage
from neardup.interfaces.cli.usage import add_usage

USAGE = """
index DIR: the folder
right [B]: another collection
inputs [INPUT ...]: more of them
[outputs]
--force: replace outputs: all
  that exist
--out PATH: the output
--keep WHICH=first: the copy that stays
--size N=10: results of a page
--verify exact|estimate: what decides
--field NAME:KIND ...: keep a field; may be repeated
"""


def parsed(usage, *given, **kinds):
    parser = argparse.ArgumentParser()
    add_usage(parser, usage, **kinds)
    return vars(parser.parse_args(given))


def test_values_are_missing_or_have_defaults():
    assert parsed(USAGE, "dir") == {
        "index": "dir",
        "right": None,
        "inputs": [],
        "force": False,
        "keep": "first",
        "size": 10,
    }


def test_values_have_the_type_of_their_placeholder():
    given = parsed(USAGE, "d", "b", "x", "y", "--force", "--size", "3", "--field", "a:b", "--field", "c:d")
    assert given["inputs"] == ["x", "y"]
    assert (given["right"], given["force"], given["size"], given["field"]) == ("b", True, 3, ["a:b", "c:d"])
    assert parsed("--documents N: how many", "--documents", "3", N=float) == {"documents": 3.0}
    assert parsed("--fields NAME[:BYTES],...: the fields", "--fields", "a:1,b") == {"fields": "a:1,b"}


def test_what_may_be_left_out_is_not_called_required(capsys):
    with pytest.raises(SystemExit):
        parsed("labels LABELS: them\ninputs [INPUT ...]: more")
    assert capsys.readouterr().err.endswith("the following arguments are required: LABELS\n")


@pytest.mark.parametrize(
    ("usage", "given"),
    [
        ("--out PATH!: it", ""),
        ("--tests PATH ...!: them", ""),
        ("--out PATH: it", "--out ''"),
        ("inputs INPUT ...: them", ""),
        ("action check|: what", "other"),
        ("--verify exact|none=exact: how", "--verify x"),
        ("--size N=1: how many", "--size x"),
    ],
)
def test_required_and_invalid_arguments_are_reported(usage, given):
    with pytest.raises(SystemExit):
        parsed(usage, *shlex.split(given))


@pytest.mark.parametrize(
    ("usage", "given"),
    [
        ("--out PATH: it", ["--out", "a", "--out", "b"]),
        ("--out PATH: it", ["--out", "a", "--out=a"]),
        ("--keep WHICH=first: it", ["--keep", "last", "--keep", "first"]),
        ("--size N=10: it", ["--size", "10", "--size", "10"]),
        ("--verify exact|none=exact: how", ["--verify", "none", "--verify", "none"]),
    ],
)
def test_an_option_with_one_value_is_refused_when_it_is_given_again(usage, given, capsys):
    with pytest.raises(SystemExit):
        parsed(usage, *given)
    assert capsys.readouterr().err.endswith(f"{given[0]}: given twice; give it once\n")


def test_a_heading_begins_a_group_and_an_indented_line_continues_one():
    parser = argparse.ArgumentParser()
    group = add_usage(parser, USAGE)
    shown = parser.format_help()
    assert group.title == "outputs"
    assert "replace outputs: all that exist" in " ".join(shown.partition("outputs:")[2].split())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("7", 7),
        ("20000000", 20_000_000),
        ("20,000,000", 20_000_000),
        ("20_000_000", 20_000_000),
        ("20M", 20_000_000),
        ("20m", 20_000_000),
        (" 20 M ", 20_000_000),
        ("1.5k", 1500),
        ("0.1B", 100_000_000),
        ("1G", 10**9),
        ("2T", 2 * 10**12),
        ("2^34", 2**34),
        ("2**30", 2**30),
        ("10^9", 10**9),
        ("8e9", 8 * 10**9),
        ("1.5e6", 1_500_000),
        ("40E6", 40 * 10**6),
        ("-5", -5),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_counts_are_parsed(text, value):
    assert usage.count(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("500", 500),
        ("500B", 500),
        ("500 MB", 500 * 10**6),
        ("14G", 14 * 10**9),
        ("14gb", 14 * 10**9),
        ("1.5GiB", 3 * 2**29),
        ("1TiB", 2**40),
        ("2^33", 2**33),
    ],
)
def test_sizes_are_parsed(text, value):
    assert usage.size(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "M",
        "x",
        "1e",
        "1.5e0",
        "1e999",
        "nan",
        "1.5",
        "1.0001K",
        "1,00",
        "20MB",
        "2^",
        "2^-1",
        "9^999",
        "1" * 100,
        "٣",
        "1..5",
    ],
)
def test_invalid_counts_are_refused(text):
    with pytest.raises(ArgumentTypeError):
        usage.count(text)


@pytest.mark.parametrize("text", ["", "1.5", "1X", "1KiBi", "1 2", "GB"])
def test_invalid_sizes_are_refused(text):
    with pytest.raises(ArgumentTypeError):
        usage.size(text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["compare", "a", "b", "c", "--orce"],
            "unknown option --orce; did you mean --force? See `neardup compare --help`",
        ),
        (["dedpu"], "unknown verb 'dedpu'; did you mean dedup? See `neardup --help`"),
        (["pair", "a.jsonl"], "unknown verb 'pair'; did you mean pairs? See"),
        (["xyz"], "unknown verb 'xyz'; see `neardup --help`"),
        (["'x"], """unknown verb "'x"; see"""),
        ([""], "unknown verb ''; see"),
        (["dedup", "a", "--output", "b"], "unknown option --output; did you mean --out? See"),
        (["dedup", "a", "--output", "b"], "unknown option --output; did you mean --out? See `neardup dedup --help`"),
        (["--verson"], "unknown option --verson; did you mean --version? See `neardup --help`"),
        (["--json", "dedup", "a"], "unknown option --json; it is an option of dedup, work, state and others; see"),
        (["-x"], "unknown option -x; if it is not an option, write -- before it"),
        (["expire", "i", "--older", "5d"], "unknown option --older; see `neardup expire --help`"),
        (
            ["index", "a", "--ignore-common", "0.1"],
            "S --common FILE` writes a list of common shingles, which --common FILE names here",
        ),
        (["search", "i", "-quick"], "unknown option -quick; if it is not an option, write -- before it; see"),
        (["search", "-1"], "arguments are required: QUERY; see"),
        (["search", "--", "--rules"], "arguments are required: QUERY; see"),
        (["expire", "i", "--before"], "--before: expected one argument; see"),
        (
            ["dedup", "a", "--force", "--out", "-x.jsonl"],
            "--out: expected one argument; to use -x.jsonl as the value, write --out=-x.jsonl; see",
        ),
        (["dedup", "a", "--out", "-it's"], """; to use -it's as the value, write '--out=-it'"'"'s'; see"""),
        (["dedup", "a", "--out", "--force"], "--out: expected one argument; see"),
        (["dedup", "a", "--out", "-h"], "--out: expected one argument; see"),
        (["dedup", "a", "--dry-run=yes"], "--dry-run: ignored explicit argument 'yes'; see"),
        (
            ["seen", "a", "--ignore-common", "0.1"],
            "unknown option --ignore-common; it is an option of dedup; see `neardup seen --help`",
        ),
    ],
)
def test_the_closest_word_is_proposed(neardup, arguments, message):
    assert message in neardup(*arguments, code=2).err
