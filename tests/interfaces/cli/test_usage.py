import argparse

import pytest

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


def test_values_have_the_kind_of_their_word():
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
        ("--out PATH!: it", []),
        ("--tests PATH ...!: them", []),
        ("--out PATH: it", ["--out", ""]),
        ("inputs INPUT ...: them", []),
        ("action check|: what", ["other"]),
        ("--verify exact|none=exact: how", ["--verify", "x"]),
        ("--size N=1: how many", ["--size", "x"]),
    ],
)
def test_what_must_be_given_and_what_may_not(usage, given):
    with pytest.raises(SystemExit):
        parsed(usage, *given)


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
