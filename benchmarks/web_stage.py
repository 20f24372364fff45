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
Pages of Debian documentation packages, each package a host, as gzip web archives, a quarter of the bodies each plain,
gzip, chunked and deflate: 6,000 pages; 1,500 pages, of whose time the start of the command is a quarter; and 20,000
pages, nearly as many as an archive of Common Crawl has. `neardup dedup` learns the templates of the hosts, extracts the
texts, compares them, and writes the kept records and a report, on one thread. The peer reads the archive with warcio,
extracts the texts with trafilatura (`fast=True`), and only compares a hash of each text: the least that a deduplication
after it can cost. Processor time of whole commands, the best of three in turn, of the peer on 6,000 pages or more of
one; the ratio is that of the peer to neardup. *Two processes* are real time with `--threads 2` and `--threads 1`, in
turn; the ceiling is that of two commands at once, each on one thread for every second page.
"""
PAGES: Final = (100,) if SMALL else (1_500, 6_000, 20_000)
REPEATS: Final = 3
FEW: Final = 2_000  # pages that the peer reads as often
PEER: Final = Path(__file__).parent / "peers" / "with_warcio_and_trafilatura.py"


def main() -> None:
    corpus()  # it unpacks the packages
    paths = sorted((CACHE / "unpacked").rglob("*.html"))
    figures = []
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        for number in PAGES:
            figures += measured(Path(folder), paths[:: max(1, len(paths) // number)][:number])
    publish("web_stage", "From web archives to decisions", METHOD, figures)


def measured(folder: Path, files: list[Path]) -> list[Figure]:
    pages = [path.read_bytes() for path in files]
    hosts = [path.relative_to(CACHE / "unpacked").parts[0] for path in files]
    size, label = sum(map(len, pages)) / 1e6, f"{len(pages):,} pages"
    records = [
        gzip.compress(record(number, page, f"{host}.example"), mtime=0)
        for number, (page, host) in enumerate(zip(pages, hosts, strict=True))
    ]
    paths = {"pages": records, "even": records[::2], "odd": records[1::2]}
    for name, chosen in paths.items():
        (folder / f"{name}.warc.gz").write_bytes(b"".join(chosen))
    commands = {
        "neardup": [dedup(folder, "pages", 1)],
        "two": [dedup(folder, "pages", 2)],
        "ceiling": [dedup(folder, "even", 1), dedup(folder, "odd", 1)],
        "peer": [[peers_python("web"), PEER, folder / "pages.warc.gz"]],
    }
    spent = {name: [] for name in commands}
    for turn in range(REPEATS):
        for name, together in commands.items():
            if name != "peer" or turn == 0 or len(pages) < FEW:
                spent[name].append(cost(together))
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
        Figure(
            name=f"two commands, each on half of {label}, to one",
            value=size / real["ceiling"],
            unit="MB/s",
            ratio=real["neardup"] / real["ceiling"],
        ),
    ]


def dedup(folder: Path, name: str, threads: int) -> list:
    outputs = ["--out", folder / f"{name}.kept.warc.gz", "--report", folder / f"{name}.parquet", "--force"]
    neardup = Path(sys.executable).with_name("neardup")
    return [neardup, "dedup", folder / f"{name}.warc.gz", *outputs, "--threads", str(threads)]


def cost(commands: list) -> tuple[float, float]:
    """Return the seconds of processor time and of real time that commands take at once, with all their processes."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    codes = [process.wait() for process in running]
    if any(codes):
        raise SystemExit("a command failed")
    elapsed, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed


if __name__ == "__main__":
    main()
