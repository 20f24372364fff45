"""Signals: they end a command and remove unfinished output, even if the terminal is stopped."""

import atexit
import os
import select
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Final, NoReturn, TextIO, cast

SIGNALLED: Final = 128  # the exit code is this plus the number of the signal
_PATIENCE: Final = 2.0  # seconds for the last messages, after cleaning up
_LOOK: Final = 0.1  # seconds between checks for signals
_LONGEST: Final = 30.0  # seconds for cleaning up
_ending = threading.Event()


class Interrupted(SystemExit):
    """An interrupt from the keyboard.

    Python would end itself by the signal, without an exit code, once a ``KeyboardInterrupt`` has passed through code
    that was made from a string, such as that of data classes, even if the exception was caught.
    """


class _Signals:
    """The signals that came; each is raised as an exception."""

    def __init__(self) -> None:
        self.came: list[int] = []
        self._ignored = False
        self._usual = sys.unraisablehook

    def stop(self, number: int, _: object = None) -> NoReturn:
        """Raise a signal, and give cleaning up a limited time."""
        self.came.append(number)
        _ending.set()
        signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, _LONGEST)
        raise Interrupted(SIGNALLED + number) if number == signal.SIGINT else SystemExit(SIGNALLED + number)

    def report(self, error: "sys.UnraisableHookArgs") -> None:
        """Report an exception that Python ignores, or raise it again a moment later if it was a signal."""
        if not self.came:
            self._usual(error)
        elif isinstance(error.exc_value, SystemExit):
            self._ignored = True
            signal.setitimer(signal.ITIMER_REAL, _LOOK)

    def end(self) -> None:
        """Stop the clock; objects that a signal left half-made are not reported later, either."""
        if self.came:
            signal.setitimer(signal.ITIMER_REAL, 0)
        else:
            sys.unraisablehook = self._usual

    def _look(self, *_: object) -> None:
        if not self._ignored:
            os._exit(SIGNALLED + self.came[0])
        self._ignored = False
        self.stop(self.came[0])


@contextmanager
def signals_as_they_came() -> Iterator[None]:
    """End as a signal requests, and remove unfinished output, whichever error the signal becomes in other code.

    Compiled code turns it into a ``SystemError`` or two, and a library may treat it as a failure of its own. Python
    ignores it in ``__del__`` and in functions that C code calls: then it is raised again a moment later. If it leaves
    a lock of a library locked, for which other threads wait, cleaning up would never end: then the process just ends.
    """
    signals = _Signals()
    _ending.clear()
    sys.unraisablehook = signals.report
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signals.stop)
    try:
        yield
    except BaseException:
        if signals.came:
            _end_soon(SIGNALLED + signals.came[0])
            signals.stop(signals.came[0])
        raise
    finally:
        signals.end()


def _end_soon(code: int) -> None:
    """End the process even if its last messages cannot be written because the terminal is stopped."""
    if not any(stream is not None and stream.isatty() for stream in (sys.stdout, sys.stderr)):
        return
    watchdog = threading.Timer(_PATIENCE, os._exit, [code])
    watchdog.daemon = True
    watchdog.start()
    atexit.register(lambda: sys.stdout is not None and sys.stdout.flush())  # later it could no longer be closed


@contextmanager
def without_waiting() -> Iterator[None]:
    """Write to standard output and standard error without waiting for a stopped terminal or a full pipe.

    What these cannot take is lost: a service must still answer its clients, and end by its own signals.
    """
    with ExitStack() as stack:
        for stream, redirect in ((sys.stdout, redirect_stdout), (sys.stderr, redirect_stderr)):
            with suppress(OSError, AttributeError, TypeError):  # it has no name, or is not a system file
                if stream.isatty() or stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode):
                    terminal = stack.enter_context(closing(PatientTerminal(stream, waits=False)))
                    stack.enter_context(redirect(cast("TextIO", terminal)))
        yield


class PatientTerminal:
    """Standard output or error as a terminal: waits while the terminal is stopped, but no longer after a signal.

    A plain write waits for as long as the terminal is stopped, and blocks all later writers. With *waits* false, no
    write waits.
    """

    encoding = "utf-8"

    def __init__(self, terminal: TextIO, *, waits: bool = True) -> None:
        """Open the terminal again, because its other users expect writes that wait; may raise ``OSError``."""
        self._waits, self._isatty = waits, terminal.isatty()
        file = terminal.fileno()
        name = os.ttyname(file) if waits or self._isatty else f"/dev/fd/{file}"  # of a pipe
        self._file = os.open(name, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)

    def isatty(self) -> bool:
        """Return whether it is a terminal, not a pipe."""
        return self._isatty

    def fileno(self) -> int:
        """Return the descriptor, for its size."""
        return self._file

    def write(self, text: str) -> int:
        """Write all of the text, or the part that fits when a signal arrives or at once."""
        rest = text.encode(errors="replace")
        while rest:
            try:
                rest = rest[os.write(self._file, rest) :]
            except OSError as error:
                if _ending.is_set() or not self._waits:
                    break
                if not isinstance(error, BlockingIOError):
                    raise
                select.select([], [self._file], [], _LOOK)
        return len(text)

    def flush(self) -> None:
        """Do nothing: everything is written at once."""

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._file)
