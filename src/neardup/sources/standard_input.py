"""Standard input and other pipes, which can be read once, as their bytes arrive."""

import os
import select
import sys
from collections.abc import Iterator
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Any, Final

from neardup.model.errors import DataError, raising
from neardup.sources.formats import STDIN, display

MOST_BYTES: Final = 1 << 26  # bytes of a line
TOGETHER: Final = 1 << 23  # bytes that are read before lines are yielded, if that many are available

_PATIENCE: Final = 200  # milliseconds between checks for signals while there is nothing to read
_MOST: Final = 1 << 20  # bytes read at a time


def standard_input() -> Iterator[bytes]:
    """Yield the bytes of standard input as they arrive; ``DataError`` if it is closed."""
    if sys.stdin is None:
        raise DataError(display(STDIN), "it is closed")
    with raising(DataError.by, display(STDIN)):
        yield from available(sys.stdin.buffer)


def piped(path: str) -> Iterator[bytes]:
    """Yield the bytes of standard input, for ``-``, or of another pipe as they arrive."""
    if path == STDIN:
        yield from standard_input()
        return
    with raising(DataError.by, display(path)), Path(path).open("rb") as file:
        yield from available(file)


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


def arriving(descriptor: int, source: str, most: int = MOST_BYTES) -> Iterator[list[bytes | None]]:
    """Yield the lines that have arrived, at least one, as soon as there is one; without their newlines.

    A line of more than *most* bytes is ``None``: it is read to its end and discarded. Raises ``DataError`` if the
    system refuses to read.
    """
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    begun: list[bytes] = []  # the pieces of an incomplete line, unless it is too long already
    size, ended = 0, False
    while not ended:
        while not waiting.poll(_PATIENCE):
            pass
        data, ended = _waiting(descriptor, waiting, source)
        first, *others = data.split(b"\n")
        begun.append(first)
        size += len(first)
        lines: list[bytes | None] = []
        if others:
            lines = [None if size > most else b"".join(begun)]
            lines += [line if len(line) <= most else None for line in others[:-1]]
            begun, size = others[-1:], len(others[-1])
        if size > most:
            begun = []
        if ended and size:
            lines.append(None if size > most else b"".join(begun))
        if lines:
            yield lines


def _waiting(descriptor: int, waiting: select.poll, source: str) -> tuple[bytes, bool]:
    """Read the available bytes, and return whether the stream has ended."""
    pieces: list[bytes] = []
    size = 0
    with raising(DataError.by, source):
        while size < TOGETHER:
            piece = os.read(descriptor, _MOST)
            pieces.append(piece)
            size += len(piece)
            if not piece:
                return b"".join(pieces), True
            if not waiting.poll(0):
                break
    return b"".join(pieces), False


def repeated_input() -> Iterator[bytes]:
    """Yield the bytes of standard input after a run that was interrupted while it copied them.

    Raises ``DataError`` if it is closed or empty: without them, the run would have no documents.
    """
    chunks = standard_input()
    first = next(chunks, b"")
    if not first:
        rule = (
            "it is empty, but the run was interrupted before all of it was copied;"
            " to continue, give the same input again; otherwise restart the run"
        )
        raise DataError(display(STDIN), rule, "changed input")
    yield from chain([first], chunks)


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
