"""Columns as JSON lines and delimited text represent them, nested or not."""

import json
from io import BytesIO

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.model.arrow_types import filtered
from neardup.model.errors import DataError
from neardup.sources.formats import Kind
from neardup.sources.plain_columns import check_values, plain, types_in
from neardup.sources.tables import check_representable, table_writer, united, without_rows

UUID = "30303030-3030-3030-3030-303030303030"
UUIDS = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16], pa.binary(16)))
INVALID = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())

VALUES = {
    "binary": (pa.array([b"ab"]), "ab"),
    "large binary": (pa.array([b"ab"], pa.large_binary()), "ab"),
    "view of binary": (pa.array([b"ab"], pa.binary_view()), "ab"),
    "view of strings": (pa.array(["ab"], pa.string_view()), "ab"),
    "fixed size": (pa.array([b"ab"], pa.binary(2)), "ab"),
    "dictionary": (pa.array([b"ab"]).dictionary_encode(), "ab"),
    "dictionary of views": (pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["ab"], pa.string_view())), "ab"),
    "uuid": (UUIDS, UUID),
    "bool8": (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1], pa.int8())), True),
    "json": (pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a":1}'])), '{"a":1}'),
    "nanosecond": (pa.array([1], pa.time64("ns")), "00:00:00.000000001"),
    "time of day": (pa.array([1], pa.time32("s")), "00:00:01"),
    "date": (pa.array([1], pa.date32()), "1970-01-02"),
    "milliseconds": (pa.array([1], pa.timestamp("ms")), "1970-01-01 00:00:00.001"),
    "nanoseconds": (pa.array([10**9], pa.timestamp("ns")), "1970-01-01 00:00:01"),
    "zone": (pa.array([1], pa.timestamp("s", "+02:00")), "1970-01-01 02:00:01+0200"),
    "duration": (pa.array([10**14], pa.duration("s")), "100000000000000"),
    "duration of nanoseconds": (pa.array([1500], pa.duration("ns")), "1500"),
    "number": (pa.array([2**64 - 1], pa.uint64()), 2**64 - 1),
}

INSIDE = {
    "itself": (lambda array: array, lambda value: value),
    "struct": (lambda array: pa.StructArray.from_arrays([array], ["x"]), lambda value: {"x": value}),
    "list": (lambda array: pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), array), lambda value: [value]),
    "large list": (lambda array: pa.LargeListArray.from_arrays([0, 1], array), lambda value: [value]),
    "list of fixed size": (lambda array: pa.FixedSizeListArray.from_arrays(array, 1), lambda value: [value]),
    "map": (
        lambda array: pa.MapArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["k"]), array),
        lambda value: [["k", value]],
    ),
}

MISFITS = {
    "binary": (pa.array([b"\xff"]), "binary values that are not UTF-8"),
    "fixed size": (pa.array([b"\xff\xfe"], pa.binary(2)), "binary values that are not UTF-8"),
    "seconds": (pa.array([1700000000000], pa.timestamp("s")), "times outside of the years -32,767 to 32,767"),
    "milliseconds": (pa.array([2**62], pa.timestamp("ms")), "times outside of the years"),
    "microseconds": (pa.array([-(2**63)], pa.timestamp("us")), "times outside of the years"),
    "zone": (pa.array([12_000_000 * 86_400], pa.timestamp("s", "UTC")), "times outside of the years"),
    "earlier zone": (pa.array([-(2**63)], pa.timestamp("us", "+02:00")), "times outside of the years"),
    "date": (pa.array([2**31 - 1], pa.date32()), "times outside of the years"),
    "time": (pa.array([-1], pa.int32()).cast(pa.time32("s")), "times of day that are not between 0 and 24 hours"),
}


def written(form, table):
    file = BytesIO()
    with table_writer(file, Kind(form), table.schema) as (write, _):
        write(table)
    return file.getvalue().decode()


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("value", VALUES)
def test_a_value_has_one_form_nested_or_not(value, inside):
    (array, form), (of_array, of_form) = VALUES[value], INSIDE[inside]
    table = pa.table({"f": of_array(array)})
    assert json.loads(written("jsonl", table)) == {"f": of_form(form)}
    check_values("x", [table])


@pytest.mark.parametrize("value", VALUES)
def test_delimited_text_has_the_same_forms(value):
    array, form = VALUES[value]
    lines = written("csv", pa.table({"n": [1], "f": array})).splitlines()
    shown = str(form).lower() if isinstance(form, int) else '"{}"'.format(form.replace('"', '""'))
    assert lines == ['"n","f"', f"1,{shown}"]


@pytest.mark.parametrize("day", [-12_687_427, 11_248_736])
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_the_first_and_last_times_that_can_be_written(day, unit):
    moment = day * 86_400 * {"s": 1, "ms": 10**3, "us": 10**6}[unit]
    for zone in ("UTC", "+14:00", "-12:00"):
        (row,) = plain(pa.table({"f": pa.array([moment], pa.timestamp(unit, zone))})).to_pylist()
        assert row["f"].startswith("-32767-01-0" if day < 0 else "32767-12-")
    missing = pa.table({"f": pa.array([None], pa.timestamp(unit, "UTC"))})
    assert plain(missing).to_pylist() == [{"f": None}]


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("value", MISFITS)
def test_what_only_parquet_has_is_refused_by_the_name_of_its_field(value, inside):
    array, rule = MISFITS[value]
    table = pa.table({"f": INSIDE[inside][0](array)})
    name = "f.x" if inside == "struct" else "f"
    with pytest.raises(DataError, match=f"^a.parquet: its '{name}' has {rule}.*, which only Parquet can represent"):
        check_values("a.parquet", [table])
    with pytest.raises(DataError, match=f"field '{name}'.* has {rule}"):
        plain(table)


def test_invalid_strings_are_refused_when_they_are_written():
    table = pa.table({"f": INVALID})
    check_values("x", [table])
    with pytest.raises(DataError, match=r"field 'f'.* has strings that are not UTF-8"):
        written("jsonl", table)


def test_types_that_only_parquet_has_are_refused():
    twice = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]).type
    unknown = pa.timestamp("s", "Foo/Bar")
    rules = {
        "its 'f' has several fields named 'a', which only Parquet can represent": twice,
        "its 'f' has times of the zone 'Foo/Bar', which is not in the time zone data of this system": unknown,
    }
    for rule, kind in rules.items():
        for name, whole in (("f", kind), ("f.x", pa.struct([("x", kind)])), ("f", pa.list_(kind))):
            with pytest.raises(DataError, match=rule.replace("'f'", f"'{name}'")):
                check_representable("x", pa.schema([("f", whole)]), "jsonl")
            check_representable("x", pa.schema([("f", whole)]), "parquet")
    with pytest.raises(DataError, match="Foo/Bar"):
        check_representable("x", pa.schema([("f", unknown)]), "csv")
    for zone in ("UTC", "+02:00", "Europe/Berlin"):
        check_representable("x", pa.schema([("f", pa.timestamp("s", zone))]), "csv")
    with pytest.raises(DataError, match="field 'f' has times in the unknown time zone 'Foo/Bar'"):
        written("jsonl", pa.table({"f": pa.array([1], unknown)}))


def test_types_have_the_names_of_their_fields():
    kind = pa.struct([("a", pa.list_(pa.struct([("b", pa.uuid())])))])
    assert [name for name, _ in types_in("f", kind)] == ["f", "f.a", "f.a", "f.a.b"]


NESTED = pa.struct([("n", pa.list_(pa.struct([("m", pa.map_(pa.string(), pa.int64()))]))), ("s", pa.string())])
MAPS = st.none() | st.lists(st.tuples(st.text(max_size=2), st.none() | st.integers(0, 9)), max_size=2)
RECORDS = st.none() | st.fixed_dictionaries(
    {
        "n": st.none() | st.lists(st.none() | st.fixed_dictionaries({"m": MAPS}), max_size=3),
        "s": st.none() | st.text(max_size=2),
    }
)


@given(st.lists(RECORDS, max_size=6), st.integers(0, 6), st.integers(0, 6))
def test_values_that_are_plain_stay_in_any_part_of_a_table(records, first, number):
    part = pa.table({"f": pa.array(records, NESTED)}).slice(first, number)
    assert plain(part).to_pylist() == part.to_pylist()


@pytest.mark.parametrize("kind", [pa.list_(pa.binary(2), 2), pa.list_view(pa.binary(2)), pa.large_list(pa.binary(2))])
def test_missing_lists_stay(kind):
    part = pa.table({"f": pa.array([[b"ab", b"cd"], None, [b"ef", None]], kind)}).slice(1)
    assert plain(part).to_pylist() == [{"f": None}, {"f": ["ef", None]}]


def test_columns_with_extension_types_inside_are_written():
    table = pa.table({"f": pa.StructArray.from_arrays([UUIDS], ["u"])})
    schema = united([("x", table.schema)])
    assert without_rows(schema).num_rows == 0
    views = pa.table({"f": pa.array([{"x": "ab"}, {"x": "cd"}], pa.struct([("x", pa.string_view())]))})
    assert filtered(views, np.array([False, True])).to_pylist() == [{"f": {"x": "cd"}}]
