"""Question: how much longer than reading and writing a file does it take to deduplicate it."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from command import COMMAND
from corpus import CORPUS, corpus
from figures import Figure, publish
from peers.measuring import best_of

METHOD = """
A Parquet file in; the Parquet file without near-duplicates, and the report, out. Wall time of the
whole command, start included, the best of three, against pyarrow reading the same file and writing
it again with the same compression; one thread on both sides. The ratio is neardup's time to pyarrow's.
"""
SINGLE_THREADED: Final = {"OMP_NUM_THREADS": "1"}  # the size of Arrow's pool of threads
TIMES: Final = 3.0
SETTINGS: Final = {
    "5-word shingles, 0.8": ("--shingle", "5", "--permutations", "128", "--threshold", "0.8"),
    "as it comes": (),
}


def main() -> None:
    corpus()
    with tempfile.TemporaryDirectory(dir=CORPUS.parent) as folder:
        copied, _ = best_of(lambda: copy(CORPUS, Path(folder) / "copy.parquet"))
        figures = [Figure(name="pyarrow, read and write", value=copied, unit="s")]
        for name, options in SETTINGS.items():
            seconds, _ = best_of(lambda options=options: dedup(CORPUS, Path(folder), options))
            figures.append(
                Figure(name=f"neardup dedup, {name}", value=seconds, unit="s", ratio=seconds / copied, at_most=TIMES)
            )
    publish("files", f"From file to file, {CORPUS.stat().st_size / 1e6:.0f} MB of Parquet", METHOD, figures)


def copy(source: Path, target: Path) -> None:
    compression = pq.ParquetFile(source).metadata.row_group(0).column(0).compression
    pq.write_table(pq.read_table(source, use_threads=False), target, compression=compression)


def dedup(source: Path, folder: Path, options: tuple[str, ...]) -> None:
    outputs = ("--out", folder / "kept.parquet", "--report", folder / "report.parquet", "--force")
    subprocess.run(
        [COMMAND, "dedup", source, *outputs, *options, "--threads", "1"],
        env=os.environ | SINGLE_THREADED,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )


if __name__ == "__main__":
    main()
