"""Question: does ten times as much take ten times as long.

Each measurement is a process of its own (`growth.py CASE DOCUMENTS`), because the
peak of a process's memory never falls.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import neardup
from corpus import CACHE, corpus
from figures import Figure, publish
from peers.measuring import best_of
from truth import families

METHOD = """
Ten times as many documents, in processes of their own. *Families*: a tenth of the families of the corpus
(documents connected by pairs of resemblance 0.8 or more), drawn at random, against all of them, so that a document
has as many near-duplicates in the tenth as in the whole. *Shuffled*: the first tenth of the shuffled corpus against
all of it; there are a hundred times as many pairs to be found in ten times as many documents, and comparing them
takes its time. *Identical*: 100,000 against a million copies of one document. Memory is the peak above that of the
warmed-up
process, the documents themselves included. One thread; time is the best of three. The ratio
is the more to the fewer.
"""
THRESHOLD: Final = 0.8
SEED: Final = 11
IDENTICAL: Final = "All work and no play makes this a document like any other, " * 6


def main() -> None:
    documents = corpus().num_rows
    figures = [
        *compared("families", documents // 10, documents, 11),
        *compared("shuffled", documents // 10, documents, 11),
        *compared("identical", 100_000, 1_000_000, 12),
    ]
    publish("growth", "Ten times as many documents", METHOD, figures)


def compared(case: str, few: int, many: int, limit: float) -> list[Figure]:
    small, large = measured(case, few), measured(case, many)
    figures = []
    for quantity, unit in (("time", "s"), ("memory", "MB")):
        ratio = large[quantity] / small[quantity]
        figures += [
            Figure(name=f"{case}, {few:,} documents, {quantity}", value=small[quantity], unit=unit),
            Figure(
                name=f"{case}, {many:,} documents, {quantity}",
                value=large[quantity],
                unit=unit,
                ratio=ratio,
                at_most=limit,
            ),
        ]
    return figures


def measured(case: str, documents: int) -> dict[str, float]:
    source = CACHE / f"{case}-{documents}.parquet"
    if case != "identical":
        pq.write_table(chosen(case, documents).select(["text"]), source)
    command = [sys.executable, __file__, case, str(documents), source]
    try:
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    finally:
        source.unlink(missing_ok=True)


def chosen(case: str, documents: int) -> pa.Table:
    """Take so many documents of the corpus, in its order: the first ones, or whole families, drawn at random."""
    table = corpus()
    if case == "shuffled":
        return table.slice(0, documents)
    family = families(THRESHOLD)
    numbers = np.random.default_rng(SEED).permutation(len(family))
    turn = numbers[family]  # all of a family have that of its first document
    return table.take(np.sort(np.argsort(turn, kind="stable")[:documents]))


def measure(case: str, documents: int, source: Path) -> None:
    """Run one case in this process and print its time and memory."""
    scheme = neardup.MinHash(shingle=5, permutations=128, seed=1)
    neardup.dedup([IDENTICAL, IDENTICAL + "or not"], scheme=scheme, threshold=0.8, threads=1)
    before = peak_megabytes()
    if case == "identical":
        table = pa.table({"text": pa.repeat(pa.scalar(IDENTICAL, pa.large_string()), documents)})
    else:
        table = pq.read_table(source)
    seconds, _ = best_of(lambda: neardup.dedup(table, text="text", scheme=scheme, threshold=0.8, threads=1))
    print(json.dumps({"time": seconds, "memory": peak_megabytes() - before}))


def peak_megabytes() -> float:
    """Return the peak of this program's own memory; getrusage would include the parent's at the time of the fork."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1024


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
    else:
        main()
