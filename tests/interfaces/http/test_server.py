"""The service as a process of its own: slow and broken clients, overload, and how it ends."""

import asyncio
import gc
import json
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
import uvicorn
from nursery import Nursery
from programs import JUDGE, PATIENCE, Service, by_then, get, post, refuses, workers_of

from neardup import Index, MinHash
from neardup.interfaces.http import server
from neardup.interfaces.http.server import QUIET, Deployment, SignalledServer, opened_service
from neardup.interfaces.http.tokens import add_token
from neardup.model.errors import StorageFailed
from neardup.pipeline.query.search import Search
from neardup.sources.output import temporary

SOAKED = float(os.environ.get("NEARDUP_SOAK_SECONDS", "1200"))  # of mixed load
JSON = {"content-type": "application/json"}


class Forked(Service):
    """A service that begins at once, in a process that has loaded everything; with other limits if they are given."""

    def __init__(self, nursery, where, folder, *options, limits=None):
        self._out, self._errors = where.with_suffix(".out"), where.with_suffix(".errors")
        self._out.touch()
        self._errors.touch()
        self.process = nursery.begin(folder, *options, limits=limits, out=self._out, errors=self._errors)
        note = "the service only reads for now"  # which is no reason not to begin
        by_then(lambda: self._out.read_text().endswith("\n") or (self.complaints() and note not in self.complaints()))
        super().__init__(self._out.read_text())

    def end(self, number=signal.SIGTERM):
        """Send a signal; return the exit code, the output and the messages."""
        self.process.send_signal(number)
        code = self.process.wait()
        return code, self._out.read_text().removeprefix(self.said), self.complaints()

    def complaints(self):
        return self._errors.read_text()

    def forget(self):
        """Let go of it, however it is."""
        self.process.forget()


@pytest.fixture(scope="module")
def nursery():
    with Nursery() as nursery:
        yield nursery


@pytest.fixture
def fork(folder, nursery, tmp_path):
    running = []

    def begin(*options, **given):
        running.append(Forked(nursery, tmp_path / f"service{len(running)}", folder, *options, **given))
        return running[-1]

    yield begin
    for one in running:
        one.forget()


@pytest.fixture(scope="module")
def shared(tmp_path_factory, nursery):
    folder = tmp_path_factory.mktemp("shared") / "seen"
    with Index.create(folder) as index:
        index.admit(["a"], ["some words that stand in a text"])
    process = Forked(nursery, folder.parent / "service", folder)
    yield process
    assert process.end(signal.SIGHUP) == (0, "Ended.\n", "")
    process.forget()


def raw(process, sent, *, wait=PATIENCE):
    """Send bytes, and read until the other side ends."""
    with process.connection() as connection:
        connection.settimeout(wait)
        connection.sendall(sent)
        received = b""
        with suppress(ConnectionResetError):  # an end with bytes of the request unread; the answer came before
            while part := connection.recv(65536):
                received += part
        return received


def status_of(answer):
    return int(answer.split(b" ")[1])


def test_it_says_where_it_is_outlives_a_closed_terminal_under_nohup_and_ends_as_asked(run, folder, tmp_path):
    """The folder of metrics of another program, which it may inherit, is not used."""
    others = tmp_path / "others"
    others.mkdir()
    nohup = ["sh", "-c", 'trap "" INT HUP; exec "$@"', "sh"]
    process = run(prefix=["env", f"PROMETHEUS_MULTIPROC_DIR={others}", *nohup])
    assert process.said.startswith(f"Serving 3 documents of {folder} at http://127.0.0.1:")
    assert "reads and writes" in process.said
    for number in (signal.SIGHUP, signal.SIGINT):
        process.process.send_signal(number)
    time.sleep(0.2)
    assert get(f"{process.url}/readyz").json() == {"status": "ready", "writes": "yes"}
    assert "neardup_documents 3.0\n" in get(f"{process.url}/metrics").text
    assert process.end() == (0, "Ended.\n", "")
    assert [*others.iterdir()] == []
    with Index.open(folder, "w") as index:  # the lock is free
        assert len(index) == 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_terminal_that_is_not_read_stops_neither_answers_nor_the_end(folder, number):
    reader, terminal = os.openpty()
    command = [sys.executable, "-m", "neardup", "serve", str(folder), "--port", "0", "--access-log", "-"]
    process = subprocess.Popen(command, stdout=terminal, stderr=terminal, start_new_session=True)
    try:
        shown = b""
        while b"/: " not in shown:
            shown += os.read(reader, 1 << 16)
        url = re.search(r"http://[^/]+", shown.decode()).group()
        with httpx.Client(base_url=url, timeout=PATIENCE, headers={"X-Request-Id": "x" * 64}) as client:
            assert {client.get("/healthz").status_code for _ in range(300)} == {200}
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        os.close(reader)
        os.close(terminal)


def test_it_reads_what_another_process_writes_and_a_kill_loses_nothing_acknowledged(fork, folder, texts):
    with Index.open(folder, "w") as index:
        process = fork()
        assert "reads only" in process.said
        assert "is writing to it" in process.complaints()
        body = {"documents": [{"id": "d", "text": texts.heron}]}
        assert post(f"{process.url}/v1/admit", json=body).status_code == 409
        assert get(f"{process.url}/v1/documents/d").status_code == 404
        index.admit(["d"], [texts.heron])
        by_then(lambda: get(f"{process.url}/v1/documents/d").status_code == 200)
    by_then(lambda: get(f"{process.url}/readyz?writes=true").status_code == 200)
    with httpx.Client(base_url=process.url, timeout=PATIENCE) as client:
        for number in range(20):
            body = {"documents": [{"id": f"k{number}", "text": f"{texts.heron} {number}"}]}
            assert client.post("/v1/admit", json=body).status_code == 200
    assert process.end(signal.SIGKILL)[0] == -signal.SIGKILL
    with Index.open(folder, "w") as index:
        assert None not in index.get([f"k{number}" for number in range(20)])


BROKEN = [
    (b"GARBAGE\r\n\r\n", 400),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", 400),
    (b"GET /healthz HTTP/1.0\r\n\r\n", 421),
    (b"GET /" + b"a" * 5000 + b" HTTP/1.0\r\nHost: localhost\r\n\r\n", 414),
    (b"GET / HTTP/1.0\r\nHost: localhost\r\nX: " + b"y" * 20_000, 400),  # a head without an end
    (b"GET /" + b"a" * 70_000, 400),
    (JUDGE.replace(b"HTTP/1.1", b"HTTP/1.0") % b"9999999", 413),
    (b"GET http://elsewhere.example/healthz HTTP/1.0\r\nHost: localhost\r\n\r\n", 404),  # only paths are served
    (JUDGE.replace(b"1.1\r\n", b"1.0\r\nContent-Type: text/plain\r\n") % b"2" + b"{}", 415),
    (b"GET /docs/../../etc/passwd HTTP/1.0\r\nHost: localhost\r\n\r\n", 404),
    (b"GET /v1/documents/%FF HTTP/1.0\r\nHost: localhost\r\n\r\n", 400),
    (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n", 200),
]


def test_invalid_requests_are_refused_and_the_service_continues(shared):
    for sent, status in BROKEN:
        answer = raw(shared, sent)
        assert answer, sent
        assert status_of(answer) == status, (sent[:80], answer[:300])
    assert get(f"{shared.url}/readyz").status_code == 200


def test_a_body_that_is_too_large_may_still_be_sent(shared):
    large = b" " * (9 << 20)
    for _ in range(2):
        assert post(f"{shared.url}/v1/judge", content=large, headers=JSON).status_code == 413


@contextmanager
def trickling(process, number, sent):
    """Open connections that send a byte now and then."""
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


@pytest.mark.parametrize("number", [20, pytest.param(250, marks=pytest.mark.soak)])
def test_slow_clients_stop_neither_others_nor_the_end(fork, number):
    """Half of the slow clients send heads, half send bodies, which are refused after their time."""
    process = fork(limits={"body_seconds": 2.0})
    with trickling(process, number, HEADS), trickling(process, number, b" ") as bodies:
        for one in bodies:
            one.sendall(BODIES)
        for _ in range(30):
            assert get(f"{process.url}/v1/documents/a").status_code == 200
        for one in bodies:
            assert status_of(one.recv(65536)) == 408
        assert process.end()[0] == 0


def test_a_request_that_is_being_sent_when_the_service_is_told_to_end_is_answered(fork, texts):
    process = fork()
    late = json.dumps({"documents": [{"id": "late", "text": texts.heron}]}).encode()
    expecting = JUDGE.replace(b"judge", b"admit").replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n")
    with process.connection() as connection:
        connection.sendall(expecting % str(len(late)).encode())
        assert status_of(connection.recv(65536)) == 100  # it waits for the body
        process.process.send_signal(signal.SIGTERM)
        by_then(lambda: refuses(process))
        connection.sendall(late)
        assert status_of(connection.recv(65536)) == 200
        assert process.end(0)[0] == 0


def test_idle_connections_do_not_count_and_probes_are_answered_whatever_slow_clients_do(fork):
    process = fork(limits={"requests": 20, "body_seconds": 600.0})
    with ExitStack() as stack:
        idle = [stack.enter_context(process.connection()) for _ in range(60)]
        for one in idle[:30]:
            one.sendall(HEADS[:60])
        for path in ("/v1/documents/a", "/healthz", "/readyz", "/metrics"):
            assert get(process.url + path).status_code == 200
        for one in idle[30:]:
            one.sendall(BODIES)
        by_then(lambda: get(f"{process.url}/v1/documents/a").status_code == 429)
        for path in ("/healthz", "/readyz", "/metrics"):
            assert get(process.url + path).status_code == 200
    by_then(lambda: get(f"{process.url}/v1/documents/a").status_code == 200)


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
def test_too_many_requests_are_rejected_and_then_it_is_as_before(shared):
    """Many more than it accepts: it rejects the others, nothing grows, and it recovers."""
    process = shared
    body = json.dumps({"hits": [f"hit {number}" for number in range(100)]}).encode()
    asking(process, 8, 0.5, body)
    before = memory_of(process)
    seen = Counter()
    by_then(lambda: seen.update(asking(process, 300, 1.0, body)) or {*seen} == {200, 429})
    assert memory_of(process) < before + 100_000
    by_then(lambda: post(f"{process.url}/v1/collapse", content=body, headers=JSON).status_code == 200)
    assert set(asking(process, 4, 0.3, body)) == {200}


def test_probes_are_answered_however_much_there_is_to_do(shared):
    body = json.dumps({"hits": [f"hit {number}" for number in range(1000)]}).encode()
    met = set()
    while 429 not in met:
        with ThreadPoolExecutor() as threads:
            load = threads.submit(asking, shared, 60, 0.5, body)
            while not load.done():
                for path in ("/healthz", "/readyz", "/metrics"):
                    assert get(shared.url + path).status_code == 200
        met |= {*load.result()}


@pytest.mark.soak
@pytest.mark.timeout(SOAKED + 300)
def test_memory_and_files_do_not_grow_with_requests(run, folder, texts):
    """Mixed load for long: memory and descriptors stay what they are after the beginning.

    Little of new documents is held in memory; otherwise only its growth until it is written to a file could be seen.
    """
    with Index.open(folder, "w") as index:
        Search.rebuild(index)
    process = run(folder, "--memory", "8MiB")
    pid, until, held = process.process.pid, time.monotonic() + SOAKED, []

    def work(number):
        count = 0
        while time.monotonic() < until:
            with httpx.Client(base_url=process.url, timeout=PATIENCE) as client:
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


@pytest.mark.parametrize("cycles", [1, pytest.param(100, marks=[pytest.mark.soak, pytest.mark.timeout(1200)])])
def test_what_was_asked_before_the_end_is_answered(fork, folder, texts, cycles):
    """Clients send requests without pause, and the service is told to end: it has answered every request that it did.

    A request that arrives when the service no longer reads has no answer, and no effect.
    """
    for cycle in range(cycles):
        drain(fork(), folder, texts, cycle)


def drain(process, folder, texts, cycle):
    acknowledged, failed = [], []

    def ask(number):
        with httpx.Client(base_url=process.url, verify=False, timeout=PATIENCE) as client:  # noqa: S501 - there is nothing to verify
            for count in range(10_000):
                name = f"{cycle} {number} {count}"
                body = {"documents": [{"id": name, "text": f"{texts.heron} {name}"}]}
                try:
                    answer = client.post("/v1/admit", json=body)
                except httpx.ConnectError:  # the service no longer listens
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
    code, out, complaints = process.end()
    assert (code, out) == (0, "Ended.\n"), complaints
    for thread in threads:
        thread.join()
    with Index.open(folder) as index:
        assert None not in index.get(acknowledged)
        assert set(index.get(failed)) <= {None}
        assert index.check().problems == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_only_read_are_replaced_and_end_together(run, folder, tmp_path):
    """The metrics are those of all workers; gauges are of those that live."""
    process = run(folder, "--workers", "2", "--read-only")
    with httpx.Client(base_url=process.url, timeout=PATIENCE) as client:
        assert "neardup_documents 3.0\n" in client.get("/metrics").text
        mapped = Path(f"/proc/{process.process.pid}/maps").read_text()
        assert "/sem." not in mapped  # some containers have no shared memory for semaphores
        os.kill(workers_of(process)[0], signal.SIGKILL)
        by_then(lambda: "ended unexpectedly" in process.complaints())
        for _ in range(20):
            assert client.get("/v1/documents/a").status_code == 200
        assert client.delete("/v1/documents/a").status_code == 409
        assert 'neardup_requests_total{route="document",status="200"} 20.0' in client.get("/metrics").text
        with Index.open(folder, "w") as index:
            index.remove(["c"])
        by_then(lambda: "neardup_documents 2.0\n" in client.get("/metrics").text)
    require_waiting_is_reported_once(process, folder, tmp_path / "away")
    require_asked_workers_end(process)
    code, out, complaints = process.end(0)
    assert (code, out) == (0, "Ended.\n")
    assert complaints.count("ended unexpectedly") == 3
    assert not any(words in complaints for words in ("parent process [", "Terminated child", "Waiting for child"))
    assert "Traceback" not in complaints


def require_waiting_is_reported_once(process, folder, away):
    """Replaced workers wait for an index that is away."""
    by_then(lambda: len(workers_of(process)) == 2)
    killed = workers_of(process)
    Path(folder).rename(away)
    for worker in killed:
        os.kill(worker, signal.SIGKILL)

    def told(what):
        """Return the new workers with this report; killed ones may have written it, too, while they started."""
        found = [int(worker) for worker in re.findall(rf"worker (\d+) {what}", process.complaints())]
        assert len(found) == len({*found})
        return {*found} - {*killed}

    by_then(lambda: len(told("cannot start, and will try again: ")) == 2)
    time.sleep(0.5)  # in which they try again
    away.rename(folder)
    assert get(f"{process.url}/v1/documents/a").status_code == 200
    by_then(lambda: len(told("has started")) == 2)
    assert len(told("cannot start, and will try again: ")) == 2


def require_asked_workers_end(process):
    """Workers that do not answer while the service ends are not killed."""
    stopped = workers_of(process)
    for worker in stopped:
        os.kill(worker, signal.SIGSTOP)
    time.sleep(1)  # in which they are asked
    process.process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    for worker in stopped:
        os.kill(worker, signal.SIGCONT)


def writer_of(process, folder):
    """Return the number of the process that has the index open to write."""
    for worker in workers_of(process):
        with suppress(OSError):
            for file in Path(f"/proc/{worker}/fd").iterdir():
                if file.readlink() == Path(folder, "writer.lock"):
                    return worker
    return None


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_one_process_writes_and_the_others_read(run, folder):
    process = run(folder, "--workers", "2")
    assert "reads and writes" in process.said
    with httpx.Client(base_url=process.url, timeout=PATIENCE) as client:

        def admits(name):
            document = {"id": name, "text": f"a text about {name} that nobody has written before"}
            answer = client.post("/v1/admit", json={"documents": [document]})
            assert (answer.status_code, answer.json()["verdicts"][0]["verdict"]) == (200, "new"), answer.text
            assert len(answer.headers.get_list("x-request-id")) == 1
            by_then(lambda: {get(f"{process.url}/v1/documents/{name}").status_code for _ in range(10)} == {200})

        admits("herons")
        lines = client.get("/metrics").text.splitlines()
        assert 'neardup_requests_total{route="admit",status="200"} 1.0' in lines
        assert 'neardup_verdicts_total{route="admit",verdict="new"} 1.0' in lines
        assert "neardup_writes 1.0" in lines
        assert client.get("/readyz?writes=true").status_code == 200
        os.kill(writer_of(process, folder), signal.SIGKILL)
        by_then(lambda: "The process that writes the index ended unexpectedly" in process.complaints())
        admits("storms")
        assert client.delete("/v1/documents/herons").json()["removed"] == 1
        assert client.post("/v1/admit", json={"documents": [{"id": "x"}]}).status_code == 422
    code, out, complaints = process.end(signal.SIGINT)
    assert (code, out) == (0, "Ended.\n")
    assert "Traceback" not in complaints
    with Index.open(folder, "w") as index:
        assert index.get(["storms", "herons"])[1] is None


def test_several_processes_report_that_another_one_writes_and_end_although_one_answers_a_last_request(run, folder):
    with Index.open(folder, "w"):
        process = run(folder, "--workers", "2")
        assert "reads only" in process.said
        by_then(lambda: {get(f"{process.url}/readyz").json()["writes"] for _ in range(10)} == {"no"})
    by_then(lambda: {get(f"{process.url}/readyz").json()["writes"] for _ in range(10)} == {"yes"})
    with process.connection() as last:
        last.sendall(JUDGE % b"100" + b"{")
        time.sleep(0.2)
        process.process.send_signal(signal.SIGTERM)
        by_then(lambda: refuses(process))
        last.sendall(b" " * 99)
        assert last.recv(100).startswith(b"HTTP/1.1 400 ")
    assert process.end(0)[0] == 0


def test_a_process_that_dies_while_it_is_asked_is_not_waited_for():
    class Asked:
        exitcode = property(lambda self: None if self.asked < self.alive else 1)
        alive, asked = 3, 0

        def ping(self, seconds):
            self.asked += 1
            return seconds > 1 or self.alive > 3

    dying, busy, ended = Asked(), Asked(), threading.Event()
    assert (server._answers(dying, ended), dying.asked) == (False, 3)
    busy.alive = 4
    assert (server._answers(busy, ended), busy.asked) == (True, 1)
    ended.set()
    assert (server._answers(busy, ended), busy.asked) == (True, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_workers_that_are_starting_end_at_once(folder, number):
    """A terminal sends its signals to all processes."""
    with subprocess.Popen(
        [sys.executable, "-m", "neardup", "serve", str(folder), "--port", "0", "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        by_then(lambda: len(workers_of(SimpleNamespace(process=process))) == 3)
        os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
        _, errors = process.communicate(timeout=30)  # the supervisor of uvicorn waits 60 seconds
    assert (process.returncode, "Traceback" in errors.decode()) == (0, False), errors.decode()


def test_workers_do_not_outlive_the_process_that_started_them(run, folder):
    process = run(folder, "--workers", "2", "--read-only")
    process.end(signal.SIGKILL)  # which waits for all processes that could write to its output
    with pytest.raises(httpx.ConnectError):
        get(f"{process.url}/readyz")


@pytest.mark.parametrize("kind", ["memory", "temporary"])
def test_the_folder_of_metrics_is_removed_also_after_a_kill_but_not_while_it_is_used(tmp_path, monkeypatch, kind):
    """It is in memory if possible: the folder for temporary files may become full, which ends processes that use it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path if kind == "temporary" else tmp_path / "missing"))
    monkeypatch.setattr(server, "_MEMORY", str(tmp_path if kind == "memory" else tmp_path / "missing"))
    killed = temporary(tmp_path / "metrics")
    killed.mkdir()
    (killed / "counter_1.db").touch()
    with server.metrics_folder() as first, server.metrics_folder() as second:
        assert {*tmp_path.iterdir()} == {first, second}
    assert [*tmp_path.iterdir()] == []


def test_a_folder_whose_path_is_too_long_for_a_socket_is_reported(folder, tmp_path, monkeypatch):
    long = tmp_path / ("long" * 25)
    long.mkdir()
    monkeypatch.setattr(server, "_MEMORY", str(long))
    deployment = Deployment(folder=str(folder), port=0, workers=2)
    with pytest.raises(
        StorageFailed, match=r"cannot hold a socket: .*too long; if its path is too long, name a shorter one: TMPDIR"
    ):
        server.run(deployment, started=print, report=print)
    assert [*long.iterdir()] == []


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_tokens_and_log_are_reloaded_by_a_signal(run, folder, tmp_path, workers):
    tokens, log = tmp_path / "tokens", tmp_path / "access"
    first = add_token("read", str(tokens))
    options = ["--token-file", str(tokens), "--access-log", str(log), "--trust-proxy", "127.0.0.1"]
    process = run(folder, *options, "--workers", str(workers))

    def status(token):
        head = {"Authorization": f"Bearer {token}", "X-Forwarded-For": "192.0.2.7"}
        return get(f"{process.url}/v1/index", headers=head).status_code

    assert status(first) == 200
    by_then(lambda: log.read_text().endswith("\n"))
    assert json.loads(log.read_text().splitlines()[0])["client"] == "192.0.2.7"
    tokens.unlink()
    second = add_token("read", str(tokens))
    log.rename(tmp_path / "older")
    process.process.send_signal(signal.SIGHUP)
    by_then(lambda: [status(second) for _ in range(10)] == [200] * 10)
    by_then(lambda: [status(first) for _ in range(10)] == [401] * 10)
    assert log.exists()
    tokens.write_text("nonsense\n")
    process.process.send_signal(signal.SIGHUP)
    by_then(lambda: "not reloaded: " in process.complaints())
    assert status(second) == 200
    assert process.complaints().count("not reloaded: ") == 1
    assert process.end()[0] == 0


def test_settings_of_a_file_apply_to_an_index_with_a_key(tmp_path, monkeypatch):
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(gc, "set_threshold", lambda _: None)
    key, config = tmp_path / "key", tmp_path / "neardup.toml"
    key.write_bytes(bytes(range(16)))
    config.write_text("[policy]\nthreshold = 0.9\n")
    Index.create(tmp_path / "keyed", MinHash(key=key.read_bytes())).close()
    served = opened_service(Deployment(folder=str(tmp_path / "keyed"), key_file=str(key), config=str(config)), print)
    assert served.index.scheme.threshold == 0.9
    served.close()


def test_a_second_interrupt_ends_it_without_a_traceback(monkeypatch):
    log = logging.getLogger("uvicorn.error")
    monkeypatch.setattr(log, "disabled", False)
    server = SignalledServer(uvicorn.Config("no app", **QUIET))
    assert [server.handle_exit(signal.SIGINT, None) or log.disabled for _ in range(2)] == [False, True]
