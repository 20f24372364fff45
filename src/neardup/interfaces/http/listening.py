"""The socket that a service listens at."""

import asyncio
import errno
import math
import os
import resource
import socket
import time
from collections.abc import Callable
from multiprocessing.reduction import DupFd
from typing import Any, Final

from neardup.model.errors import ParameterError, reason, require

BACKLOG: Final = 1024
_LAST_PORT: Final = 65_535
_NO_FILES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_PAUSE: Final = 1.0  # seconds after which asyncio tries again to accept connections
_REPORTING_SECONDS: Final = 60
_RESERVED: Final = 64  # files for the service itself


class Listening(socket.socket):
    """A listening socket that keeps some file descriptors for the service, and pauses for a second if no other is left.

    Without that, asyncio would try as often as connections may wait, and report and repeat each attempt.
    """

    _refused = 0.0  # the last time that descriptors ran out

    def __reduce__(self) -> tuple[Callable[[Any], "Listening"], tuple[Any]]:
        return _listening_again, (DupFd(self.fileno()),)

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection; ``BlockingIOError`` if there is none, or just after descriptors ran out."""
        try:
            self._require_files()
            return super().accept()
        except OSError as error:
            if error.errno not in _NO_FILES:
                raise
            if time.monotonic() < self._refused + _PAUSE / 2:
                raise BlockingIOError from error
            self._refused = time.monotonic()
            raise

    def _require_files(self) -> None:
        following = os.dup(self.fileno())  # the least free number
        os.close(following)
        most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if following >= most - min(_RESERVED, most // 2):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def _listening_again(duplicate: Any) -> Listening:
    return Listening(fileno=duplicate.detach())


def listen(host: str, port: int) -> Listening:
    """Return a socket that listens at an address; port 0 takes a free port."""
    require(0 <= port <= _LAST_PORT, "port", port, f"must be from 0 to {_LAST_PORT}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = Listening(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
        listening.setblocking(False)  # workers share it, and none may wait in it
    except OSError as error:
        listening.close()
        reason = error.strerror or str(error)
        if error.errno == errno.EADDRINUSE:
            reason = "another program uses it; choose another port, or 0 for a free one"
        if isinstance(error, socket.gaierror):
            raise ParameterError("host", host, f"is not an address of this machine: {reason}") from error
        raise ParameterError("port", port, f"cannot be used on {host}: {reason}") from error
    return listening


def report_refused(report: Callable[[str], None]) -> None:
    """Report once a minute, in a line, that connections cannot be accepted."""
    reported = -math.inf

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal reported
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _NO_FILES:
            loop.default_exception_handler(context)
        elif time.monotonic() >= reported + _REPORTING_SECONDS:
            reported = time.monotonic()
            of_files = error.errno in {errno.EMFILE, errno.ENFILE}
            way_out = "raise the limit of open files (ulimit -n)" if of_files else "free memory"
            report(f"new connections wait: {reason(error)}; {way_out}")

    asyncio.get_running_loop().set_exception_handler(handle)
