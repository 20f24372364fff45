"""Question: how are 200 million fingerprints asked from a file. Long, and needs 14 GB of memory and 15 GB of disk."""

import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np

import neardup
from corpus import CACHE
from figures import Figure, publish
from population import DISTANCE, population

METHOD = """
There are two hundred million fingerprints, random ones with near ones among them; all within 3 bits of a query are
wanted. The tables are built in memory, saved, and opened from the file, which is mapped. One thread. The designs are
the *chosen* one, the default for this number, and *two halves*, also compressed.

- *First*: the first 100,000 queries of one call, on a file that is not verified yet. *Warm*: after a million
  more, everything they need is verified and in memory.
- *Single* queries are asked one by one, from Python.
- Bytes are those of the file, positions and checksums included.
- *Predicted* is the time of a batched lookup in memory by `neardup plan`, from costs measured in the same run.
"""
NUMBER: Final = 200_000_000
WARMING: Final = 1_000_000
SINGLE: Final = 5_000
COMPACT: Final = neardup.hamming.TableDesign(kind="probes", distance=DISTANCE, pieces=2)
CHOSEN: Final = neardup.hamming.TableDesign.choose(distance=DISTANCE, fingerprints=NUMBER)
WAYS: Final = {"chosen": (CHOSEN, False), "two halves": (COMPACT, False), "two halves, compressed": (COMPACT, True)}


def main() -> None:
    small = np.arange(3, dtype=np.uint64)
    costs = neardup.hamming.measured_costs()
    figures: list[Figure] = []
    for name, (design, compressed) in WAYS.items():
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            neardup.hamming.HammingTables.build(small, compressed=compressed).save(Path(folder, "small"))
            neardup.hamming.HammingTables.open(Path(folder, "small")).lookup(small)  # compiles what is not yet
            figures += measured(name, Path(folder, "tables"), design, compressed=compressed)
        if not compressed:
            predicted = design.microseconds(NUMBER, costs)
            figures.append(Figure(name=f"{name}: predicted", value=predicted, unit="µs"))
    title = f"200 million fingerprints in a file; chosen is {CHOSEN.kind} of {CHOSEN.pieces}"
    publish("stored_fingerprints", title, METHOD, figures)


def measured(name: str, path: Path, design: Any, *, compressed: bool) -> list[Figure]:
    """Build, save, open and ask."""
    fingerprints, queries = population(NUMBER)
    figures, expected = written(name, path, fingerprints, queries, (design, compressed))
    del fingerprints
    return figures + asked(name, path, queries, expected)


def written(
    name: str, path: Path, fingerprints: np.ndarray, queries: np.ndarray, way: tuple[Any, bool]
) -> tuple[list[Figure], tuple[np.ndarray, ...]]:
    """Build an index, ask it in memory, and save it."""
    design, compressed = way
    tables, build = timed(
        lambda: neardup.hamming.HammingTables.build(fingerprints, DISTANCE, design, compressed=compressed)
    )
    expected = tables.lookup(queries)
    batched = min(timed(lambda: tables.lookup(queries))[1] for _ in range(3))
    _, save = timed(lambda: tables.save(path))
    figures = [
        Figure(name=f"{name}: build", value=build, unit="s"),
        Figure(name=f"{name}: save", value=save, unit="s"),
        Figure(name=f"{name}: bytes each", value=path.stat().st_size / NUMBER, unit=""),
        Figure(name=f"{name}: batched, in memory", value=batched / len(queries) * 1e6, unit="µs"),
    ]
    return figures, expected


def asked(name: str, path: Path, queries: np.ndarray, expected: tuple[np.ndarray, ...]) -> list[Figure]:
    """Open the index, and ask it where it is."""
    opened, opening = timed(lambda: neardup.hamming.HammingTables.open(path))
    found, first = timed(lambda: opened.lookup(queries))
    if not all((one == other).all() for one, other in zip(expected, found, strict=True)):
        raise AssertionError("the opened index finds others")
    opened.count(np.random.default_rng(3).integers(0, 2**64, WARMING, np.uint64))
    warm = min(timed(lambda: opened.lookup(queries))[1] for _ in range(3))
    singles = [timed(lambda place=place: opened.lookup(queries[place : place + 1]))[1] for place in range(SINGLE)]
    half, most = np.percentile(singles, [50, 99]) * 1e6
    each = 1e6 / len(queries)
    return [
        Figure(name=f"{name}: open", value=opening, unit="s", at_most=1),
        Figure(name=f"{name}: batched, opened, first", value=first * each, unit="µs"),
        Figure(name=f"{name}: batched, opened, warm", value=warm * each, unit="µs"),
        Figure(name=f"{name}: single, opened, warm, half within", value=half, unit="µs"),
        Figure(name=f"{name}: single, opened, warm, 99 % within", value=most, unit="µs"),
    ]


def timed(job: Any) -> tuple[Any, float]:
    """Run a job; return its result and its time in seconds."""
    begin = perf_counter()
    result = job()
    return result, perf_counter() - begin


if __name__ == "__main__":
    main()
