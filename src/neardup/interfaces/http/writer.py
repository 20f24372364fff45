"""The process that writes the index, as processes that read it ask it: whether it can write, and to make changes."""

import socket
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from typing import Final, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from neardup.interfaces.http.problems import UNWRITABLE, Refusal

Writes = Literal["yes", "no", "failed"]
_SECONDS: Final = 120.0  # until an answer
_OF_A_CONNECTION: Final = frozenset({b"connection", b"content-length", b"keep-alive", b"transfer-encoding", b"date"})


class ReadyAnswer(msgspec.Struct):
    """The index can be read. *writes*: ``yes``; ``no`` if this process only reads; ``failed`` if writing is retried."""

    writes: Writes
    status: Literal["ready"] = "ready"


class WriterConnection(HTTPConnection):
    """A connection to the process that listens at the socket *writer*, which must answer within some *seconds*."""

    def __init__(self, writer: str, seconds: float = _SECONDS) -> None:
        super().__init__("localhost", timeout=seconds)
        self._writer = writer

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._writer)


def writes_of(writer: str, seconds: float) -> Writes:
    """Return whether the process that listens at the socket *writer* writes; ``"failed"`` if it does not answer."""
    try:
        with closing(WriterConnection(writer, seconds)) as connection:
            connection.request("GET", "/readyz")
            return msgspec.json.decode(connection.getresponse().read(), type=ReadyAnswer).writes
    except (OSError, HTTPException, msgspec.MsgspecError):
        return "failed"


def answer_of(writer: str, request: Request, body: bytes) -> Response:
    """Return the answer of the process that listens at the socket *writer*, which checks the request again."""
    scope = request.scope
    path = scope["raw_path"] + b"?" * bool(scope["query_string"]) + scope["query_string"]
    try:
        with closing(WriterConnection(writer)) as connection:
            connection.putrequest(request.method, path.decode("latin-1"), skip_host=True, skip_accept_encoding=True)
            for name, value in scope["headers"]:
                if name not in _OF_A_CONNECTION:
                    connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            answer = Response(response.read(), response.status)
    except (OSError, HTTPException) as error:
        raise Refusal(UNWRITABLE) from error
    for header, text in response.getheaders():
        if header.lower().encode() not in _OF_A_CONNECTION | {b"x-request-id"}:
            answer.headers[header] = text
    return answer
