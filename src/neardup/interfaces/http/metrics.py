"""What the service counts of itself, as Prometheus reads it."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

MEDIA: Final = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """Requests by route and status, how long they took, and how many were shed."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.shed = 0
        self._buckets: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self.requests[route, status] += 1
        buckets = self._buckets.get(route)
        if buckets is None:
            buckets = self._buckets[route] = [0] * (len(BOUNDS) + 1)
            self._seconds[route] = 0.0
        buckets[bisect_left(BOUNDS, seconds)] += 1
        self._seconds[route] += seconds

    def text(self, others: Iterable[tuple[str, str, str, float]] = ()) -> bytes:
        """Write everything down; *others* have a name, a kind, a sentence and a value."""
        lines = [
            *_headed("neardup_requests_total", "counter", "Requests answered, by route and status."),
            *(
                f'neardup_requests_total{{route="{route}",status="{status}"}} {number}'
                for (route, status), number in sorted(self.requests.items())
            ),
            *_headed("neardup_request_seconds", "histogram", "Time from the head of a request to its answer."),
            *self._histogram("neardup_request_seconds"),
        ]
        shed = ("neardup_shed_total", "counter", "Requests answered with 429.", self.shed)
        for name, kind, sentence, value in (shed, *others):
            lines += [*_headed(name, kind, sentence), f"{name} {value:g}" if value % 1 else f"{name} {int(value)}"]
        return "\n".join([*lines, ""]).encode()

    def _histogram(self, name: str) -> Iterator[str]:
        for route, buckets in sorted(self._buckets.items()):
            total = 0
            for bound, number in zip([*map(str, BOUNDS), "+Inf"], buckets, strict=True):
                total += number
                yield f'{name}_bucket{{route="{route}",le="{bound}"}} {total}'
            yield f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'{name}_count{{route="{route}"}} {total}'


def _headed(name: str, kind: str, sentence: str) -> list[str]:
    return [f"# HELP {name} {sentence}", f"# TYPE {name} {kind}"]
