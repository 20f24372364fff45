"""The ends of the records of delimited text: the line ends that are not inside a quoted field."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from neardup.model.arrays import Positions
from neardup.sources.lines import find, line_ends, start_of_text

_QUOTE: Final = ord('"')
_NEWLINES: Final = (ord("\n"), ord("\r"))


@dataclass(frozen=True, slots=True)
class Records:
    """The start and stop of each record, and its first and last line, from 1. Empty lines are not records.

    *torn* are the records with a quoted field that spans several lines and closes in the middle of a field: its opening
    quotation mark is probably text. *unclosed* is the line of a quotation mark that opens a field and is never closed.
    """

    start: Positions
    stop: Positions
    line: Positions
    last: Positions
    torn: Positions
    unclosed: int | None


def records(data: memoryview, delimiter: str, *, quoting: bool = True) -> Records:
    """Return the records of a text; without *quoting*, a quotation mark is an ordinary character."""
    ends = line_ends(data, lone_returns=True)
    if not ends.size:
        return Records(ends, ends, ends, ends, ends, None)
    nothing = np.zeros(0, np.int64)
    opening, closing = quoted(data, delimiter) if quoting else (nothing, nothing)
    outside = np.searchsorted(opening, ends - 1) == np.searchsorted(closing, ends - 1)
    outside[-1] = True  # the end of the text always ends its last record
    stop = ends[outside]
    start = np.concatenate([np.array([start_of_text(data)], np.int64), stop[:-1]])
    codes = np.frombuffer(data, np.uint8)
    filled = (start < stop) & ~np.isin(codes[np.minimum(start, len(data) - 1)], _NEWLINES)
    start, stop = start[filled], stop[filled]
    line, last = np.searchsorted(ends, start, side="right") + 1, np.searchsorted(ends, stop) + 1
    begin, end = _fields(opening, closing)
    torn = np.unique(np.searchsorted(stop, _torn(codes, ends, begin, end, delimiter), side="right"))
    unclosed = int(np.searchsorted(ends, begin[-1], side="right")) + 1 if opening.size > closing.size else None
    return Records(start, stop, line, last, torn, unclosed)


def _fields(opening: Positions, closing: Positions) -> tuple[Positions, Positions]:
    """Return the quotes that begin a field, and those that end one: doubled quotes are inside."""
    begins = np.ones(opening.size, np.bool_)
    begins[1:] = opening[1:] != closing[: max(0, opening.size - 1)] + 1
    ends = np.ones(closing.size, np.bool_)
    ends[: begins[1:].size] = begins[1:]
    return opening[begins], closing[ends]


def _torn(codes: npt.NDArray[np.uint8], ends: Positions, begin: Positions, end: Positions, delimiter: str) -> Positions:
    """Return the quotes that close a field of several lines and are followed by more of the field."""
    begin = begin[: end.size]
    over_lines = np.searchsorted(ends, begin, side="right") != np.searchsorted(ends, end, side="right")
    behind = codes[np.minimum(end + 1, len(codes) - 1)]
    at_end = (end + 1 == len(codes)) | np.isin(behind, (ord(delimiter), *_NEWLINES))
    torn: Positions = end[over_lines & ~at_end]
    return torn


def quoted(data: memoryview, delimiter: str) -> tuple[Positions, Positions]:
    """Return the quotes that open a quoted field and those that close one; the last may never be closed.

    Only a quote at the start of a field opens. Inside, a doubled quote represents one quote (it is returned as one that
    closes and one that opens); any other closes. After that, up to the delimiter, quotes are ordinary characters.
    """
    quotes = find(data, _QUOTE)
    codes = np.frombuffer(data, np.uint8) if quotes.size else np.zeros(1, np.uint8)
    starts = np.isin(codes[np.maximum(quotes - 1, 0)], (ord(delimiter), *_NEWLINES)) | (quotes == start_of_text(data))
    # If every other quote may open, from the first on, opening and closing quotes alternate, as in nearly every file.
    may_open = starts[0::2].copy()
    may_open[1:] |= quotes[2::2] == quotes[1:-1:2] + 1
    if may_open.all():
        return quotes[0::2], quotes[1::2]
    return _walked(quotes.tolist(), starts.tolist())


def _walked(quotes: list[int], starts: list[bool]) -> tuple[Positions, Positions]:
    opening: list[int] = []
    closing: list[int] = []
    for quote, may_open in zip(quotes, starts, strict=True):
        if len(opening) > len(closing):  # inside a field
            closing.append(quote)
        elif may_open or (closing and closing[-1] == quote - 1):
            opening.append(quote)
    return np.array(opening, np.int64), np.array(closing, np.int64)
