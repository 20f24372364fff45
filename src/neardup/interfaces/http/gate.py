"""The gate of the service: every request passes it, and every answer.

It refuses what is too much, from elsewhere or not allowed, before anything of a body is parsed; leads the others to
their operations; and counts. What is none of the operations goes on to the pages behind it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from time import perf_counter
from typing import Any, Final, NamedTuple, Protocol

from neardup.interfaces.http import problems
from neardup.interfaces.http.bodies import Body, encode, query_of
from neardup.interfaces.http.hosts import Hosts
from neardup.interfaces.http.operations import JSON, Operation, Routes, given_id
from neardup.interfaces.http.problems import Problem, Refused, refusal_of
from neardup.interfaces.http.receiving import Gone, Message, Receive, Receiving
from neardup.interfaces.http.serving import Serving
from neardup.interfaces.http.tokens import Scope, Tokens, presented
from neardup.model.errors import NeardupError

Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

POLICY: Final = b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
PAGE_POLICY: Final = (  # of the pages: their style, their icon and their forms come from here, and nothing else at all
    b"default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY: Final = (
    (b"content-security-policy", POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
PAGES: Final = "page"  # the route of all that is no operation, where it is counted
API: Final = b"/v1/"
SAFE: Final = frozenset({"GET", "HEAD"})
RETRY: Final = ((b"retry-after", b"1"),)
LEFT: Final = 499  # the status, where it is counted, of who left before the answer

DIRECT: Final = "neardup.direct"  # the extension by which a server gives a whole body, and takes a whole answer

_CHALLENGE: Final = (b"www-authenticate", b'Bearer realm="neardup"')
_ASKING: Final = (b"www-authenticate", b'Basic realm="neardup: any name, a token as the password", charset="UTF-8"')


class Reply(NamedTuple):
    """What is answered."""

    status: int
    media: str
    body: bytes
    headers: problems.Headers = ()
    policy: bytes | None = None


class Head(NamedTuple):
    """The parts of a request's head that decide."""

    method: str
    path: bytes
    query: bytes
    host: bytes | None
    authorization: bytes
    kind: bytes
    encoding: bytes
    length: int | None
    html: bool
    size: int


class Beside(Protocol):
    """What a server may have beside ASGI's messages."""

    def body(self) -> bytes | None:
        """Take the body, if it is small and all of it has come."""
        ...

    def answer(self, status: int, headers: problems.Headers, body: bytes) -> bool:
        """Write a whole answer, and say whether that could be."""
        ...


class Gate:
    """The service as one ASGI application.

    *rest* is the application behind it. *show* makes a page of a problem, for browsers that ask for a page.
    """

    def __init__(  # noqa: PLR0913 - what decides about a request
        self,
        serving: Serving,
        routes: Routes,
        rest: Asgi,
        *,
        tokens: Tokens | None = None,
        hosts: Hosts | None = None,
        show: Callable[[Problem], bytes] | None = None,
    ) -> None:
        self._serving, self._routes, self._rest = serving, routes, rest
        self._tokens, self._hosts, self._show = tokens, hosts or Hosts("127.0.0.1"), show
        self._limits, self._metrics = serving.limits, serving.metrics
        self._waiting = {False: 0, True: 0}  # requests at work that take little, and long
        self._most = {False: self._limits.waiting, True: self._limits.long_waiting}
        self._receiving = Receiving(self._limits, self._shed)
        self._number = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve a request, or hand on what is none."""
        if scope["type"] == "lifespan":
            await self._rest(scope, receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)
        else:
            await send({"type": "websocket.close"})

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        begun = perf_counter()
        self._number += 1
        number, label, head = self._number, PAGES, None
        direct: Beside | None = (scope.get("extensions") or {}).get(DIRECT)
        answering = _Answering(send, direct)
        try:
            head = _head(scope)
            self._require_known(head)
            operation, own = None, b""
            try:
                operation, own = self._routes.find(head.method, head.path)
            except Refused:
                self._require_allowed(head, "read")
                raise
            label = operation.name if operation is not None else PAGES
            self._require_allowed(head, "read" if operation is None else operation.scope)
            if operation is None:
                await self._behind(head, scope, receive, answering)
            else:
                await answering.reply(await self._answered(operation, own, head, receive, direct), head.method)
        except Gone:
            pass
        except Exception as error:
            refused = refusal_of(error)
            reason = error.__cause__ if isinstance(error, Refused) else error
            if refused.kind.status >= 500 and reason is not None:  # noqa: PLR2004 - the service's own
                told = reason if isinstance(reason, NeardupError) else f"{type(reason).__name__}: {reason}"
                self._serving.report(f"request {number}, {label}: {refused.kind.status}, {told}")
                refused = Refused(refused.kind, f"{refused.kind.when} This was request {number}.", refused.headers)
            if answering.begun and not answering.ended:
                raise  # the connection is cut: what was sent is no whole answer
            if not answering.begun:
                await answering.reply(self._refusal(refused, head), head.method if head else "GET")
        finally:
            self._metrics.count(label, answering.status, perf_counter() - begun)

    # What may come in.

    def _require_known(self, head: Head) -> None:
        """Refuse addresses that are too long, and names that are not served."""
        if len(head.path) + len(head.query) > self._limits.url:
            raise Refused(problems.URL_TOO_LONG)
        if head.size > self._limits.head:
            raise Refused(problems.HEAD_TOO_LARGE)
        if head.host is None or not self._hosts.knows(head.host):
            raise Refused(problems.HOST)

    def _require_allowed(self, head: Head, scope: Scope | None) -> None:
        """Refuse who has no token that allows this."""
        if scope is None or self._tokens is None:
            return
        safe = head.method in SAFE
        token = presented(head.authorization, basic=safe)
        allowed = self._tokens.scope_of(token) if token else None
        if allowed is None:
            asking = [_CHALLENGE, _ASKING] if safe and not head.path.startswith(API) else [_CHALLENGE]
            raise Refused(problems.UNAUTHORIZED, headers=asking)
        if scope == "write" and allowed != "write":
            raise Refused(problems.FORBIDDEN)

    # What is done.

    async def _answered(
        self, operation: Operation, own: bytes, head: Head, receive: Receive, direct: Beside | None
    ) -> Reply:
        """Take what is given, do it, and write down the answer."""
        body = b""
        if operation.body is not None:
            _require_json(head)
            body = await self._receiving.body(receive, head.length, direct.body() if direct is not None else None)
        long = operation.is_long(self._serving, len(body))
        try:
            if operation.always:
                return Reply(
                    HTTPStatus.OK,
                    operation.media,
                    _Running(operation, self._serving)(query_of(operation.query or _Nothing, head.query, {})),
                )
            await self._enter(long=long)
            try:
                given = _given(operation, own, head.query, body)
                made = await self._serving.run(_Running(operation, self._serving), given, long=long)
            finally:
                self._waiting[long] -= 1
        finally:
            self._receiving.done(body)
        return Reply(HTTPStatus.OK, operation.media, made)

    async def _enter(self, *, long: bool) -> None:
        """Count a request that is going to be at work; refuse it if too many are.

        Those that have arrived by now are counted before any of them is worked on: only so is there a queue to see.
        """
        if self._waiting[long] >= self._most[long]:
            raise self._shed()
        self._waiting[long] += 1
        try:
            await asyncio.sleep(0)
        except BaseException:
            self._waiting[long] -= 1
            raise

    def _shed(self) -> Refused:
        self._metrics.shed += 1
        return Refused(problems.OVERLOADED, headers=RETRY)

    async def _behind(self, head: Head, scope: Message, receive: Receive, answering: "_Answering") -> None:
        """Hand on to the pages what only reads."""
        if head.path.startswith(API):
            raise Refused(problems.NO_ROUTE)
        if head.method not in SAFE:
            raise Refused(problems.METHOD, headers=[(b"allow", b"GET, HEAD")])
        await self._enter(long=True)
        try:
            await self._rest(scope, receive, answering.send)
        finally:
            self._waiting[True] -= 1

    def _refusal(self, refused: Refused, head: Head | None) -> Reply:
        """Write down a problem, as a page for whoever asks for one."""
        problem = refused.problem
        if self._show is not None and head is not None and head.html and not head.path.startswith(API):
            page = self._show(problem)
            return Reply(problem.status, "text/html; charset=utf-8", page, refused.headers, PAGE_POLICY)
        return Reply(problem.status, problems.MEDIA, encode(problem), refused.headers)


class _Running:
    """One operation on what is given, to the bytes of its answer."""

    __slots__ = ("_operation", "_serving")

    def __init__(self, operation: Operation, serving: Serving) -> None:
        self._operation, self._serving = operation, serving

    def __call__(self, given: Any) -> bytes:
        made = self._operation.run(self._serving, given)
        return made if isinstance(made, bytes) else encode(made)


class _Answering:
    """What goes out, with the headers that every answer has."""

    __slots__ = ("_direct", "_send", "begun", "ended", "status")

    def __init__(self, send: Send, direct: Beside | None) -> None:
        self._send, self._direct, self.status = send, direct, LEFT
        self.begun = self.ended = False

    async def reply(self, reply: Reply, method: str) -> None:
        """Send a whole answer."""
        self.status, self.begun = reply.status, True
        headers = [
            *SECURITY,
            (b"content-type", reply.media.encode()),
            (b"content-length", str(len(reply.body)).encode()),
            *reply.headers,
        ]
        if reply.policy is not None:
            headers[0] = (b"content-security-policy", reply.policy)
        elif reply.media.startswith("text/html"):
            headers[0] = (
                b"content-security-policy",
                POLICY.replace(b"'none';", b"'none'; style-src 'unsafe-inline';", 1),
            )
        body = b"" if method == "HEAD" else reply.body
        if (
            reply.status == HTTPStatus.OK
            and self._direct is not None
            and self._direct.answer(reply.status, headers, body)
        ):
            return
        await self._send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    async def send(self, message: Message) -> None:
        """Send a part of an answer of the pages; they may have a policy of their own."""
        if message["type"] == "http.response.start":
            self.status, self.begun = message["status"], True
            own = list(message.get("headers", []))
            names = {name.lower() for name, _ in own}
            message["headers"] = [*own, *(header for header in SECURITY if header[0] not in names)]
        else:
            self.ended = not message.get("more_body", False)
        await self._send(message)


class _Nothing(Body):
    """A query of which nothing is expected."""


def _head(scope: Message) -> Head:
    """Take a head apart."""
    host: bytes | None = None
    authorization = kind = encoding = accept = b""
    length: int | None = None
    size = 0
    for name, value in scope["headers"]:
        size += len(name) + len(value) + 4
        if name == b"host":
            host = value if host is None else b""
        elif name == b"authorization":
            authorization = value
        elif name == b"content-type":
            kind = value
        elif name == b"content-encoding":
            encoding = value
        elif name == b"content-length":
            length = int(value) if value.isdigit() else None
        elif name == b"transfer-encoding":
            length = None
        elif name == b"accept":
            accept = value
    raw = scope.get("raw_path") or scope["path"].encode()
    return Head(
        scope["method"],
        raw.partition(b"?")[0],
        scope.get("query_string", b""),
        host,
        authorization,
        kind,
        encoding,
        length,
        b"text/html" in accept,
        size,
    )


def _given(operation: Operation, own: bytes, query: bytes, body: bytes) -> Any:
    """Take what is given in the body, or in the address."""
    if operation.body is not None:
        if query:
            query_of(_Nothing, query, {})
        return operation.decode(body)
    return query_of(operation.query or _Nothing, query, given_id(operation, own))


def _require_json(head: Head) -> None:
    if head.encoding and head.encoding.lower() != b"identity":
        raise Refused(problems.NOT_JSON)
    if head.kind.partition(b";")[0].strip().lower() != JSON.encode():
        raise Refused(problems.NOT_JSON)
