import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.model.errors import FieldMissing, NothingRead
from neardup.sources.inputs import inputs_of
from neardup.sources.read import read
from neardup.sources.record_faults import (
    LackingFields,
    QuotedLines,
    RecordFaults,
    Rejected,
    WithoutText,
    in_total,
    missing_field,
)
from neardup.sources.request import Request
from neardup.sources.shards import local_shards


def test_a_record_rejected_says_where_and_why():
    assert str(Rejected("x.jsonl", 3, "it is broken", "json")) == "x.jsonl:3: it is broken"


def test_records_of_several_parts_are_added_up():
    parts = [None, QuotedLines(2, "a.csv", 3, 5), None, QuotedLines(1, "b.csv", 7, 8)]
    assert in_total(parts) == QuotedLines(3, "a.csv", 3, 5)
    assert in_total([WithoutText(1, "a", 2, "text")]) == WithoutText(1, "a", 2, "text")
    assert in_total([None]) is None


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_records_without_a_text_name_its_field(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    if ending == "parquet":
        pq.write_table(pa.table({"body": ["one", None, None]}), path)
    else:
        path.write_text('{"body": "one"}\n{"body": null}\n{}\n')
    with local_shards(inputs_of([path], Request(text="body")), Request(text="body")) as shards:
        faults = RecordFaults.of(shards.every_piece())
    assert faults == RecordFaults(documents=3, without_text=WithoutText(2, str(path), 2, "body"))


def test_the_faults_of_parts_are_added_up():
    one = RecordFaults(documents=2, rejected=[Rejected("a", 3, "it is broken", "json")], skipped={"empty": 1})
    other = RecordFaults(rejected=[Rejected("b", 1, "it is broken", "json")], skipped={"empty": 2, "other": 1})
    found = RecordFaults.of([one, other])
    assert (len(found), [str(each.source) for each in found.rejected]) == (2, ["a", "b"])
    assert found.skipped == {"empty": 3, "other": 1}
    found.require_documents(["a", "b"])
    assert (len(one.rejected), len(RecordFaults().rejected)) == (1, 0)
    with pytest.raises(NothingRead, match="its only record, b:1, was rejected"):
        other.require_documents(["b"])


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
