"""The service as a process of its own: slow and broken clients, overload, and how it ends."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from nursery import Nursery

from neardup import Index
from neardup.interfaces.http.server import bound, several
from neardup.pipeline.searching import Search

SOAKED = float(os.environ.get("NEARDUP_SOAK_SECONDS", "1200"))  # of mixed load
PATIENCE = 60
JSON = {"content-type": "application/json"}


class Process:
    """A service that runs ``neardup serve``, with other limits if they are given."""

    def __init__(self, folder, *options, limits="", prefix=()):
        script = (
            "import sys; from dataclasses import replace; from neardup.interfaces.http import running\n"
            "from neardup.interfaces.http.limits import Limits\n"
            "made = running.Deployment\n"
            f"running.Deployment = lambda **given: made(**given, limits=Limits({limits}))\n"
            "from neardup.interfaces.cli import main; sys.exit(main(sys.argv[1:]))"
        )
        command = [sys.executable, "-c", script] if limits else [sys.executable, "-m", "neardup"]
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe that nobody reads would stop it once it is full
        self.process = subprocess.Popen(
            [*prefix, *command, "serve", str(folder), "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=self.errors,
            encoding="utf-8",
        )
        self.said = self.process.stdout.readline()
        found = re.search(r"http://[^/]+:(\d+)/", self.said)
        assert found, self.said + self.complaints()
        self.port = int(found[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def connection(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def end(self, number=signal.SIGTERM):
        """Send a signal; give the exit code and what was said."""
        self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=60)
        return self.process.returncode, out, self.complaints()

    def complaints(self):
        self.errors.seek(0)
        return self.errors.read().decode()

    def forget(self):
        """Let go of it, however it is."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.process.stdout.close()
        self.errors.close()


@pytest.fixture
def run(folder):
    running = []

    def begin(where=folder, *options, **given):
        running.append(Process(where, *options, **given))
        return running[-1]

    yield begin
    for one in running:
        one.forget()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared") / "seen"
    with Index.create(folder) as index:
        index.admit(["a"], ["some words that stand in a text"])
    process = Process(folder)
    yield process
    assert process.end() == (0, "Ended.\n", "")
    process.forget()


def test_a_socket_that_is_shared_never_blocks():
    listening = bound("127.0.0.1", 0)
    with socket.socket(fileno=os.dup(listening.fileno())) as received:  # as another process has it
        sockets = several(received)
        assert not any(os.get_blocking(one.fileno()) for one in (listening, *sockets))
        for one in (listening, *sockets):
            one.close()


def raw(process, sent, *, wait=5.0):
    """Send bytes, and read until the other side ends."""
    with process.connection() as connection:
        connection.settimeout(wait)
        connection.sendall(sent)
        received = b""
        while part := connection.recv(65536):
            received += part
        return received


def by_then(holds):
    """Wait until something holds."""
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def status_of(answer):
    return int(answer.split(b" ")[1])


def test_it_says_where_it_is_and_ends_as_asked(run, folder):
    process = run()
    assert process.said.startswith(f"Serving 3 documents of {folder} at http://127.0.0.1:")
    assert "reads and writes" in process.said
    assert httpx.get(f"{process.url}/readyz").json() == {"status": "ready", "writes": "yes"}
    assert process.end() == (0, "Ended.\n", "")
    with Index.open(folder, "w") as index:  # the lock is free
        assert len(index) == 3


def test_another_writer_leaves_it_to_read(run, folder, texts):
    with Index.open(folder, "w") as index:
        process = run()
        assert "reads only" in process.said
        body = {"documents": [{"id": "d", "text": texts.heron}]}
        assert httpx.post(f"{process.url}/v1/admit", json=body).status_code == 409
        assert httpx.get(f"{process.url}/v1/documents/d").status_code == 404
        index.admit(["d"], [texts.heron])
        deadline = time.monotonic() + 10
        while httpx.get(f"{process.url}/v1/documents/d").status_code != 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert process.end()[0] == 0


def test_workers_read_and_end_together(run, folder):
    process = run(folder, "--workers", "2")
    for _ in range(20):
        assert httpx.get(f"{process.url}/v1/documents/a").status_code == 200
    assert httpx.delete(f"{process.url}/v1/documents/a").status_code == 409
    assert process.end(signal.SIGINT) == (0, "Ended.\n", "")


def test_it_outlives_a_closed_terminal_under_nohup(run):
    process = run(prefix=["sh", "-c", 'trap "" INT HUP; exec "$@"', "sh"])
    for number in (signal.SIGHUP, signal.SIGINT):
        process.process.send_signal(number)
    time.sleep(0.2)
    assert httpx.get(f"{process.url}/readyz").status_code == 200
    assert process.end() == (0, "Ended.\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_are_replaced_and_do_not_outlive_who_began_them(run, folder):
    process = run(folder, "--workers", "2")
    pid = process.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    worker = next(child for child in children if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text())
    os.kill(int(worker), signal.SIGKILL)
    deadline = time.monotonic() + 30
    while "another one takes its place" not in process.complaints():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert httpx.get(f"{process.url}/readyz", timeout=30).status_code == 200
    process.end(signal.SIGKILL)  # which waits for all who could write to its output
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{process.url}/readyz")


JUDGE = b"POST /v1/judge HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n"
BROKEN = [
    (b"GARBAGE\r\n\r\n", 400),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
    (b"GET / HTTP/9.9\r\n\r\n", 400),
    (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", 400),
    (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    (b"GET /healthz HTTP/1.0\r\n\r\n", 421),
    (b"GET /" + b"a" * 5000 + b" HTTP/1.0\r\nHost: localhost\r\n\r\n", 414),
    (b"GET / HTTP/1.0\r\nHost: localhost\r\n" + b"X: y\r\n" * 5000 + b"\r\n", 431),
    (b"GET / HTTP/1.0\r\nHost: localhost\r\nX: " + b"y" * 20_000, 431),
    (b"GET /" + b"a" * 20_000, 431),
    (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 431),
    (JUDGE % b"9999999", 413),
    (b"GET /docs/../../etc/passwd HTTP/1.0\r\nHost: localhost\r\n\r\n", 404),
    (b"GET /v1/documents/\xff HTTP/1.0\r\nHost: localhost\r\n\r\n", 400),
    (b"GET http://evil.example/healthz HTTP/1.0\r\nHost: localhost\r\n\r\n", 200),
    (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n", 200),
]


def test_what_is_no_request(shared):
    for sent, status in BROKEN:
        answer = raw(shared, sent)
        assert answer, sent
        assert status_of(answer) == status, (sent[:80], answer[:300])
        if status != 200:
            assert b"application/problem+json" in answer
            assert b"nosniff" in answer
    assert httpx.get(f"{shared.url}/readyz").status_code == 200


def test_requests_may_come_one_behind_the_other(shared):
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    answer = raw(shared, (head + b"\r\n") * 5 + head + b"Connection: close\r\n\r\n")
    assert answer.count(b'{"status":"alive"}') == 6


BODY = b'{"documents": [{"text": "some words that stand in a text"}]}'
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(
    b"%x\r\n%s\r\n" % (len(part), part) for part in (BODY[:9], BODY[9:])
)
WAYS = {
    "at once": [LENGTH + b"\r\n" + BODY],
    "behind the head": [LENGTH + b"\r\n", BODY],
    "in parts": [LENGTH + b"\r\n" + BODY[:5], BODY[5:20], BODY[20:]],
    "in chunks": [CHUNKED + b"0\r\n\r\n"],
    "in chunks that are waited for": [CHUNKED[:40], CHUNKED[40:], b"0\r\n\r\n"],
    "when asked for": [b"Expect: 100-continue\r\n" + LENGTH + b"\r\n", BODY],
}


@pytest.mark.parametrize("way", WAYS)
def test_a_body_may_come_in_any_way(shared, way):
    """The answer is the same, also where the next request is there already."""
    head = b"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with shared.connection() as connection:
        for last in (b"", b"Connection: close\r\n"):
            for number, part in enumerate(WAYS[way]):
                if number:
                    time.sleep(0.05)
                connection.sendall(part if number else head + last + part)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    answers = [answer for answer in received.split(b"HTTP/1.1 ") if answer and not answer.startswith(b"100 ")]
    assert received.count(b"HTTP/1.1 100 ") == (2 if way == "when asked for" else 0)
    assert [status_of(b"HTTP/1.1 " + answer) for answer in answers] == [200, 200]
    assert [b"connection: close" in answer for answer in answers] == [False, True]
    assert answers[0].split(b"\r\n\r\n")[1] == answers[1].split(b"\r\n\r\n")[1]
    assert all(b"nosniff" in answer and b"default-src 'none'" in answer for answer in answers)


def test_the_head_alone_says_how_long_the_rest_would_be(shared):
    whole, head = (getattr(httpx, verb)(f"{shared.url}/v1/documents/a") for verb in ("get", "head"))
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(whole.content))


def test_a_body_that_is_refused_may_still_be_sent(shared):
    large = b" " * (9 << 20)
    for _ in range(2):
        assert httpx.post(f"{shared.url}/v1/judge", content=large, headers=JSON).status_code == 413


SLOW = "head_seconds=1.0, body_seconds=1.0, idle_seconds=2, connections=60"


@contextmanager
def trickling(process, number, sent):
    """Open so many connections that send a byte now and then."""
    ended = threading.Event()
    with ExitStack() as stack:
        sockets = [stack.enter_context(process.connection()) for _ in range(number)]

        def trickle():
            place = 0
            while not ended.wait(0.1):
                for one in sockets:
                    try:
                        one.send(sent[place : place + 1])
                    except OSError:
                        continue
                place = (place + 1) % len(sent)

        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            yield sockets
        finally:
            ended.set()
            thread.join()


HEADS = b"GET /v1/documents/a HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"x" * 1000
BODIES = JUDGE % b"1000"


@pytest.mark.parametrize("number", [40, pytest.param(500, marks=pytest.mark.soak)])
def test_slow_clients_do_not_stop_others(run, folder, number):
    process = run(folder, limits=SLOW)
    with trickling(process, number, HEADS) as heads, trickling(process, number, b" ") as bodies:
        for one in bodies:
            _send(one, BODIES)
        for _ in range(30):
            assert httpx.get(f"{process.url}/v1/documents/a", timeout=PATIENCE).status_code == 200
        by_then(lambda: not any(map(_is_open, [*heads, *bodies])))  # their time is over
    assert status_of(raw(process, HEADS)) == 408  # who is too slow is told
    assert status_of(raw(process, BODIES)) == 408
    assert raw(process, b"") == b""  # who asks nothing is told nothing
    assert process.end()[0] == 0


def _send(one, data):
    try:
        one.sendall(data)
    except OSError:
        return  # cut already


def _is_open(one):
    one.settimeout(0)
    try:
        while one.recv(65536):
            continue
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def test_who_does_not_read_is_cut(run, folder, texts):
    process = run(folder, limits="idle_seconds=1")
    with process.connection() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 400)
        by_then(lambda: "neardup_connections 1\n" in httpx.get(f"{process.url}/metrics", timeout=PATIENCE).text)


def asking(process, clients, seconds, body):
    """Ask without pause from so many connections; count the answers by status."""

    async def ask(until, counts):
        reader, writer = await asyncio.open_connection("127.0.0.1", process.port)
        head = b"POST /v1/collapse HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        head += b"Content-Length: %d\r\n\r\n" % len(body)
        while time.monotonic() < until:
            writer.write(head + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(re.search(rb"content-length: (\d+)", answer)[1]))
            counts[status_of(answer)] += 1
            if status_of(answer) == 429:
                assert b"retry-after: 1\r\n" in answer
                await asyncio.sleep(0.05)
        writer.close()

    async def all_():
        counts, until = Counter(), time.monotonic() + seconds
        await asyncio.gather(*(ask(until, counts) for _ in range(clients)))
        return counts

    return asyncio.run(all_())


def memory_of(process):
    status = Path(f"/proc/{process.process.pid}/status").read_text("ascii")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_too_much_is_shed_and_then_it_is_as_before(run):
    """Far more than it takes: the rest is told so, nothing grows, and it recovers."""
    process = run()
    body = json.dumps({"hits": [f"hit {number}" for number in range(100)]}).encode()
    asking(process, 8, 0.5, body)
    before = memory_of(process)
    assert set(asking(process, 300, 2.0, body)) == {200, 429}
    assert memory_of(process) < before + 100_000
    by_then(lambda: httpx.post(f"{process.url}/v1/collapse", content=body, headers=JSON).status_code == 200)
    assert set(asking(process, 4, 0.3, body)) == {200}
    assert process.end()[0] == 0


def test_it_says_how_it_is_however_much_there_is_to_do(run, folder):
    process = run(folder, limits="waiting=1, long_waiting=1")
    body = json.dumps({"hits": [f"hit {number}" for number in range(1000)]}).encode()
    with ThreadPoolExecutor() as threads:
        load = threads.submit(asking, process, 30, 1.0, body)
        while not load.done():
            for path in ("/healthz", "/readyz", "/metrics"):
                assert httpx.get(process.url + path).status_code == 200
    assert load.result()[429] > 0
    assert process.end(signal.SIGHUP) == (0, "Ended.\n", "")


@pytest.mark.soak
@pytest.mark.timeout(SOAKED + 300)
def test_nothing_grows(run, folder, texts):
    """Mixed load for long: memory and descriptors stay what they are after the beginning.

    What is held of new documents is little, so that its growing until it goes to a file is not all there is to see.
    """
    with Index.open(folder, "w") as index:
        Search.rebuild(index)
    process = run(folder, "--memory", "8")
    pid, until, held = process.process.pid, time.monotonic() + SOAKED, []

    def work(number):
        count = 0
        while time.monotonic() < until:
            with httpx.Client(base_url=process.url, timeout=60) as client:
                for _ in range(200):
                    count += 1
                    name = f"{number} {count % 500}"
                    document = {"id": name, "text": f"{texts.heron} {number} {count}"}
                    client.post("/v1/admit", json={"documents": [document]})
                    client.post("/v1/judge", json={"documents": [{"text": f"{texts.storm} {count}"}]})
                    client.post("/v1/collapse", json={"hits": [f"{number} {count + k}" for k in range(100)]})
                    client.get("/v1/search", params={"q": f"herons {count % 500}"})
                    client.get(f"/v1/documents/{count}")
                    client.post("/v1/compare", json={"a": {"text": texts.storm}, "b": {"text": texts.again}})
                    client.post("/v1/judge", content=b"[" * 1000, headers=JSON)
                    if count % 3 == 0:
                        client.delete(f"/v1/documents/{name}")

    with ThreadPoolExecutor() as threads:
        loads = [threads.submit(work, number) for number in range(4)]
        while time.monotonic() < until:
            time.sleep(SOAKED / 40)
            held.append((memory_of(process), sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())))
    for load in loads:
        load.result()
    early, late = held[len(held) // 4 : len(held) // 2], held[-len(held) // 4 :]
    assert max(memory for memory, _ in late) < max(memory for memory, _ in early) * 1.1 + 20_000, held
    assert max(files for _, files in late) <= max(files for _, files in early) + 8, held
    assert process.end() == (0, "Ended.\n", "")


# The end.


@pytest.mark.parametrize("cycles", [7, pytest.param(100, marks=[pytest.mark.soak, pytest.mark.timeout(1200)])])
def test_what_was_asked_before_the_end_is_answered(folder, tmp_path, texts, cycles):
    """Clients ask without pause; the service is told to end; what it has done for them it has told them.

    A client that the system connected when nobody was going to take the connection any more has no answer.
    """
    with Nursery() as nursery:
        for cycle in range(cycles):
            drain(nursery, folder, tmp_path / f"said-{cycle}", texts, cycle)


def drain(nursery, folder, said, texts, cycle):
    process = nursery.begin(folder, said)
    while not (found := re.search(r"http://[^/]+:\d+", said.read_text() if said.exists() else "")):
        time.sleep(0.01)
    acknowledged, failed = [], []

    def ask(number):
        with httpx.Client(base_url=found[0], verify=False) as client:  # noqa: S501 - there is nothing to verify
            for count in range(10_000):
                name = f"{cycle} {number} {count}"
                body = {"documents": [{"id": name, "text": f"{texts.heron} {name}"}]}
                try:
                    answer = client.post("/v1/admit", json=body)
                except httpx.ConnectError:  # nobody listens any more
                    return
                except httpx.HTTPError:
                    failed.append(name)
                    return
                if answer.status_code == 200:
                    acknowledged.append(name)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    while len(acknowledged) <= len(threads) and not failed:
        time.sleep(0.01)
    time.sleep(0.05 * (cycle % 7))
    os.kill(process, signal.SIGTERM)
    assert nursery.ended() == 0, said.read_text()
    assert said.read_text().endswith("\nEnded.\n")
    for thread in threads:
        thread.join()
    assert len(failed) < len(threads)
    with Index.open(folder) as index:
        assert None not in index.get(acknowledged)
        assert set(index.get(failed)) <= {None}
        assert index.check().problems == []


def test_a_request_that_is_being_sent_is_answered_yet(run, texts):
    process = run()
    body = json.dumps({"documents": [{"id": "late", "text": texts.heron}]}).encode()
    head = b"POST /v1/admit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    with process.connection() as connection, process.connection() as endless:
        endless.sendall(BODIES)  # who never ends asking does not keep it
        connection.sendall(head % len(body) + body[:10])
        time.sleep(0.2)
        process.process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        connection.sendall(body[10:])
        answer = connection.recv(65536)
        assert status_of(answer) == 200
        assert b"connection: close" in answer
        assert process.end(0)[0] == 0


def test_a_kill_takes_nothing_that_was_answered(run, folder, texts):
    process = run()
    with httpx.Client(base_url=process.url) as client:
        for number in range(20):
            body = {"documents": [{"id": f"k{number}", "text": f"{texts.heron} {number}"}]}
            assert client.post("/v1/admit", json=body).status_code == 200
    assert process.end(signal.SIGKILL)[0] == -signal.SIGKILL
    with Index.open(folder, "w") as index:
        assert None not in index.get([f"k{number}" for number in range(20)])
