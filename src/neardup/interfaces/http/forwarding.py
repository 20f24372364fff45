"""Requests that change the index, passed on from processes that read it to the one that writes it."""

import asyncio
from http.client import HTTPException
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from neardup.interfaces.http.problems import UNWRITABLE, Refusal
from neardup.interfaces.http.requests import received
from neardup.interfaces.http.service import Service
from neardup.interfaces.http.writer import WriterConnection

_OF_A_CONNECTION: Final = frozenset({b"connection", b"content-length", b"keep-alive", b"transfer-encoding", b"date"})


async def forwarded(request: Request, service: Service, writer: str) -> Response:
    """Return the answer of the process that listens at the socket *writer*, which checks the request again."""
    body = await received(request, service) if request.method == "POST" else bytearray()
    try:
        return await asyncio.to_thread(_answer, writer, request, bytes(body))
    except (OSError, HTTPException) as error:
        raise Refusal(UNWRITABLE) from error
    finally:
        service.release(len(body))


def _answer(writer: str, request: Request, body: bytes) -> Response:
    scope = request.scope
    connection = WriterConnection(writer)
    try:
        path = scope["raw_path"] + b"?" * bool(scope["query_string"]) + scope["query_string"]
        connection.putrequest(request.method, path.decode("latin-1"), skip_host=True, skip_accept_encoding=True)
        for name, value in scope["headers"]:
            if name not in _OF_A_CONNECTION:
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    answer = Response(content, response.status)
    for name, value in response.getheaders():
        if name.lower().encode() not in _OF_A_CONNECTION | {b"x-request-id"}:
            answer.headers[name] = value
    return answer
