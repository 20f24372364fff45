"""Containers of rows, from pandas to Hugging Face: opened as Arrow tables or columns, and filtered.

No library is imported for this: a container is recognised by the name of its class.
"""

import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa

from neardup.model.arrays import Flags
from neardup.model.arrow_types import filtered, without_views
from neardup.model.errors import DataError, counted, kind_of
from neardup.text.values import as_binary, column_of, uncut

Rows = TypeVar("Rows")

_NOT_READ: Final = {  # containers whose rows are not in memory: their kind, and the call that loads them
    ("polars", "LazyFrame"): "a LazyFrame is not computed yet: call .collect() first",
    ("pyarrow", "Dataset"): "a pyarrow Dataset is not read yet: call .to_table() first, with columns=[...]",
    ("pyarrow", "Scanner"): "a pyarrow Scanner is not read yet: call .to_table() first",
    ("datasets", "DatasetDict"): "a DatasetDict has several splits: name one, such as datasets['train'], "
    "or join them with datasets.concatenate_datasets([*splits.values()])",
    ("datasets", "IterableDataset"): "an IterableDataset is a stream: collect its rows with list(dataset) first",
    ("datasets", "IterableDatasetDict"): "an IterableDatasetDict has several splits, which are streams: "
    "collect the rows of one with list(datasets['train']) first",
    ("pyspark", "DataFrame"): "a Spark DataFrame is not in memory: call .toArrow() or .toPandas() first",
}
OF_FILES: Final = "to read files, use neardup.dedup_files, pair_files or contamination_in_files"
_NOT_ARROW: Final = (pa.ArrowException, TypeError, ValueError, OverflowError)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The names of a table's columns, and a function that reads some of them."""

    names: Sequence[str]
    read: Callable[[list[str]], pa.Table]  # by names; those of Arrow also by places


def table_or_column(
    source: Any,
    needed: Sequence[str] | None = None,
    optional: Sequence[str] = (),
    *,
    text: str | None = None,
    what: str = "documents",
) -> Any:
    """Open a container: a table as an Arrow table, a column as an Arrow column; other objects are returned unchanged.

    A table is an Arrow table, batch or reader, a pandas or polars ``DataFrame``, a Hugging Face ``Dataset``, or any
    other object with the Arrow stream protocol. Only the *needed* columns, and the existing ones of the *optional*
    columns, are read; ``None`` reads every column. Names of pandas that are not strings become strings. Dictionaries of
    string views, which Arrow cannot unpack, become dictionaries of large strings. *what* is the word for the container
    in errors.

    Raises ``DataError`` for a needed column that does not exist (*text* is the one that the user's argument of this
    name names), for two columns of the same name, for a column that Arrow cannot represent, and for a container that is
    not in memory, with the call that reads it.
    """
    require_in_memory(source, what)
    table = _opened(source, what)
    if not isinstance(table, _Table):
        return table
    names = list(table.names)
    if needed is not None:
        for name in needed:
            if name not in names:
                raise column_missing(name, names, text)
        names = list(dict.fromkeys([*needed, *(name for name in optional if name in names)]))
    if len({*table.names}) < len(table.names):
        for name in names:
            if list(table.names).count(name) > 1:
                raise DataError(f"column {name!r}", "occurs more than once; rename all but one")
    found = table.read(names)
    for place, column in enumerate(found.columns):
        if (plain := without_views(column)) is not column:
            found = found.set_column(place, found.column_names[place], plain)
    return found


def column_missing(name: str, names: Iterable[object], text: str | None = None) -> DataError:
    """Return the error for a column that a table lacks; *names* are those of the existing columns.

    *text* is the column that the user's argument of this name names.
    """
    known = ", ".join(map(str, names))
    rule = f"there is no column {name!r}; {f'the columns are: {known}' if known else 'it has none'}"
    return DataError("table", f"{rule}{_other_text(name, text)}")


def _other_text(name: str, text: str | None) -> str:
    return '; text="..." names the column of the texts' if name == text else ""


def records_as_table(
    records: Sequence[Mapping[str, Any]], needed: Sequence[str], optional: Sequence[str], *, text: str | None = None
) -> pa.Table:
    """Return the *needed* and the *optional* keys of a list of dictionaries as columns of an Arrow table.

    Every record must have the needed keys. An optional key is null for records without it, and there is no column for a
    key that no record has. Raises ``DataError`` for a record that is not a mapping or lacks a needed key, and for
    values that Arrow cannot represent in one column.
    """
    for position, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise DataError(f"document {position}", f"must be a mapping, as the first document, not {kind_of(record)}")
        for name in needed:
            if name not in record:
                rule = f"has no {name!r}; its keys are {', '.join(map(str, record))}{_other_text(name, text)}"
                raise DataError(f"document {position}", rule)
    names = [*needed, *(name for name in optional if any(name in record for record in records))]
    return pa.table({name: _array([record.get(name) for record in records], name) for name in dict.fromkeys(names)})


def require_in_memory(source: Any, what: str = "documents") -> None:
    """Raise ``DataError`` for a container that must be read first, a set, a single value, and the path of a file.

    *what* is the word for the container.
    """
    for (library, name), reason in _NOT_READ.items():
        if _is(source, library, name):
            raise DataError(what, reason)
    advice = OF_FILES if what == "documents" else "read the file first"
    if isinstance(source, os.PathLike):
        raise DataError(what, f"{os.fspath(source)!r} is a path; {advice}")
    if isinstance(source, io.IOBase):
        raise DataError(what, f"are an open file; {advice}; to compare its lines, pass [*file]")
    if isinstance(source, set | frozenset):
        raise DataError(what, "are a set, which has no order; pass a list, best or oldest first")
    if isinstance(source, np.ndarray) and not source.ndim:
        raise DataError(what, "are a zero-dimensional array, which is a single value; pass a list")


def rows_where(container: Rows, marked: Flags) -> Rows:
    """Return the *marked* rows of a container, in a container of the same kind.

    Arrow tables are filtered: for more than 2 GiB of text, ``take`` would overflow 32-bit offsets. A list returns a
    list. Raises ``DataError`` unless the container is as long as *marked*, and for a container whose rows cannot be
    selected, such as an iterator.
    """
    require_in_memory(container)
    source: Any = container
    refused = DataError("rows", f"cannot be selected from {kind_of(source)}; read it into a table or list first")
    if isinstance(source, str | bytes | Mapping) or not hasattr(source, "__len__"):
        raise refused
    if len(source) != len(marked):
        raise DataError(
            "rows", f"{counted(len(source), 'row')} for {counted(len(marked), 'document')}; pass one row per document"
        )
    found: Any
    if isinstance(source, pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray):
        found = filtered(source, marked)
    elif _is(source, "polars"):
        found = source.filter(marked)
    elif _is(source, "datasets", "Dataset"):
        found = source.select(np.flatnonzero(marked))
    elif _is(source, "pandas"):
        try:
            found = source[marked]
        except pa.ArrowNotImplementedError as error:
            rule = f"have a type of Arrow that pandas cannot select ({error}); pass a pyarrow table"
            raise DataError("rows", rule) from error
    elif isinstance(source, np.ndarray):
        found = source[marked]
    elif isinstance(source, Sequence):
        chosen = compress(source, marked.tolist())
        found = tuple(chosen) if isinstance(source, tuple) else list(chosen)
    else:
        raise refused
    return found  # type: ignore[no-any-return]  # the kind of container that came in


def _is(source: Any, library: str, name: str | None = None) -> bool:
    """Return whether an object's class, or a base class of it, has this name and is from this library."""
    return (library, name) in _lineage(type(source))  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _lineage(kind: type) -> set[tuple[str, str | None]]:
    """Return the library and the name of a class and its base classes, and the library alone."""
    libraries = [(base.__module__.partition(".")[0], base.__name__) for base in kind.__mro__]
    return {*libraries, *((library, None) for library, _ in libraries)}


def _opened(source: Any, what: str) -> Any:  # noqa: PLR0911 - each kind of container
    """Return a ``_Table`` for an object with named columns, an Arrow column for a column, other objects unchanged."""
    if isinstance(source, pa.Table | pa.RecordBatch | pa.RecordBatchReader | pa.Array | pa.ChunkedArray):
        return _of_arrow(source)
    if _is(source, "pandas", "Series") or _is(source, "polars", "Series"):
        return _array(source, "text")
    if _is(source, "pandas", "DataFrame"):
        return _of_pandas(source)
    if _is(source, "polars", "DataFrame"):
        return _Table(source.columns, lambda names: _arrays(source, names, type(source).get_column))
    if hasattr(source, "with_format") and hasattr(source, "select_columns"):  # a ``Dataset`` of Hugging Face
        return _Table(source.column_names, lambda names: _of_dataset(source, names))
    named = hasattr(source, "columns")
    if hasattr(source, "__arrow_c_stream__"):
        return _of_arrow((pa.RecordBatchReader.from_stream if named else pa.chunked_array)(source))
    if named:
        raise DataError(what, f"{kind_of(source)} cannot be read: convert it to pandas, polars or Arrow")
    return source


def _of_arrow(source: Any) -> Any:
    if isinstance(source, pa.RecordBatchReader):
        return _Table(source.schema.names, lambda names: _read(source, names))
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    elif not isinstance(source, pa.Table) and pa.types.is_struct(source.type):
        chunks = source.chunks if isinstance(source, pa.ChunkedArray) else [source]
        chunks = [pa.RecordBatch.from_struct_array(chunk) for chunk in chunks]
        source = pa.Table.from_batches(chunks, pa.schema([*source.type]))
    return _Table(source.column_names, source.select) if isinstance(source, pa.Table) else source


def _read(reader: pa.RecordBatchReader, names: list[str]) -> pa.Table:
    """Read the rest of a stream; other columns are discarded batch by batch."""
    schema = pa.schema([reader.schema.field(name) for name in names])
    return pa.Table.from_batches([batch.select(names) for batch in reader], schema)


def _of_pandas(frame: Any) -> _Table:
    """Return a data frame of pandas as a table, with its columns and the levels of its index.

    Names that are not strings count as they are written, unless a column has that string as its name.
    """
    levels = {str(name): name for name in frame.index.names if name is not None and name not in frame.columns}
    numbered = [
        (place, name) for place, name in enumerate(frame.columns) if isinstance(name, str) or str(name) not in frame
    ]
    places = {str(name): place for place, name in numbered if not isinstance(name, str)}

    def column(frame: Any, name: str) -> Any:
        if name in frame.columns:
            return frame[name]
        return frame.iloc[:, places[name]] if name in places else frame.index.get_level_values(levels[name]).to_series()

    known = [*(str(name) for _, name in numbered), *levels]
    return _Table(known, lambda names: _arrays(frame, names, column))


def _of_dataset(dataset: Any, names: list[str]) -> pa.Table:
    return dataset.select_columns(names).with_format("arrow")[:] if names else _no_columns(len(dataset))


def _no_columns(rows: int) -> pa.Table:
    return pa.Table.from_struct_array(pa.nulls(rows, pa.struct([])))


def _arrays(frame: Any, names: list[str], column: Callable[[Any, str], Any]) -> pa.Table:
    table = _no_columns(len(frame))
    for name in names:
        table = table.append_column(name, _array(column(frame, name), name))
    return table


def _array(values: Any, name: str) -> pa.ChunkedArray:
    """Return values as an Arrow column; a missing value of pandas (NaN, None, NaT) is null."""
    if _is(values, "polars") and str(values.dtype) == "Object":
        values = values.to_list()  # its stream has the addresses of the objects
    if hasattr(values, "__arrow_c_stream__") and not _is(values, "pandas"):
        try:
            return pa.chunked_array(values)
        except _NOT_ARROW as error:
            rule = "has a type that pyarrow cannot read; cast it to another, such as integers of 64 bits"
            raise DataError(f"column {name!r}", f"{rule}: {error}") from error
    try:
        array = pa.array(values, from_pandas=True)
    except UnicodeEncodeError:
        array = as_binary(values)
    except _NOT_ARROW:
        array = column_of(values, name)
    else:
        array = uncut(array, values, name)
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
