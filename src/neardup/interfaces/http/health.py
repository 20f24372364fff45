"""The state of the service: probes and metrics."""

from typing import Any, Literal

import msgspec

from neardup.interfaces.http.problems import BROKEN, UNAVAILABLE, UNWRITABLE, Refusal
from neardup.interfaces.http.requests import Input
from neardup.interfaces.http.service import Service, Writes


class HealthAnswer(msgspec.Struct):
    """The process answers."""

    status: Literal["alive"] = "alive"


class ReadyQuery(Input):
    """What must be possible: to read the index or, with *writes*, to write it too."""

    writes: bool = False


class ReadyAnswer(msgspec.Struct):
    """The index can be read. *writes*: ``yes``; ``no`` if this process only reads; ``failed`` if writing is retried."""

    writes: Writes
    status: Literal["ready"] = "ready"


def healthz(service: Service, _: Any) -> HealthAnswer:
    """Report that the process answers, unless only a restart helps."""
    if not service.recovers:
        raise Refusal(BROKEN, "The service no longer watches its index; restart it.")
    return HealthAnswer()


def readyz(service: Service, given: ReadyQuery) -> ReadyAnswer:
    """Report whether the index can be read, and written."""
    if not service.readable:
        raise Refusal(UNAVAILABLE)
    writes = service.writes
    if given.writes and writes != "yes":
        raise Refusal(UNWRITABLE, UNWRITABLE.when if writes == "failed" else service.reason_not_to_write)
    return ReadyAnswer(writes)


def metrics(service: Service, _: Any) -> bytes:
    """Report the metrics, for Prometheus."""
    service.update_metrics()
    return service.metrics.text()
