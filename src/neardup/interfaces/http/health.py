"""How the service is: alive, ready, and what it counts."""

from typing import Any, Final

import msgspec

from neardup.interfaces.http import metrics
from neardup.interfaces.http.bodies import Body
from neardup.interfaces.http.operations import Operation
from neardup.interfaces.http.problems import BROKEN, READ_ONLY, UNAVAILABLE, UNWRITABLE, Refused
from neardup.interfaces.http.serving import Serving, Writes


class HealthAnswer(msgspec.Struct):
    """That the process is alive."""

    status: str


class ReadyQuery(Body):
    """What the index must be ready for: to be read, or with *writes* to be written, too."""

    writes: bool = False


class ReadyAnswer(msgspec.Struct):
    """That the index answers. *writes* is ``yes``; ``no`` if this process only reads; or ``failed``: tried again."""

    status: str
    writes: Writes


def healthz(serving: Serving, _: Any) -> HealthAnswer:
    """Report that the process answers, unless only a restart can help."""
    if not serving.recovers:
        raise Refused(BROKEN, "The service does not watch its index any more; restart it.")
    return HealthAnswer("alive")


def readyz(serving: Serving, given: ReadyQuery) -> ReadyAnswer:
    """Report whether the index answers, and can be written."""
    if not serving.usable:
        raise Refused(UNAVAILABLE, "The index does not answer now, or is not the one at its path.")
    writes = serving.writes
    if given.writes and writes != "yes":
        raise Refused(UNWRITABLE, UNWRITABLE.when if writes == "failed" else READ_ONLY.when)
    return ReadyAnswer("ready", writes)


def metrics_text(serving: Serving, _: Any) -> bytes:
    """Write down what was counted."""
    return serving.metrics.text(serving.gauges())


OPERATIONS: Final = (
    Operation(
        name="healthz",
        method="GET",
        path="/healthz",
        summary="Report that the process answers",
        run=healthz,
        answer=HealthAnswer,
        scope=None,
        always=True,
        refuses=[BROKEN],
    ),
    Operation(
        name="readyz",
        method="GET",
        path="/readyz",
        summary="Report whether the index answers, and can be written",
        run=readyz,
        query=ReadyQuery,
        answer=ReadyAnswer,
        scope=None,
        always=True,
        refuses=[UNAVAILABLE, UNWRITABLE],
    ),
    Operation(
        name="metrics",
        method="GET",
        path="/metrics",
        summary="Tell what the process counted, for Prometheus",
        run=metrics_text,
        media=metrics.MEDIA,
        always=True,
    ),
)
