"""Question: what does a web archive cost from its bytes to decisions."""

import gzip
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from archives import record
from corpus import CACHE, corpus
from environment import peers_python
from figures import SMALL, Figure, publish

METHOD = """
Pages of Debian documentation packages as gzip web archives, a quarter of the bodies each plain, gzip, chunked and
deflate: 6,000 pages, and 1,500 pages, of whose time the start of the command is a quarter. `neardup dedup` reads an
archive, extracts the texts, compares them, and writes the kept records and a report, on one thread. The peer reads it
with warcio, extracts the texts with trafilatura (`fast=True`), and only compares a hash of each text: the least that a
deduplication after it can cost. Processor time of whole commands, the best of three in turn, of the peer on 6,000
pages of one; the ratio is that of the peer to neardup. *Two processes* are real time with `--threads 2` and
`--threads 1`, in turn.
"""
PAGES: Final = (100,) if SMALL else (1_500, 6_000)
REPEATS: Final = 3
FEW: Final = 2_000  # pages that the peer reads as often
PEER: Final = Path(__file__).parent / "peers" / "with_warcio_and_trafilatura.py"


def main() -> None:
    corpus()  # it unpacks the packages
    paths = sorted((CACHE / "unpacked").rglob("*.html"))
    figures = []
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        for number in PAGES:
            pages = [path.read_bytes() for path in paths[:: max(1, len(paths) // number)][:number]]
            figures += measured(Path(folder), pages)
    publish("web_stage", "From web archives to decisions", METHOD, figures)


def measured(folder: Path, pages: list[bytes]) -> list[Figure]:
    size, label = sum(map(len, pages)) / 1e6, f"{len(pages):,} pages"
    path = folder / "pages.warc.gz"
    path.write_bytes(b"".join(gzip.compress(record(number, page), mtime=0) for number, page in enumerate(pages)))
    outputs = ["--out", folder / "kept.warc.gz", "--report", folder / "why.parquet", "--force"]
    dedup = [Path(sys.executable).with_name("neardup"), "dedup", path, *outputs, "--threads"]
    commands = {"neardup": [*dedup, "1"], "two": [*dedup, "2"], "peer": [peers_python("web"), PEER, path]}
    spent = {name: [] for name in commands}
    for turn in range(REPEATS):
        for name, command in commands.items():
            if name != "peer" or turn == 0 or len(pages) < FEW:
                spent[name].append(cost(command))
    used = {name: min(processor for processor, _ in found) for name, found in spent.items()}
    real = {name: min(seconds for _, seconds in found) for name, found in spent.items()}
    return [
        Figure(name=f"warcio + trafilatura, fast, {label}", value=size / used["peer"], unit="MB/s"),
        Figure(
            name=f"neardup dedup, {label}",
            value=size / used["neardup"],
            unit="MB/s",
            ratio=used["peer"] / used["neardup"],
            at_least=6,
        ),
        Figure(
            name=f"neardup dedup, two processes to one, {label}",
            value=size / real["two"],
            unit="MB/s",
            ratio=real["neardup"] / real["two"],
            at_least=1.7,
        ),
    ]


def cost(command: list) -> tuple[float, float]:
    """Return the seconds of processor time and of real time that a command takes, with all its processes."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    elapsed, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed


if __name__ == "__main__":
    main()
