"""Question: what does it cost to compare new documents with those of earlier runs."""

import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import neardup
from corpus import CACHE
from figures import Figure, publish
from pieces import disguised, run

METHOD = """
A random tenth of the documents of [pieces](pieces.md) is *new*; the others are *earlier* documents. The new documents
are compared with a state of the earlier ones (`--against`), and all documents are deduplicated in one run in pieces.
Both write Parquet and a report, with one thread. The ratio is the first to the second. Both reports must contain the
same decisions on the new documents. *State* is the size of the state without ids. *Filled* are documents that an index
without texts receives from a state in a second of processor time, with one thread: from a state `--for-index`, and from
one whose documents are read and signed again. *Admitted* are documents that an index receives from their texts, the
first ones of the kept documents. Both have `durability="bulk"`. The ratio is filled to admitted.
"""
ADMITTED: Final = 131_072
TOGETHER: Final = 8_192
SHARE: Final = 0.1
SEED: Final = 1
DECISION: Final = ("id", "kept", "representative", "rule", "resemblance", "contained_in_kept", "contains_kept", "exact")
SETTINGS: Final = {"default": [], "5 words, 0.8": ["--shingle", "5", "--threshold", "0.8"]}


def main() -> None:
    figures = []
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        earlier, new = divided(disguised(), Path(folder))
        for name, options in SETTINGS.items():
            figures += measured(name, options, earlier, new)
        figures += filled(earlier)
        publish("growing", f"New documents against {rows(earlier):,} earlier ones", METHOD, figures)


def measured(name: str, options: list[str], earlier: Path, new: Path) -> list[Figure]:
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        place = Path(folder)
        state = place / "state"
        first = run([earlier], place, "earlier", [*options, "--state", str(state)])
        against = run([new], place, "new", [*options, "--against", str(state)])
        whole = run([earlier, new], place, "whole", [*options, "--work", str(place / "work")])
        if not report(place, "new").equals(report(place, "whole").slice(rows(earlier))):
            sys.exit(f"{name}: the decisions differ")
        stored = size_of(state)
    figures = []
    for words, attribute in (("processor time", "processor"), ("wall time", "wall")):
        alone, both = getattr(against, attribute), getattr(whole, attribute)
        figures += [
            Figure(name=f"{name}, all in one run, {words}", value=both, unit="s"),
            Figure(
                name=f"{name}, new against the state, {words}", value=alone, unit="s", ratio=alone / both, at_most=0.2
            ),
        ]
    return [
        *figures,
        Figure(name=f"{name}, earlier into a state, processor time", value=first.processor, unit="s"),
        Figure(name=f"{name}, state, bytes per document", value=stored / rows(earlier), unit="", at_most=300),
    ]


def filled(earlier: Path) -> list[Figure]:
    """Fill an index from a state of each kind, and admit the same documents to another one."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        place, rates, sizes = Path(folder), {}, {}
        for name, options in {"signed again": [], "copied": ["--for-index"]}.items():
            state = place / f"state {name}"
            run([earlier], place, name, [*options, "--state", str(state)])
            sizes[name] = size_of(state) / rows(earlier)
        with neardup.Index.create(place / "admitted", durability="bulk") as index:
            for batch in pq.ParquetFile(place / "copied.out.parquet").iter_batches(TOGETHER):
                if len(index) == TOGETHER:  # the first ones load the kernels
                    started = time.process_time()
                index.admit(batch["id"].to_pylist(), batch["text"])
                if len(index) >= ADMITTED:
                    break
            admitted = (len(index) - TOGETHER) / (time.process_time() - started)
        for name in sizes:
            with (
                neardup.State.open(place / f"state {name}") as state,
                neardup.Index.create(place / name, durability="bulk") as index,
            ):
                started = time.process_time()
                done = index.fill(state, threads=1)
                rates[name] = done.total / (time.process_time() - started)
    return [
        Figure(name="admitted, documents per second", value=admitted, unit=""),
        Figure(
            name="filled, signed again",
            value=rates["signed again"],
            unit="",
            ratio=rates["signed again"] / admitted,
        ),
        Figure(
            name="filled, copied from a state for an index",
            value=rates["copied"],
            unit="",
            ratio=rates["copied"] / admitted,
            at_least=10,
        ),
        Figure(name="state for an index, bytes per document", value=sizes["copied"], unit=""),
    ]


def size_of(state: Path) -> int:
    """Return the bytes of a state without ids."""
    return sum(path.stat().st_size for path in state.rglob("*") if path.name != "ids.arrow")


def divided(source: Path, folder: Path) -> tuple[Path, Path]:
    """Write the documents into two files: the earlier ones and the new ones."""
    table = pq.read_table(source)
    new = np.random.default_rng(SEED).random(table.num_rows) < SHARE
    paths = folder / "earlier.parquet", folder / "new.parquet"
    for path, chosen in zip(paths, (~new, new), strict=True):
        pq.write_table(table.filter(pa.array(chosen)), path, row_group_size=20_000)
    return paths


def rows(path: Path) -> int:
    return pq.read_metadata(path).num_rows


def report(folder: Path, name: str) -> pa.Table:
    return pq.read_table(folder / f"{name}.report.parquet", columns=list(DECISION))


if __name__ == "__main__":
    main()
