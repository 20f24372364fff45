"""Question: how does deduplicating a file compare with datatrove's pipeline."""

import tempfile
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from corpus import CACHE, corpus, text_bytes
from figures import SMALL, Figure, publish
from peer import ask
from pieces import run
from truth import join

METHOD = """
A part of the corpus is deduplicated from Parquet to Parquet. datatrove runs its four stages (signatures, buckets,
clusters, filter) with its own settings (word 5-grams, 14 buckets of 8 hashes, about 0.72) in one process. neardup runs
with word 5-grams, symbols as separators and a threshold of 0.72 in one thread, and also writes a report. The figures
are processor time of the whole programs, start included.

*Left over* is the share of the pairs with a resemblance of at least 0.8 whose documents are both kept. *Dropped
without a match* counts dropped documents that have a resemblance below 0.72 with every kept document; datatrove does
not compare documents, and drops all but one document of a chain of matches.
"""
DOCUMENTS: Final = 500 if SMALL else 10_000
THRESHOLD: Final = 0.72
STRONG: Final = 0.8
OPTIONS: Final = ("--shingle", "5", "--threshold", str(THRESHOLD), "--symbols", "separate")
TIMES: Final = 20.0


def main() -> None:
    table = corpus().slice(0, DOCUMENTS)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        place = Path(folder)
        source = place / "part.parquet"
        pq.write_table(table, source, compression="snappy")
        ours = run([source], place, "neardup", [*OPTIONS]).processor
        (theirs,) = ask("datatrove", "dedup", folder, source=source, environment="datatrove")
        kept = {
            "neardup": chosen(table, [place / "neardup.out.parquet"]),
            "datatrove": chosen(table, sorted((place / "kept").iterdir())),
        }
    ratio = theirs["processor"] / ours
    figures = [
        Figure(name="neardup", value=ours, unit="s"),
        Figure(name="datatrove", value=theirs["processor"], unit="s", ratio=ratio, at_least=TIMES),
    ]
    pairs = join(table["text"].to_pylist())
    for name, stays in kept.items():
        figures += compared(name, stays, pairs)
    title = f"From file to file with datatrove: {table.num_rows:,} documents, {text_bytes(table) / 1e6:.0f} MB"
    publish("pipelines", title, METHOD, figures)


def chosen(table: pa.Table, paths: list[Path]) -> np.ndarray:
    """Mark the documents that the files contain."""
    ids = pa.concat_arrays([chunk for path in paths for chunk in pq.read_table(path)["id"].chunks])
    return pc.is_in(table["id"], value_set=ids).to_numpy()


def compared(name: str, kept: np.ndarray, pairs: pa.Table) -> list[Figure]:
    left, right, resemblance = (pairs[column].to_numpy() for column in ("left", "right", "resemblance"))
    matched = np.zeros(len(kept), bool)
    near = resemblance >= THRESHOLD
    matched[left[near & kept[right]]] = True
    matched[right[near & kept[left]]] = True
    strong = resemblance >= STRONG
    return [
        Figure(name=f"{name}, kept", value=int(kept.sum()), unit=""),
        Figure(name=f"{name}, left over", value=100.0 * (kept[left] & kept[right])[strong].mean(), unit="%"),
        Figure(name=f"{name}, dropped without a match", value=int((~kept & ~matched).sum()), unit=""),
    ]


if __name__ == "__main__":
    main()
