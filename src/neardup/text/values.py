"""Python values that Arrow cannot represent in one column as they are: large integers, and values of several kinds."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup.model.errors import DataError, is_number, kind_of

MISSING: Final = frozenset({"NoneType", "NAType", "NaTType"})  # names of types, without importing pandas
_NUMBER: Final = "a number"
_BOOLEANS: Final = frozenset({bool, np.bool_})
_SHOWN: Final = 40  # characters of a value in a message


def uncut(array: pa.Array, values: Any, name: str) -> pa.Array:
    """Return an *array* that was made of *values*, or a new one of them if Arrow has cut something off.

    Arrow cuts off the times of moments among dates, the fractions of NumPy's numbers after integers, and nanoseconds
    in lists; some booleans after numbers become 1 and 0. Values inside of values are not looked at. Raises the
    errors of ``column_of``, and ``DataError`` if some times have nanoseconds, and others are outside of the years in
    which these are exact.
    """
    kind = array.type
    if str(getattr(values, "dtype", "object")) != "object":
        return array
    if _has_others(kind, values):
        return column_of(values, name)
    if pa.types.is_timestamp(kind):
        part, fine = "nanosecond", pa.timestamp("ns", kind.tz)
    elif pa.types.is_duration(kind):
        part, fine = "nanoseconds", pa.duration("ns")
    else:
        return array
    if kind == fine or not any(getattr(value, part, 0) > 0 for value in values):
        return array
    try:
        return pa.array(values, fine, from_pandas=True)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        rule = "has times with nanoseconds, which are exact from 1677 to 2262 only, and others outside of these years"
        raise DataError(f"column {name!r}", f"{rule}; round them, or pass strings") from error


def _has_others(kind: pa.DataType, values: Iterable[Any]) -> bool:
    """Return whether Arrow has changed the kind of some *values*: times, fractions of NumPy, or booleans."""
    if pa.types.is_date(kind):
        return any(isinstance(value, datetime) and not is_missing(value) for value in values)
    if pa.types.is_integer(kind) and any(isinstance(value, np.floating) for value in values):
        return True
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return numbers and bool(_BOOLEANS & {*map(type, values)}) and any(_kind_of(value) == _NUMBER for value in values)


def column_of(values: Iterable[Any], name: str) -> pa.Array:
    """Return numbers that do not fit into 64 bits as decimals, which are exact; NaN is a missing value.

    Raises ``DataError`` for the first value of another kind than the first one, for an infinite number, as
    decimals are finite, and for values that are not numbers, such as fractions and complex numbers.
    """
    numbers: list[Decimal | None] = []
    first, origin = "", (0, None)
    for row, value in enumerate(values):
        found = _kind_of(value)
        if found and not first:
            first, origin = found, (row, value)
        if found and found != first:
            _require_known(*origin, first, name)
            rule = f"is {found} ({repr(value)[:_SHOWN]}), but earlier rows have {first}"
            raise DataError(f"column {name!r}, row {row:,}", f"{rule}; pass one kind, and None if missing", "kinds")
        number = Decimal(str(value)) if found == _NUMBER else None
        if number is not None and number.is_infinite():
            rule = f"is {value}, which cannot be compared exactly with the decimals here; remove it, or pass strings"
            raise DataError(f"column {name!r}, row {row:,}", rule)
        numbers.append(number)
    if first != _NUMBER:
        _require_known(*origin, first, name)
        raise DataError(
            f"column {name!r}", f"has values ({first}) that Arrow cannot represent in one column; pass strings"
        )
    try:
        return pa.array(numbers)
    except pa.ArrowInvalid as error:
        raise DataError(f"column {name!r}", "has numbers of more than 76 digits; pass all as strings") from error


def _require_known(row: int, value: Any, kind: str, name: str) -> None:
    """Raise ``DataError`` for a value that is of no type of Arrow, such as a complex number."""
    if kind == _NUMBER:
        return
    try:
        pa.array([value])
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        rule = f"is {kind} ({repr(value)[:_SHOWN]}), which Arrow cannot represent; pass numbers or strings"
        raise DataError(f"column {name!r}, row {row:,}", rule, "kinds") from error


def as_binary(values: Iterable[Any]) -> pa.Array:
    """Return strings with lone surrogates, which Arrow does not have, as bytes that are not UTF-8; others are null."""
    raw = [value.encode("utf-8", "surrogatepass") if isinstance(value, str) else None for value in values]
    return pa.array(raw, pa.large_binary())


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: ``None``, NaN, ``NA`` or ``NaT``."""
    return not _kind_of(value)


def _kind_of(value: Any) -> str:
    """Return the name of a value's kind for messages; empty for missing values."""
    if type(value).__name__ in MISSING:
        return ""
    if isinstance(value, np.timedelta64):  # an integer to NumPy
        return "" if np.isnat(value) else kind_of(value)
    if isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}:
        return "true or false"
    if isinstance(value, Decimal):
        return "" if value.is_nan() else _NUMBER
    if is_number(value):
        return "" if value != value else _NUMBER  # noqa: PLR0124 - only NaN differs from itself
    return kind_of(value)
