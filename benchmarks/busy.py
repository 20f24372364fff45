"""Question: how long do readers of the service wait while it has much else to do."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from tempfile import mkdtemp
from threading import Event, Thread
from time import perf_counter
from typing import Final
from urllib.parse import quote, quote_plus

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import neardup
from corpus import CACHE
from figures import SMALL, Figure, publish
from living import VOCABULARY, documents, edited
from neardup.pipeline.query.search import Search
from serving import HITS, name, run, serving

METHOD = """
The clients share two cores with the service. The service is one process, or two that read and one that writes
(`--workers 2`).

- *During admissions*: the index has 100,000 texts of 2.5 KB and a search table; 30,000 texts are edited copies of
  others. One client sends batches of 1,000 new texts to `/v1/admit`. Another client collapses 100 ids (30
  of them repeat a better-ranked hit), or searches for two words. *Alone* is without admissions.
- *During prefix queries*: the index has 200,000 texts of 25 words. Eight clients search for `w*`, which matches every
  word of every text, and repeat the query immediately after each answer. Another client searches for two words.
- *A large group*: 100,000 documents have one representative. Each page has one member.
"""
SHARE: Final = 10 if SMALL else 1  # of the documents that are left out
TEXTS: Final = 70_000 // SHARE
COPIES: Final = 30_000 // SHARE
TOGETHER: Final = 10_000 // SHARE
SHORT_TEXTS: Final = 200_000 // SHARE
SHORT_WORDS: Final = 25
MEMBERS: Final = 100_000 // SHARE
ADMITTED: Final = 1_000
BATCHES: Final = 20  # different ones, which follow each other again with new ids
PREFIXES: Final = 8
SECONDS: Final = 3.0 if SMALL else 10.0
SEED: Final = 11
HEAD: Final = "HTTP/1.1\r\nHost: 127.0.0.1\r\n"


def main() -> None:
    folder = Path(mkdtemp(dir=CACHE, prefix="busy-"))
    try:
        figures = [*beside_admissions(folder), *beside_prefixes(folder / "short"), *of_a_group(folder / "group")]
    finally:
        shutil.rmtree(folder)
    publish("busy", "Readers of a busy service", METHOD, figures)


# Beside admissions


def beside_admissions(folder: Path) -> Iterator[Figure]:
    random = np.random.default_rng(SEED)
    with neardup.Index.create(folder / "texts", texts=True, durability="bulk") as index:
        for begin in range(0, TEXTS, TOGETHER):
            part = documents(TOGETHER, begin)
            index.admit([name(number) for number in range(begin, begin + TOGETHER)], part)
            if begin < COPIES:
                index.admit([f"{name(number)}/copy" for number in range(begin, begin + TOGETHER)], edited(part, begin))
        index.compact()
        Search.open(index, make=True).close()
    asked = {
        "collapse": [collapsing(random) for _ in range(2_000)],
        "search": [searching(" ".join(VOCABULARY[random.integers(100, 1500, 2)])) for _ in range(2_000)],
    }
    bodies = [documents(ADMITTED, SEED + number).to_pylist() for number in range(BATCHES)]
    most = {"collapse": 60, "search": 150}
    for workers in (1, 2):
        copy = folder / f"workers-{workers}"
        shutil.copytree(folder / "texts", copy)
        with serving(copy, "--workers", str(workers)) as (address, _):
            for does, requests in asked.items():
                following = cycle(requests)
                run(address, following, 1.0, 1)
                alone = run(address, following, SECONDS, 1)
                with meanwhile(lambda: admitting(address, bodies)) as done:
                    beside = run(address, following, SECONDS, 1)
                title = f"{does}, {'one process' if workers == 1 else 'two readers'}"
                yield Figure(name=f"{title}, alone, p99", value=alone.percentile(99), unit="ms")
                yield Figure(name=f"{title}, during admissions, median", value=beside.percentile(50), unit="ms")
                yield Figure(name=f"{title}, during, p99", value=beside.percentile(99), unit="ms", at_most=most[does])
                yield Figure(name=f"{title}, admitted meanwhile", value=ADMITTED * len(done) / SECONDS, unit="texts/s")


def collapsing(random: np.random.Generator) -> bytes:
    """Ask about 70 documents and the copies of 30 of them."""
    originals = random.choice(COPIES, 7 * HITS // 10, replace=False).tolist()
    ids = [name(number) for number in originals] + [f"{name(number)}/copy" for number in originals[: 3 * HITS // 10]]
    return posting("/v1/collapse", json.dumps({"hits": ids, "size": 10}).encode())


def searching(query: str) -> bytes:
    return f"GET /v1/search?q={quote_plus(query)} {HEAD}\r\n".encode()


def posting(path: str, body: bytes) -> bytes:
    head = f"POST {path} {HEAD}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def admitting(address: tuple[str, int], batches: list[list[str]]) -> Iterator[None]:
    """Admit batches of texts with new ids, one whenever the next is wanted."""
    connection = HTTPConnection(*address)
    begun = perf_counter()
    for number, texts in enumerate(cycle(batches)):
        batch = [{"id": f"{begun}-{number}-{row}", "text": text} for row, text in enumerate(texts)]
        connection.request("POST", "/v1/admit", json.dumps({"documents": batch}), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(answer.status)
        yield


@contextmanager
def meanwhile(work: Callable[[], Iterator[None]]) -> Iterator[list[None]]:
    """Do work step by step in a thread; the list has an item for each step that is done."""
    done: list[None] = []
    ended = Event()

    def go() -> None:
        for step in work():
            done.append(step)
            if ended.is_set():
                return

    thread = Thread(target=go)
    thread.start()
    try:
        yield done
    finally:
        ended.set()
        thread.join()


# Beside prefix queries


def beside_prefixes(folder: Path) -> Iterator[Figure]:
    random = np.random.default_rng(SEED)
    with neardup.Index.create(folder, texts=True, durability="bulk") as index:
        for begin in range(0, SHORT_TEXTS, TOGETHER):
            index.admit([name(number) for number in range(begin, begin + TOGETHER)], short(random, TOGETHER))
        index.compact()
        Search.open(index, make=True).close()
    cheap = cycle([searching(" ".join(VOCABULARY[random.integers(100, 20_000, 2)])) for _ in range(2_000)])
    with serving(folder) as (address, _):
        run(address, cheap, 1.0, 1)
        alone = run(address, cheap, SECONDS, 1)
        with meanwhile(lambda: iter([run(address, cycle([searching("w*")]), SECONDS, PREFIXES)])) as done:
            beside = run(address, cheap, SECONDS - 1, 1)
    (load,) = done
    yield Figure(name="cheap query alone, p99", value=alone.percentile(99), unit="ms")
    yield Figure(name="cheap query during eight `w*`, median", value=beside.percentile(50), unit="ms")
    longest = beside.percentile(100)
    yield Figure(name="cheap query during eight `w*`, longest", value=longest, unit="ms", at_most=200)
    if len(load.times):
        yield Figure(name="`w*`, median of those answered", value=load.percentile(50), unit="ms")


def short(random: np.random.Generator, number: int) -> pa.Array:
    chosen = (random.random(number * SHORT_WORDS) * len(VOCABULARY)).astype(np.int32)
    words = pa.array(VOCABULARY).take(pa.array(chosen))
    return pc.binary_join(pa.ListArray.from_arrays(np.arange(number + 1, dtype=np.int32) * SHORT_WORDS, words), " ")


# A large group


def of_a_group(folder: Path) -> Iterator[Figure]:
    text = documents(1, SEED).to_pylist()
    with neardup.Index.create(folder, durability="bulk") as index:
        for begin in range(0, MEMBERS, TOGETHER):
            index.admit([name(number) for number in range(begin, begin + TOGETHER)], text * TOGETHER)
        index.admit(["another"], ["This text is in no large group."])
    path = f"/v1/groups/{quote(name(MEMBERS // 2), safe='')}"
    with serving(folder) as (address, _):
        first = asked_once(address, f"{path}?size=1")
        pages = cycle([f"GET {path}?size=1&page={page} {HEAD}\r\n".encode() for page in range(1, 1_000)])
        load = run(address, pages, SECONDS, 1)
    yield Figure(name=f"group of {MEMBERS:,}, first page", value=first, unit="ms", at_most=5)
    yield Figure(name="group, each page, p99", value=load.percentile(99), unit="ms", at_most=5)


def asked_once(address: tuple[str, int], path: str) -> float:
    connection = HTTPConnection(*address)
    connection.request("GET", "/v1/groups/another")  # loads what the first request needs
    connection.getresponse().read()
    begun = perf_counter()
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        raise RuntimeError(answer.status)
    return (perf_counter() - begun) * 1e3


if __name__ == "__main__":
    main()
