import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.model.errors import FieldMissing, ParameterError
from neardup.sources.collection import LackingFields, Rejected, missing_field, named, selection
from neardup.sources.read import read


@given(st.lists(st.booleans()))
def test_positions_and_mask_select_the_same(mask):
    mask = np.array(mask, np.bool_)
    for rows in (mask, np.flatnonzero(mask), np.flatnonzero(mask).astype(np.uint32)):
        assert selection(rows, mask.size).tolist() == mask.tolist()


@pytest.mark.parametrize(
    "rows",
    [[True], [True] * 3, [0, 2], [-1], [1, 0], [0, 0], [0.0], [[0]], ["a"]],
    ids=str,
)
def test_what_selects_nothing_that_exists_is_refused(rows):
    with pytest.raises(ParameterError, match="rows="):
        selection(np.array(rows), 2)


def test_names_of_records_without_an_id():
    assert named("a:b.csv", np.array([1, 20])).to_pylist() == ["a:b.csv:1", "a:b.csv:20"]
    assert named("x", np.zeros(0, np.int64)).to_pylist() == []


def test_a_long_list_of_fields_is_cut():
    message = str(missing_field("x", "y", [f"f{number}" for number in range(100)]))
    assert message.endswith("f18, f19 and 80 more")
    assert str(missing_field("x", "y", ["a" * 40, "b" * 41])).endswith(f": {'a' * 40}, {'b' * 40}...")
    assert str(missing_field("x", "y", [])) == "x: there is no field 'y'"


def test_a_record_rejected_says_where_and_why():
    assert str(Rejected("x.jsonl", 3, "it is broken", "json")) == "x.jsonl:3: it is broken"


def test_fields_that_no_record_of_the_pieces_has(tmp_path):
    """A table without records tells its columns only as long as there is no record."""

    def piece(columns):
        path = tmp_path / "x.parquet"
        pq.write_table(pa.table(columns), path)
        return read([str(path)], id="id").pieces[0]

    nothing = pa.array([], pa.string())
    lacking = LackingFields(["a", "b"])
    assert lacking.add(piece({"text": nothing, "a": nothing})) == {"b": ["text", "a"]} == lacking.found
    lacking.require("x")
    assert lacking.add(piece({"text": ["t"], "b": ["t"]})) == {"a": ["text", "b"]} == lacking.found
    lacking.add(piece({"text": nothing}))
    assert list(lacking.add(piece({"text": ["t"], "c": ["t"]}))) == ["a", "b"]
    assert lacking.found == {"a": ["text", "b", "c"]}
    with pytest.raises(FieldMissing, match="x: there is no field 'a'; the fields are: text, b, c"):
        lacking.require("x")
    assert not lacking.all_found
    lacking.add(piece({"text": ["t"], "a": ["t"]}))
    assert lacking.all_found
