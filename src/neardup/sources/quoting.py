"""Where the records of delimited text end: at the line ends that are not inside a quoted field."""

from typing import Final

import numpy as np

from neardup.sources.lines import Positions, find, line_ends, start_of_text

_QUOTE: Final = ord('"')
_NEWLINES: Final = (ord("\n"), ord("\r"))


def records(data: memoryview, delimiter: str) -> tuple[Positions, Positions, Positions, bool]:
    """Return where each record starts and stops, on which line it starts, and whether the last one is complete.

    Empty lines are no records. A record is incomplete if the text ends inside a quoted field.
    """
    ends = line_ends(data, lone_returns=True)
    if not ends.size:
        return ends, ends, ends, True
    opening, closing = quoted(data, delimiter)
    outside = np.searchsorted(opening, ends - 1) == np.searchsorted(closing, ends - 1)
    outside[-1] = True  # the end of the text ends its last record in any case
    stop = ends[outside]
    start = np.concatenate([np.array([start_of_text(data)], np.int64), stop[:-1]])
    codes = np.frombuffer(data, np.uint8)
    filled = (start < stop) & ~np.isin(codes[np.minimum(start, len(data) - 1)], _NEWLINES)
    line = np.searchsorted(ends, start, side="right") + 1
    return start[filled], stop[filled], line[filled], opening.size == closing.size


def quoted(data: memoryview, delimiter: str) -> tuple[Positions, Positions]:
    """Return the quotes that open a quoted field and those that close one; the last may never be closed.

    A quote opens at the start of a field only. Inside, a doubled quote stands for itself (and is given as one that
    closes and one that opens); any other closes. After that, up to the delimiter, quotes are ordinary characters.
    """
    quotes = find(data, _QUOTE)
    codes = np.frombuffer(data, np.uint8) if quotes.size else np.zeros(1, np.uint8)
    starts = np.isin(codes[np.maximum(quotes - 1, 0)], (ord(delimiter), *_NEWLINES)) | (quotes == start_of_text(data))
    # Where every other quote may open, from the first on, opening and closing alternate. That is nearly every file.
    may_open = starts[0::2].copy()
    may_open[1:] |= quotes[2::2] == quotes[1:-1:2] + 1
    if may_open.all():
        return quotes[0::2], quotes[1::2]
    return _walked(quotes.tolist(), starts.tolist())


def _walked(quotes: list[int], starts: list[bool]) -> tuple[Positions, Positions]:
    opening: list[int] = []
    closing: list[int] = []
    inside = False
    for quote, may_open in zip(quotes, starts, strict=True):
        if inside:
            closing.append(quote)
            inside = False
        elif may_open or (closing and closing[-1] == quote - 1):
            opening.append(quote)
            inside = True
    return np.array(opening, np.int64), np.array(closing, np.int64)
