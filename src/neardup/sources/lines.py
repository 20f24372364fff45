"""The lines of a text file as spans of bytes: their places, their validity, and how chosen ones are written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa

from neardup.model.arrays import Flags, Positions
from neardup.model.errors import OTHER_FILE, DataError
from neardup.sources.compression import Contents, Writable, load
from neardup.sources.formats import require_file

BOM: Final = b"\xef\xbb\xbf"
_SCAN: Final = 1 << 22  # a block that stays in the cache while it is compared
_WINDOW: Final = 1 << 22  # bytes read at a time to be copied
READ: Final = 1 << 24  # bytes read at a time to count lines
_MOST_BYTES: Final = 1 << 30  # of a file of names
_NEWLINE: Final = ord("\n")
_RETURN: Final = ord("\r")


def find(data: memoryview, byte: int) -> Positions:
    """Return every position of a byte."""
    found = [np.zeros(0, np.int64)]
    for start in range(0, len(data), _SCAN):
        block = np.frombuffer(data[start : start + _SCAN], np.uint8)
        found.append(np.flatnonzero(block == byte) + start)
    return np.concatenate(found)


def line_ends(data: memoryview, *, lone_returns: bool = False) -> Positions:
    r"""Return the position after each line's end; the last line may lack its newline.

    A line ends with ``\n``; with *lone_returns*, also with an ``\r`` that no ``\n`` follows.
    """
    ends = find(data, _NEWLINE) + 1
    if lone_returns and (returns := find(data, _RETURN)).size:
        codes = np.frombuffer(data, np.uint8)
        followed = codes[np.minimum(returns + 1, len(data) - 1)] == _NEWLINE
        ends = np.sort(np.concatenate([ends, returns[~followed] + 1]))
    if len(data) and (not ends.size or ends[-1] != len(data)):
        ends = np.append(ends, len(data))
    return ends


def start_of_text(data: memoryview) -> int:
    """Return 3 if the text starts with a byte order mark, else 0."""
    return len(BOM) if bytes(data[: len(BOM)]) == BOM else 0


def invalid_utf8(data: memoryview, start: Positions, stop: Positions) -> list[int]:
    """Return which of the spans, ascending and disjoint, are not valid UTF-8.

    One fast pass covers everything between the first and the last; only if it fails, each span is checked.
    """
    if not start.size:
        return []
    low, high = int(start[0]), int(stop[-1])
    if _valid(data[low:high]):
        return []
    spans = zip(start.tolist(), stop.tolist(), strict=True)
    return [index for index, (first, last) in enumerate(spans) if not _valid(data[first:last])]


def _valid(data: memoryview) -> bool:
    offsets = pa.py_buffer(np.array([0, len(data)], np.int64))
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)])
    try:
        whole.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def blocks_of_lines(contents: Contents, size: int) -> Iterator[tuple[int, memoryview, Positions]]:
    """Yield whole lines, about *size* bytes at a time: their offset, their bytes, and the ends of the lines.

    A line longer than *size* is a block of its own.
    """
    first, wanted = 0, size
    while first < len(contents):
        last = min(first + wanted, len(contents))
        data = contents.read(first, last)
        ends = line_ends(data) if last == len(contents) else find(data, _NEWLINE) + 1
        if ends.size:
            yield first, data[: ends[-1]], ends
            first, wanted = first + int(ends[-1]), size
        else:
            wanted *= 2


def line_ranges(contents: Contents, size: int, header: int = 0) -> Iterator[tuple[int, int, int]]:
    """Yield ranges of whole lines, about *size* bytes long: the begin, the end, and the number of the first line.

    The *header* of delimited text, where a lone return ends a line, too, is in the first range.
    """
    begin, first, lines, end = 0, 1, 0, 0
    for at, data, ends in blocks_of_lines(contents, min(READ, size)):
        end, lines = at + len(data), lines + (line_count(bytes(data)) if header else len(ends))
        if end == len(contents) or (end - begin >= size and end >= header):
            yield begin, end, first
            begin, first, lines = end, first + lines, 0
    if not end:
        yield 0, 0, 1


def line_count(data: bytes) -> int:
    """Return the number of lines of delimited text, where a lone return ends a line, too."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


@dataclass(frozen=True, slots=True)
class Spans:
    """The records of one file: each from *start*, on *line* (from 1), up to *stop*, its newline included.

    *lone_returns* is that of ``line_ends``.
    """

    contents: Contents
    start: Positions
    stop: Positions
    line: Positions
    lone_returns: bool = False

    def __len__(self) -> int:
        return len(self.start)

    @property
    def source(self) -> str:
        """The file's name."""
        return self.contents.source

    def place(self, row: int) -> tuple[str, int]:
        """Return the source and the line of a record."""
        return self.source, int(self.line[row])

    def where(self, chosen: Flags) -> "Spans":
        """Return some of the records."""
        return replace(self, start=self.start[chosen], stop=self.stop[chosen], line=self.line[chosen])

    def blocks(self) -> Iterator[tuple[slice, int, memoryview]]:
        """Yield neighbouring records, some megabytes at a time: which, their offset, and all bytes from there."""
        first = 0
        while first < len(self):
            begin = int(self.start[first])
            last = max(first + 1, int(np.searchsorted(self.stop, begin + _WINDOW, side="right")))
            yield slice(first, last), begin, self.contents.read(begin, int(self.stop[last - 1]))
            first = last

    def each(self) -> Iterator[memoryview]:
        """Yield every record, its newline included."""
        for which, begin, data in self.blocks():
            starts, stops = self.start[which] - begin, self.stop[which] - begin
            for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
                yield data[start:stop]

    def write(self, file: Writable) -> None:
        """Copy the records unchanged; a last line without a newline gets one."""
        self.contents.read(0, 0)  # even if no record was chosen, the file must be unchanged
        for which, begin, data in self.blocks():
            chosen = runs(self.start[which] - begin, self.stop[which] - begin)
            for first, last in chosen:
                file.write(data[first:last])
            if begin + len(data) == len(self.contents) and data[-1] != _NEWLINE:
                file.write(self.closing(data[-1]))

    def closing(self, last: int) -> bytes:
        """Return what is missing at the end of a line whose last byte is not a newline."""
        return b"" if last == _RETURN and self.lone_returns else b"\n"


def runs(start: Positions, stop: Positions) -> Iterator[tuple[int, int]]:
    """Join spans that touch: a million neighbouring lines are written as one.

    >>> list(runs(np.array([0, 5, 9]), np.array([5, 7, 12])))
    [(0, 7), (9, 12)]
    """
    if not start.size:
        return
    breaks = np.flatnonzero(start[1:] != stop[:-1])
    firsts = start[np.concatenate([[0], breaks + 1])]
    lasts = stop[np.concatenate([breaks, [start.size - 1]])]
    yield from zip(firsts.tolist(), lasts.tolist(), strict=True)


def read_names(path: str) -> list[str]:
    r"""Read the names in a file, or in standard input for ``-``, without empty lines; ``\r\n`` ends a line, too.

    Raises ``InputRefused`` for a file that does not exist, ``DataError`` for invalid UTF-8 and for records with ids.
    """
    require_file(path, _MOST_BYTES, or_standard_input=True)
    contents = load(path, None, _MOST_BYTES)
    names = []
    for number, line in enumerate(bytes(contents.data).removeprefix(BOM).split(b"\n"), 1):
        try:
            names.append(line.removesuffix(b"\r").decode())
        except UnicodeDecodeError:
            raise DataError(f"{contents.source}:{number}", "it is not valid UTF-8", "encoding") from None
    names = [name for name in names if name.strip()]
    if names and re.match(r'\{"id":.*\}$', names[0]):
        raise DataError(contents.source, "its lines are JSON objects, not plain values", OTHER_FILE)
    return names
