"""Lines of a stream as they arrive, without waiting for more."""

import os
import select
from collections.abc import Iterator
from typing import Final

from neardup.sources.formats import readable

MOST_BYTES: Final = 1 << 26  # bytes of a line
TOGETHER: Final = 1 << 23  # bytes that are read before lines are yielded, if that many are available

_PIECE: Final = 1 << 20
_PATIENCE: Final = 200  # milliseconds between checks for signals while there is nothing to read


def arriving(descriptor: int, source: str, most: int = MOST_BYTES) -> Iterator[list[bytes | None]]:
    """Yield the lines that have arrived, at least one, as soon as there is one; without their newlines.

    A line of more than *most* bytes is ``None``: it is read to its end and discarded. Raises ``DataError`` if the
    system refuses to read.
    """
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    begun: list[bytes] = []  # the pieces of an incomplete line
    size, too_long, ended = 0, False, False
    while not ended:
        while not waiting.poll(_PATIENCE):
            pass
        data, ended = _waiting(descriptor, waiting, source)
        head, newline, rest = data.rpartition(b"\n")
        lines: list[bytes | None] = []
        if newline:
            first, *others = head.split(b"\n")
            begun.append(first)
            size += len(first)
            lines = [None if too_long or size > most else b"".join(begun)]
            lines += [line if len(line) <= most else None for line in others]
            begun, size, too_long = [], 0, False
        begun.append(rest)
        size += len(rest)
        too_long = too_long or size > most
        if too_long:
            begun = []
        if ended and size:
            lines.append(None if too_long else b"".join(begun))
        if lines:
            yield lines


def _waiting(descriptor: int, waiting: select.poll, source: str) -> tuple[bytes, bool]:
    """Read the available bytes, and return whether the stream has ended."""
    pieces: list[bytes] = []
    size = 0
    with readable(source):
        while size < TOGETHER:
            piece = os.read(descriptor, _PIECE)
            pieces.append(piece)
            size += len(piece)
            if not piece:
                return b"".join(pieces), True
            if not waiting.poll(0):
                break
    return b"".join(pieces), False
