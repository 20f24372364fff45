"""Question: how much do two threads help."""

import multiprocessing
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any, Final

import neardup
from corpus import CACHE, corpus
from figures import Figure, publish
from peers.measuring import best_of
from pieces import disguised, run
from stages import staged

METHOD = """
The run of [dedup](dedup.md), in memory, on one thread and on two; the best of five, also of each stage.

Not everything is halved: candidates are proposed one after the other, which is a sixth of comparing; the threads wait
for each other several times for every 4,096 documents; and of the rest (ranking, grouping equal documents, keys and
their buckets, the report) only the buckets and the comparison of equal documents use both threads.

*Two runs at once* are two processes that begin the run on one thread together, and share nothing; the ratio is that of
twice the time of one to the time of both. No program of two threads can be expected to gain more on this machine.

*In pieces* is the wall time of the command on the file of [pieces](pieces.md), from Parquet to Parquet and a report.
One thread encodes the output while the other one reads, and makes the summary.
"""
TIMES: Final = 1.8
REPEATS: Final = 5
SCHEME: Final = neardup.MinHash(shingle=5, permutations=128, seed=1)


def main() -> None:
    table = corpus()
    jobs = [partial(neardup.dedup, table, scheme=SCHEME, threshold=0.8, threads=threads) for threads in (1, 2)]
    one, two = (best_of(job, repeats=REPEATS)[0] for job in jobs)
    both = at_once()
    figures = [
        Figure(name="one thread", value=one, unit="s"),
        Figure(name="two threads", value=two, unit="s", ratio=one / two, at_least=TIMES),
        Figure(name="two runs at once", value=both, unit="s", ratio=2 * one / both),
    ]
    alone, shared = map(staged, jobs)
    figures += [Figure(name=f"{stage}: one thread", value=alone[stage], unit="s") for stage in alone]
    figures += [
        Figure(name=f"{stage}: two threads", value=shared[stage], unit="s", ratio=alone[stage] / shared[stage])
        for stage in shared
    ]
    figures += in_pieces(disguised())
    publish("threads", "One thread and two", METHOD, figures)


def at_once() -> float:
    """Return the seconds of two runs in processes of their own, the shortest of several times."""
    spawned = multiprocessing.get_context("spawn")
    together, times = spawned.Barrier(2), spawned.Queue()
    processes = [spawned.Process(target=one_of_two, args=(together, times), daemon=True) for _ in range(2)]
    for process in processes:
        process.start()
    found = [times.get(timeout=300) for _ in processes]
    for process in processes:
        process.join()
    return min(map(max, zip(*found, strict=True)))


def one_of_two(together: Any, times: Any) -> None:
    """Run several times at the same time as another process, and pass on the seconds of each run."""
    run = partial(neardup.dedup, corpus(), scheme=SCHEME, threshold=0.8, threads=1)
    run()
    found = []
    for _ in range(REPEATS):
        together.wait()
        started = time.perf_counter()
        run()
        found.append(time.perf_counter() - started)
    times.put(found)


def in_pieces(source: Path) -> list[Figure]:
    seconds = []
    for threads in (1, 2):
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            options = ["--shingle", "5", "--threshold", "0.8", "--work", f"{folder}/work"]
            seconds.append(run([source], Path(folder), "pieces", options, threads).wall)
    one, two = seconds
    return [
        Figure(name="in pieces: one thread", value=one, unit="s"),
        Figure(name="in pieces: two threads", value=two, unit="s", ratio=one / two, at_least=TIMES),
    ]


if __name__ == "__main__":
    main()
