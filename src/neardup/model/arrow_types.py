"""Types of Arrow with strings, bytes or lists as values, in their encodings, and views, which few functions take."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup.model.arrays import Flags

Test = Callable[[pa.DataType], Any]

STRINGS: Final[tuple[Test, ...]] = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
BINARY: Final[tuple[Test, ...]] = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view)
BYTES: Final[tuple[Test, ...]] = (*BINARY, pa.types.is_fixed_size_binary)
LISTS: Final[tuple[Test, ...]] = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)
_LARGE: Final = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}


def is_one_of(kind: pa.DataType, tests: Iterable[Test]) -> bool:
    """Return whether any of these tests holds for a type."""
    return any(test(kind) for test in tests)


def widened(kind: pa.DataType) -> pa.DataType:
    """Return the type that views are cast to; other types as they are."""
    if pa.types.is_string_view(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(kind) else kind


def without_views(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Replace the dictionaries of string views, which no function of Arrow can unpack."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or (wide := widened(kind.value_type)) == kind.value_type:
        return column
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(wide), ordered=kind.ordered)
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(kind.index_type, wide, kind.ordered))


def unpacked(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of dictionaries, strings with offsets that cannot overflow; other columns as they are."""
    if not pa.types.is_dictionary(column.type):
        return column
    plain = without_views(column)
    kind = plain.type.value_type
    return plain.cast(_LARGE.get(kind, kind))


def filtered(rows: Any, chosen: Flags) -> Any:
    """Return the chosen rows of a table, batch or column; Arrow itself filters neither views nor lists of views."""
    try:
        return rows.filter(chosen)
    except pa.ArrowNotImplementedError:
        if isinstance(rows, pa.Table):
            return pa.Table.from_arrays([filtered(column, chosen) for column in rows.columns], schema=rows.schema)
        if isinstance(rows, pa.RecordBatch):
            table = filtered(pa.Table.from_batches([rows]), chosen).combine_chunks()
            return next(iter(table.to_batches()), rows.slice(0, 0))
    if (wide := widened(rows.type)) != rows.type:
        return rows.cast(wide).filter(chosen).cast(rows.type)
    edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False)).reshape(-1, 2)  # it can cut and join all types
    runs = [rows.slice(begin, end - begin) for begin, end in edges.tolist()]
    if isinstance(rows, pa.ChunkedArray):
        chunks = [chunk for run in runs for chunk in run.chunks]
        return pa.chunked_array([pa.concat_arrays(chunks)] if chunks else [], rows.type)
    return pa.concat_arrays(runs) if runs else rows.slice(0, 0)
