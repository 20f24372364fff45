"""Metrics of the service, for Prometheus.

With several workers, ``PROMETHEUS_MULTIPROC_DIR`` names the folder in which all of them keep their values, and each
answers with the sum.
"""

import os
import struct
import time
from collections import Counter as Counted
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector

from neardup.model.verdicts import Verdict

MEDIA: Final = CONTENT_TYPE_LATEST
FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
Mode = Literal["livemax", "livemin", "livesum"]  # how the values of processes become one

_ATTEMPTS: Final = 100
_PAUSE: Final = 0.01  # seconds
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """Counters, histograms and gauges of one process."""

    def __init__(self) -> None:
        own = self._registry = CollectorRegistry()
        self.requests = Counter("neardup_requests", "Answered requests.", ["route", "status"], registry=own)
        self.seconds = Histogram(
            "neardup_request_seconds", "Time from head to answer.", ["route"], registry=own, buckets=_BUCKETS
        )
        self.rejected = Counter("neardup_rejected", "Requests rejected with 429.", registry=own)
        self.hits = Counter("neardup_collapse_hits", "Collapsed lists found in the cache.", registry=own)
        self.misses = Counter("neardup_collapse_misses", "Collapsed lists computed.", registry=own)
        self.verdicts = Counter("neardup_verdicts", "Verdicts returned.", ["route", "verdict"], registry=own)

        def gauge(name: str, text: str, labels: Sequence[str] = (), mode: Mode = "livemax") -> Gauge:
            return Gauge(name, text, labels, registry=own, multiprocess_mode=mode)

        self.in_progress = gauge("neardup_in_progress", "Requests that wait or are worked on.", ["work"], "livesum")
        self.documents = gauge("neardup_documents", "Documents in the index.")
        self.kept = gauge("neardup_documents_kept", "Kept documents in the index.")
        self.segments = gauge("neardup_segments", "Segments of the index.")
        self.bytes = gauge("neardup_bytes", "Bytes of the files of the index.")
        self.search_lag = gauge("neardup_search_lag", "Documents that the search table does not have yet.")
        self.ready = gauge("neardup_ready", "1 if the index can be read.", mode="livemin")
        self.writes = gauge("neardup_writes", "1 if the index can be written.")

    def observe(self, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self.requests.labels(route, status).inc()
        self.seconds.labels(route).observe(seconds)

    def count_verdicts(self, route: str, verdicts: Iterable[Verdict]) -> None:
        """Count verdicts that a route returns."""
        for name, number in Counted(verdict.name for verdict in verdicts).items():
            self.verdicts.labels(route, name).inc(number)

    def text(self) -> bytes:
        """Return the metrics of all processes in the text format of Prometheus."""
        if FOLDER not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        for _ in range(_ATTEMPTS):
            try:
                return generate_latest(registry)
            except struct.error:  # a worker that starts has made its file, and not written the first bytes yet
                time.sleep(_PAUSE)
        return generate_latest(registry)
