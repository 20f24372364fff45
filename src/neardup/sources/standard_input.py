"""Standard input and other pipes, which can be read once; a run that reads its inputs again copies standard input."""

import select
import sys
from collections.abc import Iterator
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Any, Final

from neardup.model.errors import DataError
from neardup.sources.formats import STDIN, display, readable

_PATIENCE: Final = 200  # milliseconds between checks for signals while waiting
_MOST: Final = 1 << 20  # bytes read at a time


def standard_input() -> Iterator[bytes]:
    """Yield the bytes of standard input as they arrive; ``DataError`` if it is closed."""
    if sys.stdin is None:
        raise DataError(display(STDIN), "it is closed")
    with readable(display(STDIN)):
        yield from available(sys.stdin.buffer)


def available(file: Any) -> Iterator[bytes]:
    """Yield the bytes of a buffered file as they arrive, and notice Ctrl-C while there are none.

    ``read`` would wait until it has all requested bytes, and a signal just before a waiting read would only be noticed
    after it. So the wait is cut into pieces.
    """
    waiting = select.poll() if isinstance(file, BufferedReader) and hasattr(select, "poll") else None
    if waiting is not None:
        waiting.register(file, select.POLLIN)
    while True:
        while waiting is not None and not waiting.poll(_PATIENCE):
            pass
        piece = file.read1(_MOST)
        if not piece:
            return
        yield piece


def check_same(path: Path) -> None:
    """Raise ``DataError`` if standard input has other bytes than this copy; none, and a terminal, are fine."""
    if sys.stdin is None or sys.stdin.isatty():
        return
    chunks = standard_input()
    first = next(chunks, b"")
    with path.open("rb") as file:
        same = not first or (all(file.read(len(c)) == c for c in chain([first], chunks)) and not file.read(1))
    if not same:
        rule = (
            "it differs from what the run has read before; to continue, give the same input or none (< /dev/null);"
            " otherwise restart the run"
        )
        raise DataError(display(STDIN), rule, "changed input")
