"""Workers that share a run, and are killed at any time, leave what a run in memory leaves."""

import json
import subprocess
import sys

import pytest
from json_lines import write_lines

from neardup import dedup_files
from neardup.schemes.registry import kinds, named

OUTPUTS = ("out", "dropped", "mark", "report")
# The coordinator and the workers are forked from one process that has loaded everything. Before each task, the
# coordinator waits, so that the workers have some; a worker waits in the middle of a task, so that it often dies there.
PROGRAM = """
import json, os, random, signal, sys, time
from neardup import dedup, dedup_files
from neardup.engines.journal import WorkFolder
from neardup.pipeline.spilled import files
from neardup.pipeline.spilled.workers import is_shared, work_on
from neardup.schemes.registry import named

inputs, folder, name, number = json.loads(sys.argv[1])
work, begun = f"{folder}/w", os.open(f"{folder}/begun", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
files._share = lambda *_: 3000
attempt = WorkFolder.attempt
some = [{"title": word, "text": f"a text of {word} words"} for word in ("some", "other")]
dedup(some, scheme=named(name)(), threads=1)

def coordinate():
    def patient(self, stage, task, function):
        time.sleep(0.04 if is_shared(stage) else 0)
        return attempt(self, stage, task, function)
    WorkFolder.attempt = patient
    outputs = {one: f"{folder}/{one}.jsonl" for one in ("out", "dropped", "mark", "report")}
    dedup_files(inputs, work=work, threads=1, scheme=named(name)(), **outputs)

def share():
    def slow(self, stage, task, function):
        def begin(task):
            os.write(begun, f"{stage}-{task}\\n".encode())
            time.sleep(0.01)
            return function(task)
        return attempt(self, stage, task, begin)
    WorkFolder.attempt = slow
    work_on(work, idle=60)

def forked(function):
    child = os.fork()
    if child == 0:
        try:
            function()
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return child

chance, kills = random.Random(number), 0
coordinator = forked(coordinate)
workers = [forked(share) for _ in range(number)]
while os.waitpid(coordinator, os.WNOHANG) == (0, 0):
    time.sleep(chance.uniform(0, 0.06))
    victim = chance.randrange(number)
    os.kill(workers[victim], signal.SIGKILL)
    _, status = os.waitpid(workers[victim], 0)
    kills += os.WIFSIGNALED(status)
    workers[victim] = forked(share)
for worker in workers:
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
print(kills)
"""


def texts():
    for number in range(200):
        words = [f"w{(number // 3 * 7 + place) % 97}" for place in range(30)]
        yield " ".join(words[: 30 - number % 3]) + (f" {number}" if number % 4 == 0 else "")


@pytest.mark.parametrize(("name", "workers"), [(kind.name, 2 + 2 * (place % 2)) for place, kind in enumerate(kinds())])
def test_workers_may_be_killed_at_any_time(tmp_path, name, workers):
    source = write_lines(tmp_path / "in.jsonl", [{"title": text[:20], "text": text} for text in texts()])
    shared, whole = tmp_path / "shared", tmp_path / "whole"
    for folder in (shared, whole):
        folder.mkdir()
    dedup_files([source], scheme=named(name)(), **{one: whole / f"{one}.jsonl" for one in OUTPUTS})
    given = json.dumps([[str(source)], str(shared), name, workers])
    done = subprocess.run([sys.executable, "-c", PROGRAM, given], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for one in OUTPUTS:
        assert (shared / f"{one}.jsonl").read_bytes() == (whole / f"{one}.jsonl").read_bytes(), done.stderr
    assert not (shared / "w").exists()
    assert int(done.stdout) > 0
    assert (shared / "begun").read_text()  # the workers have had tasks
