"""A service run as it was asked for: in this process, or in several that only read."""

import multiprocessing
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Final

from neardup.interfaces.http.app import service
from neardup.interfaces.http.hosts import Hosts
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.page import add_pages
from neardup.interfaces.http.server import Server, bound, several
from neardup.interfaces.http.serving import Serving
from neardup.interfaces.http.tokens import Tokens
from neardup.sources.keys import key_in

Report = Callable[[str], None]

_PAUSE: Final = 1.0  # seconds before a process that died is replaced
_LOOK: Final = 0.2


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a service is wanted."""

    folder: str
    host: str = "127.0.0.1"
    port: int = 8000
    key_file: str | None = None
    token_file: str | None = None
    allow_hosts: tuple[str, ...] = ()
    read_only: bool = False
    workers: int = 1
    limits: Limits = field(default_factory=Limits)


def run(plan: Plan, *, started: Callable[[str, Serving], None], report: Report) -> int:
    """Serve until a signal ends it; *started* is told the address, and what is served."""
    if plan.workers > 1:
        plan = replace(plan, read_only=True)
    serving = _opened(plan, report)
    try:
        tokens = None if plan.token_file is None else Tokens.in_file(plan.token_file)
        hosts = Hosts(plan.host, plan.allow_hosts)
        listening = bound(plan.host, plan.port)
        serving.warm_up()
    except BaseException:
        serving.index.close()
        raise
    address = _address(plan.host, listening)

    def begun() -> None:
        started(address, serving)

    if plan.workers > 1:
        return _supervise(plan, listening, begun, report)
    app = service(serving, tokens=tokens, hosts=hosts, pages=add_pages)
    Server(app, serving, begun).run(sockets=several(listening))
    return 0


def _opened(plan: Plan, report: Report) -> Serving:
    key = None if plan.key_file is None else key_in(plan.key_file)
    return Serving.opened(plan.folder, key=key, read_only=plan.read_only, limits=plan.limits, report=report)


def _address(host: str, listening: socket.socket) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}/"


def _supervise(plan: Plan, listening: socket.socket, started: Callable[[], None], report: Report) -> int:
    """Keep so many processes at work until a signal ends them all."""
    ended: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        ended.append(number)

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    spawn = multiprocessing.get_context("spawn")

    def another() -> BaseProcess:
        process = spawn.Process(target=_work, args=(plan, listening))
        process.start()
        return process

    processes = [another() for _ in range(plan.workers)]
    try:
        started()
        while not ended:
            time.sleep(_LOOK)
            for place, process in enumerate(processes):
                if not process.is_alive() and not ended:
                    report(f"a process ended with {process.exitcode}; another one takes its place")
                    time.sleep(_PAUSE)
                    processes[place] = another()
    finally:
        listening.close()
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
        for number, handler in before.items():
            signal.signal(number, handler)
    return max((process.exitcode or 0 for process in processes), default=0)


def _work(plan: Plan, listening: socket.socket) -> None:
    """Serve in a process of its own."""
    serving = _opened(plan, _told)
    serving.warm_up()
    tokens = None if plan.token_file is None else Tokens.in_file(plan.token_file)
    app = service(serving, tokens=tokens, hosts=Hosts(plan.host, plan.allow_hosts), pages=add_pages)
    Server(app, serving, _nothing).run(sockets=several(listening))


def _told(message: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"neardup: {message}\n")


def _nothing() -> None:
    """Do nothing: the process that began this one has told."""
