"""Connections of processes that read the index to the one that writes it."""

import socket
from http.client import HTTPConnection, HTTPException
from typing import Final, Literal

import msgspec

Writes = Literal["yes", "no", "failed"]
_SECONDS: Final = 120.0  # until an answer


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
    connection = WriterConnection(writer, seconds)
    try:
        connection.request("GET", "/readyz")
        return msgspec.json.decode(connection.getresponse().read(), type=ReadyAnswer).writes
    except (OSError, HTTPException, msgspec.MsgspecError):
        return "failed"
    finally:
        connection.close()
