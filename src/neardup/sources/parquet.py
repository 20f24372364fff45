"""Parquet: the whole table is kept, and its chosen rows are written with the same schema and codecs.

The text column contains strings (``string``, ``large_string``, ``string_view``, a dictionary of them) or binary values
in UTF-8; any other type is an error. A row whose text or id is not valid UTF-8 is rejected, but binary HTML may have
any encoding. Ids may be strings, numbers, times or UUIDs; null, NaN, empty, or a missing column ``id`` are replaced by
``FILE:ROW``, counted from 1. Files of zero rows contain no documents. A name with dots, ``body.content``, is a field of
a struct, unless a column has exactly this name. Several files must have equal columns, in the same order; no two
columns of a file may have the same name.
"""

import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup.model.arrays import Flags, not_utf8
from neardup.model.arrow_types import BINARY, LISTS, STRINGS, filtered, is_one_of, unpacked
from neardup.model.engine import silent
from neardup.model.errors import DataError, OutputError, counted
from neardup.model.written_values import written_values
from neardup.sources.collection import (
    Advance,
    Append,
    Extent,
    InputPiece,
    Needs,
    complete_ids,
    ranges,
    require_new,
)
from neardup.sources.compression import changed, check_size, read_whole, sniff
from neardup.sources.fields import are_true
from neardup.sources.formats import STDIN, display
from neardup.sources.output import atomic, is_special
from neardup.sources.plain_columns import times_as_ids
from neardup.sources.record_faults import Rejected, missing_field
from neardup.sources.request import DEFAULT_ID, Request
from neardup.sources.standard_input import piped
from neardup.sources.tables import slices, without_rows

_MAGIC: Final = b"PAR1"
_ENUM: Final = b"_PL_ENUM_VALUES"  # the beginning of keys in the metadata of polars
_ENDS: Final = (_MAGIC, b"PARE")  # the second one if the directory is encrypted
_NO_END: Final = "it cannot be read as Parquet: its end is missing: it was cut short, or is still being written"
_BUFFER: Final = 1 << 20  # bytes of a column that are read at a time: a whole one would need fresh memory
_BATCH: Final = 1 << 14  # rows read at a time, at most: with more, Arrow copies the growing texts in memory
_FEWEST: Final = 1 << 12  # rows of a whole file that are read at a time, if it has as many
_PIECE: Final = 1 << 22  # bytes of rows that are held together: memory that is used again is faster than more
_FILTERED: Final = 1 << 12  # rows filtered at a time: with more, Arrow copies the growing result in memory
_GROUP: Final = 1 << 20  # rows in a group if the input has no groups
_WAITING: Final = 1 << 23  # bytes of rows that may wait for those of the next input
_SCALARS: Final = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_temporal,
    pa.types.is_boolean,
    pa.types.is_null,
)


class ParquetTable(InputPiece):
    """The rows of a Parquet file."""

    def __init__(self, path: str, request: Request, part: "_FileRows | None" = None, advance: Advance = silent) -> None:
        """Read a file, or take only a *part* of it."""
        part = part or _whole(path, request.max_bytes, advance)
        table, first, self.columns = part.table, part.first, part.schema
        self._metadata = part.metadata
        text = _texts(path, table, request, part.schema)
        name, broken = pa.chunked_array([pa.nulls(len(table), pa.string())]), {}
        if part.ids:
            name = _ids(path, table, request, first, part.schema)
            broken = dict.fromkeys(_invalid(name), request.id) | dict.fromkeys(_invalid(text), request.text)
        rejected = [
            Rejected(display(path), row + first, f"its {broken[row]!r} is not valid UTF-8", "encoding")
            for row in sorted(broken)
        ]
        request.check(rejected)
        self._rows: Sequence[int] = range(first, first + len(table))  # from 1
        if broken:
            good = np.ones(len(table), np.bool_)
            good[list(broken)] = False
            table, text, name = filtered(table, good), text.filter(good), name.filter(good)
            self._rows = [row for row in self._rows if row - first not in broken]
        self._table, self._request, self.text = table, request, request.text
        self._chosen: list[pa.Table] | None = None
        super().__init__([path], "parquet", text, name, rejected)

    def column(self, name: str, *, literal: bool = False) -> pa.Array:
        """Return a column, strings of any kind as ``large_string``; or a field of the pages, if there is no column."""
        if _path(self.columns, name) is None and (pages := self.of_pages(name)) is not None:
            return pages.cast(pa.large_string()) if literal else pages
        column = _column(self.source, self._table, name, self.columns)
        if pa.types.is_dictionary(column.type):
            if column.type.ordered and not literal:
                rule = "has ordered categories, which keep cannot rank in files; write their ranks as numbers"
                raise DataError(self.source, f"its {name!r} {rule}")
            column = _unpacked(self.source, column, self._request)
        column = written_values(column) if literal else column
        if literal and pa.types.is_temporal(column.type):
            return times_as_ids(column, self.source, f"its {name!r} ").combine_chunks()
        try:
            is_text = _is_text(column.type) or pa.types.is_fixed_size_binary(column.type)
            if is_text or (literal and _is_scalar(column.type)):
                strings = column.cast(pa.large_string()).combine_chunks()
                strings.validate(full=True)
                return strings
        except pa.ArrowInvalid as error:
            source, row = self.place(next(not_utf8(column.cast(pa.large_binary()).to_pylist())))
            raise DataError(f"{source}:{row}", f"its {name!r} is not valid UTF-8", "encoding") from error
        if not _is_scalar(column.type):
            rule = f"the column {name!r} must hold numbers, strings or times, not {column.type}"
            raise DataError(self.source, rule)
        return column.combine_chunks()

    def flags(self, name: str) -> pa.Array:
        """Return whether a field is 1 or true, in any spelling; see ``Collection.flags``."""
        if _path(self.columns, name) is None:
            return super().flags(name)
        return are_true(_column(self.source, self._table, name, self.columns)).combine_chunks()

    def rows(self) -> Iterator[pa.Table]:
        """Yield the rows with all columns."""
        yield from slices(self._table)

    def place(self, row: int) -> tuple[str, int]:
        """Return the file and the row of a record, from 1."""
        return self.source, self._rows[row]

    @property
    def held_bytes(self) -> int:
        """The bytes in memory of the table and the ids."""
        return int(self._table.nbytes + self.ids.nbytes)

    def lacking(self, name: str) -> list[str] | None:
        """Return the columns that there are if none has this name, otherwise ``None``."""
        there = _path(self.columns, name) is not None or self.of_pages(name) is not None
        return None if there else field_names(self.columns)

    @classmethod
    @contextmanager
    def writer(cls, path: str) -> Iterator[Append]:
        """Write rows with the schema, codecs and group size of the first ones, and the marks as more columns."""
        writers: list[RowGroups] = []
        with atomic(path) as file, ExitStack() as opened:
            buffer = io.BytesIO() if is_special(path) else None  # a pipe has no position

            def append(piece: ParquetTable, mask: Flags, marks: pa.Table | None) -> None:
                table = piece._marked(marks)
                if not writers:
                    compression, size = _storage(piece._metadata)
                    made = pq.ParquetWriter(buffer or file, table.schema, compression=compression)
                    writers.append(RowGroups(opened.enter_context(made), size, _WAITING))
                else:
                    piece.require_columns(piece.source, table.schema, writers[0].schema, "the inputs before it")
                writers[0].append(_parts(table, mask) if piece._chosen is None else piece._chosen)

            try:
                yield append
                for writer in writers:
                    writer.end()
                opened.close()
            except pa.ArrowException as error:
                raise OutputError(path, f"it cannot be written as Parquet: {error}") from error
            if buffer is not None:
                file.write(buffer.getbuffer())

    @classmethod
    def cut(cls, source: int, path: str, request: Request, size: int) -> list[Extent]:
        """Cut a file after groups of rows."""
        del request
        rows, sizes = group_sizes(path)
        firsts = [1, *(1 + np.cumsum(rows)).tolist()]
        return [
            Extent(source=source, begin=b, end=e, first=firsts[b], size=sum(sizes[b:e])) for b, e in ranges(sizes, size)
        ]

    @classmethod
    def pieces(cls, path: str, request: Request, extent: Extent, size: int, needs: Needs) -> Iterator["ParquetTable"]:
        """Yield the rows of some row groups; only the requested columns unless whole rows are needed.

        If as many documents were found before as there are rows, they are not checked again, and have no ids.
        """
        parts: list[pa.RecordBatch] = []
        number, read, first = 0, 0, extent.first
        with _opened(path) as file:
            metadata, schema = file.metadata, file.schema_arrow
            rows, held = (sum(sizes[extent.begin : extent.end]) for sizes in _sizes(metadata))
            ids = needs.documents != rows or request.html is not None
            fields = dict.fromkeys((request.text, *([request.id] * ids), *request.columns))
            paths = (_path(schema, name) for name in fields)
            wanted = None if needs.whole else [".".join(path) for path in paths if path is not None]
            size = min(size, _PIECE)
            together = max(1, min(_BATCH, rows * size // max(1, 2 * held)))
            ways = {"batch_size": together, "columns": wanted, "use_threads": False}  # shards are read in parallel
            for batch in file.iter_batches(row_groups=range(extent.begin, extent.end), **ways):
                parts.append(batch)
                number += batch.nbytes
                read += len(batch)
                if number >= size:
                    table = pa.Table.from_batches(parts)
                    yield cls(path, request, _FileRows(table, first, schema, metadata, ids))
                    first, number, parts = first + len(table), 0, []
            _require_rows(read, rows)
            if parts or first == extent.first:  # there are columns even without rows
                table = pa.Table.from_batches(parts) if parts else without_rows(schema)
                yield cls(path, request, _FileRows(table, first, schema, metadata, ids))

    @classmethod
    def columns_in(cls, path: str, request: Request | None = None) -> pa.Schema:
        """Return the columns of a file; ``DataError`` if it cannot be read."""
        del request
        with _opened(path) as file:
            return file.schema_arrow

    @classmethod
    def require_columns(cls, source: str, columns: pa.Schema, wanted: pa.Schema, first: str) -> None:
        """Raise ``DataError`` for columns that differ from the *wanted* ones, which are those of the *first* input."""
        if columns.equals(wanted, check_metadata=True):  # as of the pieces of one file
            return
        difference = ""
        if len(columns) != len(wanted):
            difference = f"it has {counted(len(columns), 'column')}, that has {len(wanted)}"
        for field, other in zip(columns, wanted, strict=False):
            if not field.equals(other):
                difference = f"it has {_typed(field)} where that has {_typed(other)}"
                break
            if _are_others(_values_of_enums(field), _values_of_enums(other)):
                difference = f"the values of the Enum in {field.name!r} are others"
                break
        rule = f"its columns differ from those of {first}; "
        if difference:
            raise DataError(source, rule + difference, "other columns")
        if _are_others(_labels(columns), _labels(wanted)):
            raise DataError(source, f"{rule}the names of its labels (ClassLabel) are others", "other labels")

    def choose(self, mask: Flags, marks: pa.Table | None) -> None:
        """Filter the rows that are appended to an output next."""
        self._chosen = [*_parts(self._marked(marks), mask)]

    def _marked(self, marks: pa.Table | None) -> pa.Table:
        table = self._table
        if marks is not None:
            require_new(self.source, marks.column_names, table.column_names)
            for name, column in zip(marks.column_names, marks.columns, strict=True):
                table = table.append_column(name, column)
        return table


@dataclass(frozen=True, slots=True)
class _FileRows:
    """Some rows of a file: the number of the first, from 1, the schema of the file, and its metadata.

    Without *ids* these are null, and the rows are known to be valid.
    """

    table: pa.Table
    first: int
    schema: pa.Schema
    metadata: pq.FileMetaData
    ids: bool = True


def group_sizes(path: str) -> tuple[list[int], list[int]]:
    """Return the number of rows, and of bytes, of each row group of a file."""
    with _opened(path) as file:
        return _sizes(file.metadata)


@contextmanager
def _opened(path: str, max_bytes: int | None = None) -> Iterator[pq.ParquetFile]:
    """Yield an open file; ``DataError`` for another format, two columns of one name, and what cannot be read.

    With *max_bytes*, a pipe is read into memory first, at most this many bytes: the directory of a Parquet file is at
    its end.
    """
    in_memory = max_bytes is not None and (path == STDIN or is_special(path))
    then = None if in_memory else _state_of(path)
    try:
        with (
            pa.BufferReader(read_whole(display(path), piped(path), max_bytes or 0))
            if in_memory
            else pa.OSFile(os.fsencode(path)) as source
        ):
            _require_parquet(display(path), source)
            try:
                found = pq.ParquetFile(source, page_checksum_verification=True, pre_buffer=False, buffer_size=_BUFFER)
                names = found.schema_arrow.names
            except UnicodeDecodeError as error:
                rule = "it has a column whose name is not valid UTF-8; rename the column"
                raise DataError(display(path), rule, "encoding") from error
            if twice := sorted(name for name, number in Counter(names).items() if number > 1):
                raise DataError(display(path), f"it has two columns named {twice[0]!r}; rename one")
            yield found
    except MemoryError:  # one of Arrow is of its exceptions, too
        raise
    except PermissionError as error:
        raise DataError.by(error, display(path)) from error
    except (pa.ArrowException, OSError) as error:
        if then is not None and then != _state_of(path):
            raise changed(display(path)) from error
        code = getattr(error, "errno", None)
        why = " ".join(str(error).split()).rstrip(" .")
        reason = os.strerror(code) if code else f"{why}; if the file is damaged, copy or write it again"
        raise DataError(display(path), f"it cannot be read as Parquet: {reason}") from error


def _require_parquet(source: str, file: pa.NativeFile) -> None:
    """Raise ``DataError`` for a file that does not begin and end like Parquet."""
    head = file.read(8)
    if not head.startswith(_MAGIC):
        if head[:1] in {b"{", b"["}:
            raise DataError(source, "it is not a Parquet file, but looks like JSON", "json as table")
        if not head:
            raise DataError(source, "it is empty, and so not a Parquet file")
        other = sniff(head)
        raise DataError(source, "it is not a Parquet file" + (f": it starts with {other}" if other else ""))
    file.seek(file.size() - len(_MAGIC))
    if file.read() not in _ENDS:
        raise DataError(source, _NO_END, "changed")
    file.seek(0)


def _state_of(path: str) -> tuple[int, int]:
    """Return what changes with a file: its size and the time of its last change; zeros for one that is not there."""
    try:
        about = os.stat(path)  # noqa: PTH116 - of any kind of path
    except OSError:
        return 0, 0
    return about.st_size, about.st_mtime_ns


def _require_rows(found: int, stated: int) -> None:
    """Raise ``OSError`` if a file has fewer rows than its directory states, as when it is cut short."""
    if found != stated:
        raise OSError(f"only {found} of its {stated} rows are there")


def _whole(path: str, max_bytes: int, advance: Callable[[float], None]) -> _FileRows:
    """Read a whole file, batch by batch, so that one that expands beyond the cap is noticed in time."""
    cap = DataError(display(path), f"it expands to more than {max_bytes:,} bytes", "too large")
    with _opened(path, max_bytes) as file:
        metadata, schema = file.metadata, file.schema_arrow
        groups, sizes = _sizes(metadata)
        if sum(sizes) > max_bytes:
            raise cap
        batches: list[pa.RecordBatch] = []
        size = rows = 0
        together = min(_BATCH, max([_FEWEST, *groups]))  # rows of several groups would be copied
        for batch in file.iter_batches(batch_size=together):
            batches.append(batch)
            size, rows = size + batch.nbytes, rows + len(batch)
            if size > max_bytes:
                raise cap
            advance(rows / max(1, metadata.num_rows))
        _require_rows(rows, metadata.num_rows)
    return _FileRows(pa.Table.from_batches(batches, schema), 1, schema, metadata)


def _sizes(metadata: pq.FileMetaData) -> tuple[list[int], list[int]]:
    """Return the number of rows, and of bytes, of each row group."""
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    return [group.num_rows for group in groups], [group.total_byte_size for group in groups]


def _storage(metadata: pq.FileMetaData) -> tuple[dict[str, str] | str, int]:
    """Return each column's codec in a file, and its largest group of rows."""
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    if not groups:
        return "snappy", _GROUP
    chunks = [groups[0].column(column) for column in range(groups[0].num_columns)]
    codecs = {chunk.path_in_schema: chunk.compression.replace("UNCOMPRESSED", "NONE") for chunk in chunks}
    return codecs, max(1, *(group.num_rows for group in groups)) if groups[0].num_rows else _GROUP


class RowGroups:
    """Rows that are written in whole groups of *size* rows; at most *most* bytes wait for those of the next input."""

    def __init__(self, writer: pq.ParquetWriter, size: int, most: int) -> None:
        self.schema: pa.Schema = writer.schema
        self._writer, self._size, self._most = writer, size, most
        self._waiting: list[pa.Table] = []
        self._rows = self._bytes = 0

    def append(self, tables: Iterable[pa.Table]) -> None:
        """Add rows; few enough bytes wait for those of the next call."""
        for rows in tables:
            self._wait(rows)
            if self._rows >= self._size:
                self._write(self._rows // self._size * self._size)
        if self._bytes > self._most:
            self.end()

    def end(self) -> None:
        """Write the rows that wait."""
        if self._rows:
            self._write(self._rows)

    def _wait(self, rows: pa.Table) -> None:
        if len(rows):
            self._waiting.append(rows)
            self._rows += len(rows)
            self._bytes += rows.nbytes

    def _write(self, number: int) -> None:
        rows = pa.concat_tables(self._waiting)
        for begin in range(0, number, self._size):
            self._writer.write_table(_compacted(rows.slice(begin, min(self._size, number - begin))))
        self._waiting, self._rows, self._bytes = [], 0, 0
        self._wait(rows.slice(number))


def _compacted(rows: pa.Table) -> pa.Table:
    """Return rows whose dictionaries have only values that are used: not the texts of documents that are left out."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_dictionary(field.type) and not field.type.ordered:  # their order is only known together
            rows = rows.set_column(place, field, _with_used_values(rows.column(place)))
    return rows


def _with_used_values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    with suppress(pa.ArrowException):  # all values together are too many for the type of their numbers
        column = column.unify_dictionaries().combine_chunks()
    arrays = []
    for chunk in pa.chunked_array(column).chunks:
        used = pc.unique(chunk.indices).drop_null().sort()
        indices = pc.index_in(chunk.indices, value_set=used).cast(chunk.indices.type)
        arrays.append(pa.DictionaryArray.from_arrays(indices, chunk.dictionary.take(used)))
    return pa.chunked_array(arrays, column.type)


def _parts(table: pa.Table, mask: Flags) -> Iterator[pa.Table]:
    """Yield the chosen rows of a table, some at a time."""
    for start in range(0, len(table), _FILTERED):
        chosen, rows = mask[start : start + _FILTERED], table.slice(start, _FILTERED)
        yield rows if chosen.all() else filtered(rows, chosen)


def field_names(schema: Iterable[pa.Field], prefix: str = "") -> list[str]:
    """Return the names of all columns; a struct is represented by its own fields, ``body.content``."""
    names: list[str] = []
    for field in schema:
        inner = [*field.type] if pa.types.is_struct(field.type) else []
        names += field_names(inner, f"{prefix}{field.name}.") if inner else [prefix + field.name]
    return names


def _typed(field: pa.Field) -> str:
    """Return the name and type of a column, as messages show them."""
    return f"{field.name!r} ({field.type}{'' if field.nullable else ' not null'})"


def _values_of_enums(field: pa.Field) -> list[object]:
    """Return the values of each ``Enum`` in a column, which polars reads from metadata, or nothing without these."""
    kind = field.type
    if pa.types.is_dictionary(kind):
        return [[value for key, value in (field.metadata or {}).items() if key.startswith(_ENUM)]]
    return [found for place in range(kind.num_fields) for found in _values_of_enums(kind.field(place))]


def _labels(schema: pa.Schema) -> list[object]:
    """Return the names of the labels of a Hugging Face dataset, whose columns have only their numbers."""
    found: list[object] = []

    def look(value: dict[str, object]) -> dict[str, object]:
        if value.get("_type") == "ClassLabel":
            found.append(value.get("names"))
        return value

    with suppress(ValueError, RecursionError):
        json.loads((schema.metadata or {}).get(b"huggingface", b""), object_hook=look)
    return found


def _are_others(one: list[object], other: list[object]) -> bool:
    """Return whether two files give values other meanings, as far as both describe them."""
    return any(left != right for left, right in zip(one, other, strict=False) if left and right)


def _path(schema: Iterable[pa.Field], name: str) -> list[str] | None:
    """Return the name of a column, and of the fields inside it if *name* has dots; ``None`` if there is none."""
    kinds = {field.name: field.type for field in schema}
    if name in kinds:
        return [name]
    head, _, rest = name.partition(".")
    inner = kinds.get(head, pa.null())
    path = _path(inner, rest) if rest and pa.types.is_struct(inner) else None
    return None if path is None else [head, *path]


def _column(path: str, table: pa.Table, name: str, schema: pa.Schema) -> pa.ChunkedArray:
    parts = _path(schema, name)
    if parts is None:
        raise missing_field(display(path), name, field_names(schema))
    column = table.column(parts[0])
    return pc.struct_field(column, parts[1:]) if parts[1:] else column


def _texts(path: str, table: pa.Table, request: Request, schema: pa.Schema) -> pa.ChunkedArray:
    """Return the text column as strings, or as binary values if they are HTML; its validity is not checked."""
    name, binary = request.text, request.html is not None
    if not request.needs_text and _path(schema, name) is None:
        return pa.chunked_array([pa.nulls(len(table), pa.large_string())])
    column = _column(path, table, name, schema)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_null(kind):
        return column.cast(pa.large_string())
    if not _is_text(kind):
        nested = "structs" if pa.types.is_struct(kind) else "lists" if is_one_of(kind, LISTS) else ""
        rule = f"the column {name!r} must hold strings, or binary values in UTF-8, not {nested or column.type}"
        if nested == "structs":
            rule += f", whose fields are: {', '.join(field.name for field in kind)}"
        raise DataError(display(path), rule, nested)
    unpacked = _unpacked(path, column, request)
    if binary and not is_one_of(kind, STRINGS):
        return unpacked.cast(pa.large_binary())
    return unpacked.cast(pa.large_string(), safe=False)


def _unpacked(path: str, column: pa.ChunkedArray, request: Request) -> pa.ChunkedArray:
    """Return the values of a dictionary, which may be far larger; strings have offsets that cannot overflow."""
    if not pa.types.is_dictionary(column.type):
        return column
    if _is_text(column.type.value_type):
        lengths = (pc.take(pc.binary_length(chunk.dictionary), chunk.indices) for chunk in column.chunks)
        size = sum(pc.sum(found.cast(pa.int64())).as_py() or 0 for found in lengths)
        check_size(display(path), size, request.max_bytes)
    return unpacked(column)


def _ids(path: str, table: pa.Table, request: Request, first: int, schema: pa.Schema) -> pa.ChunkedArray:
    """Return the id column as strings; rows without one get their file and number, counted from *first*."""
    name, places = request.id, (request.name_of(path), np.arange(first, first + len(table)))
    if name == DEFAULT_ID and name not in schema.names:
        return complete_ids(None, *places)
    column = written_values(_unpacked(path, _column(path, table, name, schema), request))
    if pa.types.is_temporal(column.type):
        column = times_as_ids(column, display(path), f"its {name!r} ")
    if not (_is_text(column.type) or _is_scalar(column.type)) or pa.types.is_boolean(column.type):
        rule = f"the id column {name!r} must hold strings, numbers, times or UUIDs, not {column.type}"
        raise DataError(display(path), rule)
    try:
        return complete_ids(column, *places)
    except pa.ArrowInvalid as error:
        raise DataError(display(path), "its ids have more than 2 GiB; name a shorter column", "too large") from error


def _is_text(kind: pa.DataType) -> bool:
    return is_one_of(kind, (*STRINGS, *BINARY))


def _is_scalar(kind: pa.DataType) -> bool:
    return is_one_of(kind, _SCALARS)


def _invalid(column: pa.ChunkedArray) -> list[int]:
    """Return the rows with invalid UTF-8, which Parquet does not exclude, even in strings."""
    rows: list[int] = []
    first = 0
    for chunk in column.chunks:
        try:
            chunk.validate(full=True)
        except pa.ArrowInvalid:
            rows += [row + first for row in not_utf8(chunk.cast(pa.large_binary()).to_pylist())]
        first += len(chunk)
    return rows
