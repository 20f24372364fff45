"""Many crawlers share the index of a service, and both are killed again and again.

Nothing that was acknowledged is lost, nothing is admitted twice, each page that is kept was passed on by a crawler, and
the kept pages are those of one crawl that meets the pages in the order of their admission.
"""

import json
import os
import random
import signal
import socket
import time
import traceback
from collections import Counter
from contextlib import suppress

import pytest
from lives import SCHEMES, kills_apart, text

from neardup import Client, Index, collapse
from neardup.interfaces.cli import main
from neardup.interfaces.http import server  # noqa: F401 - so that the children need not load it
from neardup.urls import Addresses
from neardup.verdicts import Known

CRAWLERS = 8
PAGES = 5  # of a batch
PATIENCE = 300


def pages(crawler, batch):
    """Return the pages of a batch: many repeat others, and several crawlers fetch some of them."""
    dice = random.Random(crawler * 1_000_003 + batch)
    for number in range(PAGES):
        if dice.random() < 0.2:
            met = dice.randrange(40)
            yield f"http://shared.example/{met}", text(met % 13, met)
        else:
            own = f"http://site{crawler}.example/{batch}/{number}?utm_source=x"
            yield own, text(dice.randrange(60), dice.randrange(3))


def lines(journal):
    return [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []


def crawl(url, crawler, batches, journal, survived):
    """Send batches from the first that is not acknowledged, and note which pages are passed on.

    The last one is sent after all kills.
    """
    since, *done = lines(journal) or [None]
    resumed = since is not None
    with Client(url, patience=PATIENCE) as client, journal.open("ab", buffering=0) as file:
        if since is None:
            since = client.next_admission
            file.write(b"%d\n" % since)
        for batch in range(len(done), batches):
            while batch == batches - 1 and not survived.exists():
                time.sleep(0.01)
            urls, texts = zip(*pages(crawler, batch), strict=True)
            verdicts = client.judge_and_admit(list(urls), list(texts))
            resumes = resumed and batch == len(done)
            ids = [client.id_of(own) for own in urls]
            passed = {own for own, verdict in zip(ids, verdicts, strict=True) if verdict.representative is None}
            if resumes:  # an earlier life may have sent this batch, and not noted what to pass on
                for own, verdict, admission in zip(ids, verdicts, client.admissions(ids), strict=True):
                    if isinstance(verdict, Known) and verdict.representative == own and admission.reported >= since:
                        passed.add(own)
            file.write(json.dumps([batch, resumes, sorted(passed)]).encode() + b"\n")


def begin(work, *given):
    """Do some work in a fork; return the number of its process."""
    number = os.fork()
    if number:
        return number
    try:
        os._exit(work(*given) or 0)
    except BaseException:  # noqa: BLE001 - told to whoever judges
        traceback.print_exc()
    os._exit(1)


def serve(folder, port):
    out = os.open(folder.parent / "said", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(out, 1)
    os.dup2(out, 2)
    return main(["serve", str(folder), "--port", str(port), "--memory", "1MiB"])


def killed(number):
    with suppress(ProcessLookupError):
        os.kill(number, signal.SIGKILL)
    os.waitpid(number, 0)


def kills(path, number, seed):
    """Kill crawlers and the service so many times, while crawlers send batches."""
    batches = max(8, number)
    path.mkdir()
    with Index.create(path / "warm", SCHEMES["minhash"], texts=True) as index:  # loads all
        index.admit(["a", "b"], ["one text of some words", "another text of some words"])
        collapse(["a", "b"], index=index)
    folder = path / "seen"
    Index.create(folder, SCHEMES["minhash"], texts=True).close()
    dice = random.Random(seed)
    journals = [path / f"crawler{crawler}" for crawler in range(CRAWLERS)]
    survived, counts = path / "survived", Counter()
    plan = [(dice.randrange(1, 10), number % 3 == 1) for number in range(number)]
    with socket.socket() as held:  # so that no other process gets the port while the service is down
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        service = begin(serve, folder, port)

        def crawler_of(number):
            return begin(crawl, url, number, batches, journals[number], survived)

        running = {number: crawler_of(number) for number in range(CRAWLERS)}

        def acknowledged():
            return sum(journal.read_bytes().count(b"\n") for journal in journals if journal.exists())

        last = 0
        while running:
            for crawler, process in list(running.items()):
                ended, status = os.waitpid(process, os.WNOHANG)
                if ended:
                    assert status == 0, crawler
                    del running[crawler]
            now = acknowledged()
            if not plan:
                survived.touch()
            elif now - last >= plan[0][0] or now == CRAWLERS * batches:  # all wait, and each has noted a number first
                last = now
                if plan.pop(0)[1]:
                    killed(service)
                    service = begin(serve, folder, port)
                    counts["service"] += 1
                else:
                    crawler = dice.choice(sorted(running))
                    killed(running[crawler])
                    running[crawler] = crawler_of(crawler)
                    counts["crawlers"] += 1
            time.sleep(0.002)
        with Client(url, patience=PATIENCE) as client:
            size = len(client)
        os.kill(service, signal.SIGTERM)
        assert os.waitpid(service, 0)[1] == 0
    require_one_crawl(folder, journals, batches, size)
    return {**counts, "kills": counts.total(), "documents": size}


def require_one_crawl(folder, journals, batches, size):
    sent = {}
    id_of = Addresses().id_of
    for crawler in range(CRAWLERS):
        for batch in range(batches):
            sent.update({id_of(url): content for url, content in pages(crawler, batch)})
    with Index.open(folder) as index:
        ids = list(index.ids())
        documents = index.get(ids)
        assert index.next_admission == len(index) == size  # nothing was admitted twice
        assert {document.id: document.text for document in documents} == sent
        assert index.check().problems == []
    with Index.create(None, SCHEMES["minhash"], texts=True) as alone:
        for document in documents:
            alone.admit([document.id], [document.text])
        kept = {document.id for document in alone.get(ids) if document.representative == document.id}
        assert [own.representative for own in alone.get(ids)] == [own.representative for own in documents]
    passed = Counter()
    for journal in journals:
        _, *noted = lines(journal)
        assert [batch for batch, _, _ in noted] == list(range(batches))
        for _, _, some in noted:
            passed.update(some)
    assert set(passed) == kept
    once = Counter(
        own for journal in journals for _, resumes, some in lines(journal)[1:] if not resumes for own in some
    )
    assert set(once.values()) <= {1}  # by crawlers that were not killed meanwhile


def test_kills():
    told = kills_apart("test_shared_kills", 8, 1)
    assert (told["service"], told["crawlers"]) == (3, 5)


@pytest.mark.soak
def test_many_kills():
    until = time.monotonic() + 60 * float(os.environ.get("NEARDUP_SHARED_MINUTES", "30"))
    seed = 2
    while time.monotonic() < until:
        kills_apart("test_shared_kills", 300, seed)
        seed += 1
