"""Connections that cost little, whatever their clients do: each has a time by which something must happen."""

import time
from functools import partial
from typing import Any, Final

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from neardup.interfaces.http import problems
from neardup.interfaces.http.bodies import encode
from neardup.interfaces.http.gate import SECURITY
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.problems import Kind, Refused

ANSWER_SECONDS: Final = 120.0  # more than any work takes; who has not read his answer by then is not going to
LAST_SECONDS: Final = 2.0  # for a request that had begun to come when the service was told to end


class Watch:
    """All connections of a server, and their limits."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.draining = False
        self.connections: dict[Connection, None] = {}  # in the order of their coming

    def made(self, connection: "Connection") -> bool:
        """Take a new connection; if there are too many, the oldest that waits for its client goes, or else this one."""
        if len(self.connections) >= self.limits.connections:
            waiting = next((one for one in self.connections if one.is_idle), None)
            waiting = waiting or next((one for one in self.connections if one.is_sending), None)
            if waiting is None:
                return False
            self.lost(waiting)
            waiting.cut()
        self.connections[connection] = None
        return True

    def lost(self, connection: "Connection") -> None:
        """Forget a connection."""
        self.connections.pop(connection, None)

    def sweep(self) -> None:
        """End the connections whose time has come."""
        now = time.monotonic()
        for connection in [one for one in self.connections if one.deadline < now]:
            connection.expire()

    def drain(self) -> None:
        """Let each connection end with the answer to what it has asked."""
        self.draining = True
        for connection in list(self.connections):
            connection.end_after_answer()

    def finish(self) -> None:
        """End the connections that ask for nothing, and give the others little time to ask."""
        for connection in list(self.connections):
            connection.finish()


class Connection(HttpToolsProtocol):
    """A connection with a deadline: for the head, the body, the answer, the next request."""

    def __init__(self, watch: Watch, **given: Any) -> None:
        super().__init__(**given)
        self._watch, self._limits = watch, watch.limits
        self._head_bytes = 0
        self._in_head = self._in_body = False
        self._refused = False
        self.deadline = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being done for it."""
        return (self.cycle is None or self.cycle.response_complete) and not self._in_body

    @property
    def is_sending(self) -> bool:
        """Whether a body is coming, of which nothing has been answered."""
        return self._in_body

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._wait(self._limits.head_seconds)
        if not self._watch.made(self):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Be forgotten."""
        self._watch.lost(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes in, of a head no more than is allowed."""
        if self._refused:
            return
        if not self._in_body:
            self._head_bytes += len(data)
        super().data_received(data)
        if not self._refused and self._in_head and self._head_bytes > self._limits.head:
            self._refuse(problems.HEAD_TOO_LARGE)

    def on_message_begin(self) -> None:
        """Begin a head."""
        super().on_message_begin()
        self._in_head = True
        self._wait(self._limits.head_seconds)

    def on_headers_complete(self) -> None:
        """Begin a body."""
        self._in_head, self._in_body, self._head_bytes = False, True, 0
        self._wait(self._limits.body_seconds + LAST_SECONDS)  # in which the gate answers first
        super().on_headers_complete()
        if self._watch.draining and self.cycle is not None:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Begin to wait for the answer."""
        self._in_body = False
        super().on_message_complete()
        answered = self.cycle is not None and self.cycle.response_complete
        self._wait(self._limits.idle_seconds if answered else ANSWER_SECONDS)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, and for the client to read the answer."""
        super().on_response_complete()
        if not self._in_body:
            self._wait(self._limits.idle_seconds)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._refuse(problems.MALFORMED, msg)

    def shutdown(self) -> None:
        """End as the server asks, when it has given time to ask already."""
        self.end_after_answer()
        self.finish()

    def end_after_answer(self) -> None:
        """Let the answer that is waited for be the last."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False

    def finish(self) -> None:
        """End now, if nothing is asked for."""
        if self._in_body or self._in_head:
            self.deadline = min(self.deadline, time.monotonic() + LAST_SECONDS)
        elif self.is_idle:
            self.transport.close()

    def expire(self) -> None:
        """End because it took too long: with a word, if it was about to ask."""
        if self._in_head and not self._refused:
            self._refuse(problems.TOO_SLOW)
        else:
            self.cut()

    def cut(self) -> None:
        """End at once."""
        self.transport.abort()

    def _wait(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds

    def _refuse(self, kind: Kind, detail: str = "") -> None:
        """Answer with a problem and end, as there is no request that the gate could answer."""
        self._refused = True
        self._wait(LAST_SECONDS)
        body = encode(Refused(kind, detail).problem)
        headers = (
            *SECURITY,
            (b"content-type", problems.MEDIA.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        )
        lines = [STATUS_LINE[kind.status], *(b"%s: %s\r\n" % header for header in headers), b"\r\n", body]
        self.transport.write(b"".join(lines))
        self.transport.close()


def protocol(watch: Watch) -> Any:
    """Give what makes the connections of a server."""
    if not hasattr(httptools, "HttpRequestParser"):
        raise ImportError("httptools")
    return partial(Connection, watch)
