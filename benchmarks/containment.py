"""Question: how many excerpts of documents are found, at what cost."""

import time
from typing import Final

import numpy as np
import pyarrow as pa

from corpus import corpus
from figures import SMALL, Figure, publish
from neardup import FracMinHash, dedup, pairs
from neardup.decisions.evidence import FeatureSets

METHOD = """
100 long documents of 20 to 100 passages that no other document has, and 4,000 excerpts of them, are added to the
benchmark corpus. An excerpt has 50 to 500 consecutive words, some of them replaced. `dedup` runs with containment from
0.8 and `keep` longest in one thread. All pairs of documents are compared exactly, too.

- *Found* is the share of documents that are dropped, among the documents of at least 50 shingles with 0.8 of them in a
  better-ranked kept document up to 100 times as long. *Excerpts found* is the same for the excerpts.
- *Compared* is the number of exact comparisons per document.
"""
FEW: Final = 2_000
BOOKS: Final = 40 if SMALL else 100
EXCERPTS: Final = 40  # of each
LEAST: Final = 50  # shingles
LONGER: Final = 100
THRESHOLD: Final = 0.8


def main() -> None:
    table, first = planted()
    sizes = distinct(table)
    started = time.perf_counter()
    found = pairs(table, measure="overlap", threshold=THRESHOLD)
    joined = time.perf_counter() - started
    figures = []
    for scheme in (FracMinHash(), FracMinHash(scaled=4)):
        started = time.perf_counter()
        result = dedup(table, scheme=scheme, keep="longest", threads=1)
        elapsed = time.perf_counter() - started
        contained = expected(found, result.representatives < 0, sizes, table)
        dropped = result.representatives[contained] >= 0
        excerpts = contained >= first
        about = f"one of {scheme.scaled}"
        figures += [
            Figure(name=f"{about}: found", value=float(dropped.mean()), unit="", at_least=0.95),
            Figure(name=f"{about}: excerpts found", value=float(dropped[excerpts].mean()), unit="", at_least=0.95),
            Figure(name=f"{about}: compared", value=result.summary.compared / len(table), unit="", at_most=50),
            Figure(name=f"{about}: time", value=elapsed, unit="s"),
        ]
    started = time.perf_counter()
    dedup(table, threads=1)
    figures += [
        Figure(name="dedup by resemblance", value=time.perf_counter() - started, unit="s"),
        Figure(name="all pairs, two threads", value=joined, unit="s"),
    ]
    publish("containment", "Excerpts", METHOD, figures)


def planted() -> tuple[pa.Table, int]:
    """Return the corpus with long documents and excerpts, and the position of the first excerpt."""
    random = np.random.default_rng(5)
    table = corpus()
    table = table.slice(0, FEW) if SMALL else table
    words = [text.split() for text in table["text"].take(random.permutation(len(table))[:20_000]).to_pylist()]
    books, excerpts = [], []
    for book in range(BOOKS):
        passages = [words[place] for place in random.integers(0, len(words), int(random.integers(20, 101)))]
        text = [
            f"{word}{book}" if random.random() < 0.1 else word for one in passages for word in one
        ]  # no other has it
        books.append(" ".join(text))
        for _ in range(EXCERPTS):
            length = min(int(random.integers(50, 501)), len(text))
            begin = int(random.integers(0, len(text) - length + 1))
            part = text[begin : begin + length]
            replaced = int(random.integers(0, length // 25 + 1))  # each changes three shingles
            for place in random.integers(0, length, replaced).tolist():
                part[place] = f"other{place}"
            excerpts.append(" ".join(part))
    more = [*books, *excerpts]
    ids = [f"planted-{number}" for number in range(len(more))]
    whole = pa.concat_tables([table.cast(table.schema), pa.table([ids, more], schema=table.schema)])
    return whole, len(table) + len(books)


def distinct(table: pa.Table) -> np.ndarray:
    """Return the number of different shingles of each document."""
    sets = FeatureSets(FracMinHash().features(table["text"]), np.arange(len(table)))
    sets.make_distinct(np.arange(len(table)))
    return sets.sizes


def expected(found: pa.Table, kept: np.ndarray, sizes: np.ndarray, table: pa.Table) -> np.ndarray:
    """Return the positions of documents that are contained in a better-ranked kept document."""
    lengths = np.array([len(text.encode()) for text in table["text"].to_pylist()])
    ranks = np.empty(len(lengths), np.int64)
    ranks[np.lexsort((np.arange(len(lengths)), -lengths))] = np.arange(len(lengths))
    left, right = found["left_position"].to_numpy(), found["right_position"].to_numpy()
    worse = ranks[left] > ranks[right]
    asking, other = np.where(worse, left, right), np.where(worse, right, left)
    share = np.where(worse, found["left_in_right"].to_numpy(), found["right_in_left"].to_numpy())
    holds = (share >= THRESHOLD) & kept[other] & (sizes[asking] >= LEAST) & (sizes[other] <= LONGER * sizes[asking])
    return np.unique(asking[holds])


if __name__ == "__main__":
    main()
