"""Question: what does a run in pieces cost, and does it keep to its memory."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from command import COMMAND
from corpus import CACHE, corpus, text_bytes
from figures import SMALL, Figure, publish
from growth import moved

METHOD = """
The input is ten copies of the corpus as Parquet. In each copy the letters and digits are shifted, so that documents of
different copies do not match. The command line deduplicates them to Parquet and a report in one thread: in memory, and
in pieces with 512 MB. The ratio of time is pieces to memory. Both reports must be equal.

*Memory* is the peak of anonymous memory (`RssAnon`; the system can drop mapped files at any time); the limit is 500 MB
plus 80 bytes per document. *Disk* is the peak of the work folder; its ratio is to the text. *Disk, forecast* is what
the run forecasts after its first shards; its ratio is to that peak.
"""
COPIES: Final = 1 if SMALL else 10
MEGABYTE: Final = 1e6
SETTINGS: Final = {
    "default": ([], 1.0),
    "5 words, 0.8": (["--shingle", "5", "--threshold", "0.8"], 0.6),
}


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds of a process, and its peaks in megabytes."""

    processor: float
    wall: float
    memory: float
    disk: float


def main() -> None:
    source = disguised()
    number, text = pq.read_metadata(source).num_rows, COPIES * text_bytes(corpus()) / MEGABYTE
    figures = []
    for name, (options, most_disk) in SETTINGS.items():
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            place = Path(folder)
            memory = run([source], place, "memory", options)
            own = [*options, "--work", str(place / "work"), "--memory", "512M", "--json"]
            with (place / "lines").open("w+", encoding="utf-8") as lines:
                pieces = run([source], place, "pieces", own, errors=lines)
                lines.seek(0)
                printed = (json.loads(line) for line in lines if line.startswith("{"))
                foreseen = next(one["disk"] for one in printed if one["stage"] == "forecast") / MEGABYTE
            same = pq.read_table(place / "memory.report.parquet").equals(pq.read_table(place / "pieces.report.parquet"))
        if not same:
            sys.exit(f"{name}: the decisions differ")
        times = ("processor time", "processor", 1.3), ("wall time", "wall", 1.5)
        for words, attribute, limit in times:
            before, after = getattr(memory, attribute), getattr(pieces, attribute)
            figures += [
                Figure(name=f"{name}, in memory, {words}", value=before, unit="s"),
                Figure(name=f"{name}, in pieces, {words}", value=after, unit="s", ratio=after / before, at_most=limit),
            ]
        figures += [
            Figure(name=f"{name}, in memory, memory", value=memory.memory, unit="MB"),
            Figure(
                name=f"{name}, in pieces, memory",
                value=pieces.memory,
                unit="MB",
                at_most=round(500 + 80 * number / MEGABYTE),
            ),
            Figure(
                name=f"{name}, in pieces, disk",
                value=pieces.disk,
                unit="MB",
                ratio=pieces.disk / text,
                at_most=most_disk,
            ),
            Figure(
                name=f"{name}, in pieces, disk, forecast",
                value=foreseen,
                unit="MB",
                ratio=foreseen / pieces.disk,
                at_least=0.75,
                at_most=1.25,
            ),
        ]
    publish("pieces", "Larger than memory", METHOD, figures)


def disguised() -> Path:
    """Return the file of all copies, writing it on the first call."""
    path = CACHE / f"disguised-{COPIES}.parquet"
    if not path.exists():
        partial, table = path.with_suffix(".partial"), corpus()
        with pq.ParquetWriter(partial, table.schema) as writer:
            for step in range(COPIES):
                letters = moved(step)
                ids = [f"{step}-{own}" for own in table["id"].to_pylist()]
                texts = [text.translate(letters) for text in table["text"].to_pylist()]
                writer.write_table(pa.table([ids, texts], schema=table.schema), row_group_size=20_000)
        partial.rename(path)
    return path


def run(  # noqa: PLR0913, PLR0917 - a command, and where its errors go
    sources: list[Path], folder: Path, name: str, options: list[str], threads: int = 1, errors: IO[str] | None = None
) -> Run:
    """Run the command line, with its outputs and report in the folder."""
    outputs = [f"--{option}={folder / f'{name}.{option}.parquet'}" for option in ("out", "report")]
    command = [str(COMMAND), "dedup", *map(str, sources), *outputs, "--threads", str(threads), *options]
    return watched(command, folder, errors)[0]


def watched(command: list[str], folder: Path, errors: IO[str] | None = None) -> tuple[Run, str]:
    """Run a program in a process of its own, look at it twenty times a second, and return what it prints, too."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    memory = disk = 0.0
    while process.poll() is None:
        memory, disk = max(memory, anonymous(process.pid)), max(disk, stored(folder / "work"))
        time.sleep(0.05)
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(processor, wall, memory / MEGABYTE, disk / MEGABYTE), process.stdout.read()


def anonymous(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return sum(1024.0 * int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))


def stored(folder: Path) -> float:
    total = 0
    for inside, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(inside) / name).stat().st_size
            except OSError:  # it has just been renamed
                continue
    return total


if __name__ == "__main__":
    main()
