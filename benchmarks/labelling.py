"""Question: how long does drawing pairs to label take, and what do 50 labels estimate."""

import time

import numpy as np
import pyarrow.parquet as pq

from corpus import CACHE, corpus
from figures import SMALL, Figure, publish
from neardup import pairs
from neardup.labels import draw_pairs

METHOD = """
Pairs to label are drawn from the benchmark corpus; real time on all cores, the best of 20. A simulated person labels
pairs as the same from a resemblance of 0.65 (3 words). The drawing does not know this value: its bands are tenths, and
it expects 0.6.

- *Near the border* is the share of 50 labels whose resemblance is within 0.1 of 0.65.
- *Estimated to exact* is the number of pairs of the corpus that are the same, estimated from the weights of 50 labels,
  to the exact number: the median of 20 draws, and the largest factor between estimate and truth in 18 of them.
"""
BORDER = 0.65
LABELS = 50
DRAWS = 20


def main() -> None:
    corpus()
    table = pq.read_table(CACHE / "corpus.parquet")
    table = table.slice(0, 5_000) if SMALL else table
    exact = len(pairs(table, threshold=BORDER))
    times, ratios, near = [], [], []
    for draw in range(DRAWS):
        started = time.perf_counter()
        pool = draw_pairs(table, seed=draw)
        times.append(time.perf_counter() - started)
        answers = []
        while len(answers) < LABELS and (pair := pool.draw(answers)):
            answers.append(pair.labelled("same" if pair.resemblance >= BORDER else "different"))
        same = [one.weight for one in pool.weighed(answers) if one.label == "same"]
        ratios.append(sum(same) / exact)
        near.append(np.mean([abs(one.resemblance - BORDER) <= 0.1 for one in answers]))
    factors = np.sort(np.exp(np.abs(np.log(ratios))))
    figures = [
        Figure(name=f"{pool.documents:,} documents, {pool.sample:,} drawn", value=min(times), unit="s", at_most=60),
        Figure(name="near the border", value=float(np.median(near)), unit="", at_least=0.3),
        Figure(name="estimated to exact, median", value=float(np.median(ratios)), unit="", at_least=0.8, at_most=1.25),
        Figure(name="largest factor in 18 of 20", value=float(factors[17]), unit=""),
    ]
    publish("labelling", "Labels", METHOD, figures)


if __name__ == "__main__":
    main()
