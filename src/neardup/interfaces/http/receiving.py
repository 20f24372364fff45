"""Bodies as they come in: counted while they do, and given a time."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from neardup.interfaces.http import problems
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.problems import Refused

SMALL: Final = 64 << 10  # bytes of a body that are held for anybody

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


class Gone(Exception):  # noqa: N818 - what became of a client
    """The client left before its request was there."""


class Receiving:
    """Receives bodies, and knows how many bytes of large ones are in memory.

    Whoever is given a body says with ``done`` when it is not needed any more.
    """

    def __init__(self, limits: Limits, shed: Callable[[], Refused]) -> None:
        self._limits, self._shed = limits, shed
        self.held = 0

    async def body(self, receive: Receive, stated: int | None, ready: bytes | None = None) -> bytes:
        """Receive a body, of which so many bytes were *stated*: not more than is allowed, and in time.

        A small one may be *ready* already.
        """
        if stated is not None and stated > self._limits.body:
            raise Refused(problems.TOO_LARGE)
        if ready is not None:
            return ready
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                message = await _next(receive)
                body: bytes = message.get("body", b"")
                if not message.get("more_body", False) and len(body) <= SMALL:
                    return body
                return await self._whole(message, receive)
        except TimeoutError:
            raise Refused(problems.TOO_SLOW, headers=[(b"connection", b"close")]) from None

    def done(self, body: bytes) -> None:
        """Let go of a body."""
        if len(body) > SMALL:
            self.held -= len(body)

    async def _whole(self, message: Message, receive: Receive) -> bytes:
        parts: list[bytes] = []
        size = held = 0
        try:
            while True:
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > SMALL:
                    self.held += size - held
                    held = size
                refused = self._refused(size)
                if refused is not None:
                    raise refused
                if not message.get("more_body", False):
                    held = 0  # from now on it is the other's
                    return b"".join(parts)
                message = await _next(receive)
        finally:
            self.held -= held

    def _refused(self, size: int) -> Refused | None:
        if size > self._limits.body:
            return Refused(problems.TOO_LARGE)
        return self._shed() if size > SMALL and self.held > self._limits.held else None


async def _next(receive: Receive) -> Message:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise Gone
    return message
