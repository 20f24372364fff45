"""Signals: they end a command and remove unfinished output, even if the terminal is stopped."""

import atexit
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn, TextIO

SIGNALLED: Final = 128  # the exit code is this plus the number of the signal
_PATIENCE: Final = 2.0  # seconds for the last messages, after cleaning up
_LOOK: Final = 0.1  # seconds between checks for signals
_ending = threading.Event()


class Interrupted(SystemExit):
    """An interrupt from the keyboard.

    Python would end itself by the signal, without an exit code, once a ``KeyboardInterrupt`` has passed through code
    that was made from a string, such as that of data classes, even if the exception was caught.
    """


@contextmanager
def signals_as_they_came() -> Iterator[None]:
    """End as a signal requests, and remove unfinished output, whichever error the signal becomes in other code.

    Compiled code turns it into a ``SystemError`` or two, a library may treat it as a failure of its own, and Python
    ignores it in functions that C code calls, and in ``__del__``: then the signal is sent again.
    """
    came: list[int] = []
    _ending.clear()

    def stop(number: int, _: object = None) -> NoReturn:
        came.append(number)
        _ending.set()
        raise Interrupted(SIGNALLED + number) if number == signal.SIGINT else SystemExit(SIGNALLED + number)

    def ignored(report: "sys.UnraisableHookArgs") -> None:
        if not came:
            usual(report)
        elif isinstance(report.exc_value, SystemExit):
            again = threading.Timer(_LOOK, os.kill, [os.getpid(), came[0]])
            again.daemon = True
            again.start()

    usual, sys.unraisablehook = sys.unraisablehook, ignored
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)
    try:
        yield
    except BaseException:
        if came:
            _end_soon(SIGNALLED + came[0])
            stop(came[0])
        raise
    finally:
        if not came:  # otherwise objects that a signal left half-made would still be reported
            sys.unraisablehook = usual


def _end_soon(code: int) -> None:
    """End the process even if its last messages cannot be written because the terminal is stopped."""
    if not any(stream is not None and stream.isatty() for stream in (sys.stdout, sys.stderr)):
        return
    watchdog = threading.Timer(_PATIENCE, os._exit, [code])
    watchdog.daemon = True
    watchdog.start()
    atexit.register(lambda: sys.stdout is not None and sys.stdout.flush())  # later it could no longer be closed


class PatientTerminal:
    """Standard error as a terminal: waits while the terminal is stopped, but no longer after a signal.

    A plain write waits for as long as the terminal is stopped, and blocks all later writers.
    """

    encoding = "utf-8"

    def __init__(self, terminal: TextIO) -> None:
        """Open the terminal again, because its other users expect writes that wait; may raise ``OSError``."""
        name = os.ttyname(terminal.fileno())
        self._file = os.open(name, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)

    def isatty(self) -> bool:
        """Return true."""
        return True

    def fileno(self) -> int:
        """Return the descriptor, for its size."""
        return self._file

    def write(self, text: str) -> int:
        """Write all of the text, or the part that fits when a signal arrives."""
        rest = text.encode(errors="replace")
        while rest:
            try:
                rest = rest[os.write(self._file, rest) :]
            except BlockingIOError:
                if _ending.is_set():
                    break
                select.select([], [self._file], [], _LOOK)
        return len(text)

    def flush(self) -> None:
        """Do nothing: everything is written at once."""

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._file)
