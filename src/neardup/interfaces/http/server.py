"""The service as a process: alone, or as the one that starts workers."""

import asyncio
import resource
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from neardup.interfaces.http.app import create_app
from neardup.interfaces.http.deployment import (
    RELOADING,
    STARTING_SECONDS,
    Access,
    Deployment,
    Report,
    SignalledServer,
    opened_service,
    uvicorn_config,
)
from neardup.interfaces.http.listening import listen, report_refused
from neardup.interfaces.http.service import Service
from neardup.interfaces.http.workers import run_workers

_FILES: Final = 1 << 16  # open connections and files, as far as the system allows


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

            return run_workers(deployment, listening, begun, partial(access.reload, report))

        def begin() -> None:
            report_refused(report)
            if deployment.reloads:
                asyncio.get_running_loop().add_signal_handler(RELOADING, access.reload, report)
            started(url, service)

        app = create_app(service, **access.parts, prefix=deployment.prefix, started=begin)
        SignalledServer(uvicorn_config(app, deployment)).run(sockets=[listening])
    return 0
