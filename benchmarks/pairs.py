"""Question: what do all pairs of a collection cost, compared with its deduplication."""

import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from corpus import CACHE, corpus
from figures import SMALL, Figure, publish
from neardup import MinHash, dedup, pairs
from neardup.decisions.partners import Partners
from neardup.text.columns import batches, text_column, whole_batch

METHOD = """
All pairs of the benchmark corpus with a resemblance of at least 0.6 and 0.8 (3 words), which are exact, to the time of
`dedup` at the same threshold; real time on all cores, in turn, the best of three. *Complete*: of the partners
of 500 documents, found by comparing these with all others, the share that is among the pairs.
"""
FEW = 1_000
SAMPLE = 500
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
    known = {*zip(found["left_position"].to_pylist(), found["right_position"].to_pylist(), strict=True)}
    whole = partners(table)
    figures.append(Figure(name="complete", value=len(whole & known) / len(whole), unit="", at_least=0.999))
    publish("pairs", "All pairs", METHOD, figures)


def partners(table: pa.Table) -> set[tuple[int, int]]:
    """Return the pairs of some documents with all others, from 0.8."""
    texts, shingling = table["text"], MinHash().shingling
    sample = np.random.default_rng(1).choice(len(texts), SAMPLE, replace=False)
    chosen = Partners(shingling.batch_features(whole_batch(pa.chunked_array([texts.take(pa.array(sample))]))), 0.8)
    found, first = set(), 0
    for batch in batches(text_column(texts)):
        some = chosen.among(shingling.batch_features(batch))
        ends = zip(sample[some.left].tolist(), (some.right + first).tolist(), strict=True)
        found |= {(min(pair), max(pair)) for pair in ends if pair[0] != pair[1]}
        first += len(batch)
    return found


if __name__ == "__main__":
    main()
