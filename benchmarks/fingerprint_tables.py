"""Question: how fast are all fingerprints found that are within a Hamming distance."""

from time import process_time
from typing import Any, Final

import numpy as np

import neardup
from figures import Figure, publish
from peer import ask
from peers.measuring import best_of
from population import DISTANCE, FOLDER, JOINED, stored

METHOD = """
There are 20 million fingerprints, random ones with near ones among them, and 100,000 queries; every second one is
near a fingerprint. All fingerprints within 3 bits are wanted; every library finds the same ones. One thread, processor
time. The ratio is the peer's time or bytes to those of four tables; the target refers to the better setting of faiss.

- *Batched* is the time per query if all are asked in one call, the best of three. *Single* is the median of queries
  asked one by one, from Python.
- *Bytes* are bytes of memory per fingerprint. neardup reports its own, without the positions (4 bytes more); those of
  faiss are the growth of the process beyond its input.
- The designs are *four tables*, the default for this number, and *two halves*, also compressed.
- faiss is `IndexBinaryMultiHash(hashes, bits, flips)` with `range_search`; the second setting is asked 4,000 queries.
- *Join* finds all pairs of a million fingerprints, including building the index. simhash-cpp (by seomoz) does this
  with `find_all`, through its wrapper simhash-pybind, because simhash-py does not compile with this Python; the best
  number of blocks counts.

hammingbird was not measured: it is distributed as source, and its crates could not be downloaded.
"""
SINGLE: Final = 2_000
COMPACT: Final = neardup.hamming.TableDesign(kind="probes", distance=DISTANCE, pieces=2)
FAISS: Final = ("2,32,1", "4,16,0")
MOST: Final = {  # microseconds batched, single, and bytes
    "four tables": (3, 15, 36),
    "two halves": (15, None, 14),
    "two halves, compressed": (15, None, 12),
}


def main() -> None:
    folder = stored()
    fingerprints, queries = (np.load(folder / f"{name}.npy") for name in ("fingerprints", "queries"))
    neardup.hamming.HammingTables.build(fingerprints[:10], compressed=True).lookup(queries)  # compiles what is not yet
    neardup.hamming.HammingTables.build(fingerprints[:10]).lookup(queries)
    figures: list[Figure] = []
    ours: dict[str, float] = {}
    for name, (batched, single, size) in MOST.items():
        design = "auto" if name == "four tables" else COMPACT
        measured, truth = measure(fingerprints, queries, design, compressed="compressed" in name)
        ours = ours or measured
        figures += [
            Figure(name=f"{name}: build", value=measured["build"], unit="s", at_most=5),
            Figure(name=f"{name}: batched", value=measured["batched"], unit="µs", at_most=batched),
            Figure(name=f"{name}: single", value=measured["single"], unit="µs", at_most=single),
            Figure(name=f"{name}: bytes each", value=measured["bytes"], unit="", at_most=size),
        ]
    figures += beside_faiss(ours, truth)
    figures += joins(np.unique(fingerprints[:JOINED]))
    publish("fingerprint_tables", "All fingerprints within 3 bits, of 20 million", METHOD, figures)


def measure(
    fingerprints: np.ndarray, queries: np.ndarray, design: Any, *, compressed: bool
) -> tuple[dict[str, float], tuple[np.ndarray, ...]]:
    """Build an index, ask it, and return its figures and what it found."""
    begin = process_time()
    tables = neardup.hamming.HammingTables.build(fingerprints, DISTANCE, design, compressed=compressed)
    build = process_time() - begin
    batched, found = best_of(lambda: tables.lookup(queries), clock=process_time)
    times = []
    for place in range(SINGLE):
        begin = process_time()
        tables.lookup(queries[place : place + 1])
        times.append(process_time() - begin)
    measured = {
        "build": build,
        "batched": batched / len(queries) * 1e6,
        "single": float(np.median(times)) * 1e6,
        "bytes": tables.nbytes / len(tables) - 4,
    }
    return measured, found


def beside_faiss(ours: dict[str, float], truth: tuple[np.ndarray, ...]) -> list[Figure]:
    """Measure faiss, and see that it finds the same."""
    records = [ask("faiss", "fingerprint_tables", str(FOLDER), setting)[0] for setting in FAISS]
    best = min(record["batched"] for record in records)
    figures = []
    for record in records:
        asked = truth[0] < record["queries"]
        if (record["found"], record["places"]) != (asked.sum(), truth[1][asked].sum()):
            raise AssertionError(f"{record['way']} finds other fingerprints")
        times = {name: record[name] * 1e6 for name in ("batched", "single")}
        name = f"faiss, {record['way']}"
        figures += [
            Figure(name=f"{name}: build", value=record["build"], unit="s", ratio=record["build"] / ours["build"]),
            Figure(
                name=f"{name}: batched",
                value=times["batched"],
                unit="µs",
                ratio=times["batched"] / ours["batched"],
                at_least=4 if record["batched"] == best else None,
            ),
            Figure(name=f"{name}: single", value=times["single"], unit="µs", ratio=times["single"] / ours["single"]),
            Figure(name=f"{name}: bytes each", value=record["bytes"], unit="", ratio=record["bytes"] / ours["bytes"]),
        ]
    return figures


def joins(fingerprints: np.ndarray) -> list[Figure]:
    """Find all pairs, with neardup and with simhash-cpp."""
    seconds, found = best_of(
        lambda: neardup.hamming.HammingTables.build(fingerprints, DISTANCE).self_join(), clock=process_time
    )
    records = ask("simhash", "fingerprint_tables", str(FOLDER), str(JOINED))
    if {record["found"] for record in records} != {len(found[0])}:
        raise AssertionError("simhash-cpp finds other pairs")
    best = min(records, key=lambda record: record["seconds"])
    return [
        Figure(name="neardup: join of a million", value=seconds, unit="s", at_most=0.25),
        Figure(
            name=f"simhash-cpp, {best['way']}: join of a million",
            value=best["seconds"],
            unit="s",
            ratio=best["seconds"] / seconds,
            at_least=5,
        ),
    ]


if __name__ == "__main__":
    main()
