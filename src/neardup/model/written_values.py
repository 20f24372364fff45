"""Numbers, times and UUIDs as strings that people can read."""

from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

EXACT: Final = 1 << 53  # integers below it are exact in a float of 64 bits

_FRACTION: Final = r"(?:(\.[0-9]*[1-9])|\.)0*([^0-9]|$)"  # and what follows it


def written_values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return UUIDs, decimals and floating-point numbers as strings, NaN as null; other columns are unchanged.

    A whole decimal, and a whole number below 2^53, has neither a point nor an exponent: pandas turns a column of
    integers with a missing value into floating-point numbers.

    >>> written_values(pa.chunked_array([[1234567890123456.0, 2.5, None]])).to_pylist()
    ['1234567890123456', '2.5', None]
    """
    if isinstance(column.type, pa.UuidType):
        texts = [None if value is None else str(value) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])
    if pa.types.is_dictionary(column.type) and pa.types.is_decimal(column.type.value_type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type) and column.type.scale <= 0:
        return column.cast(pa.decimal256(76, 0)).cast(pa.string())
    if pa.types.is_decimal(column.type):
        written = [None if one is None else digits_of(one) for one in column.to_pylist()]
        return pa.chunked_array([pa.array(written, pa.string())])
    if not pa.types.is_floating(column.type):
        return column
    known = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    numbers = known.cast(pa.float64())
    whole = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), float(EXACT)))
    integers = pc.if_else(whole, numbers, None).cast(pa.int64())
    return pc.coalesce(integers.cast(pa.string()), known.cast(pa.string()))


def written_times(times: Any) -> Any:
    """Return an Arrow column of times as strings that do not depend on its unit: fractions do not end in a zero.

    >>> written_times(pa.array([1_500], pa.timestamp("ms"))).to_pylist()
    ['1970-01-01 00:00:01.5']
    """
    return pc.replace_substring_regex(times.cast(pa.large_string()), _FRACTION, r"\1\2")


def digits_of(value: int | Decimal) -> str:
    """Return a number without an exponent, and a whole one without a point.

    >>> digits_of(Decimal("7.00")), digits_of(Decimal("1E+3")), digits_of(Decimal("2.50"))
    ('7', '1000', '2.50')
    """
    return str(int(value)) if value == int(value) else f"{value:f}"
