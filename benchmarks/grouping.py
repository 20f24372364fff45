"""Question: how long does it take to group documents by their keys.

The measurement is a process of its own (`grouping.py KEYS`), whose memory is measured.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np

import neardup
from corpus import CACHE, corpus
from figures import SMALL, Figure, publish
from neardup.index.memory.buckets import Buckets
from peer import ask
from pieces import COPIES, watched

METHOD = """
The keys are those of the signatures of ten corpora: the benchmark corpus, and nine copies in which every key is
changed in the same way. neardup reads them from a mapped file, as a run in pieces does, and lists the members of all
buckets of several documents; then it proposes the candidates of every document.

DuckDB groups the same keys, which are in a table on disk, by column and key: it returns the smallest document and the
size of groups of several members, and, for what neardup has, the list of their members. DuckDB's memory limit is the
peak of neardup's anonymous memory. Processor time, one thread. The ratio is DuckDB's time to that of neardup's
buckets.
"""
SEED: Final = 1
TIMES: Final = 5.0


def main() -> None:
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        path = Path(folder) / "keys.npy"
        keys = copied()
        np.save(path, np.ascontiguousarray(keys))  # by column, as a run in pieces stores them
        run, printed = watched([sys.executable, __file__, str(path)], Path(folder))
        ours = json.loads(printed)
        theirs = ask("duckdb", "groups", folder, str(round(run.memory)), source=path)
    figures = [
        Figure(name="neardup, memory", value=run.memory, unit="MB"),
        Figure(name="neardup, buckets", value=ours["buckets"], unit="s"),
        Figure(name="neardup, candidates", value=ours["candidates"], unit="s"),
    ]
    for record in theirs:
        ratio = record["processor"] / ours["buckets"]
        name = f"DuckDB, {record['way']}"
        figures.append(Figure(name=name, value=record["processor"], unit="s", ratio=ratio, at_least=TIMES))
    publish("grouping", f"{keys.size:,} keys of {keys.shape[1]:,} documents grouped", METHOD, figures)


def copied() -> np.ndarray:
    """Sign the corpus, and return the keys of different signatures, by column, in `COPIES` copies."""
    scheme = neardup.MinHash(shingle=5, permutations=128, threshold=0.8, seed=1)
    signatures = scheme.sign(corpus()["text"])
    _, first = np.unique(signatures.rows[signatures.present], axis=0, return_index=True)
    keys = scheme.keys(signatures)[signatures.present][np.sort(first)].T
    changes = np.random.default_rng(SEED).integers(1 << 63, size=COPIES, dtype=np.uint64)
    return np.concatenate([keys ^ change for change in changes], axis=1)


class Keys:
    """Keys by column, uint64[K, n]."""

    def __init__(self, keys: np.ndarray) -> None:
        self._keys, self.columns = keys, len(keys)

    def column(self, column: int, documents: np.ndarray) -> np.ndarray:
        """Return the keys of these documents in one column."""
        return np.asarray(self._keys[column])[documents]

    def rows(self, documents: np.ndarray) -> np.ndarray:
        """Return all keys of these documents."""
        return np.asarray(self._keys[:, documents]).T


def measure(path: Path) -> None:
    mapped = np.load(path, mmap_mode="r")
    keys, present = Keys(mapped), np.ones(mapped.shape[1], bool)
    next(Buckets(Keys(np.zeros((2, 2), np.uint64)), present[:2]).proposed())  # loads the compiled kernels
    begin = time.process_time()
    buckets = Buckets(keys, present)
    found = time.process_time()
    for _ in buckets.proposed():
        pass
    print(json.dumps({"buckets": found - begin, "candidates": time.process_time() - found}))


if __name__ == "__main__":
    if sys.argv[1:] and not SMALL:
        measure(Path(sys.argv[1]))
    else:
        main()
