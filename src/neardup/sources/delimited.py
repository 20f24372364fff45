"""CSV and TSV: every field a string, every record written back byte by byte.

The first line that is not empty is the header. Fields may be quoted with ``"`` and then hold delimiters, line ends
and doubled quotes; a quote elsewhere than at the start of a field is an ordinary character.

What becomes of a record:

- An empty line: skipped silently.
- Rejected, with the line it starts on: more or fewer fields than the header; not valid UTF-8; a quoted field that is
  never closed (it swallows the rest of the file, and its reason says so); longer than the parser's 2 GiB.
- An empty field is an empty text; as an id it counts as missing, and the record is named by file and line.

A byte order mark is skipped, and written back with the header. An empty file is an error: it has no header. So is a
missing text column, or two columns of a wanted name. Several files must have the same header.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from neardup.model.errors import DataError
from neardup.sources.collection import (
    DEFAULT_ID,
    Advance,
    Collection,
    Mask,
    Rejected,
    Request,
    check_strict,
    missing_field,
    named,
)
from neardup.sources.compression import Contents, compressed, load
from neardup.sources.formats import input_kind
from neardup.sources.lines import Spans, invalid_utf8, line_of, runs, write_closed
from neardup.sources.output import atomic, output_kind
from neardup.sources.quoting import records

_DELIMITERS: Final = {"csv": ",", "tsv": "\t"}
_PARSED: Final = 1 << 24  # bytes parsed at a time, more if a record is longer
_LONGEST: Final = (1 << 31) - 2  # the parser counts in 32 bits


class DelimitedText(Collection):
    """The records of CSV or TSV files."""

    def __init__(self, inputs: Sequence[str], request: Request, advance: Advance) -> None:
        self._files: list[_File] = []
        self._columns: dict[str, list[pa.Array]] = {}
        texts: list[pa.Array] = []
        ids: list[pa.Array] = []
        rejected: list[Rejected] = []
        for index, path in enumerate(inputs):
            file = _open(path, request.max_bytes)
            if self._files and file.names != self._files[0].names:
                raise DataError(path, f"its header is not that of {inputs[0]}")
            names = _wanted(file, request)
            file, broken, columns = _parse(file, names)
            rejected += broken
            check_strict(request, rejected)
            self._files.append(file)
            for name, column in columns.items():
                self._columns.setdefault(name, []).extend(column.chunks)
            texts += columns[request.text].chunks
            ids += _ids(file, columns.get(request.id)).chunks
            advance(index, 1.0)
        texts = pa.chunked_array(texts, pa.large_string())
        super().__init__(inputs, texts, pa.chunked_array(ids, pa.string()), rejected)

    def column(self, name: str, *, literal: bool = False) -> pa.Array:
        """Return a field: integers if every value is one, else floats if every value is a number, else strings.

        An empty field is null, whatever the type.
        """
        if name not in self._columns:
            _check_names(self._files[0], (name,))
            parsed = [_parse(file, (name,))[2][name] for file in self._files]
            self._columns[name] = [chunk for column in parsed for chunk in column.chunks]
        column = pa.chunked_array(self._columns[name], pa.large_string())
        strings = pc.if_else(pc.equal(pc.binary_length(column), 0), None, column).combine_chunks()
        for kind in () if literal else (pa.int64(), pa.float64()):
            try:
                return strings.cast(kind)
            except pa.ArrowInvalid:
                continue
        return strings

    def place(self, row: int) -> tuple[str, int]:
        """Say in which file and line a record begins."""
        return line_of((file.spans for file in self._files), row)

    def _write(self, path: str, mask: Mask) -> None:
        edges = np.cumsum([len(file.spans) for file in self._files])[:-1]
        first = self._files[0]
        with atomic(path) as output, compressed(output, output_kind(path, self.format).compression) as packed:
            write_closed(packed, first.spans.contents.data, 0, first.header_stop)
            for file, chosen in zip(self._files, np.split(mask, edges), strict=True):
                file.spans.write(packed, chosen)


@dataclass(frozen=True, slots=True)
class _File:
    """One file: its columns' names, where its header stops, and where its records lie."""

    names: list[str]
    delimiter: str
    header_stop: int
    spans: Spans
    complete: bool  # not, if the last record is an open quotation


def _open(path: str, max_bytes: int) -> _File:
    kind = input_kind(path)
    delimiter = _DELIMITERS[kind.format]
    contents = load(path, kind.compression, max_bytes)
    start, stop, line, complete = records(contents.data, delimiter)
    if not start.size:
        raise DataError(contents.source, "it is empty: it must start with a header")
    names = _header(contents, bytes(contents.data[start[0] : stop[0]]), delimiter)
    return _File(names, delimiter, int(stop[0]), Spans(contents, start[1:], stop[1:], line[1:]), complete)


def _header(contents: Contents, record: bytes, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(record.decode(), newline=""), delimiter=delimiter))
    except UnicodeDecodeError as error:
        raise DataError(contents.source, "its header is not valid UTF-8") from error
    except csv.Error as error:
        raise DataError(contents.source, f"its header cannot be read: {error}") from error


def _wanted(file: _File, request: Request) -> tuple[str, ...]:
    """Return the columns to parse. The id column may be missing if nobody asked for another than ``id``."""
    optional = {DEFAULT_ID} - set(file.names) if request.id == DEFAULT_ID else set()
    names = tuple(name for name in dict.fromkeys((request.text, request.id, *request.columns)) if name not in optional)
    _check_names(file, names)
    return names


def _check_names(file: _File, names: Sequence[str]) -> None:
    for name in names:
        if name not in file.names:
            raise missing_field(file.spans.source, name, file.names)
        if file.names.count(name) > 1:
            raise DataError(file.spans.source, f"it has two columns named {name!r}")


def _parse(file: _File, names: Sequence[str]) -> tuple[_File, list[Rejected], dict[str, pa.ChunkedArray]]:
    """Return the file without its broken records, these, and the named columns of the others."""
    spans, broken = _without_unreadable(file)
    wrong: dict[int, int] = {}

    def skip(row: Any) -> str:
        wrong[row.number - 1] = row.actual_columns
        return "skip"

    columns = {str(file.names.index(name)): pa.large_string() for name in names}
    if len(spans):
        table = pyarrow.csv.read_csv(
            pa.BufferReader(_joined(spans)),
            read_options=pyarrow.csv.ReadOptions(
                use_threads=False,  # only so the rows are counted
                block_size=max(_PARSED, int((spans.stop - spans.start).max()) + 1),
                column_names=[str(index) for index in range(len(file.names))],
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=file.delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            convert_options=pyarrow.csv.ConvertOptions(include_columns=list(columns), column_types=columns),
        )
    else:
        table = pa.schema(columns).empty_table()
    if len(table) + len(wrong) != len(spans):
        raise DataError(spans.source, "its quotes and line ends contradict each other")
    for index, fields in wrong.items():
        rule = f"it has {fields} field{'s' * (fields != 1)}, the header has {len(file.names)}"
        broken.append(Rejected(spans.source, int(spans.line[index]), rule))
    broken.sort(key=lambda record: record.position)
    good = _kept(spans, wrong)
    return (
        replace(file, spans=good, complete=True),
        broken,
        {name: table.column(str(file.names.index(name))) for name in names},
    )


def _without_unreadable(file: _File) -> tuple[Spans, list[Rejected]]:
    """Take out the records that the parser would stumble over."""
    spans = file.spans
    reasons = dict.fromkeys(invalid_utf8(spans.contents.data, spans.start, spans.stop), "it is not valid UTF-8")
    reasons |= dict.fromkeys(np.flatnonzero(spans.stop - spans.start > _LONGEST).tolist(), "it is longer than 2 GiB")
    if not file.complete and len(spans):
        reasons[len(spans) - 1] = "a quoted field in it is never closed: it takes in the rest of the file"
    broken = [Rejected(spans.source, int(spans.line[index]), reason) for index, reason in reasons.items()]
    return _kept(spans, reasons), broken


def _kept(spans: Spans, dropped: dict[int, Any]) -> Spans:
    if not dropped:
        return spans
    kept = np.ones(len(spans), np.bool_)
    kept[list(dropped)] = False
    return Spans(spans.contents, spans.start[kept], spans.stop[kept], spans.line[kept])


def _joined(spans: Spans) -> pa.Buffer:
    pieces = [spans.contents.data[first:last] for first, last in runs(spans.start, spans.stop)]
    return pa.py_buffer(pieces[0] if len(pieces) == 1 else b"".join(pieces))


def _ids(file: _File, column: pa.ChunkedArray | None) -> pa.ChunkedArray:
    if column is None:
        return pa.chunked_array([named(file.spans.source, file.spans.line)], pa.string())
    absent = pc.equal(pc.binary_length(column), 0)
    if pc.any(absent).as_py():
        column = pc.if_else(absent, named(file.spans.source, file.spans.line).cast(pa.large_string()), column)
    return column.cast(pa.string())
