import json

import pyarrow as pa
import pytest

from neardup.model.errors import DataError, FieldMissing
from neardup.sources.fields import joined
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


def test_a_field_of_some_inputs_is_null_in_the_others(tmp_path):
    for name, fields in {"a": {}, "b": {"n": 1}, "c": {"n": 2}}.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"text": name, **fields}) + "\n")
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
