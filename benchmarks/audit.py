"""Question: what does an audit of a run cost, and does its interval hold the truth."""

import time

import pyarrow.parquet as pq

from corpus import CACHE, corpus
from figures import SMALL, Figure, publish
from neardup import MinHash, audit, dedup

METHOD = """
The benchmark corpus is deduplicated with the default parameters, and with a recall of 0.5, which misses pairs. An audit
samples 2,000 documents. The exact recall is that of an audit that samples all documents.

Times are real time on all cores; run and audit alternate, the best of three.
"""
SAMPLE = 200 if SMALL else 2_000
REPEATS = 3


def main() -> None:
    corpus()
    table = pq.read_table(CACHE / "corpus.parquet")
    table = table.slice(0, 5_000) if SMALL else table
    figures = []
    for name, scheme in (("default", MinHash()), ("recall 0.5", MinHash(recall=0.5))):
        runs, audits = [], []
        for _ in range(REPEATS):
            started = time.perf_counter()
            result = dedup(table, scheme=scheme)
            runs.append(time.perf_counter() - started)
            started = time.perf_counter()
            found = audit(result, scheme=scheme, sample=SAMPLE)
            audits.append(time.perf_counter() - started)
        whole = audit(result, scheme=scheme, sample=200_000).recall.value
        ratio = min(audits) / min(runs)
        figures += [
            Figure(name=f"{name}: audit to run", value=min(audits), unit="s", ratio=ratio, at_most=1.5),
            Figure(name=f"{name}: exact recall", value=whole, unit=""),
            Figure(name=f"{name}: interval from", value=found.recall.low, unit="", at_most=whole),
            Figure(name=f"{name}: interval to", value=found.recall.high, unit="", at_least=whole),
        ]
    publish("audit", "Audits", METHOD, figures)


if __name__ == "__main__":
    main()
