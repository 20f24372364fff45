"""The corpus of the benchmarks: documentation passages, and edited copies planted among them.

`corpus.parquet` holds `id` and `text`, shuffled; `planted.parquet` says which
document each planted copy was made from, by which edit and for which resemblance (`reset`
changes no word, whatever was aimed at).
Both are built once and kept in the cache folder.
"""

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from documentation import PACKAGES, download, passages
from edits import EDITS

CACHE: Final = Path(__file__).resolve().parents[1] / ".cache" / "bench"
CORPUS: Final = CACHE / "corpus.parquet"
PLANTED: Final = CACHE / "planted.parquet"
CACHE.mkdir(parents=True, exist_ok=True)

SEED: Final = 20_240_501
COPIED: Final = 5_000  # originals; each gets one to three copies
LONG_ENOUGH: Final = 1_000  # characters; a strength means little in a shorter text
RESEMBLANCES: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98)

CORPUS_SCHEMA: Final = pa.schema([("id", pa.string()), ("text", pa.large_string())])
PLANTED_SCHEMA: Final = pa.schema(
    [("id", pa.string()), ("original", pa.string()), ("edit", pa.string()), ("aimed_at", pa.float64())]
)


def corpus() -> pa.Table:
    """Return the corpus, building it on the first call."""
    if not CORPUS.exists():
        build()
    return pq.read_table(CORPUS)


def text_bytes(table: pa.Table) -> int:
    return pc.sum(pc.binary_length(table["text"])).as_py()


def build() -> None:
    download(PACKAGES, CACHE / "debs", CACHE / "unpacked")
    random = np.random.default_rng(SEED)
    pages = list(passages(CACHE / "unpacked"))
    copies, planted = plant(pages, random)
    documents = pages + copies
    shuffled = [documents[position] for position in random.permutation(len(documents))]
    pq.write_table(pa.Table.from_pylist(planted, PLANTED_SCHEMA), PLANTED)
    ids, texts = zip(*shuffled, strict=True)
    partial = CORPUS.with_suffix(".partial")
    pq.write_table(pa.table([ids, texts], schema=CORPUS_SCHEMA), partial, compression="snappy")
    partial.rename(CORPUS)


def plant(pages: list[tuple[str, str]], random: np.random.Generator) -> tuple[list[tuple[str, str]], list[dict]]:
    """Edit copies of some pages; return them as documents, and their origin as records."""
    long_enough = [page for page in pages if len(page[1]) >= LONG_ENOUGH]
    copies, planted = [], []
    for chosen in random.choice(len(long_enough), COPIED, replace=False):
        original, text = long_enough[chosen]
        for number in range(random.integers(1, 4)):
            edit = str(random.choice(list(EDITS)))
            resemblance = float(random.choice(RESEMBLANCES))
            copy = f"{original}~{number}-{edit}"
            copies.append((copy, EDITS[edit](text, resemblance, random)))
            planted.append({"id": copy, "original": original, "edit": edit, "aimed_at": resemblance})
    return copies, planted


if __name__ == "__main__":
    table = corpus()
    print(f"{table.num_rows:,} documents, {text_bytes(table) / 1e6:.1f} MB of text")
