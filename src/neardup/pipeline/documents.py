"""Whatever holds documents, as one Arrow table with texts and ids."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.exact import count_repeats
from neardup.kernels.sets import equal_ranges
from neardup.model.arrays import Flags, Positions, TextBatch
from neardup.model.errors import DataError
from neardup.schemes.checksum import BODY
from neardup.text.columns import as_it_lies, gathered, table_or_column, text_column, text_lengths, whole_batch

_COPIED: Final = 1 << 25  # bytes of text that are copied together to be compared


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """A table's columns by name, its texts and its ids."""

    texts: pa.ChunkedArray
    ids: pa.ChunkedArray
    table: pa.Table
    named: bool  # whether the ids come from the table

    @classmethod
    def of(cls, source: Any, text: str, id_: str | None) -> "Documents":
        """Read the columns of a table, or take a plain column of texts."""
        source = table_or_column(source)
        table = source if isinstance(source, pa.Table) else None
        if table is not None and len(set(table.column_names)) < len(table.column_names):
            twice = next(name for name in table.column_names if table.column_names.count(name) > 1)
            raise DataError(f"column {twice!r}", "is there more than once")
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
        return count_repeats(whole_batch(self.ids)) if self.named else 0

    def raw_texts(self, positions: Positions) -> list[bytes | None]:
        """Give the texts at these positions, as bytes; null where there is none."""
        raw: list[bytes | None] = gathered(self.texts, positions).to_pylist()
        return raw

    def same_text(self, left: Positions, right: Positions) -> Flags:
        """Return, pair by pair, whether two texts are equal byte by byte; empty texts never are.

        A text in one chunk is compared where it is. Texts of several chunks are first copied together, at most
        ``_COPIED`` bytes of each side at a time, so the work does not grow with the number of chunks.
        """
        same = np.zeros(len(left), np.bool_)
        if self.texts.num_chunks == 1:
            lying = as_it_lies(self.texts.chunk(0))
            _equal_texts(lying, left, lying, right, same)
            return same
        lengths = text_lengths(self.texts)
        pairs = np.flatnonzero(lengths[left] == lengths[right])
        ends = np.cumsum(lengths[left[pairs]])
        begin = 0
        while begin < len(pairs):
            before = ends[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, before + _COPIED, side="right")))
            block = pairs[begin:end]
            sides = (as_it_lies(gathered(self.texts, side[block])) for side in (left, right))
            rows, equal = np.arange(len(block)), np.empty(len(block), np.bool_)
            one, other = sides
            _equal_texts(one, rows, other, rows, equal)
            same[block] = equal
            begin = end
        return same

    def fields(self, columns: tuple[str, ...]) -> pa.Table:
        """Give these columns, where they are there; the text stands for ``BODY`` in a table without such a column."""
        table = self.table.select([name for name in columns if name in self.table.column_names])
        if BODY in columns and BODY not in table.column_names:
            table = table.append_column(BODY, self.texts)
        return table


def _equal_texts(one: TextBatch, left: Positions, other: TextBatch, right: Positions, equal: Flags) -> None:
    starts, ends = one.offsets[:-1], one.offsets[1:]
    equal_ranges(one.data, starts, ends, other.data, other.offsets[:-1], other.offsets[1:], left, right, equal)
    equal &= ends[left] > starts[left]


def _ids(table: pa.Table, name: str | None, number: int) -> pa.ChunkedArray:
    """Name the documents: the id column as strings, positions where it has none."""
    positions = pa.array(np.arange(number)).cast(pa.string())
    if name is None:
        return pa.chunked_array([positions])
    column = table.column(name)
    if pa.types.is_boolean(column.type):
        raise DataError(f"column {name!r}", "holds bool, but ids must be strings or numbers")
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    try:
        named = column.cast(pa.string()) if not pa.types.is_large_string(column.type) else column
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise DataError(f"column {name!r}", f"holds {column.type}, but ids must be strings or numbers") from error
    if not named.null_count:
        return named
    return pa.chunked_array([pc.coalesce(named.combine_chunks(), positions.cast(named.type))])
