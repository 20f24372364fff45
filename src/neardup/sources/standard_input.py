"""Standard input as a file: a run that reads its inputs more than once copies it first."""

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from neardup.model.errors import DataError
from neardup.sources.compression import available
from neardup.sources.formats import STDIN, display, readable


def copy(file: BinaryIO) -> None:
    """Copy standard input into a file; ``DataError`` if it is closed."""
    file.writelines(_chunks())


def check_same(path: Path) -> None:
    """Raise ``DataError`` if standard input has other bytes than this copy; none, and a terminal, are fine."""
    if sys.stdin is None or sys.stdin.isatty():
        return
    chunks = _chunks()
    first = next(chunks, b"")
    with path.open("rb") as file:
        same = not first or (all(file.read(len(c)) == c for c in chain([first], chunks)) and not file.read(1))
    if not same:
        rule = (
            "it differs from what the run has read before; to continue, give the same input or none (< /dev/null);"
            " otherwise restart the run"
        )
        raise DataError(display(STDIN), rule, "changed input")


def _chunks() -> Iterator[bytes]:
    if sys.stdin is None:
        raise DataError(display(STDIN), "it is closed")
    file: Any = sys.stdin.buffer
    with readable(display(STDIN)):
        while chunk := available(file):
            yield chunk
