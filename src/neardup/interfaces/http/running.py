"""A service run as it was asked for: in this process, or in several that only read."""

import gc
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from types import FrameType
from typing import Final

from neardup.interfaces.http.app import service
from neardup.interfaces.http.hosts import Hosts
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.page import add_pages
from neardup.interfaces.http.server import Server, bound, ending_signals, several
from neardup.interfaces.http.serving import Serving
from neardup.interfaces.http.tokens import Tokens
from neardup.sources.keys import key_in

Report = Callable[[str], None]

_PAUSE: Final = 1.0  # seconds before a process that died is replaced
_LOOK: Final = 0.2


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """How a service is wanted; *memory* bounds, in bytes, what the index holds of new documents."""

    folder: str
    host: str = "127.0.0.1"
    port: int = 8000
    key_file: str | None = None
    token_file: str | None = None
    allow_hosts: tuple[str, ...] = ()
    read_only: bool = False
    memory: int = 1 << 28
    workers: int = 1
    limits: Limits = field(default_factory=Limits)


def run(deployment: Deployment, *, started: Callable[[str, Serving], None], report: Report) -> int:
    """Serve until a signal ends it; *started* is told the address, and what is served."""
    if deployment.workers > 1:
        deployment = replace(deployment, read_only=True)
    serving = _opened(deployment, report)
    try:
        tokens = None if deployment.token_file is None else Tokens.in_file(deployment.token_file)
        hosts = Hosts(deployment.host, deployment.allow_hosts)
        listening = bound(deployment.host, deployment.port)
        _warm(serving)
    except BaseException:
        serving.index.close()
        raise
    address = _address(deployment.host, listening)

    def begun() -> None:
        started(address, serving)

    if deployment.workers > 1:
        return _supervise(deployment, listening, begun, report)
    app = service(serving, tokens=tokens, hosts=hosts, pages=add_pages)
    Server(app, serving, begun).run(sockets=several(listening))
    return 0


def _opened(deployment: Deployment, report: Report) -> Serving:
    key = None if deployment.key_file is None else key_in(deployment.key_file)
    return Serving.opened(
        deployment.folder,
        key=key,
        read_only=deployment.read_only,
        memory=deployment.memory,
        limits=deployment.limits,
        report=report,
    )


def _warm(serving: Serving) -> None:
    """Load what the first request would wait for, and look through all that for garbage for the last time."""
    serving.warm_up()
    gc.collect()
    gc.freeze()


def _address(host: str, listening: socket.socket) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}/"


def _supervise(deployment: Deployment, listening: socket.socket, started: Callable[[], None], report: Report) -> int:
    """Keep so many processes at work until a signal ends them all."""
    ended: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        ended.append(number)

    before = {number: signal.signal(number, end) for number in ending_signals()}
    workers = _Workers(deployment, listening)
    try:
        while not ended and not workers.answer():
            workers.replace_dead(report)
        if not ended:
            started()
        while not ended:
            time.sleep(_LOOK)
            workers.replace_dead(report)
    finally:
        listening.close()
        code = workers.end()
        for number, handler in before.items():
            signal.signal(number, handler)
    return code


class _Workers:
    """Processes that serve at one address."""

    def __init__(self, deployment: Deployment, listening: socket.socket) -> None:
        self._spawn = multiprocessing.get_context("spawn")
        self._answers = self._spawn.Event()
        self._given = deployment, listening, self._answers
        self._processes = [self._another() for _ in range(deployment.workers)]

    def answer(self) -> bool:
        """Wait a little for the first of them to answer."""
        return self._answers.wait(_LOOK)

    def replace_dead(self, report: Report) -> None:
        """Begin another one for each that is no more."""
        for place, process in enumerate(self._processes):
            if not process.is_alive():
                report(f"a process ended with {process.exitcode}; another one takes its place")
                time.sleep(_PAUSE)
                self._processes[place] = self._another()

    def end(self) -> int:
        """End them all; give the exit code of those that ended by themselves."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()
        return max(max(process.exitcode or 0, 0) for process in self._processes)

    def _another(self) -> BaseProcess:
        process = self._spawn.Process(target=_work, args=self._given)
        process.start()
        return process


def _work(deployment: Deployment, listening: socket.socket, answers: Event) -> None:
    """Serve in a process of its own, until it is told to end or the one that began it is gone."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    serving = _opened(deployment, _told)
    _warm(serving)
    tokens = None if deployment.token_file is None else Tokens.in_file(deployment.token_file)
    app = service(serving, tokens=tokens, hosts=Hosts(deployment.host, deployment.allow_hosts), pages=add_pages)
    Server(app, serving, answers.set).run(sockets=several(listening))


def _told(message: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"neardup: {message}\n")


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
