import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from hashlib import sha256
from types import SimpleNamespace

import pytest

from neardup.engines import journal as journal_module
from neardup.engines import runner
from neardup.engines.journal import Journal, read_header
from neardup.engines.runner import Worked, work
from neardup.model.errors import DataError, ParameterError, StorageFailed, StorageRefused

TASKS = 60


def wait_for(condition):
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "work"


@pytest.fixture
def start(folder):
    """Start a worker in a thread, and return a list for its result; a test does not end before its workers."""
    started = []

    def start(functions, **options):
        results = []

        def target():
            try:
                results.append(work(folder, functions.get, **options))
            except Exception as error:  # noqa: BLE001 - the test looks at it
                results.append(error)

        started.append(threading.Thread(target=target))
        started[-1].start()
        return results

    yield start
    for thread in started:
        thread.join(120)
        assert not thread.is_alive()


def of_the_worker(_, task):
    return {"task": task, "by": "the worker"}


def test_a_worker_does_tasks_of_the_stages_that_it_has_functions_for(folder, start):
    begun = {stage: threading.Event() for stage in ("sign", "rank", "gather")}  # where the coordinator has a task

    def of_the_coordinator(task):
        begun[stage].set()
        wait_for(lambda: len(journal.done(stage)) == tasks - 1)
        return {"task": task, "by": "the coordinator"}

    def after_it(stage):
        def function(journal, task):
            assert begun[stage].wait(120)
            return of_the_worker(journal, task)

        return function

    result = start({stage: after_it(stage) for stage in ("sign", "gather")}, idle=120, threads=2)
    with Journal.open(folder, {}) as journal:
        for stage, tasks in (("sign", 9), ("rank", 1), ("gather", 5)):
            records = journal.run(stage, tasks, of_the_coordinator, map=map)
            assert [record["task"] for record in records] == [*range(tasks)]
            assert [record["by"] for record in records].count("the coordinator") == 1
        journal.finish()
    wait_for(lambda: result)
    assert result == [Worked(12, "finished")]
    assert not folder.exists()


def test_the_coordinator_waits_for_claimed_tasks(folder, start, monkeypatch):
    monkeypatch.setattr(journal_module, "_LOOK", 0)
    begun, may_end = threading.Event(), threading.Event()

    def slow(_, task):
        begun.set()
        may_end.wait(120)
        return {"task": task, "by": "the worker"}

    def own(task):
        begun.wait(120)
        return {"task": task, "by": "the coordinator"}

    def progress(_, done, total):
        if done == total - 1:
            may_end.set()

    result = start({"sign": slow}, idle=120)
    with Journal.open(folder, {}) as journal:
        records = journal.run("sign", 4, own, map=map, progress=progress)
        assert [record["by"] for record in records].count("the worker") == 1
        journal.finish()
    wait_for(lambda: result)
    assert result == [Worked(1, "finished")]


def test_there_is_no_run(folder):
    assert work(folder, {}.get, idle=0.02) == Worked(0, "absent")
    folder.mkdir()
    assert work(folder, {}.get, idle=0) == Worked(0, "absent")


def test_a_run_that_is_finished_but_kept(folder):
    with Journal.open(folder, {}) as journal:
        journal.finish(keep=True)
    assert work(folder, {}.get) == Worked(0, "finished")


def test_a_coordinator_that_stopped_is_awaited(folder, start):
    Journal.open(folder, {}).close()
    assert work(folder, {"sign": of_the_worker}.get, idle=0.02) == Worked(0, "stopped")
    result = start({"sign": of_the_worker}, idle=120)
    time.sleep(0.05)
    with Journal.open(folder, {}) as journal:
        journal.run("sign", 2, lambda task: wait_for(lambda: journal.done("sign")) or {"task": task}, map=map)
        journal.finish()
    wait_for(lambda: result)
    assert result == [Worked(1, "finished")]


def test_the_wait_for_a_coordinator_begins_when_it_ends(folder, start, monkeypatch):
    looks, waits = [], []

    def monotonic():
        looks.append(0)
        return len(looks)

    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=monotonic, sleep=time.sleep))
    with Journal.open(folder, {}):
        result = start({}, idle=2, waiting=waits.append)
        wait_for(lambda: len(looks) > 4)
    wait_for(lambda: result)
    assert (waits, result) == (["stopped"], [Worked(0, "stopped")])


def test_a_coordinator_between_stages_is_awaited(folder, start):
    with Journal.open(folder, {}) as journal:
        result = start({"sign": of_the_worker}, idle=0)
        time.sleep(0.1)
        assert not result
        journal.finish()
    wait_for(lambda: result)
    assert result == [Worked(0, "finished")]


def test_a_restarted_run_is_another_one(folder, start):
    journal = Journal.open(folder, {"seed": 1})
    result = start({"sign": of_the_worker}, idle=120)
    wait_for(lambda: len([*journal.path("workers").iterdir()]) == 2)
    journal.close()
    with Journal.open(folder, {"seed": 2}, restart=True) as journal:
        wait_for(lambda: result)
        assert result == [Worked(0, "finished")]
        assert len([*folder.glob("run-*")]) == 1


@pytest.mark.parametrize("task_ends", ["with an error", "with a record"])
def test_a_run_that_is_restarted_during_a_task(folder, start, task_ends):
    """Nothing of the earlier run gets into the new one."""
    begun, may_end = threading.Event(), threading.Event()

    def slow(run, _):
        begun.set()
        may_end.wait(120)
        if task_ends == "with a record":
            return {"seed": 1}
        with run.output("deep/er/out.bin") as file:
            file.write(b"seed 1")
        return {}

    first = Journal.open(folder, {"seed": 1})
    first._publish("sign", 1)
    result = start({"sign": slow}, idle=120)
    begun.wait(120)
    first.close()
    with Journal.open(folder, {"seed": 2}, restart=True) as journal:
        may_end.set()
        wait_for(lambda: result)
        assert result == [Worked(0, "finished")]
        assert journal.run("sign", 1, lambda _: {"seed": 2}, map=map) == [{"seed": 2}]
        assert not journal.path("deep").exists()
        journal.finish()
    assert not folder.exists()


def test_a_run_that_is_finished_before_a_task(folder):
    with Journal.open(folder, {}) as journal:
        journal._publish("sign", 1)

        def function_of(_):
            journal.finish()
            return of_the_worker

        assert work(folder, function_of) == Worked(0, "finished")


def test_another_version_is_refused(folder, monkeypatch):
    with Journal.open(folder, {}):
        monkeypatch.setattr(runner, "__version__", "99.0")
        with pytest.raises(StorageRefused, match=r"started by neardup .*, and this is 99.0; use the same"):
            work(folder, {}.get)


def test_a_stage_of_more_tasks_than_memory_can_count(folder, start):
    def refuse(*_):
        raise DataError("task 0", "is wrong")

    with Journal.open(folder, {}) as journal:
        journal._publish("sign", 1 << 60)
        result = start({"sign": refuse}, idle=120)
        wait_for(lambda: result)
    assert isinstance(result[0], DataError)


def test_threads_have_a_rule(folder):
    with pytest.raises(ParameterError, match="threads=0"):
        work(folder, {}.get, threads=0)


def test_an_error_ends_the_worker_and_leaves_the_task(folder, start):
    def wrong(_, task):
        raise DataError(f"task {task}", "is wrong")

    with Journal.open(folder, {}) as journal:
        result = start({"sign": wrong}, idle=120)
        wait_for(lambda: len([*journal.path("workers").iterdir()]) == 2)

        def own(task):
            wait_for(lambda: result)
            return {"task": task}

        assert journal.run("sign", 2, own, map=map) == [{"task": 0}, {"task": 1}]
        assert isinstance(result[0], DataError)
        assert [path.name for path in journal.path("workers").iterdir()] == [journal.claims.token]


def test_a_folder_without_its_run(folder, monkeypatch):
    """It was removed in the moment in which the worker joined, or is damaged."""
    with Journal.open(folder, {}) as journal:
        header = read_header(folder)
        journal.path("workers").rename(folder / "elsewhere")
        with pytest.raises(StorageFailed, match="No such file"):
            work(folder, {}.get)
        monkeypatch.setattr(runner, "_await_run", lambda *_: header)
        (folder / "terms.json").unlink()
        assert work(folder, {}.get) == Worked(0, "finished")
        (folder / "elsewhere").rename(journal.path("workers"))


PROGRAM = """
import os, signal, sys, time
from hashlib import sha256
from pathlib import Path
from neardup.engines.journal import Journal
from neardup.engines.local import LocalEngine
from neardup.engines.runner import work

def sign(run, task):
    last = {"coordinator": 20, "worker": TASKS - 1}  # from there on they wait until there were enough kills
    while task >= last[role] and not enough.exists():
        time.sleep(0.01)
    data = sha256(b"%d" % task).digest() * 1000
    with run.output(f"signed/{task}.bin") as file:
        for begin in range(0, len(data), 8000):
            file.write(data[begin : begin + 8000])
            time.sleep(0.03 if role == "coordinator" else 0.008)
    return {"task": task, "files": run.files(f"signed/{task}.bin"), "process": os.getpid()}

role, folder, tasks = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
TASKS, enough, resumed = 60, folder.with_name("enough"), folder.with_name("resumed")
if role == "worker":
    print(*work(folder, {"sign": sign}.get, idle=120, threads=tasks))
elif role == "suspended":
    def sign(run, task):
        with run.output("out.bin") as file:
            os.kill(os.getpid(), signal.SIGSTOP)
            while not resumed.exists():  # another thread may have received the signal
                time.sleep(0.01)
        return {}
    print(*work(folder, {"sign": sign}.get, idle=120))
elif role == "endless":
    work(folder, {"sign": lambda *_: time.sleep(1000)}.get, idle=120)
else:
    with Journal.open(folder, {"tasks": tasks}) as journal, LocalEngine(2) as engine:
        journal.run("sign", tasks, lambda task: sign(journal, task), map=engine.map)
        journal.finish(keep=True)
"""


@pytest.fixture
def process():
    """Start the program; when the test ends, however it ends, so do the processes, and their outputs are closed."""
    started = []

    def start(*arguments):
        command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        return started[-1]

    yield start
    for one in started:
        one.kill()  # does nothing to a process that has ended
        one.wait(120)
        one.stdout.close()


def workers_of(folder):
    """Return the processes that have recorded a task."""
    return {
        json.loads(path.read_bytes())["values"]["record"]["process"] for path in folder.glob("run-*/done/sign-*.json")
    }


@pytest.mark.parametrize(("workers", "coordinator_dies"), [(2, True), (4, False)])
def test_processes_that_are_killed_at_any_time_leave_a_whole_result(folder, process, workers, coordinator_dies):
    rng = random.Random(workers)  # noqa: S311 - moments
    coordinator = process("coordinator", folder, TASKS)
    working = [process("worker", folder, 1) for _ in range(workers)]
    everyone = {each.pid for each in working}
    kills = 0
    while coordinator.poll() is None:
        if kills > 2 and workers_of(folder) & everyone:
            folder.with_name("enough").touch()
        time.sleep(rng.uniform(0.02, 0.2))
        if coordinator_dies and rng.random() < 0.3 and kills < 20:
            coordinator.kill()
            coordinator.communicate()
            coordinator = process("coordinator", folder, TASKS)
        elif kills < 20:
            victim = rng.randrange(workers)
            working[victim].kill()
            working[victim].communicate()
            working[victim] = process("worker", folder, 1)
            everyone.add(working[victim].pid)
        kills += kills < 20
    coordinator.communicate()
    assert coordinator.returncode == 0
    for each in working:
        out, _ = each.communicate(timeout=120)
        assert out.split()[1] == b"finished"
    with Journal.open(folder, {"tasks": TASKS}) as journal:
        records = journal.run("sign", TASKS, pytest.fail, map=map)
        assert [record["task"] for record in records] == [*range(TASKS)]
        for task in range(TASKS):
            assert journal.path("signed", f"{task}.bin").read_bytes() == sha256(b"%d" % task).digest() * 1000
        for name in ("claims", "partial"):
            assert not [*journal.path(name).iterdir()], name
        journal.finish()
    assert not folder.exists()


def test_the_task_of_a_suspended_process_is_taken_over_after_the_lease(folder, process):
    with Journal.open(folder, {}) as journal:
        done = []

        def own(task):
            done.append(task)
            if len(done) == 1:
                assert os.WIFSTOPPED(os.waitpid(worker.pid, os.WUNTRACED)[1])
                [own] = {path.name for path in journal.path("workers").iterdir()} - {journal.claims.token}
                os.utime(journal.path("workers", own), (0, 0))  # it was silent for longer than a lease
            if len(done) == 3:  # the one of the worker, which had to look dead
                assert not [*journal.path("partial").iterdir()]
                folder.with_name("resumed").touch()
                worker.send_signal(signal.SIGCONT)
                wait_for(lambda: len([*journal.path("workers").iterdir()]) == 2)
            return {"task": task}

        worker = process("suspended", folder, 0)
        assert journal.run("sign", 3, own, map=map) == [{"task": task} for task in range(3)]
        assert sorted(done) == [0, 1, 2]
        journal.finish()
    assert worker.communicate(timeout=120)[0].split() == [b"0", b"finished"]
    assert not folder.exists()


def test_a_signal_ends_a_worker_at_once_and_releases_its_task(folder, process):
    with Journal.open(folder, {}) as journal:
        journal._publish("sign", 3)
        endless = process("endless", folder, 3)
        wait_for(lambda: [*journal.path("claims").iterdir()])
        endless.send_signal(signal.SIGINT)
        endless.communicate(timeout=120)
        assert endless.returncode == -signal.SIGINT
        assert not [*journal.path("claims").iterdir()]
        assert [path.name for path in journal.path("workers").iterdir()] == [journal.claims.token]


def test_a_worker_of_several_threads(folder, process):
    folder.with_name("enough").touch()
    worker = process("worker", folder, 3)
    coordinator = process("coordinator", folder, 20)
    assert worker.communicate(timeout=120)[0].split()[1] == b"finished"
    coordinator.communicate(timeout=120)
    assert coordinator.returncode == 0
