"""Question: what does an index of a hundred million documents need, and how fast does it answer."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from time import perf_counter, process_time
from typing import Final, NamedTuple

import msgspec
import numpy as np

import neardup
from corpus import CACHE
from figures import SMALL, Figure, publish

METHOD = """
The signatures have 128 generated minima; one document in ten is a copy of another. They are admitted with
`durability="bulk"` and compacted, each size in a folder of its own. Another process opens the index and judges
signatures one by one: new ones, and copies of documents in the index.

- *Cold* is after the system has dropped the files from its cache, so that each answer reads from the disk. *Warm*
  repeats the same signatures.
- *Memory* is anonymous memory after that. The files are mapped as well, as far as there is memory.
- The prediction for disk and memory is the line through both sizes. The latency at 100 million is expected between
  warm and cold at the larger size: an answer looks up the same number of places at every size, and each place is in a
  mapped file that is in memory or not.
"""
SIZES: Final = (20_000, 200_000) if SMALL else (1_000_000, 10_000_000)
PREDICTED: Final = 100_000_000
TOGETHER: Final = 20_000
COPIED: Final = 10  # one in so many
SINGLES: Final = 200 if SMALL else 2_000
SEED: Final = 3
MEGABYTE: Final = 1e6


class Measured(NamedTuple):
    """What a process has seen of an index: the seconds until it was open, its memory, and times by name."""

    opened: float
    memory: float
    times: dict[str, list[float]]


def main() -> None:
    figures, disk, memory = [], [], []
    for documents in SIZES:
        folder = Path(mkdtemp(dir=CACHE, prefix="grown-"))
        try:
            own, size, anonymous = measured(folder, documents)
        finally:
            shutil.rmtree(folder)
        figures += own
        disk.append(size)
        memory.append(anonymous)
    figures += [
        Figure(name="100 million, disk, predicted", value=predicted(disk) / 1e9, unit="GB"),
        Figure(name="100 million, memory, predicted", value=predicted(memory), unit="MB"),
    ]
    publish("hundred_million", "A hundred million documents", METHOD, figures)


def predicted(values: list[float]) -> float:
    """Return the value at ``PREDICTED`` of the line through the values at both sizes."""
    (few, many), (less, more) = SIZES, values
    return more + (more - less) / (many - few) * (PREDICTED - many)


def measured(folder: Path, documents: int) -> tuple[list[Figure], float, float]:
    begun, spent = perf_counter(), process_time()
    fill(folder / "index", documents)
    seconds, processor = perf_counter() - begun, process_time() - spent
    size = sum(path.stat().st_size for path in (folder / "index").iterdir())
    found = apart(folder / "index", documents)
    name = f"{documents / MEGABYTE:g} million"
    figures = [
        Figure(name=f"{name}, admitted and compacted, processor time", value=documents / processor, unit="documents/s"),
        Figure(name=f"{name}, wall time", value=seconds, unit="s"),
        Figure(name=f"{name}, bytes per document", value=size / documents, unit=""),
        Figure(name=f"{name}, opened", value=found.opened, unit="s"),
        Figure(name=f"{name}, memory", value=found.memory, unit="MB"),
    ]
    for case, times in found.times.items():
        for share, word in ((50, "median"), (99, "p99")):
            value = float(np.percentile(times, share)) * 1e3
            figures.append(Figure(name=f"{name}, judged, {case}, {word}", value=value, unit="ms"))
    return figures, float(size), found.memory


def rows(begin: int, number: int) -> np.ndarray:
    """Make up the signatures of some documents, of which every tenth is that of the one before."""
    made = np.random.default_rng((SEED, begin)).integers(0, 2**32 - 2, (number, 128), np.uint32)
    made[COPIED - 1 :: COPIED] = made[COPIED - 2 :: COPIED]
    return made


def signed(made: np.ndarray) -> neardup.Signatures:
    return neardup.Signatures(made, np.ones(len(made), np.bool_), neardup.MinHash().recipe)


def fill(folder: Path, documents: int) -> None:
    with neardup.Index.create(folder, durability="bulk", memory=1 << 30) as index:
        for begin in range(0, documents, TOGETHER):
            ids = [f"https://site-{number % 997}.example/page/{number}" for number in range(begin, begin + TOGETHER)]
            index.admit(ids, signed(rows(begin, TOGETHER)))
        index.compact()


def apart(folder: Path, documents: int) -> Measured:
    command = [sys.executable, __file__, "judge", str(folder), str(documents)]
    return msgspec.json.decode(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout, type=Measured)


def judge(folder: Path, documents: int) -> None:
    """Judge in this process, and print what was measured."""
    random = np.random.default_rng(SEED)
    begins = random.choice(documents // TOGETHER, min(SINGLES, documents // TOGETHER), replace=False) * TOGETHER
    known = np.concatenate([rows(begin, TOGETHER)[1 : 1 + -(-SINGLES // len(begins))] for begin in begins.tolist()])
    cases = {"new": signed(rows(documents, SINGLES)), "copies": signed(known[:SINGLES])}
    neardup.Index.create().judge(cases["new"][:1])  # loads the kernels
    for path in folder.iterdir():
        forget(path)
    begun = perf_counter()
    with neardup.Index.open(folder) as index:
        index.judge(cases["new"][:1])
        opened = perf_counter() - begun
        times = {
            f"{case}, {when}": [single(index, signatures[row : row + 1]) for row in range(SINGLES)]
            for case, signatures in cases.items()
            for when in ("cold", "warm")
        }
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        memory = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon")) / 1e3
    print(msgspec.json.encode(Measured(opened, memory, times)).decode())


def forget(path: Path) -> None:
    """Let the system remove a file from its cache."""
    with path.open("rb") as file:
        os.fdatasync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def single(index: neardup.Index, signatures: neardup.Signatures) -> float:
    begun = perf_counter()
    index.judge(signatures)
    return perf_counter() - begun


if __name__ == "__main__":
    if sys.argv[1:2] == ["judge"]:
        judge(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
