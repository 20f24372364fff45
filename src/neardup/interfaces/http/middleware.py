"""Middleware: hosts, tokens, security headers and metrics of every request."""

import asyncio
from collections.abc import Collection
from time import perf_counter
from typing import Final

from starlette.authentication import (
    AuthCredentials,
    AuthenticationBackend,
    AuthenticationError,
    BaseUser,
    UnauthenticatedUser,
)
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from neardup.interfaces.http import problems
from neardup.interfaces.http.access_log import AccessLog, request_id
from neardup.interfaces.http.hosts import Hosts
from neardup.interfaces.http.problems import Refusal, response_to
from neardup.interfaces.http.service import Service
from neardup.interfaces.http.tokens import SCOPES, Tokens, presented

HEADERS: Final = {
    b"content-security-policy": b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
}
_NO_HOST: Final = (
    "The Host header is missing. Send one, also with HTTP/1.0; health checks of some proxies have none by default."
)
_BEARER: Final = "Only GET takes a token as a password (Basic); send it as a Bearer token: Authorization: Bearer TOKEN."
DISCONNECTED: Final = 499  # the status, in the metrics, of requests whose client left before the answer


class Guard:
    """Rejects unknown hosts and long URLs, adds the security headers, and counts and logs requests.

    Each answer has the id of its request in ``X-Request-Id``, as the access log has. A *prefix* of the path is removed.
    The paths of *probes* are answered however busy the service is.
    """

    def __init__(  # noqa: PLR0913 - the parts of an application
        self,
        app: ASGIApp,
        service: Service,
        hosts: Hosts,
        log: AccessLog | None = None,
        *,
        probes: Collection[str] = (),
        counts: bool = True,
        prefix: str = "",
    ) -> None:
        self._probes, self._prefix = probes, prefix
        self._app, self._service, self._hosts, self._log, self._counts = app, service, hosts, log, counts
        self._requests = 0  # from head to answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status, sent, path = perf_counter(), DISCONNECTED, 0, scope["raw_path"]
        if self._prefix and (path + b"/").startswith(self._prefix.encode() + b"/"):
            scope["path"] = scope["path"][len(self._prefix) :] or "/"
            scope["raw_path"] = path[len(self._prefix) :] or b"/"
        own = request_id(scope["headers"])

        async def guarded(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                secure(message, (b"x-request-id", own.encode()))
            else:
                sent += len(message.get("body", b""))
            await send(message)

        app: ASGIApp = self._app
        self._requests += 1
        try:
            if refusal := await self._refusal(scope):
                app = response_to(HTTPConnection(scope), refusal)
            await app(scope, receive, guarded)
        except Exception:  # Starlette raises an error again after the answer
            if status == DISCONNECTED:
                raise
        finally:
            self._requests -= 1
            route = getattr(scope.get("route"), "name", "none")
            seconds = perf_counter() - begun
            if self._counts:
                self._service.metrics.observe(route, status, seconds)
            if self._log is not None:
                client = scope["client"][0] if scope.get("client") else None
                asked = (path + b"?" * bool(scope["query_string"]) + scope["query_string"]).decode("latin-1")
                answer = {"status": status, "bytes": sent, "seconds": round(seconds, 6)}
                self._log.write(id=own, client=client, method=scope["method"], path=asked, **answer)

    async def _refusal(self, scope: Scope) -> Refusal | None:
        if len(scope["raw_path"]) + len(scope["query_string"]) > self._service.limits.url:
            return Refusal(problems.URL_TOO_LONG)
        if not self._hosts.are_asked(scope["headers"]):
            there = any(name == b"host" for name, _ in scope["headers"])
            return Refusal(problems.HOST, "" if there else _NO_HOST)
        limits, most = self._service.limits, self._requests > self._service.limits.requests
        if scope["path"] not in self._probes and (most or self._service.work.is_full):
            if not most:
                await asyncio.sleep(limits.pause_seconds)
            return self._service.work.rejected()
        return None


def secure(message: Message, *more: tuple[bytes, bytes]) -> None:
    """Add the security headers that the beginning of an answer does not have, and *more* headers."""
    there = dict(message["headers"])
    message["headers"] += [*(header for header in HEADERS.items() if header[0] not in there), *more]


class TokenBackend(AuthenticationBackend):
    """Authenticates requests by tokens; without *tokens*, every request may do everything. *free* paths need none."""

    def __init__(self, tokens: Tokens | None, free: Collection[str] = ()) -> None:
        self._tokens, self._free = tokens, free

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, BaseUser]:
        """Return what a request may do; a token in a form that browsers send (Basic) only reads."""
        if self._tokens is None:
            return AuthCredentials(SCOPES), UnauthenticatedUser()
        if conn.scope["path"] in self._free:
            return AuthCredentials(), UnauthenticatedUser()
        safe = conn.scope["method"] in {"GET", "HEAD"}
        way = conn.headers.get("authorization", "").strip()
        token = presented(way.encode("latin-1"), basic=safe)
        allowed = self._tokens.scope_of(token) if token else None
        if allowed is None:
            raise AuthenticationError("" if safe or not way.lower().startswith("basic") else _BEARER)
        return AuthCredentials(SCOPES[: SCOPES.index(allowed) + 1]), UnauthenticatedUser()


def challenge(conn: HTTPConnection, error: AuthenticationError) -> Response:
    """Ask for a token; a browser that wants a page is asked for a password."""
    headers = {"www-authenticate": 'Bearer realm="neardup"'}
    response = response_to(conn, Refusal(problems.UNAUTHORIZED, str(error), headers))
    if conn.scope["method"] in {"GET", "HEAD"} and not conn.scope["path"].startswith("/v1/"):
        basic = 'Basic realm="neardup: any name, a token as the password", charset="UTF-8"'
        response.headers.append("www-authenticate", basic)
    return response
