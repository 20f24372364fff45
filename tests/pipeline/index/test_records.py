import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from json_lines import write_lines

from neardup.model.errors import FieldMissing
from neardup.pipeline.index.records import RecordReader, address_fields
from neardup.sources.addresses import MOST_ID_BYTES, Addresses
from neardup.sources.read import read

LINES = [
    {"id": "a", "text": "one", "size": "7", "good": True},
    {"id": "b", "text": "two", "size": "seven", "good": False, "title": "T"},
    {"text": "three"},
]


@pytest.fixture
def documents(tmp_path):
    write_lines(tmp_path / "pages.jsonl", LINES)
    return read([tmp_path / "pages.jsonl"], columns=["size", "good", "title", "none"]).pieces[0]


def reader(kinds=None, signed=()):
    return RecordReader(kinds=kinds or {}, signed=signed, url=None, addresses=Addresses(), sites=False)


def named(documents, rows, ids, urls=None, refused=None):
    found = reader().read(documents, np.array(rows), ids, urls, refused or {})
    return found.ids, found.rejected


def test_the_id_is_that_of_the_url_if_there_is_one(documents):
    urls = ["HTTP://A.example:80/x#top", " ", None]
    assert named(documents, range(3), ["a", "b", "c"], urls) == (["http://a.example/x", "b", "c"], [])
    assert named(documents, range(3), ["a", "b", "c"]) == (["a", "b", "c"], [])


def test_documents_without_a_valid_id_or_field_are_rejected_with_their_place(documents):
    ids, rejected = named(documents, [1, 2], ["x" * (MOST_ID_BYTES + 1), "c"], refused={2: "its size"})
    assert ids == [None, None]
    assert [(one.position, one.code) for one in rejected] == [(2, "id too long"), (3, "value")]


def test_the_bytes_of_an_id_count_and_not_its_characters(documents):
    longest = "\U0001f44d" * (MOST_ID_BYTES // 4)
    assert named(documents, [0, 1], [longest, "a"]) == ([longest, "a"], [])
    ids, rejected = named(documents, [0, 1], [longest + "x", "a"])
    assert (ids, [one.code for one in rejected]) == ([None, "a"], ["id too long"])


def test_values_are_parsed_unless_they_are_signed(documents):
    found = reader({"size": "integer", "good": "flag", "none": "string"}, ["title"]).read(documents)
    assert found.fields.to_pydict() == {
        "title": [None, "T", None],
        "size": [7, None, None],
        "good": [True, False, None],
    }
    assert (found.ids[1], [one.position for one in found.rejected]) == (None, [2])
    assert {name: type(error) for name, error in found.missing.items()} == {"none": FieldMissing}
    signed = reader({"size": "integer"}, ["size"]).read(documents)
    assert signed.fields.column("size").to_pylist() == ["7", "seven", None]


def reasons(found):
    return {one.position: one.reason for one in found.rejected}


def test_a_value_of_json_of_another_kind_refuses_its_row_alone(tmp_path):
    values = [True, "false", 1, [True], None, "x"]
    write_lines(tmp_path / "a.jsonl", [{"text": "a", "good": value, "size": value} for value in values])
    documents = read([tmp_path / "a.jsonl"]).pieces[0]
    flags = reader({"good": "flag"}).read(documents)
    assert flags.fields.column("good").to_pylist() == [True, False, None, None, None, None]
    kinds = {3: ", not '1'", 4: ", not a list", 6: ", not 'x'"}
    assert reasons(flags) == {line: f"its 'good' must be true or false{kind}" for line, kind in kinds.items()}
    strings = reader({"size": "string"}).read(documents)
    assert strings.fields.column("size").to_pylist() == ["true", "false", "1", None, None, "x"]
    assert reasons(strings) == {4: "its 'size' must be a string or a number, not a list"}


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_whole_numbers_are_integers_in_every_format(tmp_path, form):
    """Such as of pandas, which makes integers with gaps floating-point."""
    frame = pd.DataFrame({"text": ["a", "b", "c"], "size": [1000.0, None, 2.5]})
    {
        "csv": lambda path: frame.to_csv(path, index=False),
        "parquet": frame.to_parquet,
        "jsonl": lambda path: frame.to_json(path, orient="records", lines=True),
    }[form](tmp_path / f"x.{form}")
    found = reader({"size": "integer"}).read(read([tmp_path / f"x.{form}"], columns=["size"]).pieces[0])
    assert found.fields.column("size").to_pylist() == [1000, None, None]
    assert [one.reason for one in found.rejected] == ["its 'size' must be an integer of 64 bits, not '2.5'"]


@pytest.mark.parametrize("fields", [pa.table({}), pa.table({"size": [1, 2]})])
def test_addresses_become_fields_if_the_index_has_such(fields):
    urls = ["http://a.example:80/x", None]
    assert address_fields({"size": "integer", "url": "integer"}, urls, fields) == fields
    found = address_fields({"url": "string", "host": "string"}, urls, fields)
    assert found.column("url").to_pylist() == urls
    assert found.column("host").to_pylist() == ["a.example", None]
    own = address_fields({"url": "string"}, urls, pa.table({"url": ["mine", "own"]}))
    assert own.column("url").to_pylist() == ["mine", "own"]
