"""CSV and TSV: every field a string, every record written back byte by byte.

The first line that is not empty is the header. With *quoting* ``minimal``, fields may be quoted with ``"`` and may then
contain delimiters, line ends and doubled quotes; a quote that is not at the start of a field is an ordinary character.
With ``none``, every quotation mark is an ordinary character, and a record is a line. ``auto`` is ``minimal`` for CSV
and for TSV with a quoted name in the header, and ``none`` for all other TSV, whose headlines may begin with a quotation
mark.

How records are treated:

- An empty line: skipped silently.
- Rejected, with the line it starts on: more or fewer fields than the header; invalid UTF-8; a quoted field that spans
  several lines and closes in the middle of a field; longer than the parser's 2 GiB.
- An empty field is an empty text; as an id it counts as missing, and the record is named by file and line.

A byte order mark is skipped, and written back with the header. An empty file is an error, because it has no header. So
is a quoted field that is never closed, because it would include the rest of the file; a missing text column, reported
as JSON if the header begins as JSON does; or two columns with the name of a requested one. Several files must have the
same header, with the same *quoting*, to be written to one file.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from neardup.model.arrays import Flags, Positions
from neardup.model.engine import silent
from neardup.model.errors import DataError
from neardup.sources.collection import Advance, Append, Extent, InputPiece, Needs, complete_ids, require_new
from neardup.sources.compression import Contents, Writable, compressed, load, stream
from neardup.sources.formats import Kind, display, input_kind
from neardup.sources.lines import BOM, Spans, invalid_utf8, line_count, line_ranges, runs, start_of_text
from neardup.sources.output import atomic, output_kind
from neardup.sources.quoting import records
from neardup.sources.record_faults import QuotedLines, Rejected, missing_field
from neardup.sources.request import DEFAULT_ID, Request
from neardup.sources.tables import slices

_DELIMITERS: Final = {"csv": ",", "tsv": "\t"}
_DELIMITER_NAMES: Final = {",": "comma", "\t": "tab"}
_HEAD: Final = 1 << 16  # bytes that are searched for the first line
_MARKED: Final = 1 << 14  # rows created at a time
_PARSED: Final = 1 << 24  # bytes parsed at a time, more if a record is longer
_LONGEST: Final = (1 << 31) - 2  # the parser counts in 32 bits
_LONGEST_QUOTED: Final = 1 << 28  # bytes of a quoted field in a file that is read in pieces


class DelimitedText(InputPiece):
    """The records of a CSV or TSV file."""

    def __init__(
        self, path: str, request: Request, contents: Contents | None = None, advance: Advance = silent
    ) -> None:
        """Read a file, or only some *contents* of it, which begin with its header."""
        kind = input_kind(path, request.format)
        file, data = _open(kind, request, contents or load(path, kind.compression, request.max_bytes))
        self._file, rejected, self._columns = _parse(file, data, _wanted(file, request))
        self.text = request.text
        self.columns = self._file.columns
        request.check(rejected)
        missing = pa.chunked_array([pa.nulls(len(self._file.spans), pa.large_string())])
        texts = self._columns.get(request.text, missing)
        ids = complete_ids(self._columns.get(request.id), request.name_of(path), self._file.spans.line)
        super().__init__([path], kind.format, texts, ids, rejected)
        if request.quoting == "auto":
            self.quoted_lines = _quoted_lines(self._file)
        advance(1.0)

    def column(self, name: str, *, literal: bool = False) -> pa.Array:
        """Return a field as strings; an empty one is null. Fields of the pages have their own type."""
        if name not in self._file.names and (pages := self.of_pages(name)) is not None:
            return pages.cast(pa.large_string()) if literal else pages
        if name not in self._columns:
            _check_names(self._file, (name,))
            self._columns |= self._parsed((name,))
        column = self._columns[name]
        return pc.if_else(pc.equal(pc.binary_length(column), 0), None, column).combine_chunks()

    def rows(self) -> Iterator[pa.Table]:
        """Yield the records with all fields as strings."""
        _check_names(self._file, self._file.names)
        yield from slices(pa.table(self._parsed(self._file.names)))

    def place(self, row: int) -> tuple[str, int]:
        """Return the file and the line of a record."""
        return self._file.spans.place(row)

    @property
    def held_bytes(self) -> int:
        """The bytes in memory of the texts, the ids and the lines."""
        return super().held_bytes + len(self._file.spans.contents)

    def lacking(self, name: str) -> list[str] | None:
        """Return the columns that there are if none has this name, otherwise ``None``."""
        return None if name in self._file.names or self.of_pages(name) is not None else self._file.names

    @classmethod
    @contextmanager
    def writer(cls, path: str) -> Iterator[Append]:
        """Write the header of the first records, and the records unchanged or with the marks as more fields."""
        first: list[_Header] = []
        with atomic(path) as output, compressed(output, output_kind(path, "csv").compression) as packed:

            def append(piece: DelimitedText, mask: Flags, marks: pa.Table | None) -> None:
                if not first:
                    first.append(piece.columns)
                    packed.write(piece._written_header(marks))
                piece.require_columns(piece.source, piece.columns, first[0], "the inputs before it")
                piece._append(packed, mask, marks)

            yield append

    @classmethod
    def cut(cls, source: int, path: str, request: Request, size: int) -> list[Extent]:
        """Cut a plain file without quotation marks after lines, and count them; the header is in the first extent."""
        compression = input_kind(path, request.format).compression
        if compression is None and (header := _header_of_lines(path, request)):
            found = line_ranges(load(path), size, len(header))
            return [Extent(source=source, begin=b, end=e, first=first, size=e - b) for b, e, first in found]
        return super().cut(source, path, request, size)

    @classmethod
    def pieces(cls, path: str, request: Request, extent: Extent, size: int, needs: Needs) -> Iterator["DelimitedText"]:
        """Yield the records of an extent, each time with the header."""
        del needs  # lines are always whole
        kind, shift = input_kind(path, request.format), 0
        blocks = stream(path, kind.compression, request.max_bytes, size)
        if extent.begin or extent.size < Path(path).stat().st_size:
            header = _header_of_lines(path, request) if extent.begin else b""
            blocks, shift = _range(path, header, extent, size), extent.first - 1 - line_count(header)
        for contents in pieces_of_records(display(path), kind.format, request, blocks):
            contents.first += shift
            yield cls(path, request, contents)

    @classmethod
    def columns_in(cls, path: str, request: Request) -> "_Header":
        """Return the header of a file; ``DataError`` without a valid one."""
        kind = input_kind(path, request.format)
        blocks = stream(path, kind.compression, request.max_bytes, _HEAD)
        return _open(kind, request, next(pieces_of_records(display(path), kind.format, request, blocks)))[0].columns

    @classmethod
    def require_columns(cls, source: str, columns: Any, wanted: Any, first: str) -> None:
        """Raise ``DataError`` for another header than the *wanted* one, which is that of the *first* input."""
        if columns == wanted:
            return
        rule = f"its header differs from that of {first}"
        if columns.names == wanted.names:
            meaning = f"quotation marks have another meaning in it than in {first}"
            rule = f"{meaning}, because only one of the two headers has quoted names"
        raise DataError(source, rule, "other columns")

    def _parsed(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        return _parse(self._file, self._file.spans.contents.data, names)[2]

    def _written_header(self, marks: pa.Table | None) -> bytes:
        names = [] if marks is None else marks.column_names
        require_new(self.source, names, self._file.names)
        return self._file.extended(bytes(self._file.spans.contents.read(0, self._file.header_stop)), names)

    def _append(self, output: Writable, mask: Flags, marks: pa.Table | None) -> None:
        spans = self._file.spans.where(mask)
        if marks is None:
            spans.write(output)
            return
        batches = marks.filter(mask).to_batches(max_chunksize=_MARKED)
        rows = (row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True))
        for line, row in zip(spans.each(), rows, strict=True):
            output.write(self._file.extended(bytes(line), row))


class _Header(NamedTuple):
    """The names of columns, and whether fields may be quoted: files that are written to one file must agree in both."""

    names: list[str]
    quoting: bool


@dataclass(frozen=True, slots=True)
class _DelimitedFile:
    """One file: the names of its columns, the end of its header, and the places of its records."""

    names: list[str]
    delimiter: str
    quoting: bool
    header_stop: int
    spans: Spans
    last: Positions  # the last line of each record
    torn: frozenset[int]  # the records with a quoted field that closes where no field ends

    @property
    def columns(self) -> _Header:
        """The header."""
        return _Header(self.names, self.quoting)

    def where(self, chosen: Flags) -> "_DelimitedFile":
        """Return the file with some of its records, all of them intact."""
        return replace(self, spans=self.spans.where(chosen), last=self.last[chosen], torn=frozenset())

    def extended(self, record: bytes, fields: Sequence[Any]) -> bytes:
        """Return a record with more fields at its end; ``DataError`` if one cannot be written unquoted."""
        content = record.rstrip(b"\r\n")
        end = record[len(content) :]
        end += b"" if end.endswith(b"\n") else self.spans.closing(record[-1])
        return content + b"".join(self.delimiter.encode() + self._written(field) for field in fields) + end

    def _written(self, field: Any) -> bytes:
        if isinstance(field, bool):
            return b"true" if field else b"false"
        written = str(field)
        if not any(letter in written for letter in (self.delimiter, "\n", "\r", '"')):
            return written.encode()
        if self.quoting:
            return b'"' + written.replace('"', '""').encode() + b'"'
        if not any(letter in written for letter in (self.delimiter, "\n", "\r")):
            return written.encode()
        rule = f"the id {written!r} cannot be written without quotation marks; write JSON lines or Parquet"
        raise DataError(self.spans.source, rule)


def pieces_of_records(source: str, form: str, request: Request, blocks: Iterable[bytes]) -> Iterator[Contents]:
    """Cut a stream of delimited text after records; every piece begins with the header.

    A record that is longer than a block is read whole. Raises ``DataError`` for a quoted field above 256 MiB: its
    quotation mark was probably never closed.
    """
    delimiter = _DELIMITERS[form]
    header, first, rest, wanted = b"", 1, b"", 0
    held: list[bytes] = []
    for block in blocks:
        held.append(block)
        if sum(map(len, held)) < wanted:
            continue
        data = b"".join([header, rest, *held])
        held = []
        found = records(memoryview(data), delimiter, quoting=_is_quoted(form, request, memoryview(data)))
        if found.unclosed is not None and len(data) - int(found.start[-1]) > _LONGEST_QUOTED:
            line = found.unclosed + (first - int(found.line[1]) if header else 0)
            rule = f"the quotation mark that opens a field here is not closed within {_LONGEST_QUOTED >> 20:,} MiB"
            raise DataError(f"{source}:{line}", rule, "open quote")
        if not header and found.start.size > 1:
            header, first = data[: found.start[1]], int(found.line[1])
        if found.start.size > 2:  # noqa: PLR2004 - the header, a record, and one that may be longer
            cut = int(found.start[-1])
            yield Contents(source, memoryview(data)[:cut], first=first)
            first, rest, wanted = first + int(found.line[-1] - found.line[1]), data[cut:], 0
        else:
            rest = data[len(header) :]
            # Each byte of a long record is searched a few times, however short the blocks are.
            wanted = len(data) if header else 0
    yield Contents(source, memoryview(b"".join([header, rest, *held])), first=first)


def _range(path: str, header: bytes, extent: Extent, size: int) -> Iterator[bytes]:
    """Yield the lines of an extent, after the header, some bytes at a time."""
    contents = load(path)
    for begin in range(extent.begin, extent.end, size):
        yield header + bytes(contents.read(begin, min(begin + size, extent.end)))
        header = b""


def _header_of_lines(path: str, request: Request) -> bytes:
    """Return all of a plain file up to its first record if its records are lines, otherwise nothing."""
    contents, form = load(path), input_kind(path, request.format).format
    head = contents.read(0, min(_HEAD, len(contents)))
    if _is_quoted(form, request, head):
        return b""
    found = records(head, _DELIMITERS[form], quoting=False)
    return bytes(head[: found.start[1]]) if found.start.size > 1 else b""


def _is_quoted(form: str, request: Request, data: memoryview) -> bool:
    if request.quoting != "auto" or form == "csv":
        return request.quoting != "none"
    first = bytes(data[start_of_text(data) : _HEAD]).lstrip(b"\r\n").splitlines()[:1]
    names = first[0].split(_DELIMITERS[form].encode()) if first else []
    return any(len(name) > 1 and name.startswith(b'"') and name.endswith(b'"') for name in names)


def _open(kind: Kind, request: Request, contents: Contents) -> tuple[_DelimitedFile, memoryview]:
    """Return a file, or a later part of one behind its header, and its bytes."""
    delimiter = _DELIMITERS[kind.format]
    data = contents.data
    quoting = _is_quoted(kind.format, request, data)
    found = records(data, delimiter, quoting=quoting)
    shift = contents.first - int(found.line[1]) if contents.first > 1 and found.line.size > 1 else 0
    if found.unclosed is not None:
        rule = "the quotation mark that opens a field here is never closed, so the rest of the file would be one field"
        raise DataError(f"{contents.source}:{found.unclosed + shift}", rule, "open quote")
    if not found.start.size:
        raise DataError(contents.source, "it is empty: it must start with a header")
    names = _header(contents, bytes(data[found.start[0] : found.stop[0]]), delimiter, quoting=quoting)
    spans = Spans(contents, found.start[1:], found.stop[1:], found.line[1:] + shift, lone_returns=True)
    torn = frozenset((found.torn - 1).tolist())
    return _DelimitedFile(names, delimiter, quoting, int(found.stop[0]), spans, found.last[1:] + shift, torn), data


def _quoted_lines(file: _DelimitedFile) -> QuotedLines | None:
    rows = np.flatnonzero(file.last > file.spans.line)
    if not rows.size:
        return None
    source, first = file.spans.place(rows[0])
    return QuotedLines(len(rows), source, first, int(file.last[rows[0]]))


def _header(contents: Contents, record: bytes, delimiter: str, *, quoting: bool) -> list[str]:
    how: Literal[0, 3] = csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE
    try:
        return next(csv.reader(io.StringIO(record.decode(), newline=""), delimiter=delimiter, quoting=how))
    except UnicodeDecodeError as error:
        raise DataError(contents.source, "its header is not valid UTF-8") from error
    except csv.Error as error:
        raise DataError(contents.source, f"its header cannot be read: {error}") from error


def _wanted(file: _DelimitedFile, request: Request) -> tuple[str, ...]:
    """Return the columns to parse: an id of the default name may be missing, and other fields may be those of pages."""
    needed = {*([request.text] if request.needs_text else []), *([request.id] if request.id != DEFAULT_ID else [])}
    wanted = dict.fromkeys((request.text, request.id, *request.columns))
    names = tuple(name for name in wanted if name in needed or name in file.names)
    _check_names(file, names)
    return names


def _check_names(file: _DelimitedFile, names: Sequence[str]) -> None:
    number = Counter(file.names)
    for name in names:
        if name not in number and file.names[0].lstrip().startswith(("{", "[{")):
            rule = f"its first line begins with {file.names[0].lstrip()[0]}, so it seems to be JSON lines"
            raise DataError(file.spans.source, f"{rule}, but is read as CSV or TSV", "json as table")
        if name not in number:
            raise missing_field(file.spans.source, name, file.names)
        if number[name] > 1:
            raise DataError(file.spans.source, f"it has two columns named {name!r}; rename one")


def _parse(
    file: _DelimitedFile, data: memoryview, names: Sequence[str]
) -> tuple[_DelimitedFile, list[Rejected], dict[str, pa.ChunkedArray]]:
    """Return the file without its invalid records, the invalid records, and the named columns of the others."""
    file, broken = _without_unreadable(file, data)
    spans = file.spans
    table, wrong = _table(file, data, names)
    if len(table) + len(wrong) != len(spans):
        raise DataError(spans.source, "its quotation marks and line ends are inconsistent", "quotes")
    for index, fields in wrong.items():
        rule = f"it has {fields} field{'s' * (fields != 1)}, the header has {len(file.names)}"
        if file.quoting and fields > len(file.names):
            rule += f"; a field that contains a {_DELIMITER_NAMES[file.delimiter]} must be in quotation marks"
        plain = file.quoting or b'"' not in bytes(data[spans.start[index] : spans.stop[index]])
        code = "fields" if plain else "quotes are text"
        broken.append(Rejected(spans.source, int(spans.line[index]), rule, code))
    broken.sort(key=lambda record: record.position)
    return file.where(_without(len(spans), wrong)), broken, dict(zip(names, table.columns, strict=True))


def _table(file: _DelimitedFile, data: memoryview, names: Sequence[str]) -> tuple[pa.Table, dict[int, int]]:
    """Return the named columns, in this order, and the number of fields of each record that has too few or too many."""
    spans = file.spans
    columns = {str(file.names.index(name)): pa.large_string() for name in names}
    if not len(spans):
        return pa.schema(columns).empty_table(), {}
    wrong: dict[int, int] = {}

    def skip(row: Any) -> str:
        wrong[row.number - 1] = row.actual_columns
        return "skip"

    table = pyarrow.csv.read_csv(
        pa.BufferReader(_joined(spans, data)),
        read_options=pyarrow.csv.ReadOptions(
            use_threads=False,  # needed to count the rows
            block_size=max(_PARSED, int((spans.stop - spans.start).max()) + 1),
            column_names=[str(index) for index in range(len(file.names))],
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=file.delimiter,
            quote_char='"' if file.quoting else False,
            newlines_in_values=file.quoting,
            invalid_row_handler=skip,
        ),
        convert_options=pyarrow.csv.ConvertOptions(include_columns=list(columns), column_types=columns),
    )
    return table, wrong


def _without_unreadable(file: _DelimitedFile, data: memoryview) -> tuple[_DelimitedFile, list[Rejected]]:
    """Remove records that the parser cannot read, and those that it would read incorrectly."""
    spans = file.spans
    reasons = dict.fromkeys(invalid_utf8(data, spans.start, spans.stop), ("it is not valid UTF-8", "encoding"))
    for row in np.flatnonzero(spans.stop - spans.start > _LONGEST).tolist():
        reasons[row] = ("it is longer than 2 GiB", "too long")
    for row in file.torn:
        line = int(file.last[row])
        rule = f"a quoted field in it continues to line {line:,} and is closed there in the middle of a field"
        reasons.setdefault(row, (rule, "torn quotes"))
    broken = [Rejected(spans.source, int(spans.line[row]), *reason) for row, reason in reasons.items()]
    return file.where(_without(len(spans), reasons)), broken


def _without(number: int, dropped: Iterable[int]) -> Flags:
    kept = np.ones(number, np.bool_)
    kept[list(dropped)] = False
    return kept


def _joined(spans: Spans, data: memoryview) -> pa.Buffer:
    pieces = [data[first:last] for first, last in runs(spans.start, spans.stop)]
    if bytes(pieces[0][: len(BOM)]) == BOM:  # part of a field, but the parser skips one at the beginning
        pieces.insert(0, memoryview(BOM))
    return pa.py_buffer(pieces[0] if len(pieces) == 1 else b"".join(pieces))
