"""The access log: one line of JSON per request."""

import os
import re
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from neardup.engines.files import why_no_folder
from neardup.model.errors import OutputRefused, reason

STANDARD_ERROR: Final = "-"
ERROR: Final = 2  # its descriptor
_WITHOUT_WAITING: Final = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY
_ID: Final = re.compile(rb"[A-Za-z0-9._:=+/-]{1,64}")


class AccessLog:
    """A file that lines are appended to, or standard error (``-``); each line is written by one call.

    No write waits for a terminal or a pipe that is not read: the line is lost, or cut, and the next one begins a new
    line.

    Raises ``OutputRefused`` if the file cannot be opened.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._file = self._opened()
        self._cut = False

    def write(self, **about: Any) -> None:
        """Append a line about a request, with the time; what the system does not take is lost."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = b"\n" * self._cut + msgspec.json.encode({"time": now, **about}) + b"\n"
        with suppress(OSError):
            self._cut = os.write(self._file, line) < len(line)

    def reopen(self) -> None:
        """Open the file again, because it was renamed to begin another one."""
        before, self._file = self._file, self._opened()
        if before != ERROR:
            os.close(before)

    def close(self) -> None:
        """Close the file."""
        if self._file != ERROR:
            os.close(self._file)
            self._file = ERROR

    def _opened(self) -> int:
        if self._name == STANDARD_ERROR:
            return standard_error()
        try:
            return os.open(self._name, _WITHOUT_WAITING | os.O_CREAT, 0o640)
        except OSError as error:
            why, folder = f"the access log cannot be opened: {reason(error)}", Path(self._name).absolute().parent
            raise OutputRefused(self._name, why if folder.is_dir() else why_no_folder(folder)) from error


def standard_error() -> int:
    """Return a descriptor of standard error whose writes do not wait, if it is a terminal or a pipe.

    These are opened again, because their other users expect writes that wait; what cannot be opened again is used as it
    is.
    """
    with suppress(OSError):
        kind = os.fstat(ERROR).st_mode
        if stat.S_ISCHR(kind) or stat.S_ISFIFO(kind):
            return os.open("/dev/fd/2", _WITHOUT_WAITING)
    return ERROR


def request_id(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the id of a request: that of its header ``X-Request-Id``, or else a new one.

    >>> request_id([(b"x-request-id", b"edge-17")]), len(request_id([(b"x-request-id", b"a b")]))
    ('edge-17', 16)
    """
    for name, value in headers:
        if name == b"x-request-id" and _ID.fullmatch(value):
            return value.decode("ascii")
    return secrets.token_hex(8)
