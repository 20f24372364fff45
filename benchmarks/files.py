"""Question: how much longer than reading and writing a file does it take to deduplicate it."""

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow.parquet as pq

from command import COMMAND, ENVIRONMENT
from corpus import CORPUS, corpus
from figures import Figure, publish
from neardup.pipeline import dedup_files
from peers.measuring import best_of
from stages import staged

METHOD = """
The input is a Parquet file; the outputs are the Parquet file without near duplicates and the report. The figures are
wall time of the whole command, start included, the best of three, in one thread. pyarrow reads the same file and
writes it again with the same compression: as a separate program, which also has to start and to allocate memory, and
repeatedly within one warm process. The ratio is neardup's time to pyarrow's.

The last rows are the stages of a run in a warm process; reading and writing are part of the rest. Loading Python's
libraries and the compiled kernels is not included there.
"""
COPY: Final = """
import sys
import pyarrow.parquet as pq

source, target = sys.argv[1:]
compression = pq.ParquetFile(source).metadata.row_group(0).column(0).compression
pq.write_table(pq.read_table(source, use_threads=False), target, compression=compression)
"""
SINGLE_THREADED: Final = {"OMP_NUM_THREADS": "1"}  # the size of Arrow's pool of threads
TIMES: Final = 3.0
SETTINGS: Final = {
    "5-word shingles, 0.8": ("--shingle", "5", "--permutations", "128", "--threshold", "0.8"),
    "default settings": (),
}


def main() -> None:
    corpus()
    with tempfile.TemporaryDirectory(dir=CORPUS.parent) as folder:
        target = Path(folder) / "copy.parquet"
        program, _ = best_of(lambda: run([sys.executable, "-c", COPY, CORPUS, target]))
        within, _ = best_of(lambda: copy(CORPUS, target))
        figures = [
            Figure(name="pyarrow, a program that reads and writes", value=program, unit="s"),
            Figure(name="pyarrow, reading and writing in a warm process", value=within, unit="s"),
        ]
        for name, options in SETTINGS.items():
            seconds, _ = best_of(lambda options=options: dedup(CORPUS, Path(folder), options))
            figures += [
                Figure(
                    name=f"neardup dedup, {name}; to {what}",
                    value=seconds,
                    unit="s",
                    ratio=seconds / theirs,
                    at_most=TIMES,
                )
                for what, theirs in (("the program", program), ("the warm process", within))
            ]
        stages = staged(partial(dedup_files, [CORPUS], out=Path(folder) / "kept.parquet", force=True, threads=1))
        figures += [
            Figure(name=f"default settings, in a warm process: {stage}", value=s, unit="s")
            for stage, s in stages.items()
        ]
    publish("files", f"From file to file, {CORPUS.stat().st_size / 1e6:.0f} MB of Parquet", METHOD, figures)


def copy(source: Path, target: Path) -> None:
    compression = pq.ParquetFile(source).metadata.row_group(0).column(0).compression
    pq.write_table(pq.read_table(source, use_threads=False), target, compression=compression)


def dedup(source: Path, folder: Path, options: tuple[str, ...]) -> None:
    outputs = ("--out", folder / "kept.parquet", "--report", folder / "report.parquet", "--force")
    run([COMMAND, "dedup", source, *outputs, *options, "--threads", "1"])


def run(command: list[object]) -> None:
    environment = ENVIRONMENT | SINGLE_THREADED
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main()
