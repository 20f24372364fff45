"""Whatever holds documents, as one Arrow table with texts and ids."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.model.arrays import Positions
from neardup.model.errors import DataError
from neardup.schemes.checksum import BODY, Checksum
from neardup.text.columns import text_column


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
        raw: list[bytes | None] = self.texts.take(pa.array(positions)).cast(pa.large_binary()).to_pylist()
        return raw

    def fields(self, scheme: Checksum) -> pa.Table:
        """Give the scheme's columns; the text stands for ``BODY`` in a table without such a column."""
        columns = {name: self.table.column(name) for name in scheme.columns if name in self.table.column_names}
        if BODY in scheme.columns and BODY not in columns:
            columns[BODY] = self.texts
        return pa.table(columns)


def _as_table(source: Any) -> pa.Table | None:
    """Take a table of any kind; ``None`` for a plain column of texts."""
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    if isinstance(source, pa.Array | pa.ChunkedArray) or not hasattr(source, "__arrow_c_stream__"):
        return None
    if hasattr(source, "columns") or hasattr(source, "column_names") or hasattr(source, "schema"):
        return pa.table(source)
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
