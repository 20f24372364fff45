"""The values of a field of several pieces as one column."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.model.arrow_types import BYTES, is_one_of, unpacked
from neardup.model.errors import DataError
from neardup.sources.records import kind_of, literal_of

_PROMOTED: Final = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_timestamp)
_BLANKS: Final = " \t\r\n"
_NO_VALUE: Final = {"", "nan", "+nan", "-nan"}  # of strings, in small letters, among values of another kind
_SHOWN: Final = 40  # characters of a value in a message
_TRUE: Final = r"(?i)^[ \t\r\n\"]*(true|0*1(\.0*)?)[ \t\r\n\"]*$"  # in quotation marks as a string of JSON
_TYPES: Final = (  # in this order: the first type that can represent every value
    (list[int | None], pa.int64()),
    (list[str | None], pa.large_string()),
    (list[bool | None], pa.bool_()),
)


def joined(
    name: str,
    columns: Sequence[pa.ChunkedArray],
    are_json: Sequence[bool],
    place: Callable[[int, int], tuple[str, int]],
) -> pa.ChunkedArray:
    """Return the values of a field in several pieces as one column; *are_json* flags the columns of JSON values.

    Numbers of different types become numbers of one type, or strings as written, which rank as numbers; fields of
    different kinds become strings. *place* returns where a row of a piece is. Raises ``DataError`` for JSON values of
    several kinds, or that are lists or objects.
    """
    pieces = [piece for piece, is_json in enumerate(are_json) if is_json]
    edges = np.cumsum([0, *(len(columns[piece]) for piece in pieces)]).tolist()

    def where(row: int) -> tuple[str, int]:
        own = bisect_right(edges, row) - 1
        return place(pieces[own], row - edges[own])

    values = typed(name, [token for piece in pieces for token in columns[piece].to_pylist()], where)
    found = [*columns]
    for piece, (begin, end) in zip(pieces, pairwise(edges), strict=True):
        found[piece] = pa.chunked_array([values[begin:end]])
    return concatenated([column for column in found if len(column)])


def typed(name: str, tokens: Sequence[bytes], place: Callable[[int], tuple[str, int]]) -> pa.Array:
    """Return the values of a field, given as JSON, as numbers, strings or booleans: the first type that fits all.

    Numbers other than 64-bit integers stay strings; among values that are not strings, an empty or blank one and NaN
    are null. *place* returns where a record is. Raises ``DataError`` for the first value of another kind than the first
    one, and for lists and objects.
    """
    values = b"[" + b",".join(token or b"null" for token in tokens) + b"]"
    for kind, stored in _TYPES:
        try:
            return pa.array(msgspec.json.decode(values, type=kind), stored)
        except (msgspec.ValidationError, OverflowError):
            continue
    if any(map(_is_missing, tokens)):  # the other values are not all strings
        return typed(name, [b"" if _is_missing(token) else token for token in tokens], place)
    first = ""
    for row, token in enumerate(tokens):
        found = kind_of(token)
        if found in {"a list", "an object"}:
            raise DataError("{}:{}".format(*place(row)), f"its {name!r} must be a number or a string, not {found}")
        first = first or found
        if found and found != first:
            rule = f"its {name!r} is {found} ({token.decode()[:_SHOWN]}), but earlier records have {first}"
            raise DataError("{}:{}".format(*place(row)), rule, "kinds")
    return pa.array([literal_of(token) for token in tokens], pa.large_string())


def _is_missing(token: bytes) -> bool:
    """Return whether a value, as JSON, is a string that ranks as a missing value among numbers."""
    return kind_of(token) == "a string" and str(literal_of(token)).strip(_BLANKS).lower() in _NO_VALUE


def are_true(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return whether values are 1 or true, in any spelling; others, such as lists and nulls, are not.

    >>> are_true(pa.chunked_array([["True", "1.0", "2", None]])).to_pylist()
    [True, True, False, False]
    """
    kind = values.type
    if pa.types.is_dictionary(kind):
        chunks = [are_true(pa.chunked_array([c.dictionary])).combine_chunks().take(c.indices) for c in values.chunks]
        return pc.fill_null(pa.chunked_array(chunks, pa.bool_()), fill_value=False)
    try:
        written = values.cast(pa.large_binary() if is_one_of(kind, BYTES) else pa.large_string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):  # of a type without such values
        return pa.chunked_array([np.zeros(len(values), np.bool_)])
    return pc.fill_null(pc.match_substring_regex(written.cast(pa.large_binary()), _TRUE), fill_value=False)


def concatenated(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return the values of columns as one column; empty columns of nulls may have any type."""
    if len({column.type for column in columns}) > 1:
        columns = [pa.chunked_array([pa.nulls(len(c))]) if c.null_count == len(c) else c for c in columns]
    kinds = [column.type for column in columns if not pa.types.is_null(column.type)]
    promote = any(all(test(kind) for kind in kinds) for test in _PROMOTED)
    if len(set(kinds)) > 1 and not promote:
        columns = _as_strings(columns)
    tables = [pa.table({"": column}) for column in columns]
    try:
        return pa.concat_tables(tables, promote_options="permissive").column(0) if tables else pa.chunked_array([[]])
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # no type can represent all of them
        return pa.chunked_array([chunk for column in _as_strings(columns) for chunk in column.chunks])


def _as_strings(columns: Sequence[pa.ChunkedArray]) -> list[pa.ChunkedArray]:
    return [unpacked(column).cast(pa.large_string()) for column in columns]
