import re
from pathlib import Path

import pytest

from neardup.model.errors import DataError, InputRefused, ParameterError, StorageRefused
from neardup.sources.formats import (
    Kind,
    display,
    expand,
    input_kind,
    is_read_once,
    kind,
    local_folder,
    matches,
    require_once,
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.jsonl", Kind("jsonl")),
        ("a.ndjson.gz", Kind("jsonl", "gzip")),
        ("A.JSONL.ZST", Kind("jsonl", "zstd")),
        ("a.b.csv", Kind("csv")),
        ("a.tsv.gz", Kind("tsv", "gzip")),
        ("a.parquet", Kind("parquet")),
        ("a.parquet.gz", None),
        ("a.json", None),
        ("a.gz", None),
        ("jsonl", None),
        (".jsonl", None),
        ("", None),
    ],
)
def test_a_name_promises_a_format(name, expected):
    assert kind(name) == expected


def test_a_pattern_gives_its_matches_sorted(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "c.csv"):
        (tmp_path / name).touch()
    assert expand([tmp_path / "*.jsonl"]) == (str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"))


@pytest.mark.usefixtures("permissions")
@pytest.mark.parametrize(
    "pattern", ["*/a.jsonl", "*/*.jsonl", "**/*.jsonl", "**", "locked/in*/*.jsonl", "[kl]*/a.jsonl"]
)
@pytest.mark.parametrize("mode", [0, 0o400])
def test_a_folder_that_a_pattern_cannot_look_into_is_an_error(tmp_path, pattern, mode):
    for name in ("locked", "open", "locked/inside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.jsonl").touch()
    (tmp_path / "locked").chmod(mode)
    try:
        with pytest.raises(DataError, match=r"locked/?: this folder cannot be read: Permission denied"):
            expand([tmp_path / pattern])
        assert expand([tmp_path / "op*/*.jsonl"]) == (str(tmp_path / "open" / "a.jsonl"),)
    finally:
        (tmp_path / "locked").chmod(0o700)
    assert str(tmp_path / "locked" / "a.jsonl") in expand([tmp_path / "**/*.jsonl"])


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", ["a.py", "s/b.py", "s/t/c.py"]),
        ("**/*.py", ["a.py", "s/b.py", "s/t/c.py"]),
        ("s/**/*.py", ["s/b.py", "s/t/c.py"]),
        ("s/*", ["s/b.py"]),
        ("*/*.py", ["s/b.py"]),
        ("s/**", ["s/b.py", "s/t/c.py"]),
        ("**/t/**/c.*", ["s/t/c.py"]),
        ("**/**/a.py", ["a.py"]),
        ("[st]/?.py", ["s/b.py"]),
        ("s/", []),
        ("t/*", []),
    ],
)
def test_a_pattern_chooses_the_same_files_in_a_folder_as_as_an_input(tmp_path, monkeypatch, pattern, expected):
    monkeypatch.chdir(tmp_path)
    names = ["a.py", "s/b.py", "s/t/c.py"]
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    assert [name for name in names if matches(name, [pattern])] == expected
    if pattern != "*.py" and expected:
        assert [path for path in expand([pattern]) if Path(path).is_file()] == expected


def test_patterns_match_tables_hidden_by_an_underscore_only_if_they_have_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("ds/a.csv", "ds/_b.csv", "ds/_temporary/c.csv", "ds/sub/d.csv", "ds/_drafts/e.txt", "_staging/f.csv"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    assert expand(["ds/**/*.csv"]) == ("ds/a.csv", "ds/sub/d.csv")
    assert expand(["ds/*"]) == ("ds/_drafts", "ds/a.csv", "ds/sub")
    assert expand(["ds/**/*.txt"]) == ("ds/_drafts/e.txt",)
    assert expand(["ds/_*/*.csv"]) == expand(["ds/_temporary/*.csv"]) == ("ds/_temporary/c.csv",)
    assert expand(["_staging/*.csv", "ds/_b.csv"]) == ("_staging/f.csv", "ds/_b.csv")
    with pytest.raises(
        InputRefused, match=r"matches only hidden tables \(1\), whose names or folders begin with _: write this _"
    ):
        expand(["ds/[_]b.csv"])


def test_an_existing_path_is_no_pattern(tmp_path):
    odd = tmp_path / "part[1].jsonl"
    odd.touch()
    (tmp_path / "part1.jsonl").touch()
    assert expand([odd]) == (str(odd),)


def test_inputs_keep_their_order(tmp_path):
    for name in ("b.jsonl", "a.jsonl"):
        (tmp_path / name).touch()
    paths = (str(tmp_path / "b.jsonl"), "-", str(tmp_path / "a.jsonl"))
    assert expand(paths) == paths


def test_what_does_not_exist_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.jsonl: there is no such file"):
        expand([tmp_path / "nowhere.jsonl"])
    with pytest.raises(DataError, match=r"\*\.jsonl: no file matches"):
        expand([tmp_path / "*.jsonl"])


def test_no_inputs_and_standard_input_twice_are_refused():
    with pytest.raises(ParameterError, match="at least one"):
        expand([])
    with pytest.raises(ParameterError, match="only once"):
        expand(["-", "-"])


def test_an_unknown_ending_lists_the_known_ones(tmp_path):
    (tmp_path / "a.docx").touch()
    with pytest.raises(DataError, match=r"a\.docx: its name does not end in a known format: \.jsonl, \.ndjson, \.csv"):
        input_kind(str(tmp_path / "a.docx"))


def test_a_name_that_is_not_utf8_can_be_shown():
    assert display("caf\udce9.txt") == "caf\\xe9.txt"
    assert display("-") == "<stdin>"


@pytest.mark.parametrize("name", ["a.neardup-inputs-b.txt", ".neardup-inputs", "n.neardup-pipes.txt", ".neardup-pipes"])
def test_a_file_whose_name_is_like_that_of_a_folder_of_copies_has_its_own_name(tmp_path, name):
    (tmp_path / name).write_text("text")
    assert display(str(tmp_path / name)) == str(tmp_path / name)
    assert not is_read_once(str(tmp_path / name))


def test_a_file_is_an_input_once(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a b c"}\n')
    (tmp_path / "link.jsonl").symlink_to("a.jsonl")
    name, link = str(tmp_path / "a.jsonl"), str(tmp_path / "link.jsonl")
    require_once(expand([name]))
    for urls in (("s3://a/b.jsonl", "s3://a/c.jsonl"), ("s3://a/b//c.jsonl", "s3://a/b/c.jsonl")):
        assert require_once(urls) == urls
    for given, words in (
        ([name, name], "a.jsonl is given twice, by its name or a pattern; name each input once"),
        ([str(tmp_path / "*.jsonl")], f"link.jsonl is the same as {name}"),
        ([name, str(tmp_path / "." / "a*.jsonl")], "is given twice"),
        ([name, f"{tmp_path}/./a.jsonl"], "is the same as"),
        ([link, name], f"is the same as {link}"),
        (("s3://a/b.jsonl", "s3://a/b.jsonl"), "is given twice"),
        (("memory:///a/b.jsonl", "memory://a/b.jsonl"), "is the same as memory:///a/b.jsonl"),
        ([f"file://{name}", f"local://{name}"], "is given twice"),
    ):
        with pytest.raises(InputRefused, match=re.escape(words)):
            require_once(expand(given) if isinstance(given, list) else given)


def test_a_folder_is_on_this_machine(tmp_path):
    assert local_folder("work", f"file://{tmp_path}") == local_folder("work", tmp_path) == tmp_path
    with pytest.raises(StorageRefused, match=r"^s3://bucket/folder is a URL"):
        local_folder("work", "s3://bucket/folder")
    with pytest.raises(ParameterError, match="work"):
        local_folder("work", "")


def test_an_input_inside_another_one_is_refused(tmp_path):
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    (tmp_path / "outer2").mkdir()
    (tmp_path / "link").symlink_to("outer/inner")
    (tmp_path / "outer" / "a.jsonl").touch()
    outer, inner = str(tmp_path / "outer"), str(tmp_path / "outer" / "inner")
    assert require_once(expand([outer, f"{outer}2"])) == (outer, f"{outer}2")
    for given in ([outer, inner], [inner, outer], [f"{outer}*", inner], [str(tmp_path / "link"), outer]):
        with pytest.raises(InputRefused, match=f"is inside the input folder {re.escape(outer)}, which is read"):
            require_once(expand(given))


def test_a_file_inside_an_input_folder_is_refused_if_it_is_read_with_it(tmp_path):
    folder, table, text = (str(tmp_path / name) for name in ("folder", "folder/a.csv", "folder/below/b.md"))
    (tmp_path / "folder" / "below").mkdir(parents=True)
    for path in (table, text):
        Path(path).touch()
    assert require_once((folder, table)) == (folder, table)
    assert require_once((table, folder), ["*.md"]) == (table, folder)
    for given, globs in (((folder, text), ()), ((folder, table), ["*.csv"]), ((text, folder), ["below/*"])):
        with pytest.raises(InputRefused, match="which is read with it; name each input once"):
            require_once(given, globs)
    Path(text).unlink()  # a folder without texts represents its tables
    with pytest.raises(InputRefused, match="which is read with it"):
        require_once((folder, table))
