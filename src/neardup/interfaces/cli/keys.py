"""Single keys from a terminal, or lines from a pipe."""

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

END: Final = "end"  # of the input

_ESCAPE: Final = b"\x1b"
_END_KEYS: Final = (b"", b"\x04")
_SEQUENCE_SECONDS: Final = 0.05  # in which the rest of the sequence of a key, such as an arrow, follows


@contextmanager
def key_reader() -> Iterator[Callable[[], str]]:
    """Yield a function that waits for a key of a terminal, and returns it in lower case; ``END`` at the end of input.

    Keys with sequences, such as arrows, are an empty string. If standard input is not a terminal, the function returns
    its next line, in lower case and without white space around it.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        yield _line
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSADRAIN)
        yield lambda: _key(terminal)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _line() -> str:
    line = b"" if sys.stdin is None else sys.stdin.buffer.readline()
    return line.decode("utf-8", "replace").strip().lower() if line else END


def _key(terminal: int) -> str:
    key = os.read(terminal, 1)
    if key in _END_KEYS:
        return END
    if key == _ESCAPE:
        _skip_sequence(terminal)
        return ""
    return key.decode("ascii", "replace").lower()


def _skip_sequence(terminal: int) -> None:
    """Read the rest of the sequence of a key: ``[`` or ``O``, parameters, and a last byte from ``@`` on."""
    begun = False
    while select.select([terminal], [], [], _SEQUENCE_SECONDS)[0]:
        byte = os.read(terminal, 1)
        if byte == b"" or (begun and byte >= b"@") or (not begun and byte not in {b"[", b"O"}):
            return
        begun = True
