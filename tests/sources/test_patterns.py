from pathlib import Path

import pytest

from neardup.model.errors import DataError, InputRefused, ParameterError
from neardup.sources.patterns import expand, matches


def test_a_pattern_gives_its_matches_sorted(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "c.csv"):
        (tmp_path / name).touch()
    assert expand([tmp_path / "*.jsonl"]) == (str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"))


@pytest.mark.parametrize("pattern", ["**", "*", "**/*"])
def test_no_pattern_matches_what_an_interrupted_run_has_left(tmp_path, pattern):
    work = tmp_path / "kept.jsonl.neardup-work"
    work.mkdir()
    for path in (work / "a.jsonl", tmp_path / "a.jsonl"):
        path.touch()
    assert expand([tmp_path / pattern]) == (str(tmp_path / "a.jsonl"),)
    assert expand([work / "*.jsonl"]) == (str(work / "a.jsonl"),)


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


@pytest.mark.parametrize(
    ("pattern", "expected"), [("s/**", ("s/a.csv", "s/t/b.csv")), ("**", ("s/a.csv", "s/t/b.csv"))]
)
def test_a_pattern_that_ends_in_any_folders_matches_only_files(tmp_path, monkeypatch, pattern, expected):
    monkeypatch.chdir(tmp_path)
    Path("s/t").mkdir(parents=True)
    for name in expected:
        Path(name).touch()
    assert expand([pattern]) == expected
    assert expand(["s/**/"]) == ("s/", "s/t/")
    Path("empty/t").mkdir(parents=True)
    with pytest.raises(InputRefused, match="no file matches this pattern"):
        expand(["empty/**"])


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
