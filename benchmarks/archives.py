"""Question: what does it cost to read web archives."""

import gzip
import json
import subprocess
import tempfile
import time
import zlib
from pathlib import Path
from typing import Final

from corpus import CACHE, corpus
from environment import peers_python
from figures import SMALL, Figure, publish
from neardup.sources.http_response import response
from neardup.sources.warc import Record, records

METHOD = """
The archives hold pages of Debian documentation packages. A quarter of the bodies each is plain, gzip, chunked and
deflate. All programs read every record and decode its body; neardup also checks that each record is complete, warcio
reads with `content_stream().read()`, and fastwarc with `auto_decode="all"`. All must find the same number of bytes.

The figures are processor time, the best of five rounds in turn. The ratio is warcio's time to neardup's; fastwarc's
bare iteration, which does not notice records that are cut short, is for comparison.
"""
PAGES: Final = 200 if SMALL else 2_500
REPEATS: Final = 5
PEERS: Final = ("warcio", "fastwarc")
SCRIPTS: Final = Path(__file__).parent / "peers"
LIMITS: Final = {".warc.gz": 1.8, ".warc": 1.5}


def main() -> None:
    corpus()  # it unpacks the packages
    paths = sorted((CACHE / "unpacked").rglob("*.html"))
    pages = [path.read_bytes() for path in paths[:: max(1, len(paths) // PAGES)][:PAGES]]
    size = sum(map(len, pages)) / 1e6
    made = [record(number, page) for number, page in enumerate(pages)]
    figures = []
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        for ending, limit in LIMITS.items():
            path = Path(folder, f"pages{ending}")
            packed = (gzip.compress(one, mtime=0) for one in made) if ending == ".warc.gz" else made
            path.write_bytes(b"".join(packed))
            rounds = [(measured(path), *(measured_peer(path, peer) for peer in PEERS)) for _ in range(REPEATS)]
            if any(number != sum(map(len, pages)) for together in rounds for _, number in together):
                raise SystemExit(f"{ending}: not all bytes were found")
            own, *others = (min(seconds for seconds, _ in side) for side in zip(*rounds, strict=True))
            figures += [
                Figure(name=f"{ending}, {peer}", value=size / seconds, unit="MB/s")
                for peer, seconds in zip(PEERS, others, strict=True)
            ]
            ratio = others[0] / own
            figures.append(
                Figure(name=f"{ending}, neardup", value=size / own, unit="MB/s", ratio=ratio, at_least=limit)
            )
    publish("archives", "Reading web archives", METHOD, figures)


def record(number: int, page: bytes, host: str = "example.org") -> bytes:
    """Return a response record; the coding of its body depends on its number."""
    codings = [
        ("", bytes),
        ("Content-Encoding: gzip\r\n", lambda body: gzip.compress(body, mtime=0)),
        ("Transfer-Encoding: chunked\r\n", lambda body: b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)),
        ("Content-Encoding: deflate\r\n", zlib.compress),
    ]
    header, coded = codings[number % len(codings)]
    block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{header}\r\n".encode() + coded(page)
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number:08}>\r\n"
        f"WARC-Target-URI: http://{host}/{number}\r\nWARC-Date: 2026-11-23T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def read(path: Path) -> int:
    found = (one for one in records(str(path)) if isinstance(one, Record))
    return sum(len(response(one.block).body) for one in found)


def measured(path: Path) -> tuple[float, int]:
    """Return the seconds of the better of two readings, and the bytes."""
    times, number = [], 0
    for _ in range(2):
        started = time.process_time()
        number = read(path)
        times.append(time.process_time() - started)
    return min(times), number


def measured_peer(path: Path, peer: str) -> tuple[float, int]:
    command = [peers_python("web"), SCRIPTS / f"with_{peer}.py", path, "2"]
    seconds, number = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return seconds, number


if __name__ == "__main__":
    main()
