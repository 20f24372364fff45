"""Question: does ten times as much take ten times as long.

Each measurement is a process of its own (`growth.py CASE DOCUMENTS`), because the
peak of a process's memory never falls.
"""

import json
import resource
import subprocess
import sys
from typing import Final

import pyarrow as pa

import neardup
from corpus import corpus
from figures import Figure, publish
from peers.measuring import best_of

METHOD = """
Ten times as many documents, in processes of their own: a tenth of the corpus against all of it,
and 100,000 against a million copies of one document. Memory is the peak above that of the warmed-up
process, the documents themselves included. One thread; time is the best of three.
"""
IDENTICAL: Final = "All work and no play makes this a document like any other, " * 6


def main() -> None:
    documents = corpus().num_rows
    small = measured("corpus", documents // 10)
    large = measured("corpus", documents)
    few = measured("identical", 100_000)
    many = measured("identical", 1_000_000)
    figures = [
        Figure(name=f"{documents // 10:,} documents", value=small["seconds"], unit="s"),
        Figure(
            name=f"{documents:,} documents", value=large["seconds"], unit="s", **growth("seconds", small, large, 11)
        ),
        Figure(name="memory for the fewer", value=small["megabytes"], unit="MB"),
        Figure(
            name="memory for the more", value=large["megabytes"], unit="MB", **growth("megabytes", small, large, 11)
        ),
        Figure(name="100,000 identical documents", value=few["seconds"], unit="s"),
        Figure(
            name="1,000,000 identical documents", value=many["seconds"], unit="s", **growth("seconds", few, many, 12)
        ),
        Figure(name="memory for the fewer", value=few["megabytes"], unit="MB"),
        Figure(name="memory for the more", value=many["megabytes"], unit="MB", **growth("megabytes", few, many, 12)),
    ]
    publish("growth", "Ten times as many documents", METHOD, figures)


def growth(quantity: str, small: dict[str, float], large: dict[str, float], limit: float) -> dict[str, float]:
    return {"ratio": large[quantity] / small[quantity], "at_most": limit}


def measured(case: str, documents: int) -> dict[str, float]:
    command = [sys.executable, __file__, case, str(documents)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def measure(case: str, documents: int) -> None:
    """Run one case in this process and print its time and memory."""
    scheme = neardup.MinHash(shingle=5, permutations=128, seed=1)
    neardup.dedup([IDENTICAL, IDENTICAL + "or not"], scheme=scheme, threshold=0.8, threads=1)
    before = peak_megabytes()
    texts = pa.array([IDENTICAL]).take(pa.repeat(0, documents)) if case == "identical" else some(documents)
    table = pa.table({"text": texts})
    seconds, _ = best_of(lambda: neardup.dedup(table, scheme=scheme, threshold=0.8, threads=1))
    print(json.dumps({"seconds": seconds, "megabytes": peak_megabytes() - before}))


def some(documents: int) -> pa.Array:
    """Return the first documents of the corpus, copied: a slice would hold all of them."""
    texts = corpus()["text"]
    return texts.take(pa.array(range(documents)))


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1], int(sys.argv[2]))
    else:
        main()
