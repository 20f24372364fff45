"""JSON lines: one object per line; only the requested fields are decoded, and lines are written back unchanged.

How lines are treated:

- Empty, or only white space: skipped silently.
- Rejected: invalid UTF-8; invalid JSON (a last line that is cut off, ``NaN``, a raw control character); half a
  surrogate pair in an escape; nested too deeply for the decoder (about 1,000 levels); not an object; a text that is
  neither a string nor null; an id, or an address that is needed, that is neither a string, a number nor null.
- A file that is one JSON array, or has objects over several lines, is an error as a whole.
- Text missing or null: a document without text.
- A name with dots, ``body.content``, is a field of an object inside the record, unless the record itself has a field of
  exactly this name.
- A repeated field: the last value counts, but each must be of the right type.
- A byte order mark at the start of the file is skipped, and not written back: JSON has none.
- A number as id keeps all its digits as written; but 1.0 is 1, as in other tables. A missing, null or empty id is
  replaced by file and line.

An empty file contains no documents. It is an error if no record has the text field, or an id field that was requested
by name.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice, starmap
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from neardup.model.arrays import Flags, Positions
from neardup.model.engine import silent
from neardup.model.errors import DataError, require_other_fields
from neardup.model.policy import CANONICAL
from neardup.sources.collection import Advance, Append, Extent, InputPiece, Needs, ranges, require_new
from neardup.sources.compression import (
    Contents,
    Writable,
    check_plain,
    check_size,
    compressed,
    frame_edges,
    load,
    stream,
)
from neardup.sources.fields import typed
from neardup.sources.formats import STDIN, display, input_kind
from neardup.sources.lines import BOM, READ, Spans, blocks_of_lines, invalid_utf8, line_ranges, start_of_text
from neardup.sources.output import atomic, output_kind
from neardup.sources.record_faults import Rejected, missing_field
from neardup.sources.records import decoder, field_names, literal_of, reason_of, value_of
from neardup.sources.request import Request
from neardup.sources.tables import ONLY_LINES, table_of

_NEWLINE: Final = b"\n"
_BLOCK: Final = 1 << 23  # bytes of lines that are decoded, then gathered into one array
HEAD: Final = 1 << 16  # bytes searched for the first line
_MARKED: Final = 1 << 14  # rows created at a time
_SAMPLE: Final = 1000  # records searched to list the existing fields
_ARRAY: Final = re.compile(rb"\s*\[\s*(?:\{|$)")  # the beginning of an array of objects
_ARCHIVE: Final = b"WARC/"
_OBJECT: Final = re.compile(rb"\s*\{\s*$")  # the first line of an object over several lines


class JsonLines(InputPiece):
    """The records of a file of JSON lines."""

    def __init__(
        self, path: str, request: Request, contents: Contents | None = None, advance: Advance = silent
    ) -> None:
        """Read a file, or only some *contents* of it."""
        require_other_fields(request.text, id=request.id)
        reader = _Reader(request, request.name_of(path))
        kind = input_kind(path, request.format)
        if contents is None:
            contents = load(path, kind.compression, request.max_bytes)
        self._spans = reader.read(contents, advance)
        self._has_ids = reader.has_ids
        self._columns = reader.columns
        self._id, self.text = request.id, request.text
        texts, ids = pa.chunked_array(reader.texts, pa.large_string()), pa.chunked_array(reader.ids, pa.string())
        super().__init__([path], kind.format, texts, ids, reader.rejected)

    @property
    def held_bytes(self) -> int:
        """The bytes in memory of the texts, the ids and the lines."""
        return super().held_bytes + len(self._spans.contents)

    def raw_column(self, name: str) -> pa.ChunkedArray:
        """Return a field as written: JSON values, empty where a record lacks it; there, pages have their own fields."""
        if name not in self._columns:
            decode = decoder(None, (name,))
            tokens = [bytes(decode(line).f1) for line in self._spans.each()]
            self._columns[name] = [pa.array(tokens, pa.large_binary())]
        own = pa.chunked_array(self._columns[name], pa.large_binary())
        if (pages := self.of_pages(name)) is None:
            return own
        encode = msgspec.json.Encoder().encode
        pairs = zip(own.to_pylist(), pages.to_pylist(), strict=True)
        completed = [token or (b"" if found is None else encode(found)) for token, found in pairs]
        return pa.chunked_array([pa.array(completed, pa.large_binary())])

    def column(self, name: str, *, literal: bool = False) -> pa.Array:
        """Return a field. Numbers are integers if all are and fit into 64 bits, otherwise strings as written."""
        if len(self) and (fields := self.lacking(name)) is not None:
            raise missing_field(self.source, name, fields)
        tokens = self.raw_column(name).to_pylist()
        if literal:
            return pa.array([self._literal(row, name, token) for row, token in enumerate(tokens)], pa.large_string())
        return typed(name, tokens, self.place)

    def place(self, row: int) -> tuple[str, int]:
        """Return the file and the line of a record."""
        return self._spans.place(row)

    def lacking(self, name: str) -> list[str] | None:
        """Return the fields that there are if no record has the field *name*, otherwise ``None``."""
        if (name == self.text and self.texts.null_count < len(self)) or (name == self._id and self._has_ids):
            return None
        if self.of_pages(name) is not None or any(self.raw_column(name).to_pylist()):
            return None
        sample = islice(self._spans.each(), _SAMPLE)
        return list(dict.fromkeys(field for line in sample for field in field_names(line)))

    @classmethod
    @contextmanager
    def writer(cls, path: str) -> Iterator[Append]:
        """Write lines unchanged, or with the marks as more fields."""
        with atomic(path) as file, compressed(file, output_kind(path, "jsonl").compression) as packed:
            yield lambda piece, mask, marks: piece.append_to(packed, mask, marks)

    @classmethod
    def cut(cls, source: int, path: str, request: Request, size: int) -> list[Extent]:
        """Cut a plain file after lines, and a file of several frames of zstd after frames; count the lines."""
        compression = input_kind(path, request.format).compression
        if compression is None:
            found = line_ranges(load(path), size)
            return [Extent(source=source, begin=b, end=e, first=first, size=e - b) for b, e, first in found]
        if compression == "zstd" and len(edges := frame_edges(path)) > 2:  # noqa: PLR2004 - of a frame
            return _frame_extents(source, path, edges, size, request.max_bytes)
        return super().cut(source, path, request, size)

    @classmethod
    def pieces(cls, path: str, request: Request, extent: Extent, size: int, needs: Needs) -> Iterator["JsonLines"]:
        """Yield the records of the lines that begin in an extent."""
        del needs  # lines are always whole
        for contents in _blocks(path, request, extent, size):
            yield cls(path, request, contents)

    @classmethod
    def first_fields(cls, path: str, request: Request) -> list[str]:
        """Return the fields of the first lines that are valid; ``DataError`` if the file cannot be read."""
        names: dict[str, None] = {}
        blocks = stream(path, input_kind(path, request.format).compression, request.max_bytes, HEAD)
        for line in next(blocks, b"").splitlines()[:_SAMPLE]:
            with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                names.update(dict.fromkeys(msgspec.json.decode(line, type=dict[str, msgspec.Raw])))
        return [*names]

    def append_to(self, file: Writable, mask: Flags, marks: pa.Table | None) -> None:
        """Write chosen lines to an open file; see ``writer``."""
        lines = self._spans.where(mask)
        if marks is None:
            lines.write(file)
            return
        encode = msgspec.json.Encoder().encode
        known = {name: encode(name) for name in marks.column_names}
        rows = (row for batch in marks.filter(mask).to_batches(max_chunksize=_MARKED) for row in batch.to_pylist())
        for line, row in zip(map(bytes, lines.each()), rows, strict=True):
            for name, written in known.items():
                if written in line:
                    require_new(self.source, [name], msgspec.json.decode(line, type=dict[str, msgspec.Raw]))
            record = line.rstrip()
            own, end = record[:-1].rstrip(), line[len(record) :].removesuffix(b"\n") + b"\n"
            file.write(own + (b"" if own.endswith(b"{") else b",") + encode(row)[1:] + end)

    def rows(self) -> Iterator[pa.Table]:
        """Yield the records as tables; the types are those of the values."""
        decode = msgspec.json.Decoder(dict[str, Any]).decode

        def decoded(row: int, line: memoryview) -> dict[str, Any]:
            try:
                return decode(line)
            except msgspec.ValidationError:
                rule = f"it has a number beyond 64 bits; {ONLY_LINES}"
                raise DataError(self._place(row), rule, "unrepresentable") from None

        lines = enumerate(self._spans.each())
        first = 0
        while records := list(starmap(decoded, islice(lines, _MARKED))):
            yield table_of(lambda row, first=first: self._place(first + row), records)  # type: ignore[misc]
            first += len(records)

    def _literal(self, row: int, name: str, token: bytes) -> str | None:
        try:
            return literal_of(token) if name == CANONICAL else value_of(token)
        except TypeError as error:
            rule = f"its {name!r} must be a string or a number, not {error}"
            raise DataError(self._place(row), rule) from error

    def _place(self, row: int) -> str:
        return "{}:{}".format(*self.place(row))


def _blocks(path: str, request: Request, extent: Extent, size: int) -> Iterator[Contents]:
    """Yield the lines that begin in an extent, in bounded memory."""
    source, compression = display(path), input_kind(path, request.format).compression
    if compression is None:
        yield Contents(source, load(path).read(extent.begin, extent.end), first=extent.first)
        return
    first, held = extent.first, [b""]
    for block in _expanded(path, compression, request.max_bytes, extent, size):
        cut = block.rfind(_NEWLINE) + 1
        if cut:
            yield Contents(source, memoryview(b"".join([*held, block[:cut]])), first=first)
            first += block.count(_NEWLINE)
            held = []
        held.append(block[cut:])
    rest = b"".join(held)
    if rest or first == 1:  # even an empty file is a piece
        yield Contents(source, memoryview(rest), first=first)


def _expanded(path: str, compression: str, most: int, extent: Extent, size: int) -> Iterator[bytes]:
    """Yield the lines that begin in an extent of a compressed file, some bytes at a time."""
    skipping, ended = extent.torn, True
    for block in stream(path, compression, most, size, extent.begin, extent.end):
        begin = block.find(_NEWLINE) + 1 if skipping else 0
        if begin or not skipping:
            skipping = False
            yield block[begin:]
        ended = block.endswith(_NEWLINE)
    if not ended and extent.end < Path(path).stat().st_size:
        for block in stream(path, compression, most, HEAD, extent.end):
            end = block.find(_NEWLINE) + 1
            yield block[: end or None]
            if end:
                return


def _frame_extents(source: int, path: str, edges: Sequence[int], size: int, most: int) -> list[Extent]:
    """Cut a zstd file after frames, at these *edges*, and count its lines; *most* bytes may be expanded."""
    found: list[Extent] = []
    total, first, torn = 0, 1, False
    for begin, end in ((edges[b], edges[e]) for b, e in ranges(np.diff(edges).tolist(), size)):
        lines, was_torn = 0, torn
        for block in stream(path, "zstd", most, READ, begin, end):
            total += len(block)
            check_size(display(path), total, most)
            lines += block.count(_NEWLINE)
            torn = not block.endswith(_NEWLINE)
        if found and not lines:  # no line begins here, unless it is the last one
            found[-1] = msgspec.structs.replace(found[-1], end=end, size=end - found[-1].begin)
        else:
            own = Extent(source=source, begin=begin, end=end, first=first + was_torn, size=end - begin, torn=was_torn)
            found.append(own)
        first += lines
    return found


class _Reader:
    def __init__(self, request: Request, name: str) -> None:
        self.request = request
        self._name = name  # of documents without an id
        self.texts: list[pa.Array] = []
        self.ids: list[pa.Array] = []
        self.rejected: list[Rejected] = []
        self.has_ids = False
        self._names = tuple(dict.fromkeys((request.id, *(name for name in request.columns if name != request.text))))
        self.columns: dict[str, list[pa.Array]] = {name: [] for name in self._names[1:]}
        self._decode = decoder(request.text, self._names)
        address = request.url_field if request.reads_addresses else ""
        self._address = f"f{self._names.index(address) + 1}" if address in self._names[1:] else None

    def read(self, contents: Contents, advance: Advance) -> Spans:
        """Read a file, or some of its lines; return the places of its documents."""
        if contents.first == 1:
            require_lines(bytes(contents.read(0, min(len(contents), HEAD))), contents.source)
        starts, stops, lines = ([np.zeros(0, np.int64)] for _ in range(3))
        number = contents.first
        for begin, data, stop in blocks_of_lines(contents, _BLOCK):
            head = start_of_text(data) if begin == 0 and contents.first == 1 else 0
            start = np.concatenate([np.array([head], np.int64), stop[:-1]])
            good = np.ones(stop.size, np.bool_)
            good[self._block(contents.source, data, start, stop, number)] = False
            self.request.check(self.rejected)
            starts.append(start[good] + begin)
            stops.append(stop[good] + begin)
            lines.append(np.flatnonzero(good) + number)
            number += stop.size
            advance((begin + len(data)) / len(contents))
        return Spans(contents, np.concatenate(starts), np.concatenate(stops), np.concatenate(lines))

    def _block(self, source: str, data: memoryview, start: Positions, stop: Positions, number: int) -> list[int]:
        """Collect the documents of neighbouring lines; return which lines are rejected. The first is line *number*."""
        records: list[Any] = []
        ids: list[str] = []
        reasons = dict.fromkeys(invalid_utf8(data, start, stop), ("it is not valid UTF-8", "encoding"))
        spans = zip(start.tolist(), stop.tolist(), strict=True)
        for index, (first, last) in enumerate(spans):
            if index in reasons:
                continue
            try:
                wanted = self.request.id
                record = self._decode(data[first:last])
                written = literal_of(bytes(record.f1))
                if self._address is not None:
                    wanted = self.request.url_field
                    literal_of(bytes(getattr(record, self._address)))
            except (msgspec.MsgspecError, RecursionError) as error:
                reason = reason_of(bytes(data[first:last]), error, self.request.text)
                reasons[index] = reason, "type" if isinstance(error, msgspec.ValidationError) else "json"
            except TypeError as error:
                reasons[index] = f"its {wanted!r} must be a string or a number, not {error}", "type"
            else:
                records.append(record)
                ids.append(written or f"{self._name}:{number + index}")
                self.has_ids = self.has_ids or bool(written)
        self.texts.append(pa.array([record.f0 for record in records], pa.large_string()))
        self.ids.append(pa.array(ids, pa.string()))
        for field, name in enumerate(self._names[1:], 2):
            tokens = [bytes(getattr(record, f"f{field}")) for record in records]
            self.columns[name].append(pa.array(tokens, pa.large_binary()))
        broken = [Rejected(source, number + index, *why) for index, why in sorted(reasons.items()) if why[0]]
        self.rejected.extend(broken)
        return list(reasons)


def require_lines(head: bytes, source: str) -> None:
    """Raise ``DataError`` for another format than JSON lines, such as arrays, objects over lines, or archives."""
    check_plain(source, head)
    if head.startswith(_ARCHIVE):
        code = "archive stream" if source == display(STDIN) else "ending"
        raise DataError(source, "this is a web archive, not JSON lines", code)
    first = next((line for line in head.removeprefix(BOM).split(b"\n") if line.strip()), b"")
    if _ARRAY.match(first):
        raise DataError(source, "this is one JSON array, not JSON lines", "json array")
    if _OBJECT.match(first):
        raise DataError(source, "its JSON objects are spread over several lines", "json over lines")
