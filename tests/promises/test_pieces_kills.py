"""A run in pieces that is killed at any moment, and started again, leaves what one leaves that was never killed."""

import json
import random
import subprocess
import sys
from collections import Counter

import pytest
from json_lines import write_lines

from neardup import dedup_files
from neardup.pipeline.spilled.state import State

OUTPUTS = ("out", "dropped", "mark", "report")
# Dies at the n-th time that a file is synchronized with the disk or gets its name: before, or just after.
PROGRAM = """
import json, os, signal, sys
from pathlib import Path
from neardup import Index, dedup, dedup_files
from neardup.engines.journal import WorkFolder
from neardup.pipeline.spilled import files

inputs, moments, known = json.loads(sys.argv[1])
files._share = lambda *_: 3000
attempt = WorkFolder.attempt

def life(folder, moment):
    names = {name: f"{folder}/{name}.jsonl" for name in ("out", "dropped", "mark", "report")}
    begun = os.open(f"{folder}.begun", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    def noted(self, stage, task, function):
        def begin(task):
            os.write(begun, f"{stage}-{task}\\n".encode())
            return function(task)
        return attempt(self, stage, task, begin)
    WorkFolder.attempt = noted
    left = [moment]
    def mortal(function):
        def call(*given, **options):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            found = function(*given, **options)
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return found
        return call
    for owner, name in ((os, "fsync"), (os, "link"), (os, "replace"), (os, "rename"), (os, "unlink"), (os, "rmdir"),
                        (Path, "replace"), (Path, "rename"), (Path, "unlink")):
        setattr(owner, name, mortal(getattr(owner, name)))
    dedup_files(inputs, work=f"{folder}/w", threads=1, state=f"{folder}/state" if known else None, **names)

dedup(["a text of some words", "another text of some words"], threads=1)  # everything is loaded before the first fork
found = []
for folder, own in moments.items():
    for number, moment in enumerate(own):
        child = os.fork()
        if child == 0:
            try:
                life(folder, moment)
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            break
    found.append([number, status])
print(json.dumps(found))
"""


def lives(sources, folder, moments, *, known=False):
    """Let a run live undisturbed, and others die at their moments, one life after the other.

    Give how often each of these died, and how it ended. If documents are *known*, all add to a state.
    """
    given = {f"{folder}/whole": [0]} | {f"{folder}/{name}": [*own, 0] for name, own in moments.items()}
    command = [sys.executable, "-c", PROGRAM, json.dumps([[str(path) for path in sources], given, known])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    whole, *killed = json.loads(done.stdout)
    assert whole == [0, 0]
    return killed, done.stderr


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def written(tmp_path):
    chance = random.Random(3)
    words = [f"w{number}" for number in range(60)]
    paths = [tmp_path / f"in{number}.jsonl" for number in range(2)]
    for path in paths:
        texts = [" ".join(words[first : first + 12]) for first in chance.choices(range(40), k=50)]
        write_lines(path, [{"text": text} for text in texts])
    return paths


def moments_of(seed, times):
    """Moments to die at: early ones, of which a run survives few, or any."""
    chance = random.Random(seed)
    most = chance.choice([10, 30, 60, 120])
    return [chance.randint(1, most) for _ in range(times)]


def begun(folder):
    """The tasks that the lives of a run have begun."""
    return folder.with_name(f"{folder.name}.begun").read_text().splitlines()


def kinds(tasks):
    return {task.partition("-")[0] for task in tasks}


def assert_killed_at_any_moment(tmp_path, seeds, times):
    """Check what is left of runs that are killed; return how often they were."""
    sources, names = written(tmp_path), [f"killed{seed}" for seed in seeds]
    for name in ("whole", *names):
        (tmp_path / name).mkdir()
    moments = {name: moments_of(seed, times) for name, seed in zip(names, seeds, strict=True)}
    found, errors = lives(sources, tmp_path, moments)
    wanted = contents(tmp_path / "whole")
    assert sorted(wanted) == sorted(f"{name}.jsonl" for name in OUTPUTS)
    for name, (deaths, status) in zip(names, found, strict=True):
        if status:  # it died in its last moments, when all was written
            assert "RunComplete" in errors or "exists already" in errors
        assert contents(tmp_path / name) == wanted
        assert not (tmp_path / name / "w").exists()
        tasks = Counter(begun(tmp_path / name))
        assert kinds(tasks) == kinds(begun(tmp_path / "whole"))
        assert sum(tasks.values()) - len(tasks) <= deaths  # each death repeats one task at most
    return sum(deaths for deaths, _ in found)


def test_a_run_that_is_killed_at_200_moments_continues(tmp_path):
    assert assert_killed_at_any_moment(tmp_path, range(10), 30) >= 200


def assert_added_once(tmp_path, seed, times):
    first, second = written(tmp_path)
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
        dedup_files([first], state=tmp_path / name / "state")
    [(deaths, status)], errors = lives([second], tmp_path, {"killed": moments_of(seed, times)}, known=True)
    if status:
        assert "RunComplete" in errors or "exists already" in errors
    for name in OUTPUTS:
        assert (tmp_path / "killed" / f"{name}.jsonl").read_bytes() == (
            tmp_path / "whole" / f"{name}.jsonl"
        ).read_bytes()
    found = []
    for name in ("whole", "killed"):
        with State.open(tmp_path / name / "state", write=True) as state:
            parts = [(part.documents, part.leaders, part.kept) for part in state.segments]
            found.append((parts, state.bytes(), sorted(path.name for path in state.folder.iterdir())))
    assert found[0][:2] == found[1][:2]
    assert len(found[1][0]) == 2
    assert len(found[0][2]) == len(found[1][2])
    return deaths


def test_a_killed_run_adds_its_documents_once(tmp_path):
    assert assert_added_once(tmp_path, 2, 20) > 0


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(40))
def test_a_run_that_is_killed_many_times_adds_its_documents_once(tmp_path, seed):
    assert_added_once(tmp_path, seed, 30)


@pytest.mark.soak
def test_a_run_that_is_killed_at_2000_moments_continues(tmp_path):
    assert assert_killed_at_any_moment(tmp_path, range(10, 110), 30) >= 2000
