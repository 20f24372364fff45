"""JSON lines: one object a line, read for its wanted fields only, written back byte by byte.

What becomes of a line:

- Blank, or only white space: skipped silently.
- Rejected: not valid UTF-8 anywhere; not valid JSON (a cut-off last line, ``NaN``, a raw control character); half a
  surrogate pair in an escape; nested too deeply for the decoder (about 1,000 levels); not an object; a text that is
  neither a string nor null; an id that is neither a string, a number nor null.
- Text missing or null: a document without text.
- A field given twice: the last one counts, but each must be of the right kind.
- A byte order mark at the start of the file is skipped, and not written back: JSON has none.
- A number as id keeps its digits as written, however many. A missing, null or empty id is named by file and line.

An empty file holds no documents. Records none of which has the text field, or an id field that was asked for by
name, are an error.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from neardup.model.errors import DataError, require
from neardup.sources.collection import (
    DEFAULT_ID,
    Advance,
    Collection,
    Mask,
    Rejected,
    Request,
    check_strict,
    missing_field,
)
from neardup.sources.compression import compressed, load
from neardup.sources.formats import display, input_kind
from neardup.sources.lines import Positions, Spans, invalid_utf8, line_ends, line_of, start_of_text
from neardup.sources.output import atomic, output_kind
from neardup.sources.records import decoder, literal, reason_of

_BLOCK: Final = 1 << 23  # bytes of lines that are decoded, then gathered into one array
_SAMPLE: Final = 1000  # records looked at to list the fields that exist
_TYPES: Final = (  # in this order: the first that holds every value
    (list[int | None], pa.int64()),
    (list[float | None], pa.float64()),
    (list[str | None], pa.large_string()),
    (list[bool | None], pa.bool_()),
)


class JsonLines(Collection):
    """The records of JSON-lines files."""

    def __init__(self, inputs: Sequence[str], request: Request, advance: Advance) -> None:
        require(request.id != request.text, "id", request.id, "must be another field than the text")
        reader = _Reader(request)
        self._spans = [reader.read(path, partial(advance, index)) for index, path in enumerate(inputs)]
        self._columns = reader.columns
        self._text = request.text
        texts = pa.chunked_array(reader.texts, pa.large_string())
        super().__init__(inputs, texts, pa.chunked_array(reader.ids, pa.string()), reader.rejected)
        if len(self) and texts.null_count == len(self):
            self._existing(request.text)
        if len(self) and request.id != DEFAULT_ID and not reader.has_ids:
            self._existing(request.id)

    def column(self, name: str, *, literal: bool = False) -> pa.Array:
        """Return a field. Numbers are integers if all are and fit in 64 bits, else floats."""
        if name == self._text:
            return self.texts.combine_chunks()
        tokens = self._existing(name)
        if literal:
            return pa.array([self._literal(name, token) for token in tokens], pa.large_string())
        values = b"[" + b",".join(token or b"null" for token in tokens) + b"]"
        for kind, stored in _TYPES:
            try:
                return pa.array(msgspec.json.decode(values, type=kind), stored)
            except (msgspec.ValidationError, OverflowError):
                continue
        raise self._error(f"the field {name!r} must hold only numbers or only strings")

    def place(self, row: int) -> tuple[str, int]:
        """Say in which file and line a record stands."""
        return line_of(self._spans, row)

    def _write(self, path: str, mask: Mask) -> None:
        edges = np.cumsum([len(spans) for spans in self._spans])[:-1]
        with atomic(path) as file, compressed(file, output_kind(path, self.format).compression) as packed:
            for spans, chosen in zip(self._spans, np.split(mask, edges), strict=True):
                spans.write(packed, chosen)

    def _existing(self, name: str) -> list[bytes]:
        """Return each record's value of a field as it is written, empty where missing; it must be somewhere."""
        if name in self._columns:
            tokens = [token for block in self._columns[name] for token in block.to_pylist()]
        else:
            decode = decoder(None, (name,))
            tokens = [bytes(decode(line).f1) for line in self._lines()]
        if not any(tokens):
            raise missing_field(", ".join(self.names), name, self._fields())
        return tokens

    def _fields(self) -> list[str]:
        decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
        sample = zip(range(_SAMPLE), self._lines(), strict=False)
        return list(dict.fromkeys(name for _, line in sample for name in decode(line)))

    def _lines(self) -> Iterator[memoryview]:
        for spans in self._spans:
            spans.contents.check_unchanged()
            for start, stop in zip(spans.start.tolist(), spans.stop.tolist(), strict=True):
                yield spans.contents.data[start:stop]

    def _literal(self, name: str, token: bytes) -> str | None:
        try:
            return literal(token)
        except TypeError as error:
            raise self._error(f"the field {name!r} must be a string or a number, not {error}") from error

    def _error(self, rule: str) -> DataError:
        return DataError(", ".join(self.names), rule)


class _Reader:
    """Gathers the wanted fields of one file after the other."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.texts: list[pa.Array] = []
        self.ids: list[pa.Array] = []
        self.rejected: list[Rejected] = []
        self.has_ids = False
        self._names = tuple(dict.fromkeys((request.id, *(name for name in request.columns if name != request.text))))
        self.columns: dict[str, list[pa.Array]] = {name: [] for name in self._names[1:]}
        self._decode = decoder(request.text, self._names)

    def read(self, path: str, advance: Callable[[float], None]) -> Spans:
        """Read a file; return where its documents lie."""
        contents = load(path, input_kind(path).compression, self.request.max_bytes)
        data = contents.data
        stop = line_ends(data)
        start = np.concatenate([np.array([start_of_text(data)], np.int64), stop[:-1]])[: stop.size]
        kept = np.ones(stop.size, np.bool_)
        first = 0
        while first < stop.size:
            last = max(first + 1, int(np.searchsorted(stop, start[first] + _BLOCK)))
            dropped = self._block(display(path), data, start[first:last], stop[first:last], first + 1)
            kept[[first + index for index in dropped]] = False
            check_strict(self.request, self.rejected)
            advance(int(stop[last - 1]) / len(data))
            first = last
        return Spans(contents, start[kept], stop[kept], np.flatnonzero(kept) + 1)

    def _block(self, source: str, data: memoryview, start: Positions, stop: Positions, number: int) -> list[int]:
        """Gather the documents of neighbouring lines; return which lines are none. The first is line *number*."""
        records: list[Any] = []
        ids: list[str] = []
        reasons = dict.fromkeys(invalid_utf8(data, start, stop), "it is not valid UTF-8")
        spans = zip(start.tolist(), stop.tolist(), strict=True)
        for index, (first, last) in enumerate(spans):
            if index in reasons:
                continue
            try:
                record = self._decode(data[first:last])
                written = literal(bytes(record.f1))
            except (msgspec.MsgspecError, RecursionError) as error:
                reasons[index] = reason_of(bytes(data[first:last]), error, self.request.text)
            except TypeError as error:
                reasons[index] = f"its {self.request.id!r} must be a string or a number, not {error}"
            else:
                records.append(record)
                ids.append(written or f"{source}:{number + index}")
                self.has_ids = self.has_ids or bool(written)
        self.texts.append(pa.array([record.f0 for record in records], pa.large_string()))
        self.ids.append(pa.array(ids, pa.string()))
        for field, name in enumerate(self._names[1:], 2):
            tokens = [bytes(getattr(record, f"f{field}")) for record in records]
            self.columns[name].append(pa.array(tokens, pa.large_binary()))
        broken = [Rejected(source, number + index, reason) for index, reason in sorted(reasons.items()) if reason]
        self.rejected.extend(broken)
        return list(reasons)
