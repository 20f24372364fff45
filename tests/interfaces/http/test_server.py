"""The service as a process of its own: slow and broken clients, overload, and how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from neardup import Index

SOAKED = float(os.environ.get("NEARDUP_SOAK_SECONDS", "1200"))  # of mixed load
JSON = {"content-type": "application/json"}


class Process:
    """A service that runs ``neardup serve``, with other limits if they are given."""

    def __init__(self, folder, *options, limits=""):
        script = (
            "import sys; from dataclasses import replace; from neardup.interfaces.http import running\n"
            "from neardup.interfaces.http.limits import Limits\n"
            "made = running.Plan\n"
            f"running.Plan = lambda **given: made(**given, limits=Limits({limits}))\n"
            "from neardup.interfaces.cli import main; sys.exit(main(sys.argv[1:]))"
        )
        command = [sys.executable, "-c", script] if limits else [sys.executable, "-m", "neardup"]
        self.process = subprocess.Popen(
            [*command, "serve", str(folder), "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        self.said = self.process.stdout.readline()
        found = re.search(r"http://[^/]+:(\d+)/", self.said)
        assert found, self.said + self.process.stderr.read()
        self.port = int(found[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def connection(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def end(self, number=signal.SIGTERM):
        """Send a signal; give the exit code and what was said."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def run(folder):
    running = []

    def begin(where=folder, *options, **given):
        running.append(Process(where, *options, **given))
        return running[-1]

    yield begin
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()
        one.process.stdout.close()
        one.process.stderr.close()


def raw(process, sent, *, wait=5.0):
    """Send bytes, and read until the other side ends."""
    with process.connection() as connection:
        connection.settimeout(wait)
        connection.sendall(sent)
        received = b""
        while part := connection.recv(65536):
            received += part
        return received


def status_of(answer):
    return int(answer.split(b" ")[1])


def test_it_says_where_it_is_and_ends_as_asked(run, folder):
    process = run()
    assert process.said.startswith(f"Serving 3 documents of {folder} at http://127.0.0.1:")
    assert "reads and writes" in process.said
    assert httpx.get(f"{process.url}/readyz").json() == {"status": "ready"}
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
    assert process.end() == (0, "Ended.\n", "")


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
    (JUDGE % b"9999999", 413),
    (b"GET /docs/../../etc/passwd HTTP/1.0\r\nHost: localhost\r\n\r\n", 404),
    (b"GET /v1/documents/\xff HTTP/1.0\r\nHost: localhost\r\n\r\n", 400),
    (b"GET http://evil.example/healthz HTTP/1.0\r\nHost: localhost\r\n\r\n", 200),
    (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n", 200),
]


def test_what_is_no_request(run):
    process = run()
    for sent, status in BROKEN:
        answer = raw(process, sent)
        assert answer, sent
        assert status_of(answer) == status, (sent[:80], answer[:300])
        if status != 200:
            assert b"application/problem+json" in answer
            assert b"nosniff" in answer
    assert httpx.get(f"{process.url}/readyz").status_code == 200
    assert process.end() == (0, "Ended.\n", "")


def test_requests_may_come_one_behind_the_other(run):
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    answer = raw(run(), (head + b"\r\n") * 5 + head + b"Connection: close\r\n\r\n")
    assert answer.count(b'{"status":"alive"}') == 6


def test_a_body_that_is_refused_may_still_be_sent(run):
    process = run()
    large = b" " * (9 << 20)
    for _ in range(2):
        assert httpx.post(f"{process.url}/v1/judge", content=large, headers=JSON).status_code == 413


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


@pytest.mark.parametrize("begun", [b"", HEADS[:20], BODIES], ids=["from the first byte", "a head", "a body"])
def test_slow_clients_do_not_stop_others(run, folder, begun):
    process = run(folder, limits=SLOW)
    with trickling(process, 100, HEADS if not begun else b" ") as slow:
        for one in slow:
            if begun:
                _send(one, begun)
        for _ in range(30):
            begin = time.monotonic()
            assert httpx.get(f"{process.url}/v1/documents/a").status_code == 200
            assert time.monotonic() - begin < 1
        time.sleep(2.5)
        assert sum(_is_open(one) for one in slow) == 0  # their time is over
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


def test_who_is_too_slow_is_told(run, folder):
    process = run(folder, limits=SLOW)
    assert status_of(raw(process, HEADS)) == 408
    assert status_of(raw(process, BODIES)) == 408
    assert raw(process, b"") == b""  # who asks nothing is told nothing


def test_who_does_not_read_is_cut(run, folder, texts):
    process = run(folder, limits="idle_seconds=1")
    with process.connection() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 400)
        time.sleep(3)
        metrics = httpx.get(f"{process.url}/metrics").text
        assert "neardup_connections 1\n" in metrics


# The end.


@pytest.mark.parametrize("cycles", [3, pytest.param(100, marks=[pytest.mark.soak, pytest.mark.timeout(1200)])])
def test_what_was_asked_before_the_end_is_answered(run, folder, texts, cycles):
    """Clients ask without pause; the service is told to end; whoever sent a whole request has an answer."""
    for cycle in range(cycles):
        process = run()
        acknowledged, failed = [], []

        def ask(number, process=process, acknowledged=acknowledged, failed=failed, cycle=cycle):
            with httpx.Client(base_url=process.url) as client:
                for count in range(10_000):
                    name = f"{cycle} {number} {count}"
                    body = {"documents": [{"id": name, "text": f"{texts.heron} {name}"}]}
                    try:
                        answer = client.post("/v1/admit", json=body)
                    except httpx.ConnectError:  # nobody listens any more
                        return
                    except httpx.HTTPError as error:
                        failed.append((name, error))
                        return
                    if answer.status_code == 200:
                        acknowledged.append(name)

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        while len(acknowledged) <= len(threads):
            time.sleep(0.01)
        time.sleep(0.05 * (cycle % 7))
        assert process.end() == (0, "Ended.\n", "")
        for thread in threads:
            thread.join()
        assert failed == []
        with Index.open(folder) as index:
            assert None not in index.get(acknowledged)
            assert index.check().problems == []


def test_a_request_that_is_being_sent_is_answered_yet(run, texts):
    process = run()
    body = json.dumps({"documents": [{"id": "late", "text": texts.heron}]}).encode()
    head = b"POST /v1/admit HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    with process.connection() as connection:
        connection.sendall(head % len(body) + body[:10])
        time.sleep(0.2)
        process.process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        connection.sendall(body[10:])
        answer = connection.recv(65536)
        assert status_of(answer) == 200
        assert b"connection: close" in answer
    assert process.end(0)[0] == 0


def test_who_never_ends_asking_does_not_keep_it(run):
    process = run()
    with process.connection() as connection:
        connection.sendall(BODIES)
        begin = time.monotonic()
        assert process.end()[0] == 0
        assert time.monotonic() - begin < 6


def test_a_kill_takes_nothing_that_was_answered(run, folder, texts):
    process = run()
    with httpx.Client(base_url=process.url) as client:
        for number in range(20):
            body = {"documents": [{"id": f"k{number}", "text": f"{texts.heron} {number}"}]}
            assert client.post("/v1/admit", json=body).status_code == 200
    assert process.end(signal.SIGKILL)[0] == -signal.SIGKILL
    with Index.open(folder, "w") as index:
        assert None not in index.get([f"k{number}" for number in range(20)])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP], ids=["Ctrl-C", "the terminal goes"])
def test_other_ways_to_end_it(run, number):
    assert run().end(number) == (0, "Ended.\n", "")
