"""Functions over tables in worker processes, which import a module that is written here, and hold locks while alive."""

import os
import resource
import shutil
import signal
import subprocess
import sys
from fcntl import LOCK_EX, flock

import pyarrow as pa
import pytest

from neardup.engines import processes
from neardup.engines.processes import Processes, TableFunction
from neardup.errors import EngineFailed

FUNCTIONS = """
import os, signal, sys, time
from fcntl import LOCK_EX, flock
import pyarrow as pa

WORKER = getattr(sys.modules["__main__"].__spec__, "name", None) == "neardup.engines.processes"
held = []

def doubling(settings):
    if "unloaded" in settings:
        raise LookupError("nothing to load")
    if WORKER and "lock" in settings:  # until the process ends
        held.append(open(settings["lock"] + str(os.getpid()), "w"))
        flock(held[-1], LOCK_EX)
        os.rename(held[-1].name, held[-1].name + ".held")
    if WORKER and "seconds" in settings:
        sys.modules["__main__"]._SECONDS = settings["seconds"]

    def double(table):
        begun = time.process_time()
        if WORKER:
            print("no answer")
        for value in table["value"].to_pylist():
            if value == settings.get("deadly"):
                os.kill(os.getpid(), signal.SIGKILL)
            if value == settings.get("wrong"):
                raise ValueError
            while value == settings.get("busy") and time.process_time() - begun < 1:
                pass
            if value == settings.get("large"):
                bytearray(1 << 40)
            if value == settings.get("endless"):
                while True:
                    signal.pause()
            if value == settings.get("once") and not os.path.exists(settings["mark"]):
                open(settings["mark"], "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
        values = [settings.get("factor", 2) * value for value in table["value"].to_pylist()]
        if WORKER and "pandas" in sys.modules:
            raise ValueError
        return pa.table({"value": values, "process": [os.getpid()] * len(values)})

    return double
"""
SCRIPT = """
import os, sys
import pyarrow as pa
from neardup.engines import processes

processes._START = 0
table = pa.table({"value": [1]})
doubling = processes.TableFunction("doubled:doubling", {"lock": sys.argv[1], "endless": 2}, lambda table: table)
with processes.Processes(2) as started:
    started.turn_to(doubling)
    seen = set()
    while len(seen) < 3:  # both, and this one
        seen |= {value for part in started.map([table] * 4) for value in part["process"].to_pylist()}
    print("ready", flush=True)
    for value in map(int, sys.argv[2:]):  # 2: for ever
        while list(started.map([pa.table({"value": [value]})])):
            pass
"""
PROGRAMS = 1 if sys.platform == "linux" else 2  # of two processes: forks share the lock of their program
VALUES = [pa.table({"value": [*range(begin, begin + 5)]}) for begin in range(0, 100, 5)]
DOUBLED = [2 * value for value in range(100)]


@pytest.fixture(autouse=True)
def functions(tmp_path, monkeypatch):
    (tmp_path / "doubled.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "doubled", raising=False)
    monkeypatch.setattr(processes, "_START", 0)
    yield
    sys.modules.pop("doubled", None)


def doubling(instead=None, **settings):
    return TableFunction("doubled:doubling", settings, instead or (lambda _: pytest.fail("not needed")))


def opened(number=2, instead=None, **settings):
    started = Processes(number)
    started.turn_to(doubling(instead, **settings))
    return started


def begin(started):
    """Wait until all tables are done by workers."""
    while os.getpid() in {row for part in started.map(VALUES[:1]) for row in part["process"].to_pylist()}:
        pass


def values(tables):
    return [value for table in tables for value in table["value"].to_pylist()]


def minus(table):
    return pa.table({"value": pa.array([-1] * len(table), pa.int64()), "process": [0] * len(table)})


@pytest.mark.parametrize("number", [1, 2, 3])
def test_results_are_in_order_for_any_number_and_size(number):
    with opened(number) as started:
        if number > 1:
            begin(started)
        whole = pa.concat_tables(VALUES)
        for size in (1, 7, 100):
            assert values(started.map(whole.slice(at, size) for at in range(0, 100, size))) == DOUBLED


def test_one_process_is_this_one_and_so_are_small_inputs(monkeypatch):
    with opened(1) as started:
        assert {row for part in started.map(VALUES) for row in part["process"].to_pylist()} == {os.getpid()}
    monkeypatch.setattr(processes, "_START", 1 << 30)
    with opened(2) as started:
        assert {row for part in started.map(VALUES) for row in part["process"].to_pylist()} == {os.getpid()}


@pytest.mark.parametrize(("number", "share", "expected"), [(2, 0.1, True), (2, 0.9, False), (1, 0.1, False)])
def test_processes_start_if_the_time_they_save_is_longer_than_their_start(number, share, expected, monkeypatch):
    seconds = iter(range(1000))
    monkeypatch.setattr(processes, "perf_counter", lambda: next(seconds) / 10)  # each table takes a tenth of a second
    monkeypatch.setattr(processes, "_START", 0.4)
    with opened(number) as started:
        values(started.map(VALUES[:2], lambda: share))
        assert (started._pool is not None) == expected


@pytest.mark.parametrize(("share", "expected"), [(0.01, True), (0.9, False), (0.0, False), (1.0, False)])
def test_processes_start_with_the_first_table_if_it_is_a_small_share(share, expected, monkeypatch):
    monkeypatch.setattr(processes, "_START", 0.5)
    with opened() as started:
        results = started.map(VALUES, lambda: share)
        next(results)
        assert (started._pool is not None) == expected


def test_after_as_many_seconds_as_are_worth_it_processes_start_in_any_case(monkeypatch):
    seconds = iter(range(1000))
    monkeypatch.setattr(processes, "perf_counter", lambda: next(seconds) / 10)
    monkeypatch.setattr(processes, "_START", 0.4)
    with opened() as started:
        for begin in range(8):  # each alone is small
            assert started._pool is None
            values(started.map(VALUES[begin : begin + 1]))
        values(started.map(VALUES[8:9]))
        assert started._pool is not None


def test_no_more_tables_are_taken_than_are_under_way():
    taken = []
    with opened() as started:
        begin(started)
        results = started.map(taken.append(table) or table for table in VALUES)
        next(results)
        assert len(taken) == 6
        assert values(results) == DOUBLED[5:]


@pytest.mark.parametrize("how", ["deadly", "wrong", "large"])
def test_a_row_that_ends_its_process_each_time_is_done_otherwise(how):
    with opened(instead=minus, **{how: 13}) as started:
        begin(started)
        assert values(started.map(VALUES)) == [-1 if value == 26 else value for value in DOUBLED]
        assert values(started.map(VALUES[4:])) == DOUBLED[20:]


def test_processes_that_were_replaced_are_forgotten():
    with opened(instead=minus, deadly=13) as started:
        begin(started)
        for _ in range(3):
            assert values(started.map(VALUES)).count(-1) == 1
        assert len(started._programs) <= 1 + started._number  # the first one, which forked, and one for each worker


@pytest.mark.parametrize("number", [1, 2])
def test_one_function_follows_another_in_the_same_processes(number):
    with opened(number) as started:
        if number > 1:
            begin(started)
        first = list(started.map(VALUES))
        started.turn_to(doubling(factor=3))
        second = list(started.map(VALUES))
        assert (values(first), values(second)) == (DOUBLED, [3 * value for value in range(100)])
        ids = [{row for part in parts for row in part["process"].to_pylist()} for parts in (first, second)]
        assert ids[0] | ids[1] == {os.getpid()} if number == 1 else ids[0] & ids[1]


def test_a_process_that_was_replaced_has_the_function_that_follows(tmp_path):
    with opened(instead=minus) as started:
        begin(started)
        started.turn_to(doubling(minus, once=13, mark=str(tmp_path / "mark")))
        assert values(started.map(VALUES)) == DOUBLED
        assert (tmp_path / "mark").exists()


def test_a_row_that_takes_for_ever_is_done_otherwise():
    with opened(instead=minus, endless=13, seconds=1) as started:
        begin(started)
        assert values(started.map(VALUES)) == [-1 if value == 26 else value for value in DOUBLED]


def test_a_process_that_ends_once_is_replaced_and_its_table_repeated(tmp_path):
    with opened(once=13, mark=str(tmp_path / "mark")) as started:
        begin(started)
        assert values(started.map(VALUES)) == DOUBLED


def values_with_a_kill(started):
    found = []
    for number, table in enumerate(started.map(VALUES)):
        found += values([table])
        if number == 3:
            os.kill(table["process"][0].as_py(), signal.SIGKILL)
    return found


def test_processes_that_are_killed_from_outside_are_replaced():
    with opened() as started:
        begin(started)
        for _ in range(2):
            assert values_with_a_kill(started) == DOUBLED


def test_processes_that_are_killed_while_they_start_are_replaced(monkeypatch):
    with opened() as started:
        begin(started)
        load, killed = processes._Program.load, []

        def killing(program):
            if len(killed) < 2:
                killed.append(program)
                program.kill()
            return load(program)

        monkeypatch.setattr(processes._Program, "load", killing)
        assert values_with_a_kill(started) == DOUBLED
        assert len(killed) == 2


@pytest.mark.parametrize("program", ["/nothing/here", shutil.which("false")])
def test_this_process_does_the_work_if_no_other_can_be_started(program, monkeypatch):
    monkeypatch.setattr(sys, "executable", program)
    with opened() as started:
        assert values(started.map(VALUES * 20)) == DOUBLED * 20


def test_a_process_that_cannot_be_replaced_is_an_error(monkeypatch):
    with opened(2, instead=minus, deadly=13) as started:
        begin(started)
        monkeypatch.setattr(sys, "executable", "/nothing/here")
        with pytest.raises(EngineFailed, match="no other one can be started"):
            values(started.map(VALUES))


def test_a_function_that_cannot_be_loaded_is_an_error():
    with opened() as started:
        begin(started)
        started.turn_to(doubling(unloaded=True))
        with pytest.raises(LookupError, match="nothing to load"):
            values(started.map(VALUES))


def test_all_processes_end_with_their_context(tmp_path):
    with opened(lock=str(tmp_path / "lock")) as started:
        begin(started)
    assert wait_for_the_end(tmp_path)


def test_a_worker_that_does_not_end_by_itself_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_END", 0.1)
    with opened(lock=str(tmp_path / "lock"), endless=13) as started:
        begin(started)
        worker = started._idle.get()
        processes._write(worker._there, pa.table({"value": [13]}))
        started._idle.put(worker)  # as if it had answered
    assert len(wait_for_the_end(tmp_path)) == PROGRAMS


@pytest.mark.skipif(sys.platform != "linux", reason="only there are workers forks")
def test_the_processor_time_of_workers_is_counted():
    before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])  # of user and system
    with opened(busy=13) as started:
        begin(started)
        values(started.map([pa.table({"value": [13]})] * 2))
    assert sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before >= 2  # a second for each table


def wait_for_the_end(folder):
    """Return the locks of the workers when none of these lives."""
    held = sorted(folder.glob("lock*.held"))
    for path in held:
        with path.open("w") as file:
            flock(file, LOCK_EX)
    return held


def run(tmp_path, *arguments):
    script = tmp_path / "script.py"  # without a guard against a second import
    script.write_text(SCRIPT)
    paths = os.pathsep.join(sys.path)
    return subprocess.Popen(
        [sys.executable, script, tmp_path / "lock", *arguments],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )


def test_a_script_without_a_guard_is_not_imported_again(tmp_path):
    with run(tmp_path) as script:
        out, err = script.communicate()
    assert (out, err, script.returncode) == ("ready\n", "", 0)
    assert len(wait_for_the_end(tmp_path)) == PROGRAMS


CLOSED = """
import os
import pyarrow as pa
for number in range(3):
    os.close(number)
from neardup.engines import processes

processes._START = 0
table = pa.table({"value": [1]})
with processes.Processes(2) as started:
    started.turn_to(processes.TableFunction("doubled:doubling", {}, lambda table: table))
    seen = set()
    while len(seen) < 3:  # both, and this one
        found = [part for part in started.map([table] * 4)]
        assert all(part["value"].to_pylist() == [2] for part in found)
        seen |= {part["process"][0].as_py() for part in found}
"""


def test_the_standard_streams_may_be_closed():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", CLOSED], env=environment, timeout=60, check=True)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_the_one_that_started_them(sent, tmp_path):
    with run(tmp_path, "2" if sent == signal.SIGINT else "1") as script:
        assert script.stdout.readline() == "ready\n"
        os.killpg(script.pid, sent)
        _, err = script.communicate()
        assert script.returncode == -sent
    assert len(wait_for_the_end(tmp_path)) == PROGRAMS
    if sent == signal.SIGINT:
        assert err.count("Traceback") == 1  # of the script
        assert err.strip().endswith("KeyboardInterrupt")
    else:
        assert not err
