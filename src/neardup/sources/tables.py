"""Tables of records, and how they are written as Parquet, JSON lines or delimited text.

Parquet and delimited text need the columns of all records before the first one is written; JSON lines do not. Fields
that come from JSON have the types of their values: whole numbers are int64, and double where others are not whole. In
JSON and delimited text, columns are written as in ``neardup.sources.plain_columns``; in JSON, decimals are strings, and
NaN and infinity are null. What a format cannot represent is an error.
"""

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, BinaryIO, Final

import msgspec
import pyarrow as pa

from neardup.model.arrow_types import widened
from neardup.model.errors import DataError
from neardup.sources.compression import Writable, compressed
from neardup.sources.formats import Kind
from neardup.sources.plain_columns import check_type, plain, types_in, unwrapped

Write = Callable[[pa.Table], None]

_ROWS: Final = 1 << 14
_BYTES: Final = 1 << 23
_GROUP_ROWS: Final = 1 << 20  # of a row group of Parquet
_GROUP_BYTES: Final = 1 << 27
ONLY_LINES: Final = (
    "only JSON lines can represent this; write JSON lines, to a folder if the inputs have several formats"
)
TOGETHER: Final = (
    "inputs that are written together need one type for each field; write one file for each input, to a folder and"
    " not in parts"
)

MOST_FIELDS: Final = 10_000  # of records of JSON, with those in objects: each takes memory in every row
_LEVELS: Final = 98  # of objects and lists in each other: readers of Parquet accept 100, with the record and the value
_SHOWN: Final = 40  # characters of a value in a message


def slices(table: pa.Table) -> Iterator[pa.Table]:
    """Yield neighbouring rows, some megabytes at a time; a table without rows once."""
    rows = max(1, min(_ROWS, _BYTES * len(table) // max(1, table.nbytes)))
    yield from (table.slice(begin, rows) for begin in range(0, max(1, len(table)), rows))


def table_of(place: Callable[[int], str], records: Sequence[dict[str, Any]]) -> pa.Table:
    """Return decoded JSON objects as a table; ``DataError`` at the place of the first one that does not fit.

    It has a value of another type than those before it, a number beyond 64 bits, or one beyond 2^53 with fractions; or
    all records have more than ``MOST_FIELDS`` different fields.
    """
    names = [*dict.fromkeys(name for record in records for name in record)]
    if _most_names(records) > MOST_FIELDS:
        raise _too_wide(place(len(records) - 1), "the records up to this one have")
    columns: list[pa.Array] = []
    for name in names:
        values = [record.get(name) for record in records]
        try:
            columns.append(_column(values))
        except (OverflowError, pa.ArrowException):
            row = bisect_left(range(len(values)), True, key=lambda last: not _fits(values[: last + 1]))
            shown = json.dumps(values[row], ensure_ascii=False)[:_SHOWN]
            rule = f"its {name!r}, {shown}, and the values before it cannot be one column"
            rule = f"{rule}: their types differ, or a number would be rounded; {ONLY_LINES}"
            raise DataError(place(row), rule, "unrepresentable") from None
    table = pa.table(columns, names)
    if _fields_of(table.schema) > MOST_FIELDS:
        raise _too_wide(place(len(records) - 1), "the records up to this one have")
    return table


def _most_names(values: Sequence[Any]) -> int:
    """Return how many different names the fields of objects have, at the level that has the most."""
    most = 0
    while values:
        objects = [value for value in values if type(value) is dict]
        most = max(most, len(set().union(*objects)))
        inner = [value.values() if type(value) is dict else value for value in values]
        nested = not {dict, list}.isdisjoint(map(type, chain.from_iterable(inner)))
        values = [value for value in chain.from_iterable(inner) if type(value) in {dict, list}] if nested else []
    return most


def _too_wide(where: str, what: str) -> DataError:
    return DataError(where, f"{what} more than {MOST_FIELDS:,} different fields; {ONLY_LINES}", "unrepresentable")


def _column(values: Sequence[Any]) -> pa.Array:
    """Return values of JSON as a column; an Arrow error or ``OverflowError`` if it has no type for all of them."""
    column = pa.array(values)
    if _mixed(values, column.type):
        raise pa.ArrowInvalid("booleans among numbers")  # Arrow alone makes them 1 and 0 after a number with a point
    return column


def _mixed(values: Iterable[Any], kind: pa.DataType) -> bool:
    """Return whether booleans are among the numbers of *values*, whose type in Arrow is *kind*, at any level."""
    if pa.types.is_floating(kind):
        return bool in set(map(type, values))
    if pa.types.is_list(kind) and _may_be_mixed(kind.value_type):
        return _mixed(chain.from_iterable(value for value in values if value is not None), kind.value_type)
    if pa.types.is_struct(kind) and (fields := [field for field in kind if _may_be_mixed(field.type)]):
        present = [value for value in values if value is not None]
        return any(_mixed([value.get(field.name) for value in present], field.type) for field in fields)
    return False


def _may_be_mixed(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_nested(kind))


def _fits(values: Sequence[Any]) -> bool:
    """Return whether values of JSON can be one column."""
    try:
        _column(values)
    except (OverflowError, pa.ArrowException):
        return False
    return True


def united(schemas: Iterable[tuple[str, pa.Schema]], why: str = ONLY_LINES) -> pa.Schema:
    """Return the columns of all schemas, which are given with their sources, each of a type for all of its values.

    Raises ``DataError``, which ends with *why* one type is needed, for a column without one; and for more than
    ``MOST_FIELDS`` fields of one source, unless one of its schemas has them all.
    """
    widest, sources = MOST_FIELDS, set()
    whole: dict[str, pa.Schema] = {}  # of each column alone: the cost grows with the number of columns
    first: dict[str, tuple[str, pa.DataType]] = {}  # where a column has which type, if it has values there
    for source, schema in schemas:
        widest = max(widest, _fields_of(schema))
        sources.add(source)
        for field in schema:
            name, kind = field.name, _unpacked(field.type)
            try:
                own = pa.schema([pa.field(name, kind)])
                whole[name] = pa.unify_schemas([whole.get(name, own), own], promote_options="permissive")
            except (pa.ArrowTypeError, pa.ArrowInvalid):
                other, known = first[name]
                if source == other:
                    rule = f"its {name!r} has values of several types; {why}"
                    raise DataError(source, rule, "unrepresentable") from None
                types = [str(one).removeprefix("large_") for one in (kind, known)]  # as users know them
                rule = f"its {name!r} is {types[0]}, but that of {other} is {types[1]}; {why}"
                raise DataError(source, rule, "unrepresentable") from None
            if not pa.types.is_null(kind):
                first.setdefault(name, (source, kind))
        if len(whole) > widest and len(sources) == 1:
            raise _too_wide(source, "its records have")
    found = pa.schema([one.field(0) for one in whole.values()])
    if _fields_of(found) > widest and len(sources) == 1:
        raise _too_wide(source, "its records have")
    return found


def _fields_of(schema: pa.Schema) -> int:
    """Return the number of fields, with those in objects."""
    inside = (kind for field in schema for _, kind in types_in(field.name, field.type))
    return len(schema) + sum(int(kind.num_fields) for kind in inside if pa.types.is_struct(kind))


def check_representable(source: str, schema: pa.Schema, form: str) -> None:
    """Raise ``DataError`` for a column whose type, or a type nested in it, a format cannot represent."""
    for name, kind in (one for field in schema for one in types_in(field.name, field.type)):
        if form in {"csv", "tsv"} and pa.types.is_nested(kind):
            rule = f"its {name!r} has objects or lists, which {form.upper()} cannot represent"
            raise DataError(source, f"{rule}; write JSON lines or Parquet", "unrepresentable")
        if form == "parquet" and pa.types.is_struct(kind) and not kind.num_fields:
            rule = f"its {name!r} has only empty objects, which Parquet cannot represent; write JSON lines"
            raise DataError(source, rule, "unrepresentable")
        if form != "parquet":
            check_type(source, name, kind)
    if form == "parquet":
        check_levels(source, schema)


def check_levels(source: str, schema: pa.Schema) -> None:
    """Raise ``DataError`` for a column with more levels of objects and lists than readers of Parquet accept."""
    for field in schema:
        if _levels(field.type) > _LEVELS:
            levels = f"more than {_LEVELS} levels of objects and lists, where a list counts as two"
            raise DataError(source, f"its {field.name!r} has {levels}; {ONLY_LINES}", "unrepresentable")


def _levels(kind: pa.DataType) -> int:
    """Return the number of levels of a type in Parquet: one for an object, two for a list or a map."""
    most, waiting = 0, [(kind, 0)]
    while waiting:
        own, above = waiting.pop()
        own = unwrapped(own)
        one = pa.types.is_struct(own) or pa.types.is_map(own)  # a map contains objects
        levels = above + (1 if one else 2 if pa.types.is_nested(own) else 0)
        most = max(most, levels)
        waiting += [(own.field(number).type, levels) for number in range(own.num_fields)]
    return most


def without_rows(schema: pa.Schema) -> pa.Table:
    """Return a table of these columns; ``Schema.empty_table`` refuses UUIDs inside of others."""
    return pa.Table.from_batches([], schema)


@contextmanager
def table_writer(file: BinaryIO, how: Kind, schema: pa.Schema) -> Iterator[tuple[Write, Writable]]:
    """Yield a function that writes a table to *file*, and the file of lines that it writes to.

    All tables have this *schema*, except in JSON lines.
    """
    if how.format == "parquet":
        import pyarrow.parquet as pq  # slow to load

        from neardup.sources.parquet import RowGroups

        with pq.ParquetWriter(file, schema, compression="zstd") as parquet:
            groups = RowGroups(parquet, _GROUP_ROWS, _GROUP_BYTES)
            yield lambda table: groups.append([table]), file
            groups.end()
        return
    with compressed(file, how.compression) as packed:
        if how.format == "jsonl":
            encode = msgspec.json.Encoder().encode_lines

            def write(table: pa.Table) -> None:
                for part in slices(table):
                    packed.write(encode(plain(part).to_pylist()))

            yield write, packed
            return
        import pyarrow.csv

        written = _delimited(without_rows(schema)).schema
        options = pyarrow.csv.WriteOptions(delimiter="," if how.format == "csv" else "\t", quoting_style="needed")
        with pyarrow.csv.CSVWriter(packed, written, write_options=options) as text:
            yield lambda table: text.write_table(_delimited(table)), packed


def conformed(source: str, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with the columns and types of a united schema; ``DataError`` for a value that it cannot hold."""
    columns: dict[str, pa.ChunkedArray] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        whole = without_rows(pa.schema([schema.field(name)]))
        try:
            own = pa.table({name: column.cast(_unpacked(column.type))})
            columns[name] = pa.concat_tables([whole, own], promote_options="permissive").column(0)
        except pa.ArrowInvalid as error:
            kind = schema.field(name).type
            rule = f"its {name!r} has a value that {kind}, the type of this field in other records, cannot represent"
            rule = f"{rule}: {error}; use one type for this field in all inputs"
            raise DataError(source, rule, "unrepresentable") from None
    missing = {field.name: pa.nulls(len(table), field.type) for field in schema if field.name not in columns}
    return pa.table(columns | missing).select(schema.names).cast(schema)


def _unpacked(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of a dictionary, and that of strings that Arrow can merge with others."""
    return widened(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _delimited(table: pa.Table) -> pa.Table:
    """Return a table as CSV represents it. A null of a single column would be an empty line, which readers skip."""
    table = plain(table)
    for place, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.large_string()))
    if table.num_columns == 1:
        column = table.column(0).cast(pa.large_string()).fill_null("")
        table = table.set_column(0, table.column_names[0], column)
    return table
