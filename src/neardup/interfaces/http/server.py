"""The service as a process, or as several: one starts and replaces the others, one writes, and the workers read."""

import asyncio
import gc
import logging
import multiprocessing
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import gettempdir
from types import FrameType
from typing import Any, Final

import uvicorn
from prometheus_client.multiprocess import mark_process_dead
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from neardup.engines.startup import with_short_start
from neardup.interfaces.http.access_log import ERROR, AccessLog, standard_error
from neardup.interfaces.http.app import create_app
from neardup.interfaces.http.hosts import Hosts
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.listening import BACKLOG, listen, report_refused
from neardup.interfaces.http.metrics import FOLDER
from neardup.interfaces.http.middleware import Guard
from neardup.interfaces.http.service import Service
from neardup.interfaces.http.tokens import Tokens
from neardup.model.errors import NeardupError, StorageFailed, counted, reason
from neardup.model.memory import OF_INDEX
from neardup.pipeline.config import load_config
from neardup.pipeline.index.index import Index
from neardup.sources.addresses import Addresses
from neardup.sources.keys import key_in
from neardup.sources.output import new_folder
from neardup.text.extraction import Extraction

Report = Callable[[str], None]

GRACE_SECONDS: Final = 30  # in which requests in progress are answered when the service ends
STARTING_SECONDS: Final = 60  # after which a worker that does not answer is replaced
_YOUNG: Final = 50_000  # objects between garbage collections
RELOADING: Final = signal.SIGHUP
ENDING: Final[tuple[int, ...]] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
QUIET: Final[dict[str, Any]] = {
    "loop": "asyncio",
    "http": "h11",  # which limits the size of a head
    "ws": "none",
    "lifespan": "on",
    "log_config": None,
    "log_level": "error",
    "access_log": False,
    "server_header": False,
}
_FILES: Final = 1 << 16  # open connections and files, as far as the system allows
_WRITER: Final = "writer"  # the socket of the process that writes, in the folder of the metrics
_MEMORY: Final = "/dev/shm"  # noqa: S108 - a folder in memory, in which a new one is made
_LONGEST_PAUSE: Final = 8.0  # seconds between two attempts of a worker to start
_OF_TERMINALS: Final = [number for number in ENDING if number != signal.SIGTERM]


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """What is served, and how; *memory* limits, in bytes, the new documents in memory.

    URLs begin with *prefix*. With several *workers*, these only read; *writer* is the socket of the process that makes
    their changes. *config* is a file of settings, whose policy replaces that of the index. *proxies* are the addresses
    of proxies whose ``X-Forwarded-For`` and ``X-Forwarded-Proto`` are believed. *extraction* is as in ``Service``.
    """

    folder: str
    host: str = "127.0.0.1"
    port: int = 8000
    key_file: str | None = None
    config: str | None = None
    token_file: str | None = None
    allow_hosts: tuple[str, ...] = ()
    read_only: bool = False
    memory: int = OF_INDEX
    workers: int = 1
    access_log: str | None = None
    proxies: tuple[str, ...] = ()
    prefix: str = ""
    writer: str | None = None
    addresses: Addresses | None = None
    extraction: Extraction | None = None
    limits: Limits = field(default_factory=Limits)

    @property
    def reloads(self) -> bool:
        """Whether SIGHUP reloads files; otherwise it ends the service, as the end of a terminal does."""
        return self.token_file is not None or self.access_log is not None


def opened_service(deployment: Deployment, report: Report) -> Service:
    """Open the index, and load what the first request needs."""
    key = None if deployment.key_file is None else key_in(deployment.key_file)
    scheme = None if deployment.config is None else load_config(deployment.config).scheme
    opening = partial(Index.open, deployment.folder, key=key, scheme=scheme, memory=deployment.memory)
    parts = {name: getattr(deployment, name) for name in ("read_only", "addresses", "writer", "extraction", "limits")}
    service = Service(opening, report=report, **parts)
    try:
        service.warm_up()
    except BaseException:
        service.close()
        raise
    gc.collect()
    gc.freeze()  # what is loaded now stays, and need not be collected again
    gc.set_threshold(_YOUNG)  # requests must not wait long for a collection
    return service


class Access:
    """The tokens, the hosts and the access log; a signal reloads their files."""

    def __init__(self, deployment: Deployment) -> None:
        self._file = deployment.token_file
        self._tokens = None if self._file is None else Tokens.in_file(self._file)
        self._log = None if deployment.access_log is None else AccessLog(deployment.access_log)
        hosts = Hosts(deployment.host, deployment.allow_hosts)
        self.parts: dict[str, Any] = {"tokens": self._tokens, "hosts": hosts, "log": self._log}  # of the application

    def reload(self, report: Report) -> None:
        """Read the tokens again, and open the log again; after an error, those before are used."""
        try:
            if self._tokens is not None and self._file is not None:
                self._tokens.known = Tokens.in_file(self._file).known
                report(f"{self._file}: {counted(len(self._tokens), 'token')}")
            if self._log is not None:
                self._log.reopen()
        except NeardupError as error:
            report(f"not reloaded: {error}")


def uvicorn_config(app: Any, deployment: Deployment, **more: Any) -> uvicorn.Config:
    """Return how uvicorn runs an application, or a function that makes one."""
    limits = deployment.limits
    return uvicorn.Config(
        app,
        proxy_headers=bool(deployment.proxies),
        forwarded_allow_ips=list(deployment.proxies),
        backlog=BACKLOG,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_worker_healthcheck=STARTING_SECONDS,
        h11_max_incomplete_event_size=limits.head,
        **QUIET,
        **more,
    )


class SignalledServer(uvicorn.Server):
    """A server that shuts down after a signal, unless it is ignored (nohup). Uvicorn's own is killed by the signal."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the signals while the server runs."""
        with ExitStack() as undo:
            for number in ENDING:
                if (before := signal.getsignal(number)) != signal.SIG_IGN:
                    signal.signal(number, self.handle_exit)
                    undo.callback(signal.signal, number, before)
            yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the server, on a second Ctrl-C at once, without the traceback of the cancelled application."""
        super().handle_exit(sig, frame)
        logging.getLogger("uvicorn.error").disabled = self.force_exit


def run(deployment: Deployment, *, started: Callable[[str, Service], None], report: Report) -> int:
    """Serve until a signal ends the service, and return the exit code.

    *started* is called with the URL and the service when clients can connect.
    """
    access = Access(deployment)
    with listen(deployment.host, deployment.port) as listening:
        several = deployment.workers > 1
        service = opened_service(replace(deployment, read_only=True) if several else deployment, report)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = max(soft, min(hard, _FILES))  # idle connections are files, too
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        name = f"[{deployment.host}]" if ":" in deployment.host else deployment.host
        url = f"http://{name}:{listening.getsockname()[1]}/"
        if several:

            def begun(writer: str | None) -> None:
                service.writer = writer
                service.ask_writer(STARTING_SECONDS)
                started(url, service)
                service.close()  # workers have their own

            return _run_workers(deployment, listening, begun, partial(access.reload, report))

        def begin() -> None:
            report_refused(report)
            if deployment.reloads:
                asyncio.get_running_loop().add_signal_handler(RELOADING, access.reload, report)
            started(url, service)

        app = create_app(service, **access.parts, prefix=deployment.prefix, started=begin)
        SignalledServer(uvicorn_config(app, deployment)).run(sockets=[listening])
    return 0


def _run_workers(
    deployment: Deployment,
    listening: socket.socket,
    started: Callable[[str | None], None],
    reload: Callable[[], None],
) -> int:
    """Run workers under the supervisor of uvicorn, which replaces those that die, until a signal ends them."""
    began, ready = multiprocessing.Pipe(duplex=False)  # unlike an event, it needs no shared memory
    resource_tracker.ensure_running()  # later, it would unblock signals that new processes must inherit as blocked
    handled = [number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN]

    def wait() -> None:
        began.recv_bytes()
        began.close()  # later workers need not be waited for
        started(reading.writer)

    shown = logging.StreamHandler()
    shown.setFormatter(logging.Formatter("neardup: %(message)s"))
    log = logging.getLogger("uvicorn.error")  # of the supervisor, which reports workers that died
    with metrics_folder() as folder, ExitStack() as opened:
        writer = None
        reading = replace(deployment, read_only=True)
        if not deployment.read_only:
            reading = replace(reading, writer=str(folder / _WRITER))
            changing = with_short_start(worker, replace(deployment, access_log=None, proxies=()), None)
            own = opened.enter_context(_socket_in(folder))
            writer = (uvicorn_config(changing, deployment, factory=True), own)
        answering = with_short_start(worker, reading, ready)
        config = uvicorn_config(answering, deployment, factory=True, workers=deployment.workers)
        log.addHandler(shown)
        log.setLevel(logging.WARNING)
        supervisor = Supervisor(config, [listening], writer)
        for number in ENDING:
            signal.signal(number, (lambda *_: supervisor.end()) if number in handled else signal.SIG_IGN)
        if deployment.reloads:

            def pass_on(number: int, _: FrameType | None) -> None:
                supervisor.pass_on(number)
                reload()

            signal.signal(RELOADING, pass_on)
        threading.Thread(target=wait, daemon=True).start()
        supervisor.run()
    return int(any(process.exitcode not in {0, -signal.SIGTERM} for process in supervisor.all))


def _socket_in(folder: Path) -> socket.socket:
    """Return the socket in a folder at which the process that writes is reached."""
    own = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        own.bind(str(folder / _WRITER))
    except OSError as error:
        own.close()
        then = "if its path is too long, name a shorter one: TMPDIR=DIR neardup ..."
        raise StorageFailed(str(folder), f"cannot hold a socket: {reason(error)}; {then}") from error
    own.listen(BACKLOG)
    own.setblocking(False)
    return own


@contextmanager
def metrics_folder() -> Iterator[Path]:
    """Make the folder in which workers keep their metrics, and remove it with those that killed services have left.

    It is in memory if possible: on a full disk, writing to a mapped file would kill the process.
    """
    where = _MEMORY if os.access(_MEMORY, os.W_OK | os.X_OK) else gettempdir()
    with new_folder(Path(where, "metrics"), 0o700) as folder:
        os.environ[FOLDER] = str(folder)
        try:
            yield folder
        finally:
            os.environ.pop(FOLDER, None)


class Supervisor(Multiprocess):
    """The supervisor of uvicorn, which also removes the gauges of workers that ended.

    *writer* is the configuration of a further process, which writes the index, and its socket. It ends last.
    """

    def __init__(
        self, config: uvicorn.Config, sockets: list[socket.socket], writer: tuple[uvicorn.Config, socket.socket] | None
    ) -> None:
        super().__init__(config, sockets)
        self._writer = writer
        self._writing = None if writer is None else _begun(writer[0], [writer[1]])

    def init_processes(self) -> None:
        """Start the workers."""
        with _signals_held():
            super().init_processes()

    def end(self) -> None:
        """End the workers, and do not wait for answers of those that are starting."""
        self.should_exit.set()
        for process in self.processes:
            with suppress(ProcessLookupError):  # it has just ended
                process.terminate()

    @property
    def all(self) -> list[Process]:
        """The workers, and the process that writes."""
        return self.processes if self._writing is None else [*self.processes, self._writing]

    def join_all(self) -> None:
        """Wait for the workers, and then end the process that writes, which they may need until then.

        New connections are refused: no worker would answer those that an open socket accepts.
        """
        for listening in self.sockets:
            listening.close()
        super().join_all()
        if self._writing is not None:
            self._writing.terminate()
            self._writing.join()

    def pass_on(self, number: int) -> None:
        """Send a signal to all workers."""
        for process in self.all:
            if process.pid is not None and process.exitcode is None:
                os.kill(process.pid, number)

    def keep_subprocess_alive(self) -> None:
        """Replace processes that ended or do not answer, unless the service ends.

        The method of uvicorn waits a minute for a worker that dies while it is asked, and kills those that are asked
        while the service ends.
        """
        log = logging.getLogger("uvicorn.error")
        for place, process in enumerate(self.processes):
            if not self._is_lost(process):
                continue
            if process.exitcode == STARTUP_FAILURE:  # as another one would
                log.error("Child process [%s] failed to start, stopping the parent process.", process.pid)
                self.should_exit.set()
                return
            why = process.pid, process.exitcode
            log.warning("A worker process (pid %s) ended unexpectedly (exit code %s) and is replaced", *why)
            self.processes[place] = _begun(self.config, self.sockets)
        if self._writer is not None and self._writing is not None and self._is_lost(self._writing):
            log.warning("The process that writes the index ended unexpectedly and is replaced")
            self._writing = _begun(self._writer[0], [self._writer[1]])

    def _is_lost(self, process: Process) -> bool:
        """End a process that does not answer; return whether another one must take its place."""
        if _answers(process, self.should_exit):
            return False
        process.kill()
        process.join()
        mark_process_dead(process.pid)  # type: ignore[no-untyped-call]
        return not self.should_exit.is_set()


def _begun(config: uvicorn.Config, sockets: list[socket.socket]) -> Process:
    process = Process(config, sockets)
    with _signals_held():
        process.start()
    return process


@contextmanager
def _signals_held() -> Iterator[None]:
    """Block the signals of a terminal: processes that are started within inherit this, until they ignore them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _answers(process: Process, ended: threading.Event) -> bool:
    """Return whether a process answers in time, or need not any more, as the service has *ended*.

    If it dies while it is asked, that is noticed within a second.
    """
    until = time.monotonic() + STARTING_SECONDS
    while process.exitcode is None and time.monotonic() < until:
        if ended.is_set() or process.ping(1):
            return True
    return ended.is_set()


def worker(deployment: Deployment, ready: Connection | None) -> Guard:
    """Create the application of a worker, which signals *ready* when it serves, or of the process that writes.

    A worker that cannot open the index (its folder may be moved) or read the tokens reports it, and tries again.
    """
    _follow_parent()
    pause, reported = 0.25, ""
    while True:
        try:
            access = Access(deployment)
            service = opened_service(deployment, _complain)
            break
        except NeardupError as error:
            if reported != str(error):
                reported = str(error)
                _complain(f"worker {os.getpid()} cannot start, and will try again: {reported}")
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    if reported:
        _complain(f"worker {os.getpid()} has started")

    def begin() -> None:
        report_refused(_complain)
        if deployment.reloads:
            reload = partial(access.reload, lambda _: None)  # the process that started this one reports it, once
            asyncio.get_running_loop().add_signal_handler(RELOADING, reload)
            reload()  # a signal was ignored until now
        if ready is not None:
            with suppress(OSError):  # another worker was first
                ready.send_bytes(b"")

    return create_app(service, **access.parts, prefix=deployment.prefix, counts=ready is not None, started=begin)


def _follow_parent() -> None:
    """End with the process that started this one, and leave to it the signals of the terminal."""
    for number in _OF_TERMINALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _OF_TERMINALS)

    def watch() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def _complain(message: str) -> None:
    """Print a message on standard error; what a stopped terminal does not take is lost."""
    if sys.stderr is None:
        return
    file = standard_error()
    with suppress(OSError):
        os.write(file, f"neardup: {message}\n".encode(errors="replace"))
    if file != ERROR:
        os.close(file)
