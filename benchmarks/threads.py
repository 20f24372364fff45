"""Question: how much do two threads help."""

from functools import partial

import neardup
from corpus import corpus
from figures import Figure, publish
from peers.measuring import best_of
from stages import staged

METHOD = """
The job of [dedup](dedup.md), in memory, on one thread and on two; the best of five, also of each stage. What
does not halve: candidates are proposed one after the other, a sixth of comparing; the threads wait for each other
several times in every 2,048 documents compared; and of the rest (ranking, telling equals, keys and their buckets, the
report) only the buckets are shared.
"""
TIMES = 1.7


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
    publish("threads", "One thread and two", METHOD, figures)


if __name__ == "__main__":
    main()
