"""The server: it listens, watches its connections, and ends without losing what it was asked."""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import uvicorn

from neardup.interfaces.http.connections import Watch, protocol
from neardup.interfaces.http.serving import Serving
from neardup.model.errors import ParameterError

SWEEP_SECONDS: Final = 0.25
GRACE_SECONDS: Final = 0.3  # in which clients that keep their connections may still ask, when the service ends
DRAIN_SECONDS: Final = 30
BACKLOG: Final = 1024
AT_ONCE: Final = 32  # new connections that are taken in a turn
_SIGNALS: Final = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def ending_signals() -> list[int]:
    """Return the signals that end a service: all that this process does not ignore, as it does under ``nohup``."""
    return [number for number in _SIGNALS if signal.getsignal(number) != signal.SIG_IGN]


def bound(host: str, port: int) -> socket.socket:
    """Listen at an address; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise ParameterError("port", port, f"cannot be listened at on {host}: {reason}") from error
    return listening


def several(listening: socket.socket) -> list[socket.socket]:
    """Give a listening socket several times over.

    The loop takes one connection of each in a turn, and under load its turns are long: of one socket alone, a hundred
    new clients would wait for seconds while the old ones are served.

    Several processes may share it. One that made it blocking, if only for a moment, would let another wait in it.
    """
    listening.setblocking(False)  # as it came to this process, it does not know that it is so
    return [listening, *(listening.dup() for _ in range(AT_ONCE - 1))]


class Server(uvicorn.Server):
    """A server of one process; *started* is called when it answers.

    It ends at SIGTERM or Ctrl-C, when what was asked is answered; a second Ctrl-C hurries.
    """

    def __init__(self, app: Any, serving: Serving, started: Callable[[], None]) -> None:
        limits, self._started = serving.limits, started
        self._watch = Watch(limits, serving.metrics)
        serving.connections = self._watch.connections.__len__
        super().__init__(
            uvicorn.Config(
                app,
                http=protocol(self._watch),
                ws="none",
                lifespan="on",
                log_config=None,
                log_level="critical",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=int(limits.idle_seconds),
                timeout_graceful_shutdown=DRAIN_SECONDS,
                backlog=BACKLOG,
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals, and do not pass them on afterwards: having ended as asked is no failure."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in ending_signals()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin, and watch the connections."""
        await super().startup(sockets)
        self._sweeping = asyncio.create_task(self._sweep())
        self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, let clients that are about to ask do so, answer, end."""
        for _ in range(BACKLOG // AT_ONCE):
            await asyncio.sleep(0)  # whoever is connected already is let in
        for server in self.servers:
            server.close()
        self._watch.drain()
        await asyncio.sleep(GRACE_SECONDS)
        self._watch.finish()
        await super().shutdown(sockets)
        self._sweeping.cancel()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            self._watch.sweep()
