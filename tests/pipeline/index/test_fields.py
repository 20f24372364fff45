import sys
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from neardup import Index, SimHash
from neardup.errors import DataError, ParameterError
from neardup.index.disk.columns import decoded
from neardup.pipeline.index.fields import (
    ARROW,
    READ,
    chosen_rows,
    described,
    field_columns,
    field_kinds,
    field_table,
    read_field,
    taken_rows,
)

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


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"rank": "int"}, "must have one of these kinds: string, integer, number, time, flag"),
        ({"rank": list}, "must have one of these kinds: string, integer, number, time, flag"),
        ({"rank": []}, "must have one of these kinds: string, integer, number, time, flag"),
        ({"rank": bytes}, "must have one of these kinds: string, integer, number, time, flag"),
        ({"rank": None}, "must have one of these kinds: string, integer, number, time, flag"),
        ({"": int}, "is invalid: a field name must be a string, and not empty"),
        ({5: int}, "is invalid: a field name must be a string, and not empty"),
        (["rank"], "must map names to kinds"),
        ([], "must map names to kinds"),
        (pd.NA, "must map names to kinds"),
        ({"x": str, "x.data": int}, "must not be another field's name followed by .data or .offsets"),
    ],
)
def test_kinds_that_cannot_be(tmp_path, fields, rule):
    with pytest.raises(ParameterError) as refused:
        Index.create(tmp_path / "index", fields=fields)
    assert (refused.value.name, refused.value.rule) == ("fields", rule)
    assert not (tmp_path / "index").exists()


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


@pytest.mark.parametrize(
    ("kind", "type_"),
    [
        ("integer", pa.int32()),
        ("number", pa.float32()),
        ("number", pa.int64()),
        ("time", pa.timestamp("us", "Asia/Tokyo")),
        ("time", pa.timestamp("ns")),
        ("flag", pa.bool_()),
    ],
)
def test_columns_of_typed_values_are_cast_as_a_whole(kind, type_):
    steps = 1000 if type_ == pa.timestamp("ns") else 1
    array = pa.array([*range(0, 1000 * steps, steps), None], pa.int64()).cast(type_)
    table = pa.table({"x": array})
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code) if event == "call" else None)
    try:
        columns = field_columns({"x": kind}, table, 1001)
    finally:
        sys.setprofile(None)
    assert len(calls) < 1000
    assert columns["known.x"].tolist() == [True] * 1000 + [False]
    assert columns["field.x"].tolist() == [*(map(bool, range(1000)) if kind == "flag" else range(1000)), 0]


def test_what_a_table_lacks_is_null():
    columns = field_columns(KINDS, field_table(None, 3), 3)
    assert not any(columns[f"known.{name}"].any() for name in KINDS)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"title": ["a", 5]}, "document 1: field 'title' must be a string, but is the integer 5"),
        ({"title": [None, 5]}, "document 1: field 'title' must be a string, but is the integer 5"),
        ({"rank": ["1", "x"]}, "document 1: field 'rank' must be an integer of 64 bits, but is the string 'x'"),
        (
            {"rank": [1, 2**80]},
            "document 1: field 'rank' is the integer 1208925819614629174706176, which has more than",
        ),
        ({"title": ["a", "b\ud800"]}, "document 1: field 'title' has a lone surrogate, which UTF-8 cannot write"),
        ({"rank": [object(), "a"]}, "field 'rank' has values that do not fit into one column"),
        ({"rank": "12"}, "field 'rank' must have a value for each document, but is the string '12'"),
        (
            {"seen": ["2024-01-01T00:00:00Z", "yesterday"]},
            "document 1: field 'seen' must be a time such as 2026-01-31T12:00:00Z (at most microseconds), but is the",
        ),
        ({"seen": pa.array([0, 2**62], pa.timestamp("us", "UTC"))}, "document 1: field 'seen' must be a time such as "),
        (
            {"size": ["1.5", "a" * 100]},
            f"document 1: field 'size' must be {READ['number'].expected}, but is the string '{'a' * 59}...",
        ),
        (
            {"size": ["inf", "1e999"]},
            "document 1: field 'size' must be a number of 64 bits (integers are not rounded), but is the string '1e999",
        ),
        ({"rank": [1, 1.5]}, "document 1: field 'rank' must be an integer of 64 bits, but is the number 1.5"),
        ({"ok": [0, 1]}, "document 0: field 'ok' must be true or false, but is the integer 0"),
        ({"rank": [1, 2, 3]}, "fields: 3 rows for 2 documents; each document needs one"),
        ({"rank": [1], "title": ["a", "b"]}, "fields cannot be converted to a table"),
        (5, "fields must be a table or map names to values"),
        ({"ok": ["true", "maybe"]}, "document 1: field 'ok' must be true or false, but is the string 'maybe'"),
    ],
)
def test_the_document_whose_field_does_not_fit_is_named(fields, reason):
    kinds = {"title": str, "rank": int, "seen": "time", "size": float, "ok": bool}
    with Index.create(scheme=SimHash(), fields=kinds) as index:
        with pytest.raises(DataError) as refused:
            index.admit(["a", "b"], ["one two three", "four five six"], fields)
        assert str(refused.value).startswith(reason)
        with pytest.raises(DataError) as refused:
            index.judge(["one two three", "four five six"], fields)
        assert str(refused.value).startswith(reason)
        assert len(index) == 0


@pytest.mark.parametrize("written", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Lima"])
def test_the_first_and_the_last_time_are_taken_in_all_zones(written, zone):
    times = pa.array([datetime.fromisoformat(written)]).cast(pa.timestamp("us", zone))
    assert field_columns({"x": "time"}, pa.table({"x": times}), 1)["field.x"].tolist() == [times[0].value]
    beyond = pa.array([times[0].value + (1 if written > "1" else -1)]).cast(times.type)
    with pytest.raises(DataError, match="document 0: field 'x' must be a time such as"):
        field_columns({"x": "time"}, pa.table({"x": beyond}), 1)


@pytest.mark.parametrize(
    "others", [[], [datetime(2026, 1, 1, tzinfo=UTC)], ["2026-01-01"], [datetime(1, 1, 1, tzinfo=UTC)]]
)
def test_nanoseconds_of_one_value_are_not_cut(others):
    values = [*others, pd.Timestamp("2026-01-01T00:00:00.000000001Z")]
    with pytest.raises(
        DataError, match=rf"document {len(others)}: field 'x' must be a time such as .* \(at most micro"
    ):
        field_columns({"x": "time"}, field_table({"x": values}, len(values)), len(values))


def test_the_first_value_that_does_not_fit_is_found_among_many():
    values = ["7"] * 1000
    values[613] = values[900] = "seven"
    index = Index.create(scheme=SimHash(), fields={"rank": int})
    with index, pytest.raises(DataError, match="document 613: field 'rank'"):
        index.admit([*map(str, range(1000))], ["one two three"] * 1000, {"rank": values})


@pytest.mark.parametrize(
    ("kind", "values", "read"),
    [
        ("integer", ["5", 5, None, 5.0, ""], [5, 5, None, 5, None]),
        ("number", [2, "2.5", 2.5], [2.0, 2.5, 2.5]),
        ("time", ["2026-01-02", MOMENT, "2026-01-02T00:00:00Z"], [MOMENT] * 3),
        ("flag", ["true", True], [True, True]),
    ],
)
def test_a_value_may_be_written_as_a_string_whatever_the_others_are(tmp_path, kind, values, read):
    names = [f"d{place}" for place in range(len(values))]
    with Index.create(tmp_path / "index", fields={"x": kind}) as index:
        index.admit(names, ["one two"] * len(values), {"x": values})
        assert [document.fields["x"] for document in index.get(names)] == read
        for name, value in zip(names, values, strict=True):
            index.admit([name], ["three four"], {"x": [value]})
        assert [document.fields["x"] for document in index.get(names)] == read


@pytest.mark.parametrize(
    ("kind", "values", "rule"),
    [
        ("integer", [5, "x"], "document 1: field 'x' must be an integer of 64 bits, but is the string 'x'"),
        ("integer", ["x", 5], "document 0: field 'x' must be an integer of 64 bits, but is the string 'x'"),
        ("integer", [None, True, "5"], "document 1: field 'x' must be an integer of 64 bits, but is the flag True"),
        ("string", ["5", 5], "document 1: field 'x' must be a string, but is the integer 5"),
        ("flag", [True, "1"], "document 1: field 'x' must be true or false, but is the string '1'"),
    ],
)
def test_the_one_document_with_a_wrong_value_is_named(kind, values, rule):
    table = field_table({"x": values}, len(values))
    with pytest.raises(DataError, match=rule):
        field_columns({"x": kind}, table, len(values))


def test_errors_name_fields_not_documents():
    with pytest.raises(DataError, match="fields are a set"):
        field_table({"rank"}, 1)


def test_rows_of_a_table_without_columns():
    bare = pa.table({})
    assert chosen_rows(bare, np.array([0])) is bare
    assert chosen_rows(pa.table({"a": [1, 2, 3]}), np.array([2, 0])).column("a").to_pylist() == [3, 1]


def test_values_in_messages_are_short():
    assert described(None) == "None"
    deep = []
    for _ in range(2000):
        deep = [deep]
    assert described(deep).startswith("the list ")
    assert described(MOMENT) == f"the time {MOMENT.isoformat()}"
    assert len(described("x" * 500)) < 80


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        ("integer", "-9223372036854775808", -(2**63)),
        ("integer", "1000.0", 1000),
        ("integer", " -1e3", -1000),
        ("integer", "9007199254740993.0", 2**53 + 1),
        ("integer", "9223372036854775807.0", 2**63 - 1),
        ("number", "1e3", 1000.0),
        ("number", "9007199254740994", 2.0**53 + 2),
        ("number", "9007199254740993.0", 2.0**53),
        ("number", "-9223372036854775808", -(2.0**63)),
        ("time", "2026-01-31T12:00:00", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("time", "2026-01-31T12:00:00+02:00", datetime(2026, 1, 31, 10, tzinfo=UTC)),
        ("flag", "true", True),
        ("flag", "false", False),
    ],
)
def test_values_are_read(kind, written, value):
    assert READ[kind].read(written) == value


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("integer", "9223372036854775808"),
        ("integer", "1.5"),
        ("integer", "9007199254740992.5"),
        ("integer", "9223372036854775808.0"),
        ("integer", "nan"),
        ("integer", "-inf"),
        ("integer", "1_0"),
        ("integer", "1_0.0"),
        ("integer", "\u0661"),
        ("number", "9007199254740993"),
        ("number", "-9223372036854775807"),
        ("number", "many"),
        ("number", "1_0.5"),
        ("time", "soon"),
        ("time", "2026-01-31T12:00:00.1234567Z"),
        ("time", "2026-01-31x12:00:00"),
        ("flag", "True"),
    ],
)
def test_values_that_cannot_be(kind, written):
    with pytest.raises((ValueError, KeyError)):
        READ[kind].read(written)
    assert READ[kind].expected


@pytest.mark.parametrize("written", [lambda value: value, str, Decimal], ids=["integer", "string", "decimal"])
def test_an_integer_is_a_number_only_if_it_is_not_rounded(written):
    with Index.create(fields={"x": "number"}) as index:
        exact = [1, 2**53, 2**53 + 2, -(2**63)]
        index.admit([*"abcd"], ["one two"] * 4, {"x": [written(value) for value in exact]})
        assert [int(value) for value in index.values("x", [*"abcd"])] == exact
        for value in (2**53 + 1, -(2**53) - 1, 2**63 - 1):
            with pytest.raises(
                DataError, match=r"document 1: field 'x' must be .* \(integers are not rounded\), but is"
            ):
                index.admit([*"ef"], ["one two"] * 2, {"x": [written(1), written(value)]})


def test_missing_values_of_pandas_are_missing_in_lists_too():
    pandas = pytest.importorskip("pandas")
    given = {"when": [pandas.Timestamp(MOMENT), pandas.NaT], "rank": [1, pandas.NA], "share": [np.float16(1.5), 2]}
    with Index.create(fields=KINDS) as index:
        index.admit(["a", "b"], ["one two three", "four five six"], given)
        for days in ([MOMENT.date(), pandas.NaT], np.array([MOMENT.date(), pandas.NaT], object)):
            index.admit(["c", "d"], ["seven eight nine", "ten eleven twelve"], {"when": days})
            assert index.values("when", ["c", "d"]) == [datetime(2026, 1, 2, tzinfo=UTC), None]
        assert index.values("when", ["a", "b"]) == [MOMENT, None]
        assert index.values("rank", ["a", "b"]) == [1, None]
        assert index.values("share", ["a", "b"]) == [1.5, 2.0]


@pytest.mark.parametrize(
    ("name", "value"), [("host", "a"), ("rank", 1), ("share", 1.0), ("when", MOMENT), ("live", True)]
)
def test_nan_is_missing_in_all_fields_but_those_of_numbers(name, value):
    for given in ([value, float("nan")], [value, np.float16("nan")], pa.array([None, np.nan])):
        known = field_columns({name: KINDS[name]}, field_table({name: given}, 2), 2)[f"known.{name}"]
        assert known.tolist() == [isinstance(given, list), name == "share"]


@pytest.mark.parametrize("kind", sorted(ARROW))
@pytest.mark.parametrize(
    "type_",
    [pa.float64(), pa.bool_(), pa.int64(), pa.timestamp("ns"), pa.duration("ns"), pa.null(), pa.binary()],
    ids=str,
)
@pytest.mark.parametrize("encoded", [False, True])
def test_a_column_without_values_may_have_any_type(kind, type_, encoded):
    for number in (2, 0):
        column = pa.nulls(number, type_)
        if encoded:
            column = pa.DictionaryArray.from_arrays(pa.nulls(number, pa.int8()), pa.nulls(0, type_))
        columns = field_columns({"x": kind}, pa.table({"x": column}), number)
        assert columns["known.x"].tolist() == [False] * number


def test_runs_of_equal_values_are_read_as_their_values():
    column = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([None, 1.5]))
    columns = field_columns({"x": "number"}, pa.table({"x": column}), 3)
    assert (columns["known.x"].tolist(), columns["field.x"].tolist()) == ([False, False, True], [0.0, 0.0, 1.5])


def test_the_first_value_that_does_not_fit_is_named_after_missing_ones():
    with pytest.raises(DataError, match="document 2: field 'x' must be true or false, but is the number 5"):
        field_columns({"x": "flag"}, pa.table({"x": pa.array([None, None, 5.0, 6.0])}), 4)


@pytest.mark.parametrize("value", [2.0**60, -(2.0**63), 1e18, 1e-400, 1000.0])
def test_floats_as_files_write_them_are_the_same_integers(value):
    assert read_field("integer", str(value)) == int(value)
