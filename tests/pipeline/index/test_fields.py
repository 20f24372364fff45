from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from neardup import DataError, Index, ParameterError
from neardup.index.disk.columns import decoded
from neardup.pipeline.index.fields import chosen_rows, described, field_columns, field_kinds, field_table, taken_rows

KINDS = {"host": "string", "rank": "integer", "share": "number", "when": "time", "live": "flag"}
MOMENT = datetime(2026, 1, 2, tzinfo=UTC)


def test_python_types_name_kinds():
    assert field_kinds({"a": str, "b": int, "c": float, "d": datetime, "e": bool, "f": "time"}) == (
        ("a", "string"),
        ("b", "integer"),
        ("c", "number"),
        ("d", "time"),
        ("e", "flag"),
        ("f", "time"),
    )


@pytest.mark.parametrize("fields", [[], {"": str}, {5: str}, {"a": bytes}, {"a": "text"}, {"a": str, "a.data": str}])
def test_kinds_that_cannot_be(fields):
    with pytest.raises(ParameterError, match="fields"):
        field_kinds(fields or ["a"])


def test_columns_of_each_kind():
    table = field_table(
        {"host": ["a", None], "rank": [1, 2], "share": [0.5, 1], "when": [MOMENT, None], "live": [None, True]}, 2
    )
    columns = field_columns(KINDS, table, 2)
    assert decoded(columns["field.host"]) == ["a", ""]
    assert columns["known.host"].tolist() == [True, False]
    assert columns["field.rank"].tolist() == [1, 2]
    assert columns["field.when"].tolist() == [int(MOMENT.timestamp()) * 10**6, 0]
    assert (columns["field.live"].tolist(), columns["known.live"].tolist()) == ([False, True], [False, True])
    half = taken_rows(columns, np.array([1]))
    assert half["field.share"].tolist() == [1.0]
    assert decoded(taken_rows(columns, slice(0, 1))["field.host"]) == ["a"]


def test_what_a_table_lacks_is_null():
    columns = field_columns(KINDS, field_table(None, 3), 3)
    assert not any(columns[f"known.{name}"].any() for name in KINDS)


@pytest.mark.parametrize(
    ("kind", "values", "rule"),
    [
        ("integer", [1, 1.5], "document 1: field 'x' must be an integer of 64 bits, but is the number 1.5"),
        ("integer", ["1", "one"], "document 1: field 'x' must be an integer of 64 bits, but is the string 'one'"),
        ("flag", [0], "document 0: field 'x' must be true or false, but is the integer 0"),
        ("time", [MOMENT, datetime(1, 1, 1)], None),  # noqa: DTZ001 - without a zone
        ("string", [5], "document 0: field 'x' must be a string, but is the integer 5"),
    ],
)
def test_values_that_cannot_be(kind, values, rule):
    table = field_table({"x": values}, len(values))
    if rule is None:
        assert field_columns({"x": kind}, table, len(values))["known.x"].all()
        return
    with pytest.raises(DataError, match=rule):
        field_columns({"x": kind}, table, len(values))


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"x": [1, "a"]}, "document 1: field 'x' is the string 'a', while document 0 has the integer 1"),
        ({"x": "ab"}, "must have a value for each document"),
        ({"x": [1, 2, 3]}, "3 rows for 2 documents; each document needs one"),
        ({"x": [1], "y": [1, 2]}, "cannot be converted to a table"),
        (5, "must be a table or map names to values"),
    ],
)
def test_fields_that_are_no_table(fields, rule):
    with pytest.raises(DataError, match=rule):
        field_table(fields, 2)


def test_rows_of_a_table_without_columns():
    bare = pa.table({})
    assert chosen_rows(bare, np.array([0])) is bare
    assert chosen_rows(pa.table({"a": [1, 2, 3]}), np.array([2, 0])).column("a").to_pylist() == [3, 1]


def test_values_come_back_as_they_were(tmp_path):
    values = {"host": "a.example", "rank": -5, "share": 0.25, "when": MOMENT, "live": True}
    with Index.create(tmp_path / "index", fields=KINDS) as index:
        index.admit(
            ["a", "b"], ["one two", "three four"], fields={name: [value, None] for name, value in values.items()}
        )
        first, second = index.get(["a", "b"])
        assert first.fields == values
        assert second.fields == dict.fromkeys(values)


def test_values_in_messages_are_short():
    assert described(None) == "None"
    assert described(MOMENT) == f"the time {MOMENT.isoformat()}"
    assert len(described("x" * 500)) < 80
