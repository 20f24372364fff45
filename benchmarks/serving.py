"""Question: how many requests a second one worker of the service answers, and how it bears too many."""

import asyncio
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from tempfile import mkdtemp
from time import perf_counter, sleep
from typing import Final, NamedTuple
from urllib.parse import quote_plus

import numpy as np

import neardup
from corpus import CACHE
from figures import Figure, publish
from living import VOCABULARY, documents
from neardup.pipeline.query.search import Search

METHOD = """
The service is one worker with its default settings. 16 clients on the last core of the same machine send their next
request after each answer. Both indexes are compacted.

- *Collapse* sends 100 ids of an index of 1,000,000 signatures of 128 minima (30 of them repeat a better-ranked hit)
  and receives a page of ten groups. All requests have different hits, so that the cache never helps. *From the cache*
  repeats the same 500 requests.
- *Overload*: 400 clients repeat immediately after every answer; then 16 again.
- *Search* asks for two words of an index of 100,000 texts of 2.5 KB. The 100 best matches are examined and ten groups
  shown. Some queries match 130 documents, some 3,000. Each query is new, or the same 500 are repeated, like those of
  the users of a search engine.
- *Pages of a crawl*: one `neardup.Client` on the same processors sends 60,000 generated pages of 2.5 KB to an empty
  index, 100 at a time with a key each, as texts or as signatures. An answer means that the pages are on the disk.

Each figure, except those of the overload, is from the best of ten runs of three seconds, shown with the median run, by
their rates: a shared processor is at times up to 1.8 times as slow. The 99th percentiles are from the same runs.
"""
SIGNED: Final = 1_000_000
TEXTS: Final = 100_000
TOGETHER: Final = 50_000
HITS: Final = 100
FAMILY: Final = 10  # documents with one signature
CLIENTS: Final = 16
SECONDS: Final = 10.0  # of overload
GOES: Final = 10
GO_SECONDS: Final = 3.0
PAGES: Final = 60_000
PAGES_TOGETHER: Final = 100
SEED: Final = 9


class Load(NamedTuple):
    """What clients saw: requests a second, the times of those that were accepted, and how many had which status."""

    rate: float
    times: np.ndarray
    statuses: Counter

    def percentile(self, share: float) -> float:
        """Give a percentile of the times, in milliseconds."""
        return float(np.percentile(self.times, share)) * 1e3


def main() -> None:
    folder = Path(mkdtemp(dir=CACHE, prefix="serving-"))
    try:
        measured = [*collapsed(folder / "signed"), *searched(folder / "texts"), *crawled(folder)]
    finally:
        shutil.rmtree(folder)
    publish("serving", "The service", METHOD, measured)


# Collapse


def collapsed(folder: Path) -> list[Figure]:
    random = np.random.default_rng(SEED)
    scheme = neardup.MinHash()
    with neardup.Index.create(folder, scheme, durability="bulk", memory=1 << 30) as index:
        for begin in range(0, SIGNED, TOGETHER):
            rows = random.integers(0, 2**32 - 2, (TOGETHER // FAMILY, 128), np.uint32).repeat(FAMILY, axis=0)
            signatures = neardup.Signatures(rows, np.ones(TOGETHER, np.bool_), scheme.recipe)
            index.admit([name(number) for number in range(begin, begin + TOGETHER)], signatures)
        index.compact()
    requests = [collapse_request(random) for _ in range(100_000)]
    with serving(folder) as (address, process):
        run(address, cycle(requests[:2_000]), 1.0)
        fresh = goes(address, requests[2_000:])
        run(address, cycle(requests[:500]), 1.0)
        cached = goes(address, requests[:500])
        before = memory(process)
        crowd = run(address, cycle(requests), SECONDS, clients=25 * CLIENTS)
        grown = memory(process) - before
        recovered = recovery(address, cycle(requests))
    accepted = crowd.statuses[200] / crowd.statuses.total()
    return [
        *figures("collapse, 100 ids of 1 M", fresh, at_least=1500, at_most=25),
        *figures("collapse from the cache", cached),
        Figure(name="overload, accepted", value=crowd.rate * accepted, unit="requests/s"),
        Figure(name="overload, rejected with 429", value=100 * (1 - accepted), unit="%"),
        Figure(name="overload, p99 of the accepted", value=crowd.percentile(99), unit="ms", at_most=250),
        Figure(name="overload, memory growth", value=grown, unit="MB", at_most=100),
        Figure(name="overload, recovered after", value=recovered, unit="s", at_most=5),
    ]


def name(number: int) -> str:
    return f"https://site-{number % 997}.example/page/{number}"


def collapse_request(random: np.random.Generator) -> bytes:
    """Ask about 100 hits, 30 of them belonging to the families of others."""
    firsts = random.choice(SIGNED // FAMILY, HITS, replace=False) * FAMILY
    repeats = random.choice(np.arange(1, HITS), 3 * HITS // 10, replace=False)
    chosen = firsts.copy()
    for rank in np.sort(repeats).tolist():
        chosen[rank] = chosen[random.integers(0, rank)] // FAMILY * FAMILY + random.integers(1, FAMILY)
    body = json.dumps({"hits": [name(number) for number in chosen.tolist()], "size": 10}).encode()
    head = "POST /v1/collapse HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body


def recovery(address: tuple[str, int], requests: Iterator[bytes]) -> float:
    """Tell how long it takes after the crowd until 16 clients are all answered again, with 200."""
    begun = perf_counter()
    while run(address, requests, 0.2).statuses.keys() != {200}:
        if perf_counter() - begun > 60:
            break
    return perf_counter() - begun


# Search


def searched(folder: Path) -> list[Figure]:
    random = np.random.default_rng(SEED)
    with neardup.Index.create(folder, texts=True, fields={"title": "string"}, durability="bulk") as index:
        for begin in range(0, TEXTS, TOGETHER):
            ids = [name(number) for number in range(begin, begin + TOGETHER)]
            index.admit(ids, documents(TOGETHER, begin), {"title": [f"Page {own[-6:]}" for own in ids]})
        index.compact()
        with Search.open(index, make=True):
            pass
    queries = [" ".join(VOCABULARY[random.integers(100, 1500, 2)]) for _ in range(24_000)]
    requests = [
        f"GET /v1/search?q={quote_plus(query)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() for query in queries
    ]
    with serving(folder) as (address, _):
        run(address, cycle(requests[:500]), 3.0)
        again = goes(address, requests[:500])
        first = goes(address, requests[500:])
    return [
        *figures("search of 100,000 texts, cached", again, at_least=400, at_most=75),
        *figures("search, new queries", first, at_least=400, at_most=75),
    ]


# Pages of a crawl


def crawled(folder: Path) -> Iterator[Figure]:
    texts = documents(PAGES, SEED).to_pylist()
    for way in ("texts", "signatures"):
        neardup.Index.create(folder / f"pages-{way}").close()
        times = []
        signs = way == "signatures"
        with (
            serving(folder / f"pages-{way}") as ((host, port), _),
            neardup.Client(f"http://{host}:{port}", signatures=signs) as own,
        ):
            own.judge(texts[:1])  # connects
            begun = perf_counter()
            for begin in range(0, PAGES, PAGES_TOGETHER):
                sent, end = perf_counter(), begin + PAGES_TOGETHER
                own.judge_and_admit([name(number) for number in range(begin, end)], texts[begin:end])
                times.append(perf_counter() - sent)
            rate = PAGES / (perf_counter() - begun)
        yield Figure(name=f"pages of a crawl as {way}, from one client", value=rate, unit="pages/s", at_least=3000)
        p99 = float(np.percentile(times, 99)) * 1e3
        yield Figure(name=f"pages of a crawl as {way}, p99 of 100", value=p99, unit="ms", at_most=100)


# The service and its clients


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[tuple[str, int], subprocess.Popen]]:
    """Serve an index with one worker, or with other options."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = [sys.executable, "-m", "neardup", "serve", folder, "--port", str(port), *options]
    with subprocess.Popen(program) as process:
        try:
            for _ in range(600):
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    sleep(0.1)
            yield ("127.0.0.1", port), process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def memory(process: subprocess.Popen) -> float:
    """Give the memory of a process that is not of files, in MB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon")) / 1e3


def goes(address: tuple[str, int], requests: list[bytes]) -> list[Load]:
    """Let clients go through the requests, some after the others, in several goes; give these, the best one first."""
    following = cycle(requests)
    loads = [run(address, following, GO_SECONDS) for _ in range(GOES)]
    return sorted(loads, key=lambda load: -load.rate)


def figures(
    name: str, loads: list[Load], *, at_least: float | None = None, at_most: float | None = None
) -> Iterator[Figure]:
    """Give the figures of the best go, which are held against what is wanted, and of the middle one."""
    best, middle = loads[0], loads[len(loads) // 2]
    yield Figure(name=name, value=best.rate, unit="requests/s", at_least=at_least)
    yield Figure(name=f"{name}, median run", value=middle.rate, unit="requests/s")
    yield Figure(name=f"{name}, p99", value=best.percentile(99), unit="ms", at_most=at_most)
    yield Figure(name=f"{name}, median run, p99", value=middle.percentile(99), unit="ms")


def run(address: tuple[str, int], requests: Iterator[bytes], seconds: float, clients: int = CLIENTS) -> Load:
    """Let clients ask for a while, one request after the other each."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        return asyncio.run(_run(address, requests, seconds, clients))
    finally:
        os.sched_setaffinity(0, before)


async def _run(address: tuple[str, int], requests: Iterator[bytes], seconds: float, clients: int) -> Load:
    loop = asyncio.get_running_loop()
    begun = perf_counter()
    started = [
        await loop.create_connection(lambda: Client(requests, begun + seconds), *address) for _ in range(clients)
    ]
    done = [client for _, client in started]
    await asyncio.gather(*(client.ended for client in done))
    spent = perf_counter() - begun
    times = np.array([one for client in done for one in client.times])
    statuses = sum((client.statuses for client in done), Counter())
    return Load(statuses.total() / spent, times, statuses)


class Client(asyncio.Protocol):
    """Sends a request when the one before is answered."""

    def __init__(self, requests: Iterator[bytes], until: float) -> None:
        self._requests, self._until = requests, until
        self.times: list[float] = []
        self.statuses: Counter = Counter()
        self.ended = asyncio.get_running_loop().create_future()
        self._got = b""
        self._begun = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # noqa: D102 - as asyncio has it
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        self._begun = perf_counter()
        if self._begun >= self._until:
            self._transport.close()
        else:
            self._transport.write(next(self._requests))

    def data_received(self, data: bytes) -> None:  # noqa: D102 - as asyncio has it
        self._got += data
        head, blank, body = self._got.partition(b"\r\n\r\n")
        if not blank:
            return
        lowered = head.lower()
        length = int(lowered.partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return
        status = int(head[9:12])
        self.statuses[status] += 1
        if status == 200:
            self.times.append(perf_counter() - self._begun)
        self._got = b""
        self._ask()

    def connection_lost(self, _: Exception | None) -> None:  # noqa: D102 - as asyncio has it
        if not self.ended.done():
            self.ended.set_result(None)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))

    main()
