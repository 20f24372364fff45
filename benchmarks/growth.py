"""Question: does ten times as much take ten times as long.

Each measurement is a process of its own (`growth.py CASE DOCUMENTS`), because the
peak of a process's memory never falls.
"""

import json
import re
import string
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

import neardup
from corpus import CACHE, corpus
from figures import Figure, publish
from peers.measuring import best_of
from stages import staged

METHOD = """
Each measurement is a process of its own, in one thread. The ratio is the figure of ten times as many documents to that
of the fewer. Times are the best of five; memory is the peak above that of the process with compiled kernels, including
the documents.

- *Repeated*: a tenth of the corpus, and ten copies of it whose letters and digits are shifted, so that documents of
  different copies do not match. There is exactly ten times as much of everything.
- *Shuffled*: the first tenth of the shuffled corpus, and all of it. Ten times as many documents have a hundred times
  as many matching pairs, and comparing them takes time.
- *Identical*: 100,000 and a million copies of one document. *Near-identical*: the same numbers of documents that differ
  in the last of 61 words.

The stages are shown as well; *the rest* is ranking, grouping equal documents, keys and their buckets, and the report.
"""
REPEATS: Final = 5
ALPHABETS: Final = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
IDENTICAL: Final = "All work and no play makes this a document like any other, " * 6
ALIKE: Final = " ".join(f"word{place}" for place in range(60))
MADE: Final = {
    "identical": lambda number: pa.repeat(pa.scalar(IDENTICAL, pa.large_string()), number),
    "near-identical": lambda number: pa.array((f"{ALIKE} {own}" for own in range(number)), pa.large_string()),
}


def main() -> None:
    documents = corpus().num_rows
    figures = [
        *compared("repeated", documents // 10, documents // 10 * 10, 11),
        *compared("shuffled", documents // 10, documents, 11),
        *(figure for case in MADE for figure in compared(case, 100_000, 1_000_000, 12)),
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
    figures += [
        Figure(name=f"{case}, {stage}", value=seconds, unit="s", ratio=seconds / small["stages"][stage])
        for stage, seconds in large["stages"].items()
    ]
    return figures


def measured(case: str, documents: int) -> dict[str, float]:
    source = CACHE / f"{case}-{documents}.parquet"
    if case not in MADE:
        pq.write_table(chosen(case, documents).select(["text"]), source)
    command = [sys.executable, __file__, case, str(documents), source]
    try:
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    finally:
        source.unlink(missing_ok=True)


def chosen(case: str, documents: int) -> pa.Table:
    """Take the first documents of the corpus; *repeated*, those of the first tenth over and over, disguised."""
    tenth = corpus().num_rows // 10
    if case == "shuffled" or documents <= tenth:
        return corpus().slice(0, documents)
    texts = corpus()["text"].slice(0, tenth).to_pylist()
    disguised = [text.translate(moved(step)) for step in range(documents // tenth) for text in texts]
    return pa.table({"text": pa.array(disguised, pa.large_string())})


def moved(step: int) -> dict[int, str]:
    """Make a table that moves every letter and digit on by so many, round and round.

    >>> "Form 1509".translate(moved(1))
    'Gpsn 2610'
    """
    return str.maketrans(
        {
            letter: letters[(place + step) % len(letters)]
            for letters in ALPHABETS
            for place, letter in enumerate(letters)
        }
    )


def measure(case: str, documents: int, source: Path) -> None:
    """Run one case in this process and print its time and memory."""
    scheme = neardup.MinHash(shingle=5, permutations=128, seed=1)
    neardup.dedup([IDENTICAL, IDENTICAL + "or not"], scheme=scheme, threshold=0.8, threads=1)
    before = peak_megabytes()
    table = pa.table({"text": MADE[case](documents)}) if case in MADE else pq.read_table(source)
    seconds, _ = best_of(lambda: neardup.dedup(table, text="text", scheme=scheme, threshold=0.8, threads=1), REPEATS)
    memory = peak_megabytes() - before
    stages = staged(partial(neardup.dedup, table, text="text", scheme=scheme, threshold=0.8, threads=1), REPEATS)
    print(json.dumps({"time": seconds, "memory": memory, "stages": stages}))


def peak_megabytes() -> float:
    """Return the peak of this program's own memory; getrusage would include the parent's at the time of the fork."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1024


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
    else:
        main()
