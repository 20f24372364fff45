"""Question: how much memory does a run in memory need for a byte of text."""

import tempfile
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from corpus import CACHE, corpus, text_bytes
from figures import SMALL, Figure, publish
from pieces import COPIES, disguised, run

METHOD = """
The peak of anonymous memory (`RssAnon`) of `neardup dedup` from Parquet to Parquet and a report, with one thread and
the default settings, including the start. *Documents* are those of [pieces](pieces.md); *short texts* are a corpus
that is cut every ten words. The ratio is to the bytes of the text.
"""
WORDS: Final = 10
MOST: Final = 3.0
MEGABYTE: Final = 1e6


def main() -> None:
    table = corpus()
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        place = Path(folder)
        short = pa.table({"text": cut(table["text"].slice(0, table.num_rows // 10 if SMALL else None))})
        pq.write_table(short, place / "short.parquet")
        cases = {
            "documents": (disguised(), COPIES * text_bytes(table)),
            "short texts": (place / "short.parquet", text_bytes(short)),
        }
        figures = []
        for name, (source, size) in cases.items():
            memory = run([source], place, name, []).memory
            ratio = memory * MEGABYTE / size
            title = f"{pq.read_metadata(source).num_rows:,} {name}, {size / MEGABYTE:,.0f} MB of text"
            figures.append(Figure(name=title, value=memory, unit="MB", ratio=ratio, at_most=MOST))
    publish("memory", "Memory of a run in memory", METHOD, figures)


def cut(texts: pa.ChunkedArray) -> pa.Array:
    """Cut texts into runs of so many words."""
    words = [text.split() for text in texts.to_pylist()]
    parts = (" ".join(own[begin : begin + WORDS]) for own in words for begin in range(0, len(own), WORDS))
    return pa.array(parts, pa.large_string())


if __name__ == "__main__":
    main()
