"""What each peer's script does around its measurement: read the corpus, repeat, print one line of JSON."""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

REPEATS: Final = 3


def column(path: str, rows: int | None = None) -> pa.LargeStringArray:
    texts = pq.read_table(path, columns=["text"])["text"]
    return pa.concat_arrays((texts if rows is None else texts.slice(0, rows)).chunks)


def size(texts: pa.LargeStringArray) -> int:
    return pc.sum(pc.binary_length(texts)).as_py()


def best_of(
    job: Callable[[], Any], repeats: int = REPEATS, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, Any]:
    """Run a job a few times; return its shortest time in seconds and its last result."""
    shortest = float("inf")
    result = None
    for _ in range(repeats):
        result = None  # the memory of one run is not held during the next
        start = clock()
        result = job()
        shortest = min(shortest, clock() - start)
    return shortest, result


def usual(job: Callable[[], Any], times: int = 1000) -> float:
    """Return the median time of a job in seconds, after some runs that do not count."""
    for _ in range(times // 10 + 1):
        job()
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        job()
        spent.append(time.perf_counter() - start)
    return statistics.median(spent)


def answer(**fields: Any) -> None:
    print(json.dumps(fields))
    sys.stdout.flush()


def signing(texts: pa.LargeStringArray, ways: dict[str, Callable[[], Any]]) -> None:
    """Measure each way of signing the texts, and print the figures."""
    for way, job in ways.items():
        seconds, _ = best_of(job)
        answer(way=way, seconds=seconds, bytes=size(texts), documents=len(texts))
