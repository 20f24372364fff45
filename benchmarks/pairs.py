"""Question: what do all pairs of a collection cost, compared with its deduplication."""

import time

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpus import CACHE, corpus
from figures import SMALL, Figure, publish
from neardup import MinHash, dedup, pairs
from truth import join

METHOD = """
All pairs of the benchmark corpus with a resemblance of at least 0.6 and 0.8 (3 words), which are exact, to the time of
`dedup` at the same threshold; real time on all cores, in turn, the best of three. *Complete*: of the pairs of 5,000
documents that a join without the library finds from 0.6 (5 words), the share that is found from 0.5, as the two cut
words differently.
"""
FEW = 1_000 if SMALL else 5_000
REPEATS = 3


def main() -> None:
    corpus()
    table = pq.read_table(CACHE / "corpus.parquet")
    table = table.slice(0, FEW) if SMALL else table
    figures = []
    for threshold in (0.6, 0.8):
        runs, joins = [], []
        for _ in range(REPEATS):
            started = time.perf_counter()
            dedup(table, threshold=threshold)
            runs.append(time.perf_counter() - started)
            started = time.perf_counter()
            found = pairs(table, threshold=threshold)
            joins.append(time.perf_counter() - started)
        ratio = min(joins) / min(runs)
        figures += [
            Figure(name=f"pairs from {threshold:g}", value=len(found), unit=""),
            Figure(name=f"pairs from {threshold:g} to dedup", value=min(joins), unit="s", ratio=ratio, at_most=2),
        ]
    few = table.slice(0, FEW)
    whole = ends(join(few["text"].to_pylist()), "left", "right", 0.6)
    found = ends(pairs(few, scheme=MinHash(shingle=5), threshold=0.5), "left_position", "right_position", 0.5)
    figures.append(Figure(name="complete", value=len(whole & found) / len(whole), unit="", at_least=0.999))
    publish("pairs", "All pairs", METHOD, figures)


def ends(found: pa.Table, left: str, right: str, least: float) -> set[tuple[int, int]]:
    """Return the pairs of at least a resemblance by the positions of their documents."""
    rows = found.filter(pc.field("resemblance") >= least)
    return {*zip(rows[left].to_pylist(), rows[right].to_pylist(), strict=True)}


if __name__ == "__main__":
    main()
