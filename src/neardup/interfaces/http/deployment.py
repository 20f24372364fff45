"""What is served, and the parts that each process of a service has."""

import gc
import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Any, Final

import uvicorn

from neardup.interfaces.http.access_log import AccessLog
from neardup.interfaces.http.hosts import Hosts
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.listening import BACKLOG
from neardup.interfaces.http.service import Service
from neardup.interfaces.http.tokens import Tokens
from neardup.model.errors import NeardupError, counted
from neardup.model.memory import OF_INDEX
from neardup.pipeline.config import load_config
from neardup.pipeline.index.index import Index
from neardup.sources.addresses import Addresses
from neardup.sources.keys import key_in
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
