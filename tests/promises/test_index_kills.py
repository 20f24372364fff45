"""An index survives kill -9 at any moment: nothing that was acknowledged is lost, nothing appears that was not sent.

What was acknowledged is told through a pipe, so the one who judges lives outside the process that is killed. One
program that has everything loaded is forked for every life.
"""

import os
import random
import signal
import time
import traceback

import pytest
from disks import Deadly
from lives import AT, Step, create, fields_of, kills_apart, reopen, require_representatives, script

from neardup.index.disk.files import Disk
from neardup.model.verdicts import ExactDuplicate
from neardup.pipeline.index.inputs import TOGETHER

LONGEST = 0.08  # seconds that a life lasts at most
MOST = 25  # documents of a step
MEMORY = 100_000  # bytes


class Known:
    """What an index must hold: ids in their order, each with the version and the text that it came with."""

    def __init__(self):
        self.documents = {}

    def states(self, step):
        """Apply a step; return what there may be after each of the records that it is written in."""
        states = [self.told()]
        if step.does == "remove":
            for name in step.ids:
                self.documents.pop(name, None)
        if step.does == "admit":
            batch = {}
            for name, own in zip(step.ids, step.documents, strict=True):
                if name in batch or len(batch) == TOGETHER:
                    states += self.admitted(batch)
                    batch = {}
                batch[name] = (step.seed, own)
            states += self.admitted(batch)
        return [*states, self.told()]

    def admitted(self, batch):
        """Apply a batch; return what there is after the record of other contents, and after that of other fields."""
        again = {name: own for name, own in batch.items() if self.documents.get(name, (0, None))[1] == own[1]}
        for name in batch.keys() - again.keys():
            self.documents.pop(name, None)
        self.documents |= {name: own for name, own in batch.items() if name not in again}
        before = self.told()
        self.documents |= again
        return [before, self.told()]

    def told(self):
        return list(self.documents.items())


def steps_of(seed):
    """Return the steps of one life; sometimes one that is written in several records because it is large."""
    rng = random.Random(seed)
    for step in script(seed, 400, MOST):
        if step.does == "admit" and rng.random() < 0.005:
            yield Step("admit", [f"document {number}" for number in range(TOGETHER + 500)], step.seed + 1000 * seed)
        else:
            yield Step(step.does, step.ids, step.seed + 1000 * seed)


def live(path, seed, pipe, disk):
    """Change an index until the process is killed."""
    rng = random.Random(seed)
    durability = rng.choice(["commit", "interval", "bulk"])
    index = reopen(path, disk, durability=durability, memory=MEMORY)
    for number, step in enumerate(steps_of(seed)):
        os.write(pipe, b"b%d\n" % number)
        if step.does == "reopen":
            index.close()
            index = reopen(path, disk, durability=durability, memory=MEMORY)
        else:
            step.act(index)
        os.write(pipe, b"a%d\n" % number)
    index.close()


def killed(path, seed):
    """Let a fork of this process live and kill it; return how many steps it had begun and how many acknowledged."""
    rng = random.Random(seed)
    disk = Deadly(int(150 ** rng.random())) if rng.random() < 0.5 else Disk()
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            live(path, seed, write, disk)
        except BaseException:  # noqa: BLE001 - told to whoever judges
            os.write(write, f"!{traceback.format_exc()!r}\n".encode())
        os._exit(0)
    os.close(write)
    told = b""
    if type(disk) is Disk:
        if rng.random() < 0.5:  # not before it has acknowledged something
            while b"a" not in told and (more := os.read(read, 1 << 16)):
                told += more
        time.sleep(rng.random() * LONGEST)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(read, "rb") as pipe:
        told = (told + pipe.read()).decode().splitlines()
    os.waitpid(child, 0)
    assert not [line for line in told if line.startswith("!")], told[-1]
    return sum(line[0] == "b" for line in told), sum(line[0] == "a" for line in told)


def require_known(index, states):
    """The index holds one of these states, and finds its documents."""
    ids = list(index.ids())
    found = [(own.id, own.fields["version"]) for own in index.get(ids)]
    allowed = [[(name, version) for name, (version, _) in state] for state in states]
    assert found in allowed, f"holds {len(found)} documents, none of the {list(map(len, allowed))} it may"
    require_representatives(index, index.get(ids))
    state = states[allowed.index(found)]
    texts = {}
    for name, (_, own) in state:
        texts.setdefault(own, name)
    asked = list(texts)[:5]
    assert index.judge(asked) == [ExactDuplicate(texts[own]) for own in asked]
    assert len(index) == len(found)
    return dict(state)


def kills(path, number, seed):
    """Kill a writer so many times, one index outliving them all; return how many documents and steps there were."""
    create(path, "minhash" if seed % 2 else "simhash", Disk()).close()
    warmed = reopen(path, Disk())
    warmed.admit(["warm"], ["everything is loaded before the first fork"], fields_of(["warm"], 0), at=AT)
    warmed.flush()
    warmed.compact()
    warmed.remove(["warm"])
    warmed.see(["warm"])
    warmed.close()
    known, acknowledged, documents = Known(), 0, 0
    for life in range(seed * 100_000, seed * 100_000 + number):
        begun, done = killed(path, life)
        states = [known.told()]
        for step, _ in zip(steps_of(life), range(begun), strict=False):
            states = known.states(step)
            documents += len(step.ids) if step.does == "admit" else 0
        if done == begun:
            states = [known.told()]
        acknowledged += done
        index = reopen(path, Disk(), random.Random(life).choice("rw"))
        known.documents = require_known(index, states)
        if life % 20 == 0:
            index.close()
            reopen(path, Disk(), "w").close()  # which sets aside what the last death has left
            index = reopen(path, Disk(), "r")
            assert index.check().problems == []
        index.close()
    return {"kills": number, "steps acknowledged": acknowledged, "documents sent": documents}


def run(number, seed):
    told = kills_apart("test_index_kills", number, seed)
    assert told["steps acknowledged"] > number // 8
    return told


def test_kills():
    run(16, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 20))
def test_many_kills(seed):
    run(1_000, seed)
