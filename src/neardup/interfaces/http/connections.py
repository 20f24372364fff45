"""Connections that cost little, whatever their clients do: each has a time by which something must happen."""

import time
from functools import partial
from typing import Any, Final

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from neardup.interfaces.http import problems
from neardup.interfaces.http.bodies import encode
from neardup.interfaces.http.gate import DIRECT, RETRY, SECURITY
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.metrics import Metrics
from neardup.interfaces.http.problems import Headers, Kind, Refused
from neardup.interfaces.http.receiving import SMALL

ANSWER_SECONDS: Final = 120.0  # more than any work takes; who has not read his answer by then is not going to
EXEMPT: Final = frozenset({b"/healthz", b"/readyz", b"/metrics"})
_CLOSE: Final = (b"connection", b"close")
LAST_SECONDS: Final = 2.0  # for a request that had begun to come when the service was told to end


class _Shed:
    """The cycle of a request that was shed: it is over, and nobody waits for it."""

    response_complete = True
    disconnected = False
    keep_alive = True

    def __init__(self) -> None:
        self.message_event = self

    def set(self) -> None:
        """Wake nobody."""


class Direct:
    """A request and its answer without ASGI's messages, of which each would be looked through, or be a packet."""

    __slots__ = ("_cycle",)

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle

    def body(self) -> bytes | None:
        """Take the body, if it is small and all of it has come."""
        cycle = self._cycle
        if cycle.more_body or cycle.disconnected or len(cycle.body) > SMALL:
            return None
        body, cycle.body = bytes(cycle.body), bytearray()  # the connection lives on, and need not hold it
        return body

    def answer(self, status: int, headers: Headers, body: bytes) -> bool:
        """Write a whole answer; say whether that could be: who is not reading must be waited for."""
        cycle = self._cycle
        if cycle.disconnected or cycle.flow.write_paused:
            return False
        more = () if cycle.keep_alive else (_CLOSE,)
        cycle.transport.write(_written(status, [*cycle.default_headers, *headers, *more], body))
        cycle.response_started = cycle.response_complete = True
        cycle.message_event.set()
        if more:
            cycle.transport.close()
        cycle.on_response()
        return True


class Watch:
    """All connections of a server, and their limits.

    *at_work* requests have come and are not answered yet. The gate sheds what is more than it takes; far above that, a
    request is shed here, which costs a tenth.
    """

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self.limits, self.metrics = limits, metrics
        self.most = limits.waiting + limits.long_waiting
        self.at_work = 0
        self.draining = False
        self.shed_answer, self.last_answer = (_shed_answer(close=close) for close in (False, True))
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
        self._head_bytes = self._url_bytes = 0
        self._in_head = self._in_body = False
        self._refused = self._counted = False
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
        self._uncount()
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
        self._in_head, self._url_bytes = True, 0
        self._wait(self._limits.head_seconds)

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        super().on_url(url)
        self._url_bytes += len(url)

    def on_headers_complete(self) -> None:
        """Begin a body."""
        self._in_head, self._in_body, self._head_bytes = False, True, 0
        self._wait(self._limits.body_seconds + LAST_SECONDS)  # in which the gate answers first
        if self._watch.at_work >= self._watch.most and self._may_be_shed():
            self._shed()
            return
        before = self.cycle
        super().on_headers_complete()
        if self.cycle is not None and self.cycle is not before:
            self.scope["extensions"] = {DIRECT: Direct(self.cycle)}  # type: ignore[dict-item]
            if self._watch.draining:
                self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Begin to wait for the answer."""
        self._in_body = False
        super().on_message_complete()
        answered = self.cycle is None or self.cycle.response_complete
        if not answered and not self._counted:
            self._counted = True
            self._watch.at_work += 1
        self._wait(self._limits.idle_seconds if answered else ANSWER_SECONDS)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, and for the client to read the answer."""
        self._uncount()
        super().on_response_complete()
        if not self._in_body:
            self._wait(self._limits.idle_seconds)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, and addresses too long to be taken apart."""
        if self._url_bytes > self._limits.head:
            self._refuse(problems.HEAD_TOO_LARGE)
        else:
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

    def _uncount(self) -> None:
        if self._counted:
            self._counted = False
            self._watch.at_work -= 1

    def _may_be_shed(self) -> bool:
        """Whether it can be answered at once, and is not asked whether the service is well."""
        waits = self.cycle is not None and not self.cycle.response_complete  # for the answer to the one before
        plain = (
            self.parser.get_method() != b"HEAD" and not self.expect_100_continue and not self.parser.should_upgrade()
        )
        return plain and not waits and self.url not in EXEMPT

    def _shed(self) -> None:
        """Answer that there is too much, without looking any further."""
        self.cycle = _Shed()  # type: ignore[assignment]  # as far as one is asked of
        self._watch.metrics.shed += 1
        self._watch.metrics.count("shed", problems.OVERLOADED.status, 0.0)
        if self.parser.should_keep_alive() and not self._watch.draining:
            self.transport.write(self._watch.shed_answer)
        else:
            self.transport.write(self._watch.last_answer)
            self.transport.close()

    def _wait(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds

    def _refuse(self, kind: Kind, detail: str = "") -> None:
        """Answer with a problem and end, as there is no request that the gate could answer."""
        self._refused = True
        self._wait(LAST_SECONDS)
        self.transport.write(_refusal(Refused(kind, detail), close=True))
        self.transport.close()


def _written(status: int, headers: Headers, body: bytes) -> bytes:
    return b"".join([STATUS_LINE[status], *[b"%s: %s\r\n" % header for header in headers], b"\r\n", body])


def _refusal(refused: Refused, *, close: bool) -> bytes:
    """Write a problem as it goes over the line."""
    body = encode(refused.problem)
    headers = [
        *SECURITY,
        (b"content-type", problems.MEDIA.encode()),
        (b"content-length", str(len(body)).encode()),
        *refused.headers,
        *([_CLOSE] if close else []),
    ]
    return _written(refused.kind.status, headers, body)


def _shed_answer(*, close: bool) -> bytes:
    return _refusal(Refused(problems.OVERLOADED, headers=RETRY), close=close)


def protocol(watch: Watch) -> Any:
    """Give what makes the connections of a server."""
    if not hasattr(httptools, "HttpRequestParser"):
        raise ImportError("httptools")
    return partial(Connection, watch)
