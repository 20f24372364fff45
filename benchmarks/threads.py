"""Question: how much do two threads help."""

import neardup
from corpus import corpus
from figures import Figure, publish
from peers.measuring import best_of

METHOD = "The job of [dedup](dedup.md), in memory, on one thread and on two; the best of five."
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
    publish("threads", "One thread and two", METHOD, figures)


if __name__ == "__main__":
    main()
