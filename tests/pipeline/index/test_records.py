import json

import pandas as pd
import pyarrow as pa
import pytest

from neardup.model.errors import FieldMissing
from neardup.pipeline.index.inputs import MOST_ID_BYTES
from neardup.pipeline.index.records import address_fields, fields_of, named
from neardup.sources.addresses import Addresses
from neardup.sources.read import read

LINES = [
    {"id": "a", "text": "one", "size": "7", "good": True},
    {"id": "b", "text": "two", "size": "seven", "good": False, "title": "T"},
    {"text": "three"},
]


@pytest.fixture
def documents(tmp_path):
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return read([tmp_path / "pages.jsonl"], columns=["size", "good", "title", "none"]).pieces[0]


def test_the_id_is_that_of_the_url_if_there_is_one(documents):
    urls = ["HTTP://A.example:80/x#top", " ", None]
    assert named(documents, range(3), ["a", "b", "c"], urls, Addresses(), {}) == (["http://a.example/x", "b", "c"], [])
    assert named(documents, range(3), ["a", "b", "c"], None, Addresses(), {}) == (["a", "b", "c"], [])


def test_documents_without_a_valid_id_or_field_are_rejected_with_their_place(documents):
    ids, rejected = named(documents, [1, 2], ["x" * (MOST_ID_BYTES + 1), "c"], None, Addresses(), {2: "its size"})
    assert ids == [None, None]
    assert [(one.position, one.code) for one in rejected] == [(2, "id too long"), (3, "value")]


def test_the_bytes_of_an_id_count_and_not_its_characters(documents):
    longest = "\U0001f44d" * (MOST_ID_BYTES // 4)
    assert named(documents, [0, 1], [longest, "a"], None, Addresses(), {}) == ([longest, "a"], [])
    ids, rejected = named(documents, [0, 1], [longest + "x", "a"], None, Addresses(), {})
    assert (ids, [one.code for one in rejected]) == ([None, "a"], ["id too long"])


def test_values_are_parsed_unless_they_are_signed(documents):
    found = fields_of(documents, {"size": "integer", "good": "flag", "none": "string"}, ["title"])
    assert found.table.to_pydict() == {
        "title": [None, "T", None],
        "size": [7, None, None],
        "good": [True, False, None],
    }
    assert list(found.refused) == [1]
    assert {name: type(error) for name, error in found.missing.items()} == {"none": FieldMissing}
    signed = fields_of(documents, {"size": "integer"}, ["size"])
    assert signed.table.column("size").to_pylist() == ["7", "seven", None]


def test_a_value_of_json_of_another_kind_refuses_its_row_alone(tmp_path):
    values = [True, "false", 1, [True], None, "x"]
    lines = [json.dumps({"text": "a", "good": value, "size": value}) + "\n" for value in values]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    documents = read([tmp_path / "a.jsonl"]).pieces[0]
    flags = fields_of(documents, {"good": "flag"}, [])
    assert flags.table.column("good").to_pylist() == [True, False, None, None, None, None]
    kinds = {2: ", not '1'", 3: ", not a list", 5: ", not 'x'"}
    assert flags.refused == {row: f"its 'good' must be true or false{kind}" for row, kind in kinds.items()}
    strings = fields_of(documents, {"size": "string"}, [])
    assert strings.table.column("size").to_pylist() == [None, "false", "1", None, None, "x"]
    assert strings.refused == {
        0: "its 'size' must be a string or a number, not true or false",
        3: "its 'size' must be a string or a number, not a list",
    }


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_whole_numbers_are_integers_in_every_format(tmp_path, form):
    """Such as of pandas, which makes integers with gaps floating-point."""
    frame = pd.DataFrame({"text": ["a", "b", "c"], "size": [1000.0, None, 2.5]})
    {
        "csv": lambda path: frame.to_csv(path, index=False),
        "parquet": frame.to_parquet,
        "jsonl": lambda path: frame.to_json(path, orient="records", lines=True),
    }[form](tmp_path / f"x.{form}")
    found = fields_of(read([tmp_path / f"x.{form}"], columns=["size"]).pieces[0], {"size": "integer"}, [])
    assert found.table.column("size").to_pylist() == [1000, None, None]
    assert found.refused == {2: "its 'size' must be an integer of 64 bits, not '2.5'"}


@pytest.mark.parametrize("fields", [pa.table({}), pa.table({"size": [1, 2]})])
def test_addresses_become_fields_if_the_index_has_such(fields):
    urls = ["http://a.example:80/x", None]
    assert address_fields({"size": "integer", "url": "integer"}, urls, fields) == fields
    found = address_fields({"url": "string", "host": "string"}, urls, fields)
    assert found.column("url").to_pylist() == urls
    assert found.column("host").to_pylist() == ["a.example", None]
    own = address_fields({"url": "string"}, urls, pa.table({"url": ["mine", "own"]}))
    assert own.column("url").to_pylist() == ["mine", "own"]
