"""Columns as JSON lines and delimited text represent them: numbers, truth values and strings, also inside of lists.

Binary values in UTF-8 are strings, and so are UUIDs and times; a duration is the number of its units, as a string.
Decimals stay, and values of other extension types are those that are stored. What has no such form is an error. Nested
values are written as others are.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from neardup.model.arrow_types import BYTES, LISTS, STRINGS, is_one_of, unpacked
from neardup.model.errors import DataError
from neardup.model.written_values import written_times

_ONLY_PARQUET: Final = "which only Parquet can represent"
_OUT_OF_RANGE: Final = "<value out of range"  # what Arrow writes instead of a time
_OTHER_TIMES: Final = "has times of day that are not between 0 and 24 hours"
_OTHER_YEARS: Final = "has times outside of the years -32,767 to 32,767"
_FIRST_SECOND: Final = -12_687_427 * 86_400  # -32767-01-02
_LAST_SECOND: Final = 11_248_737 * 86_400  # 32767-12-31
_UNITS: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def plain(table: pa.Table, source: str | None = None) -> pa.Table:
    """Return a table with columns as JSON and delimited text represent them.

    Raises ``DataError`` of the *source*, or of the field, for the first value that they cannot represent.
    """
    for place, field in enumerate(table.schema):
        chunks = table.column(place).chunks or [pa.nulls(0, field.type)]
        try:
            column = pa.chunked_array([_plain(chunk, field.name) for chunk in chunks])
        except _Misfit as error:
            name, rule = error.args
            where, rule = (f"field {name!r}", rule) if source is None else (source, f"its {name!r} {rule}")
            raise DataError(where, f"{rule}, {_ONLY_PARQUET}", "only Parquet") from None
        if column.type != field.type:
            table = table.set_column(place, field.name, column)
    return table


def check_values(source: str, tables: Iterable[pa.Table]) -> None:
    """Raise the errors of ``plain`` for binary values and times in tables of one schema, before they are written.

    Other columns are not looked at: all of their values can be written, except for invalid strings.
    """
    for table in tables:
        names = [field.name for field in table.schema if _has_limits(field.type)]
        if not names:
            return
        plain(table.select(names), source)


def has_limits(schema: pa.Schema) -> bool:
    """Return whether a schema has binary values or times; only Parquet can represent all of them."""
    return any(_has_limits(field.type) for field in schema)


def check_type(source: str, name: str, kind: pa.DataType) -> None:
    """Raise ``DataError`` for a type that neither JSON nor delimited text has: equal names, or an unknown time zone."""
    names = [field.name for field in _fields(kind)]
    if twice := next((one for one in names if names.count(one) > 1), None):
        rule = f"its {name!r} has several fields named {twice!r}, {_ONLY_PARQUET}"
        raise DataError(source, rule, "only Parquet")
    if pa.types.is_timestamp(kind) and kind.tz is not None and not _is_known(kind):
        rule = f"its {name!r} has times of the zone {kind.tz!r}, which is not in the time zone data of this system"
        raise DataError(source, f"{rule}; only Parquet can keep them", "only Parquet")


def times_as_ids(column: pa.ChunkedArray, where: str, subject: str = "") -> pa.ChunkedArray:
    """Return times as strings; ``DataError`` for years that cannot be written, and for an unknown zone.

    Its rule begins with the *subject*.
    """
    try:
        return pa.chunked_array([_times(chunk, "") for chunk in column.chunks], pa.large_string())
    except _Misfit as error:
        raise DataError(where, f"{subject}{error.args[1]}; convert it to strings") from None


def types_in(name: str, kind: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    """Yield the type of the values of a column, and those of all values inside of them, with their names."""
    kind = unwrapped(kind)
    yield name, kind
    for field in _fields(kind):
        yield from types_in(f"{name}.{field.name}" if pa.types.is_struct(kind) else name, field.type)


def unwrapped(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of dictionaries and extension types."""
    while pa.types.is_dictionary(kind) or isinstance(kind, pa.BaseExtensionType):
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind.storage_type
    return kind


class _Misfit(Exception):  # noqa: N818 - the field, and what it has
    """A value that only Parquet can represent."""


def _fields(kind: pa.DataType) -> Iterator[pa.Field]:
    return (kind.field(number) for number in range(kind.num_fields))


def _is_known(kind: pa.DataType) -> bool:
    """Return whether the zone of a type of times is known."""
    try:
        pa.array([0], kind).cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True


def _has_limits(kind: pa.DataType) -> bool:
    """Return whether only Parquet can represent some values of a type; strings are taken as valid."""
    if isinstance(kind, pa.UuidType) or pa.types.is_duration(kind):
        return False
    kind = unwrapped(kind)
    return (
        is_one_of(kind, BYTES) or pa.types.is_temporal(kind) or any(_has_limits(field.type) for field in _fields(kind))
    )


def _plain(array: pa.Array, name: str) -> pa.Array:
    """Return an array as ``plain`` does, or raise ``_Misfit`` with the name of the field inside of the column."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _plain(unpacked(pa.chunked_array([array])).combine_chunks(), name)
    if isinstance(kind, pa.UuidType):
        return pa.array([None if value is None else str(value) for value in array.to_pylist()], pa.large_string())
    if isinstance(kind, pa.BaseExtensionType):
        is_flag = isinstance(kind, pa.Bool8Type)
        return array.storage.cast(pa.bool_()) if is_flag else _plain(array.storage, name)
    if pa.types.is_nested(kind):
        return _plain_nested(array, name)
    if is_one_of(kind, (*BYTES, *STRINGS)):
        return _strings(array, name)
    return _times(array, name) if pa.types.is_temporal(kind) else array


def _plain_nested(array: pa.Array, name: str) -> pa.Array:
    kind, missing = array.type, array.is_null()
    if pa.types.is_struct(kind) and kind.num_fields:
        inner = [_plain(one, f"{name}.{field.name}") for one, field in zip(array.flatten(), kind, strict=True)]
        return pa.StructArray.from_arrays(inner, [field.name for field in kind], mask=missing)
    if pa.types.is_map(kind):
        first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
        keys, items = (_plain(one[first:last], name) for one in (array.keys, array.items))
        return pa.MapArray.from_arrays(pc.subtract(array.offsets, first), keys, items, mask=missing)
    if is_one_of(kind, LISTS):
        ends = pc.cumulative_sum(pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64()))
        offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
        return pa.LargeListArray.from_arrays(offsets, _plain(pc.list_flatten(array), name), mask=missing)
    return array


def _strings(array: pa.Array, name: str) -> pa.Array:
    try:
        return array.cast(pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:
        what = "binary values" if is_one_of(array.type, BYTES) else "strings"
        raise _Misfit(name, f"has {what} that are not UTF-8") from None


def _times(array: pa.Array, name: str) -> pa.Array:
    kind = array.type
    if pa.types.is_timestamp(kind) and kind.tz is not None and not _is_in_years(array):
        raise _Misfit(name, _OTHER_YEARS)
    try:
        written = written_times(array)
    except pa.ArrowInvalid:
        raise _Misfit(name, f"has times in the unknown time zone {kind.tz!r}") from None
    if pc.any(pc.starts_with(written, _OUT_OF_RANGE)).as_py():
        raise _Misfit(name, _OTHER_TIMES if pa.types.is_time(kind) else _OTHER_YEARS)
    return written


def _is_in_years(array: pa.Array) -> bool:
    """Return whether times with a zone are at least a day inside of the years that Arrow can write.

    Of others, which it recognises only without a zone, it would write another year.
    """
    unit = _UNITS[array.type.unit]
    found = pc.min_max(array.cast(pa.int64()))
    first, last = found["min"].as_py(), found["max"].as_py()
    return first is None or (first >= _FIRST_SECOND * unit and last < _LAST_SECOND * unit)
