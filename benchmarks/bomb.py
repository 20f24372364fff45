"""Question: what does a page cost that unpacks to 1 GB."""

import gzip
import json
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from command import COMMAND
from corpus import CACHE
from figures import SMALL, Figure, publish
from pieces import watched

METHOD = """
A gzip web archive has one record, whose HTTP response has `Content-Encoding: gzip`: a *bomb* of 1 GB, or a *page* of
20 KB. *Reading* is processor time of reading and decoding the record, whose first 16 MB are kept, in a new
process without its start, and the peak of that process's resident memory (`VmHWM`) with everything that it has
imported. *dedup* is processor time of the whole command with the start, and the peak of its anonymous memory
(`RssAnon`), with one thread: it also extracts the text of those 16 MB. The best of five.
"""
PAGE: Final = 20_000
BOMB: Final = PAGE * 1_000 if SMALL else 1_000_000_000
LINE: Final = b"<p>All work and no play makes a dull page.\n"
REPEATS: Final = 5
READING: Final = """
import json
import sys
import time
from pathlib import Path

from neardup.sources.http_response import response
from neardup.sources.warc import Record, records

started = time.process_time()
sizes = [len(response(one.block).body) for one in records(sys.argv[1]) if isinstance(one, Record)]
seconds = time.process_time() - started
(line,) = (one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM"))
print(json.dumps([seconds, 1024 * int(line.split()[1]) / 1e6, sizes]))
"""
SECONDS: Final = 0.3
MEGABYTES: Final = 150


def main() -> None:
    figures, found = [], {}
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        for name, size in {"page": PAGE, "bomb": BOMB}.items():
            path = Path(folder, f"{name}.warc.gz")
            path.write_bytes(gzip.compress(record(size), 0, mtime=0))
            found[name] = {"reading": reading(path), "dedup": dedup(path)}
            figures.append(Figure(name=f"{name}, the archive", value=path.stat().st_size / 1e6, unit="MB"))
    more = [one - other for one, other in zip(found["bomb"]["dedup"], found["page"]["dedup"], strict=True)]
    for name, (seconds, megabytes), limited in (
        ("reading, page", found["page"]["reading"], False),
        ("reading, bomb", found["bomb"]["reading"], True),
        ("dedup, page", found["page"]["dedup"], False),
        ("dedup, bomb", found["bomb"]["dedup"], False),
        ("dedup, bomb, more than the page", more, True),
    ):
        figures += [
            Figure(name=name, value=seconds, unit="s", at_most=SECONDS if limited else None),
            Figure(name=f"{name}, memory", value=megabytes, unit="MB", at_most=MEGABYTES if limited else None),
        ]
    publish("bomb", "A page that unpacks to 1 GB", METHOD, figures)


def record(size: int) -> bytes:
    """Return a response record whose page has this many bytes."""
    body = b"".join(packed(size))
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n" + body
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Target-URI: http://example.org/\r\n"
        "WARC-Date: 2026-11-23T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def reading(path: Path) -> tuple[float, float]:
    """Return the seconds and the megabytes of a process that reads the record."""
    command = [sys.executable, "-c", READING, path]
    found = [json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout) for _ in range(REPEATS)]
    if any(len(sizes) != 1 for _, _, sizes in found):
        raise SystemExit(f"{path.name}: the record was not read")
    return min(seconds for seconds, _, _ in found), min(megabytes for _, megabytes, _ in found)


def dedup(path: Path) -> tuple[float, float]:
    """Return the seconds and the megabytes of a command that reads the archive."""
    command = [str(COMMAND), "dedup", str(path), "--out", str(path.with_name("kept.warc.gz")), "--force"]
    found = [watched([*command, "--threads", "1"], path.parent)[0] for _ in range(REPEATS)]
    return min(run.processor for run in found), min(run.memory for run in found)


def packed(size: int) -> Iterator[bytes]:
    packer = zlib.compressobj(1, wbits=31)
    lines = LINE * (PAGE // len(LINE))
    for _ in range(size // len(lines)):
        yield packer.compress(lines)
    yield packer.compress(lines[: size % len(lines)]) + packer.flush()


if __name__ == "__main__":
    main()
