import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from json_lines import write_lines

from neardup.model.errors import DataError, FieldMissing
from neardup.sources.fields import are_true, joined
from neardup.sources.read import read


def place(piece, row):
    return f"piece {piece}", row


def tokens(*values):
    return pa.chunked_array([[b"" if value is None else json.dumps(value).encode() for value in values]], pa.binary())


def column(*values):
    return pa.chunked_array([pa.array(values)])


@pytest.mark.parametrize(
    ("columns", "written", "expected"),
    [
        ([tokens(1, None), tokens(2)], [True, True], [1, None, 2]),
        ([tokens(1), tokens(2.50)], [True, True], ["1", "2.5"]),
        ([tokens(), tokens("a"), tokens(None)], [True] * 3, ["a", None]),
        ([tokens(1), column(2.5), tokens(3)], [True, False, True], ["1", "2.5", "3"]),
        ([tokens("", 1), tokens(2)], [True, True], [None, 1, 2]),
        ([tokens("", "a")], [True], ["", "a"]),
        ([tokens(1, " \t", "NaN", "-nan", " nan\n"), tokens("", 2.5)], [True] * 2, ["1", *[None] * 5, "2.5"]),
        ([tokens(" ", True, "NaN", False)], [True], [None, True, None, False]),
        ([tokens(" ", "NaN", "1")], [True], [" ", "NaN", "1"]),
        ([column("a"), tokens(3)], [False, True], ["a", "3"]),
        ([column(None, None), column("a")], [False, False], [None, None, "a"]),
        ([column(1), tokens(), column(2)], [False, True, False], [1, 2]),
    ],
)
def test_one_type_fits_the_values_of_all_pieces(columns, written, expected):
    assert joined("n", columns, written, place).to_pylist() == expected


def test_an_error_names_the_place_in_its_piece():
    with pytest.raises(
        DataError, match=r"^piece 2:1: its 'n' is a string \(\"b\"\), but earlier records have a number"
    ):
        joined("n", [tokens(1), column(7, 8), tokens(2, "b")], [True, False, True], place)


@pytest.mark.parametrize(
    ("values", "true"),
    [
        (pa.array([0, 1, None, 2]), [1]),
        (pa.array([0, 1, None, 1.5]), [1]),
        (pa.array([False, True, None, False]), [1]),
        (pa.array(["true", " TRUE ", "", "no"]), [0, 1]),
        (pa.array(["1.0", "01", "10", None]).dictionary_encode(), [0, 1]),
        (pa.array([b"1", b"\xff", None, b"11"]), [0]),
        (pa.array(["0", "1"], pa.string_view()), [1]),
        (pa.array([[1], None]), []),
        (pa.array([{"a": 1}]), []),
        (pa.nulls(4), []),
    ],
)
def test_only_1_and_true_are_true(values, true):
    found = are_true(pa.chunked_array([values]))
    assert found.to_pylist() == [row in true for row in range(len(values))]


def test_flags_are_those_of_each_record(tmp_path):
    """A list, an object, and any other value is not true; nor is a record, a file or a column without the field."""
    written = ["1", "[1]", "true", '"1"', '{"a": 1}', "0", '"x"', "1.0", "null", "1e400"]
    (tmp_path / "a.jsonl").write_text("".join(f'{{"text": "t", "n": {one}}}\n' for one in written))
    (tmp_path / "b.jsonl").write_text('{"text": "t"}\n')
    found = read([str(tmp_path / f"{name}.jsonl") for name in "ab"]).flags("n")
    assert found.to_pylist() == [one in {"1", "true", '"1"', "1.0"} for one in written] + [False]
    (tmp_path / "a.csv").write_text("text,n\nt,1\nt,\n")
    assert read([str(tmp_path / "a.csv")]).flags("n").to_pylist() == [True, False]
    assert read([str(tmp_path / "a.csv")]).flags("m").to_pylist() == [False, False]
    pq.write_table(pa.table({"text": ["t"], "n": [[1]]}), tmp_path / "a.parquet")
    assert read([str(tmp_path / "a.parquet")]).flags("n").to_pylist() == [False]
    assert read([str(tmp_path / "a.parquet")]).flags("n.m").to_pylist() == [False]


def test_a_field_of_some_inputs_is_null_in_the_others(tmp_path):
    for name, fields in {"a": {}, "b": {"n": 1}, "c": {"n": 2}}.items():
        write_lines(tmp_path / f"{name}.jsonl", [{"text": name, **fields}])
    found = read([str(tmp_path / f"{name}.jsonl") for name in "abc"])
    assert found.column("n").to_pylist() == [None, 1, 2]
    assert found.column("n", literal=True).to_pylist() == [None, "1", "2"]
    with pytest.raises(FieldMissing, match=r"a.jsonl, .*b.jsonl, .*c.jsonl: there is no field 'm'; .*: text, n"):
        found.column("m")


def test_a_field_of_some_folders_is_null_in_the_others(tmp_path):
    for name, content in {"a": "<p>x</p>", "b": "<title>T</title><p>x</p>"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.html").write_text(content)
    found = read([str(tmp_path / "a"), str(tmp_path / "b")])
    assert found.column("title").to_pylist() == [None, "T"]
    assert found.ids.to_pylist() == ["a/x.html", "b/x.html"]
    assert found.place(1) == (str(tmp_path / "b" / "x.html"), 1)


def test_places_are_those_of_the_inputs(tmp_path):
    for number in range(3):
        lines = "".join(f'{{"text": "{number} {line}"}}\n' for line in range(number))
        (tmp_path / f"{number}.jsonl").write_text("\n" * number + lines)
    found = read([str(tmp_path / f"{number}.jsonl") for number in (2, 0, 1)])
    names = [str(tmp_path / f"{number}.jsonl") for number in range(3)]
    assert [found.place(row) for row in range(3)] == [(names[2], 3), (names[2], 4), (names[1], 2)]
    with pytest.raises(IndexError):
        found.place(3)
