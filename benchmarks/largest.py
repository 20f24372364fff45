"""Question: does a run of twenty gigabytes keep its promises on a small machine."""

import tempfile
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from command import COMMAND
from corpus import CACHE, corpus, text_bytes
from figures import SMALL, Figure, publish
from pieces import MEGABYTE, watched

METHOD = """
The input is a folder of Parquet files with a hundred copies of the corpus. In each copy the letters are exchanged by a
different rule, so that documents of different copies do not match. The command line deduplicates it to a folder of
Parquet files and a report, from a resemblance of 0.8 by 5 words, with two threads and `--memory 1G`.

- *Memory* is the peak of anonymous memory. *Disk* is the peak of the work folder; its ratio is to the text.
- *Rate* is megabytes of text per second of processor time.
- *Decided differently* counts documents of the last copy that are kept here and dropped if this copy is deduplicated
  alone, or the reverse; unrelated documents can fill a bucket.
- The prediction for 1 TB assumes that processor time grows with the text, and that both cores do nothing else.
"""
COPIES: Final = 3 if SMALL else 100
CORES: Final = 2
SEED: Final = 20_261_123
RULE: Final = ("--shingle", "5", "--threshold", "0.8")
LETTERS: Final = np.arange(26)
HOUR: Final = 3600


def main() -> None:
    table = corpus()
    text = COPIES * text_bytes(table) / MEGABYTE
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        place = Path(folder)
        sources = disguised(table, place / "copies")
        alone = kept(sources[-1], place / "alone")
        options = [*RULE, "--work", str(place / "work"), "--memory", "1G", "--threads", str(CORES)]
        report = place / "report.parquet"
        command = [str(COMMAND), "dedup", *map(str, sources), "--out", str(place / "kept"), "--report", str(report)]
        found, _ = watched([*command, *options], place)
        decided = pq.read_table(report, columns=["kept"])["kept"].to_numpy()
    differing = int((decided[-len(alone) :] != alone).sum())
    rate = text / found.processor
    figures = [
        Figure(name="documents", value=len(decided), unit=""),
        Figure(name="text", value=text, unit="MB"),
        Figure(name="wall time", value=found.wall, unit="s"),
        Figure(name="processor time", value=found.processor, unit="s"),
        Figure(name="rate", value=rate, unit="MB/s", at_least=60),
        Figure(name="memory", value=found.memory, unit="MB", at_most=2000),
        Figure(name="disk", value=found.disk, unit="MB", ratio=found.disk / text, at_most=1),
        Figure(name="decided differently", value=differing, unit=""),
        Figure(name="predicted for 1 TB", value=1e6 / rate / CORES / HOUR, unit="h"),
    ]
    publish("largest", "Twenty gigabytes on two cores", METHOD, figures)


def disguised(table: pa.Table, folder: Path) -> list[Path]:
    """Write the copies, a file each; the letters of the first are those of the corpus."""
    random = np.random.default_rng(SEED)
    folder.mkdir()
    paths = [folder / f"{number:03}.parquet" for number in range(COPIES)]
    for number, path in enumerate(paths):
        ids = pa.array([f"{number}-{own}" for own in table["id"].to_pylist()])
        texts = exchanged(table["text"], random.permutation(LETTERS) if number else LETTERS)
        pq.write_table(pa.table({"id": ids, "text": texts}), path, row_group_size=20_000)
    return paths


def exchanged(texts: pa.ChunkedArray, letters: np.ndarray) -> pa.ChunkedArray:
    """Replace letters of the alphabet, large and small ones alike."""
    table = np.arange(256, dtype=np.uint8)
    for first in b"Aa":
        table[first + LETTERS] = first + letters
    chunks = []
    for chunk in texts.chunks:
        missing, offsets, data = chunk.buffers()
        moved = pa.py_buffer(table[np.frombuffer(data, np.uint8)])
        chunks.append(pa.Array.from_buffers(chunk.type, len(chunk), [missing, offsets, moved], offset=chunk.offset))
    return pa.chunked_array(chunks)


def kept(source: Path, folder: Path) -> np.ndarray:
    """Return which documents of a file are kept if it is deduplicated in memory."""
    folder.mkdir()
    report = folder / "report.parquet"
    watched([str(COMMAND), "dedup", str(source), *RULE, "--dry-run", "--report", str(report)], folder)
    return pq.read_table(report, columns=["kept"])["kept"].to_numpy()


if __name__ == "__main__":
    main()
