"""How the service is: alive, ready, and what it counts."""

from typing import Any, Final

import msgspec

from neardup.interfaces.http import metrics
from neardup.interfaces.http.operations import Operation
from neardup.interfaces.http.problems import UNAVAILABLE, Refused
from neardup.interfaces.http.serving import Serving


class HealthAnswer(msgspec.Struct):
    """That it is well."""

    status: str


def healthz(_: Serving, __: Any) -> HealthAnswer:
    """Answer, which is all that is asked."""
    return HealthAnswer("alive")


def readyz(serving: Serving, _: Any) -> HealthAnswer:
    """Say whether the index answers."""
    if not serving.usable:
        raise Refused(UNAVAILABLE, "The index does not answer yet, or no more.")
    return HealthAnswer("ready")


def metrics_text(serving: Serving, _: Any) -> bytes:
    """Write down what was counted."""
    if not serving.usable:
        raise Refused(UNAVAILABLE)
    return serving.metrics.text(serving.gauges())


OPERATIONS: Final = (
    Operation(
        name="healthz",
        method="GET",
        path="/healthz",
        summary="Tell that the process answers",
        run=healthz,
        answer=HealthAnswer,
        scope=None,
        always=True,
    ),
    Operation(
        name="readyz",
        method="GET",
        path="/readyz",
        summary="Tell whether the index answers",
        run=readyz,
        answer=HealthAnswer,
        scope=None,
        always=True,
        refuses=[UNAVAILABLE],
    ),
    Operation(
        name="metrics",
        method="GET",
        path="/metrics",
        summary="Tell what the process counted, for Prometheus",
        run=metrics_text,
        media=metrics.MEDIA,
        always=True,
        refuses=[UNAVAILABLE],
    ),
)
