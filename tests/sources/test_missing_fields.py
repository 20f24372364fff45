import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.model.errors import FieldMissing
from neardup.sources.missing_fields import LackingFields, missing_field
from neardup.sources.read import read


def test_a_long_list_of_fields_is_cut():
    message = str(missing_field("x", "y", [f"f{number}" for number in range(100)]))
    assert message.endswith("f18, f19 and 80 more")
    assert str(missing_field("x", "y", ["a" * 40, "b" * 41])).endswith(f": {'a' * 40}, {'b' * 40}...")
    assert str(missing_field("x", "y", [])) == "x: there is no field 'y'"


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
