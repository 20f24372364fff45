import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from programs import JUDGE, PATIENCE, by_then, get, refuses, workers_of

from neardup import Index
from neardup.interfaces.http import workers
from neardup.interfaces.http.deployment import Deployment
from neardup.interfaces.http.server import run as run_service
from neardup.interfaces.http.workers import metrics_folder
from neardup.model.errors import StorageFailed
from neardup.sources.output import temporary


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
        """Give the new workers that have reported something: one that was killed may have, if it was still starting."""
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
    """Give the number of the process that has the index open to write."""
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
        process = property(lambda self: self)
        alive, asked = 3, 0

        def is_alive(self):
            return self.asked < self.alive

        def ping(self, seconds):
            self.asked += 1
            return seconds > 1 or self.alive > 3

    dying, busy, ended = Asked(), Asked(), threading.Event()
    assert (workers._answers(dying, ended), dying.asked) == (False, 3)
    busy.alive = 4
    assert (workers._answers(busy, ended), busy.asked) == (True, 1)
    ended.set()
    assert (workers._answers(busy, ended), busy.asked) == (True, 1)


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
    process.end(signal.SIGKILL)  # which waits for all who could write to its output
    with pytest.raises(httpx.ConnectError):
        get(f"{process.url}/readyz")


@pytest.mark.parametrize("kind", ["memory", "temporary"])
def test_the_folder_of_metrics_is_removed_also_after_a_kill_but_not_while_it_is_used(tmp_path, monkeypatch, kind):
    """It is in memory if possible: the folder for temporary files may become full, which ends processes that use it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path if kind == "temporary" else tmp_path / "missing"))
    monkeypatch.setattr(workers, "_MEMORY", str(tmp_path if kind == "memory" else tmp_path / "missing"))
    killed = temporary(tmp_path / "metrics")
    killed.mkdir()
    (killed / "counter_1.db").touch()
    with metrics_folder() as first, metrics_folder() as second:
        assert {*tmp_path.iterdir()} == {first, second}
    assert [*tmp_path.iterdir()] == []


def test_a_folder_whose_path_is_too_long_for_a_socket_is_reported(folder, tmp_path, monkeypatch):
    long = tmp_path / ("long" * 25)
    long.mkdir()
    monkeypatch.setattr(workers, "_MEMORY", str(long))
    deployment = Deployment(folder=str(folder), port=0, workers=2)
    with pytest.raises(
        StorageFailed, match=r"cannot hold a socket: .*too long; if its path is too long, name a shorter one: TMPDIR"
    ):
        run_service(deployment, started=print, report=print)
    assert [*long.iterdir()] == []
