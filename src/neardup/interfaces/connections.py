"""The connections to a service: requests are sent until they are answered."""

import os
import re
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from math import inf
from ssl import SSLCertVerificationError
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from neardup.interfaces.http.limits import Limits
from neardup.model.errors import (
    DataError,
    NeardupError,
    QueryTimeout,
    StorageFailed,
    StorageRefused,
    is_number,
    require,
    require_name,
)

_FIRST_PAUSE: Final = 0.05  # seconds between two attempts, which double
_LONGEST_PAUSE: Final = 2.0
_JSON: Final = "application/json"
_WITH_USER: Final = re.compile(r"[^/?#]*//[^/?#]*@")
_OK: Final = 200
_REDIRECTS: Final = range(300, 400)
_DATA: Final = frozenset({400, 413, 414, 415, 422})
_LATER: Final = frozenset({429, 502, 503, 504})


class UnknownDocument(NeardupError):  # noqa: N818 - an answer
    """There is no such document."""


class _Problem(msgspec.Struct):
    type: str = ""
    title: str = ""
    detail: str = ""


class Connections:
    """Kept connections to the service at *url*; see ``Client``. Threads and forked processes may share them."""

    def __init__(self, url: str, *, token: str | None, timeout: float, patience: float) -> None:
        require_name("url", url)
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
            (host or "").encode("idna")  # as sockets do
        except ValueError:
            host = port = None
        holds = (
            host is not None
            and not any(map(str.isspace, url))
            and parts.scheme in {"http", "https"}
            and not parts.query
        )
        rule = "must not have a user or a password; pass a token as token=..."
        require(not _WITH_USER.match(url), "url", "(secret)", rule)
        require(holds, "url", url, "must be the URL of a service, such as http://127.0.0.1:8000")
        self._connect = (HTTPSConnection if parts.scheme == "https" else HTTPConnection, str(host), port)
        self._prefix = parts.path.rstrip("/")
        self._token, self.url = None if token is None else _header(token), url
        require(is_number(timeout) and 0 < timeout < inf, "timeout", timeout, "must be a number of seconds above 0")
        require(is_number(patience) and patience >= 0, "patience", patience, "must be a number of seconds, or 0")
        self._timeout, self._patience = timeout, patience
        self._idle: list[HTTPConnection] = []
        self._lock = Lock()
        self._process = os.getpid()
        self._closed = False

    def close(self) -> None:
        """Close the connections; a second call does nothing."""
        self._leave_parent()
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    def answer(self, method: str, path: str, body: bytes | None = None, key: str | None = None) -> dict[str, Any]:
        """Send a request until it is answered; ``UnknownDocument`` for a document that does not exist."""
        head = {"Accept": _JSON}
        head |= {"Content-Type": _JSON} if body is not None else {}
        head |= {"Authorization": f"Bearer {self._token}"} if self._token else {}
        head |= {"Idempotency-Key": key} if key else {}
        until, pause, reason = time.monotonic() + self._patience, _FIRST_PAUSE, ""
        while True:
            if self._closed:
                raise StorageRefused(self.url, "the client is closed; make another one")
            wait = pause
            try:
                response, content = self._sent(method, self._prefix + path, body, head)
            except SSLCertVerificationError as error:
                raise StorageRefused(self.url, error.verify_message) from error
            except (OSError, HTTPException) as error:
                reason = f"cannot be reached: {error or type(error).__name__}"
            else:
                if response.status == _OK:
                    return self._decoded(content)
                failure = self._failure(response, content)
                if response.status not in _LATER:
                    raise failure
                reason = getattr(failure, "rule", str(failure))
                after = response.headers.get("Retry-After", "")
                wait = max(pause, float(after) if after.isascii() and after.isdigit() else 0.0)
            if time.monotonic() + wait > until:
                raise StorageFailed(self.url, reason)
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _leave_parent(self) -> None:
        """After a fork, close the connections of the parent, whose answers this process would read."""
        if self._process != os.getpid():
            old, self._idle, self._lock, self._process = self._idle, [], Lock(), os.getpid()
            for connection in old:
                connection.close()

    def _sent(self, method: str, path: str, body: bytes | None, head: dict[str, str]) -> tuple[HTTPResponse, bytes]:
        self._leave_parent()
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            with suppress(ConnectionError, HTTPException):  # the service ends idle connections
                return self._exchanged(connection, method, path, body, head)
        kind, host, port = self._connect
        return self._exchanged(kind(host, port, timeout=self._timeout), method, path, body, head)

    def _exchanged(
        self, connection: HTTPConnection, method: str, path: str, body: bytes | None, head: dict[str, str]
    ) -> tuple[HTTPResponse, bytes]:
        try:
            connection.request(method, path, body, head)
            response = connection.getresponse()
            content = response.read()
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if self._closed or response.will_close:
                connection.close()
            else:
                self._idle.append(connection)
        return response, content

    def _decoded(self, content: bytes) -> dict[str, Any]:
        try:
            found = msgspec.json.decode(content, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise self.unexpected_answer() from error
        return found

    def unexpected_answer(self) -> StorageRefused:
        """Return the error for an answer that is not that of a service."""
        return StorageRefused(self.url, "does not answer as a service of neardup does")

    def _failure(self, response: HTTPResponse, content: bytes) -> NeardupError:
        try:
            problem = msgspec.json.decode(content, type=_Problem)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            problem = _Problem()
        status, name = response.status, problem.type.rpartition("#")[2]
        what = problem.detail or f"answers with status {status}"
        if status in _REDIRECTS:
            what = f"redirects to {response.headers.get('Location', 'another URL')}; use that URL"
        if name == "no-document":
            return UnknownDocument()
        if name == "query-time":
            return QueryTimeout(Limits().query_seconds)
        if status in _DATA and problem.detail:
            return DataError("the service", what)
        return StorageRefused(self.url, what)


def _header(token: Any) -> str:
    """Return a token as a header has it, without the line break of a file."""
    rule = "must be one token of printable ASCII characters"
    holds = isinstance(token, str) and token.strip() != "" and token.strip().isascii() and token.strip().isprintable()
    require(holds, "token", "(secret)", rule)
    return str(token.strip())
