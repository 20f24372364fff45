"""Whatever holds documents, as one Arrow table with texts and ids."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.model.arrays import Flags, Positions
from neardup.model.errors import DataError
from neardup.schemes.checksum import BODY
from neardup.text.columns import text_column

SLICE: Final = 1 << 14  # texts compared at a time


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """A table's columns by name, its texts and its ids."""

    texts: pa.ChunkedArray
    ids: pa.ChunkedArray
    table: pa.Table
    named: bool  # whether the ids come from the table

    @classmethod
    def of(cls, source: Any, text: str, id_: str | None) -> "Collection":
        """Read the columns of a table, or take a plain column of texts."""
        if hasattr(source, "__arrow_c_stream__") and not isinstance(source, pa.Table | pa.ChunkedArray):
            source = pa.chunked_array(source)
        table = _as_table(source)
        if table is None:
            texts = text_column(source, text)
            table = pa.table({text: texts})
        elif text not in table.column_names:
            raise DataError(f"column {text!r}", f"is not there; the columns are {', '.join(table.column_names)}")
        else:
            texts = text_column(table.column(text), text)
        named = id_ is not None and id_ in table.column_names
        return cls(texts, _ids(table, id_ if named else None, len(texts)), table, named)

    def column(self, name: str) -> pa.ChunkedArray:
        """Give a column; ``DataError`` lists those that exist if it is not there."""
        if name not in self.table.column_names:
            raise DataError(f"column {name!r}", f"is not there; the columns are {', '.join(self.table.column_names)}")
        return self.table.column(name)

    def duplicate_ids(self) -> int:
        """Count the documents whose id an earlier one has."""
        return len(self.ids) - int(pc.count_distinct(self.ids).as_py()) if self.named else 0

    def raw_texts(self, positions: Positions) -> list[bytes | None]:
        """Give the texts at these positions, as bytes; null where there is none."""
        raw: list[bytes | None] = _gathered(self.texts, positions).cast(pa.large_binary()).to_pylist()
        return raw

    def same_text(self, left: Positions, right: Positions) -> Flags:
        """Say, pair by pair, whether two texts are equal byte by byte; missing ones never are."""
        same = np.empty(len(left), np.bool_)
        for begin in range(0, len(left), SLICE):
            part = slice(begin, begin + SLICE)
            equal = pc.equal(_gathered(self.texts, left[part]), _gathered(self.texts, right[part]))
            same[part] = pc.fill_null(equal, fill_value=False).to_numpy(zero_copy_only=False)
        return same

    def fields(self, columns: tuple[str, ...]) -> pa.Table:
        """Give these columns, where they are there; the text stands for ``BODY`` in a table without such a column."""
        table = self.table.select([name for name in columns if name in self.table.column_names])
        if BODY in columns and BODY not in table.column_names:
            table = table.append_column(BODY, self.texts)
        return table


def _gathered(column: pa.ChunkedArray, positions: Positions) -> pa.Array:
    """Take some rows, chunk by chunk: Arrow's own ``take`` would first copy all chunks together."""
    edges = np.cumsum([0, *(len(chunk) for chunk in column.chunks)])
    by_position = np.argsort(positions, kind="stable")
    ordered = positions[by_position]
    bounds = np.searchsorted(ordered, edges)
    pieces = [
        chunk.take(pa.array(ordered[begin:end] - edge))
        for chunk, edge, begin, end in zip(column.chunks, edges[:-1], bounds[:-1], bounds[1:], strict=True)
        if begin < end
    ]
    back = np.empty(len(positions), np.int64)
    back[by_position] = np.arange(len(positions))
    return pa.concat_arrays(pieces).take(pa.array(back)) if pieces else pa.array([], column.type)


def _as_table(source: Any) -> pa.Table | None:
    """Take a table of any kind; ``None`` for a plain column of texts. A stream is read only once."""
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, pa.ChunkedArray) and pa.types.is_struct(source.type):
        schema = pa.schema(source.type.fields)
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(chunk) for chunk in source.chunks], schema)
    return None


def _ids(table: pa.Table, name: str | None, number: int) -> pa.ChunkedArray:
    """Name the documents: the id column as strings, positions where it has none."""
    positions = pa.array(np.arange(number)).cast(pa.string())
    if name is None:
        return pa.chunked_array([positions])
    column = table.column(name)
    try:
        named = column.cast(pa.string()) if not pa.types.is_large_string(column.type) else column
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise DataError(f"column {name!r}", f"holds {column.type}, but ids must be strings or numbers") from error
    if not named.null_count:
        return named
    return pa.chunked_array([pc.coalesce(named.combine_chunks(), positions.cast(named.type))])
