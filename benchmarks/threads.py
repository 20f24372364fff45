"""Question: how much do two threads help."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Final

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

*In pieces* is the wall time of the command on the file of [pieces](pieces.md), from Parquet to Parquet and a report.
One thread encodes the output while the other one reads, and makes the summary.
"""
TIMES: Final = 1.8


def main() -> None:
    table = corpus()
    scheme = neardup.MinHash(shingle=5, permutations=128, seed=1)
    one, two = (
        best_of(lambda threads=threads: neardup.dedup(table, scheme=scheme, threshold=0.8, threads=threads), repeats=5)[
            0
        ]
        for threads in (1, 2)
    )
    figures = [
        Figure(name="one thread", value=one, unit="s"),
        Figure(name="two threads", value=two, unit="s", ratio=one / two, at_least=TIMES),
    ]
    jobs = [partial(neardup.dedup, table, scheme=scheme, threshold=0.8, threads=threads) for threads in (1, 2)]
    alone, shared = map(staged, jobs)
    figures += [Figure(name=f"{stage}: one thread", value=alone[stage], unit="s") for stage in alone]
    figures += [
        Figure(name=f"{stage}: two threads", value=shared[stage], unit="s", ratio=alone[stage] / shared[stage])
        for stage in shared
    ]
    figures += in_pieces(disguised())
    publish("threads", "One thread and two", METHOD, figures)


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
