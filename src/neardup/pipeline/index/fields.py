"""The typed fields that an index stores with documents, and their values, read from how they are written.

A value is of its field's kind, or a string that writes one, as in CSV. Each value is read by itself: whether it is
valid does not depend on the other values of its batch. An empty string counts as missing, except in a field of strings;
and NaN, with which pandas writes missing values, except in a field of numbers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from math import isinf
from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.index.disk.buffers import differing, some, taken
from neardup.index.disk.columns import FIELD_KINDS, STRING, TIMES, Batch
from neardup.index.disk.field_changes import FieldChange
from neardup.index.disk.reader import Places
from neardup.index.disk.store import Store
from neardup.model.arrays import Positions, Words
from neardup.model.arrow_types import STRINGS, is_one_of
from neardup.model.errors import DataError, StorageDamaged, counted, cut_to, kind_of, require, require_choice
from neardup.model.moments import moment_of_text, require_past, with_zone
from neardup.model.seen import Document
from neardup.model.written_values import EXACT, digits_of
from neardup.sources.collection import SITE
from neardup.text.columns import chunk_batch
from neardup.text.containers import table_or_column
from neardup.text.sites import NO_SITES
from neardup.text.values import MISSING, uncut

Container = TypeVar("Container", pa.Table, pa.ChunkedArray)

_MOST_INTEGER: Final = 1 << 63


class FieldReading(NamedTuple):
    """How a kind is read: *read* raises ``ValueError`` or ``KeyError`` for values other than the *expected* ones."""

    read: Callable[[str], Any]
    type: pa.DataType
    expected: str


def _float(written: str) -> float:
    """Read a number as files write it; Python would also read ``1_000``, digits of other scripts, and 1e999 as inf."""
    value = float(written)
    if "_" in written or not written.isascii() or (isinf(value) and "n" not in written.lower()):
        raise ValueError(written)
    return value


def _number(written: str) -> float:
    """Read a number; an integer beyond 2**53 that it would round is invalid."""
    value = _float(written)
    if abs(value) >= EXACT and written.strip().lstrip("+-").isdecimal() and value != int(written):
        raise ValueError(written)
    return value


def _integer(written: str) -> int:
    """Read a whole number, also one written as ``1000.0`` or ``1e3``; with an exponent, it is that of a float."""
    value = _float(written)
    if not abs(value) <= _MOST_INTEGER:  # nor NaN
        raise ValueError(written)
    exact = value if "e" in written.lower() else Decimal(written)
    whole = int(exact)
    if whole != exact or not -_MOST_INTEGER <= whole < _MOST_INTEGER:
        raise ValueError(written)
    return whole


READ: Final = {
    "integer": FieldReading(_integer, pa.int64(), "an integer of 64 bits"),
    "number": FieldReading(_number, pa.float64(), "a number of 64 bits (integers are not rounded)"),
    "time": FieldReading(
        moment_of_text, pa.timestamp("us", "UTC"), "a time such as 2026-01-31T12:00:00Z (at most microseconds)"
    ),
    "flag": FieldReading({"true": True, "false": False}.__getitem__, pa.bool_(), "true or false"),
}

_PYTHON: Final[dict[Any, str]] = {str: STRING, int: "integer", float: "number", datetime: "time", bool: "flag"}
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

ARROW: Final = {STRING: pa.large_string(), **{kind: reading.type for kind, reading in READ.items()}}
_OWN: Final[dict[str, tuple[Any, ...]]] = {  # the types whose values Arrow casts exactly, or refuses
    STRING: STRINGS,
    "integer": (pa.types.is_integer,),
    "number": (pa.types.is_floating, pa.types.is_integer),
    "time": (pa.types.is_timestamp,),
    "flag": (pa.types.is_boolean,),
}
TITLE, URL, HOST = "title", "url", "host"  # string fields that are searched, shown or filled, if an index has them
SHOWN: Final = 60  # characters of a value in a message
FIRST_MOMENT: Final = -62_135_596_800_000_000  # microseconds: the years from 1 to 9999, the range of Python's datetime
LAST_MOMENT: Final = 253_402_300_799_999_999
_UNFIT: Final = (pa.ArrowException, TypeError, ValueError, OverflowError)  # of values that Arrow cannot convert


def field_kinds(fields: Mapping[str, Any] | None) -> tuple[tuple[str, str], ...]:
    """Return names and kinds of fields, after checking them; Python's types are accepted as kinds, too."""
    if fields is None:
        return ()
    require(isinstance(fields, Mapping), "fields", fields, "must map names to kinds")
    kinds: list[tuple[str, str]] = []
    parts = {f"{name}.{part}" for name in fields for part in ("data", "offsets")}  # arrays of a column of strings
    for name, kind in fields.items():
        require(
            isinstance(name, str) and name != "",
            "fields",
            name,
            "is invalid: a field name must be a string, and not empty",
        )
        require(name not in parts, "fields", name, "must not be another field's name followed by .data or .offsets")
        own: Any = _PYTHON.get(kind, kind) if isinstance(kind, type) else kind
        known = isinstance(own, str) and own in FIELD_KINDS
        require(known, "fields", kind, f"must have one of these kinds: {', '.join(FIELD_KINDS)}")
        kinds.append((name, own))
    return tuple(kinds)


def column_of_time(by: Any, moment: int) -> str:
    """Return the column of the time *by*; ``ParameterError`` for another one, and for a *moment* in the future."""
    require_choice("by", by, ("last_seen", "first_seen"), "must be last_seen or first_seen")
    require_past(moment_of(moment))
    return TIMES[by]


def field_table(fields: Any, number: int) -> pa.Table:
    """Return a table, or a mapping from names to values, as an Arrow table; ``None`` as a table without columns."""
    source = table_or_column({} if fields is None else fields, what="fields")
    if isinstance(source, Mapping):
        columns = {name: _column(name, values) for name, values in source.items()}
        try:
            source = pa.table(columns)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise DataError("fields", f"cannot be converted to a table: {error}") from error
    if not isinstance(source, pa.Table):
        raise DataError("fields", f"must be a table or map names to values, not {kind_of(fields)}")
    if source.num_columns and len(source) != number:
        there = f"{counted(len(source), 'row')} for {counted(number, 'document')}"
        raise DataError("fields", f"{there}; each document needs one")
    return source


def field_columns(kinds: Mapping[str, str], table: pa.Table, number: int) -> Batch:
    """Return the columns of an index for these fields of a *number* of documents; missing fields are null."""
    columns: Batch = {}
    for name, kind in kinds.items():
        column = _cast(name, kind, table.column(name)) if name in table.column_names else None
        array = pa.nulls(number, ARROW[kind]) if column is None else column
        known = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else np.ones(number, np.bool_)
        columns[f"known.{name}"] = np.asarray(known, np.bool_)
        columns[f"field.{name}"] = chunk_batch(array) if kind == STRING else _plain(array, kind)
    return columns


def sites_of(fields: pa.Table) -> Words:
    """Return the sites of documents (see ``neardup.text.sites``) from their fields; none if there is no such field."""
    if SITE not in fields.column_names:
        return NO_SITES
    return np.asarray(field_columns({SITE: "integer"}, fields, len(fields))[f"field.{SITE}"]).view(np.uint64)


def sites_at(store: Store, places: Places) -> Words:
    """Return the sites of stored documents; none if the index has no such field."""
    return store.take(f"field.{SITE}", places).view(np.uint64) if has_sites(store) else NO_SITES


def has_sites(store: Store) -> bool:
    """Return whether the documents of an index may belong to sites."""
    return (SITE, "integer") in store.columns.fields


def changed_fields(store: Store, places: Places, given: Batch) -> dict[str, FieldChange]:
    """Return the fields of stored documents that differ from the *given* ones, which are columns without others.

    A null changes nothing: callers that do not know a field must not remove it. The site of a page belongs to its
    content, with which it decides.
    """
    kinds = {name: kind for name, kind in store.columns.fields if name != SITE}
    if not kinds or not len(places):
        return {}
    fixed = [f"known.{name}" for name in kinds] + [f"field.{name}" for name, kind in kinds.items() if kind != STRING]
    stored: Batch = dict(zip(fixed, store.take_all(fixed, places), strict=True))
    changes: dict[str, FieldChange] = {}
    for name, kind in kinds.items():
        known: Any = given[f"known.{name}"]
        now: Any = given[f"field.{name}"]
        if kind == STRING:
            differs = differing(now, store.strings(f"field.{name}", places))
        else:
            bits = f"u{now.itemsize}"  # by which NaN equals itself
            differs = now.view(bits) != cast("Any", stored[f"field.{name}"]).view(bits)
        rows = np.flatnonzero(known & (differs | ~np.asarray(stored[f"known.{name}"], np.bool_)))
        if len(rows):
            values = taken(now, rows) if kind == STRING else now[rows]
            changes[name] = FieldChange(store.take("ordinal", places[rows]), values)
    return changes


def field_values(store: Store, name: str, kind: str, places: Places) -> list[Any]:
    """Return the values of a field as Python objects."""
    known = store.take(f"known.{name}", places).tolist()
    values: list[Any]
    if kind == STRING:
        values = store.decoded(f"field.{name}", places)
    else:
        values = store.take(f"field.{name}", places).tolist()
        if kind == "time":
            values = [moment_of(value) for value in values]
    return [value if is_known else None for value, is_known in zip(values, known, strict=True)]


def texts_at(store: Store, places: Places) -> list[str]:
    """Return the texts of documents, of an index that stores them."""
    raw = store.strings("text", places)
    return [raw.bytes_at(row).decode(errors="replace") for row in range(len(places))]


def documents_at(store: Store, kinds: Mapping[str, str], places: Places) -> list[Document]:
    """Return documents with the values of their fields, which are of these *kinds*."""
    ids = store.decoded("id", places)
    times = [[moment_of(at) for at in store.take(name, places).tolist()] for name in TIMES.values()]
    kept = store.decoded("id", store.with_ordinals(store.take("representative", places)))
    texts: Sequence[str | None] = texts_at(store, places) if store.columns.texts else [None] * len(places)
    values = {name: field_values(store, name, kind, places) for name, kind in kinds.items()}
    return [
        Document(
            own, first, changed, last, representative, {name: column[row] for name, column in values.items()}, text
        )
        for row, (own, first, changed, last, representative, text) in enumerate(
            zip(ids, *times, kept, texts, strict=True)
        )
    ]


@lru_cache(maxsize=1024)  # many documents are admitted at the same time
def moment_of(microseconds: int) -> datetime:
    """Return the UTC time of a number of microseconds since 1970."""
    try:
        return EPOCH + timedelta(microseconds=microseconds)
    except OverflowError as error:
        raise StorageDamaged("a column of times", f"has the invalid time {microseconds}") from error


def chosen_rows(container: Container, rows: slice | Positions) -> Container:
    """Return some rows of an Arrow table, which may have no columns, or of an Arrow column; a slice copies nothing."""
    if isinstance(rows, slice):
        return container.slice(rows.start, rows.stop - rows.start)
    is_bare = isinstance(container, pa.Table) and not container.num_columns
    return container if is_bare else container.take(pa.array(rows))


def with_column(table: pa.Table, name: str, column: pa.Array) -> pa.Table:
    """Return a table, which may have no columns, with another column."""
    return table.append_column(name, column) if table.num_columns else pa.table({name: column})


def unknown_field(name: str, known: Iterable[str]) -> DataError:
    """Return the error for a field that an index with these *known* ones does not have."""
    return DataError(f"field {name!r}", f"is unknown; this index has {', '.join(sorted(known)) or 'no fields'}")


def taken_rows(columns: Batch, rows: slice | Positions) -> Batch:
    """Return some rows of columns; a slice copies nothing."""
    return {name: some(column, rows) for name, column in columns.items()}


def described(value: Any) -> str:
    """Describe a value for a message.

    >>> described(5), described("five"), described([5])
    ('the integer 5', "the string 'five'", 'the list [5]')
    """
    names = {str: "string", int: "integer", float: "number", bool: "flag", datetime: "time", bytes: "byte string"}
    if value is None:
        return "None"
    try:
        shown = cut_to(SHOWN, value.isoformat() if isinstance(value, datetime) else repr(value))
    except RecursionError:  # of lists in lists
        shown = "of many levels"
    return f"the {names.get(type(value), type(value).__name__)} {shown}"


def _column(name: str, values: Any) -> Any:
    """Return the values of a field as an Arrow column."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise DataError(f"field {name!r}", f"must have a value for each document, but is {described(values)}")
    values = values if hasattr(values, "__len__") else [*values]
    with suppress(*_UNFIT):
        array = pa.array(values)
        if pa.types.is_date(array.type):
            array = pa.array(values, from_pandas=True)  # otherwise NaT is a date
        return uncut(array, values, name)
    return _union(name, [None if type(value).__name__ in MISSING else value for value in values])


def _union(name: str, values: list[Any]) -> pa.Array:
    """Return values of different types as a union, in which each keeps its type, so that none depends on the others."""
    for place, value in enumerate(values):
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            rule = f"field {name!r} is {described(value)}, which has more than 64 bits"
            raise DataError(f"document {place}", rule)
        if isinstance(value, str) and value.encode(errors="ignore") != value.encode(errors="surrogatepass"):
            rule = f"field {name!r} has a lone surrogate, which UTF-8 cannot write"
            raise DataError(f"document {place}", rule)
    try:
        kinds = [*dict.fromkeys(map(type, values))]
        parts = [[value if type(value) is kind else None for value in values] for kind in kinds]
        children = [uncut(pa.array(part), part, name) for part in parts]
        return pa.UnionArray.from_sparse(pa.array([kinds.index(type(value)) for value in values], pa.int8()), children)
    except _UNFIT as error:
        raise DataError(f"field {name!r}", f"has values that do not fit into one column: {error}") from error


def _cast(name: str, kind: str, column: pa.ChunkedArray) -> pa.Array:
    """Cast a column of values to a field's kind; ``DataError`` for the first value that cannot be cast."""
    whole = column.combine_chunks()
    wanted = ARROW[kind]
    if is_one_of(whole.type, _OWN[kind]):
        with suppress(pa.ArrowInvalid):
            found = whole.cast(wanted)
            if kind != "time" or _in_years(found):
                return found
    values: list[Any] = []
    for place, scalar in enumerate(whole):
        value: Any = None
        try:
            value = scalar.as_py()
            values.append(_value(kind, value))
        except (ValueError, KeyError, OverflowError) as error:
            expected = "a string" if kind == STRING else READ[kind].expected
            rule = f"field {name!r} must be {expected}, but is {described(scalar.value if value is None else value)}"
            raise DataError(f"document {place}", rule) from error
    return pa.array(values, wanted)


def _in_years(times: pa.Array) -> bool:
    """Return whether times are in the range of Python's ``datetime``."""
    ends = pc.min_max(times.cast(pa.int64())).as_py().values()
    return all(end is None or FIRST_MOMENT <= end <= LAST_MOMENT for end in ends)


def _value(kind: str, value: Any) -> Any:
    """Return a value of a kind, or one that a string writes; NaN is a number, and otherwise a missing value.

    Raises the errors of ``FieldReading`` for other values. A time has microseconds.
    """
    if value is None or (kind != "number" and value != value):  # noqa: PLR0124 - NaN
        return None
    if isinstance(value, str):
        return value if kind == STRING else read_field(kind, value)
    if kind in {"integer", "number"} and isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return READ[kind].read(repr(value) if isinstance(value, float) else digits_of(value))
    if kind == "time" and isinstance(value, date) and not getattr(value, "nanosecond", 0):
        moment = value if isinstance(value, datetime) else datetime.combine(value, time())
        return with_zone(moment).astimezone(UTC)
    if kind == "flag" and isinstance(value, bool):
        return value
    raise ValueError(value)


def _plain(array: pa.Array, kind: str) -> Any:
    plain = array.cast(pa.int64()) if kind == "time" else array
    zero = pa.scalar(False if kind == "flag" else 0, plain.type)
    return np.asarray(plain.fill_null(zero).to_numpy(zero_copy_only=False), FIELD_KINDS[kind])


def read_field(kind: str, written: str | None) -> Any:
    """Return the value of a kind that a string writes; the errors are those of ``FieldReading``."""
    return None if written in {None, ""} else READ[kind].read(written)
