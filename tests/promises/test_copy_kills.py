"""A copy of an index is killed at any moment while a writer works: what it leaves is a state that was acknowledged.

It is the earlier copy or a newer one, with a search table that agrees with it, and the next copy is brought up to date.
"""

import os
import random
import signal
import time
import traceback

import pytest
from disks import Deadly
from lives import FIELDS, SCHEMES, Step, kills_apart, reopen, script

from neardup import Index
from neardup.index.disk.copies import copy
from neardup.index.disk.files import Disk
from neardup.pipeline.query.search import Search

LONGEST = 0.02  # seconds that a copy is left alone
MOST = 10  # documents of a step
OPERATIONS = 30  # of a copy


class Writer:
    """Changes an index step by step, and knows all its states."""

    def __init__(self, path, seed):
        self.path, self.steps = path, script(seed, 1 << 30, MOST)
        Index.create(path, SCHEMES["minhash"], fields=FIELDS, texts=True).close()
        self.index = reopen(path, Disk(), durability="bulk")
        Search.open(self.index, make=True).close()
        self.states = [state(self.index)]

    def act(self):
        """Take a step. An admission records new documents first, and then unchanged ones, with their new fields."""
        step = next(self.steps)
        if step.does == "reopen":
            self.index.close()
            self.index = reopen(self.path, Disk(), durability="bulk")
        else:
            Step(step.does, dict.fromkeys(step.ids), step.seed).act(self.index)
        Search.open(self.index).close()  # which catches up
        before, after = {own[0]: own for own in self.states[-1]}, state(self.index)
        same = {own[0]: before[own[0]] for own in after if own[:2] == before.get(own[0], ())[:2]}
        between = [(*own[:2], same.get(own[0], own)[2], own[3], same.get(own[0], own)[4]) for own in after]
        self.states += [between, after] if step.does == "admit" else [after]


def state(index):
    ids = list(index.ids())
    return [(own.id, own.text, own.fields["version"], own.representative, own.last_seen) for own in index.get(ids)]


def killed(writer, to, rng):
    """Let a fork of this process copy while the writer works, and kill it; return whether it had not ended before."""
    disk = Deadly(int(OPERATIONS ** rng.random())) if rng.random() < 0.5 else Disk()
    child = os.fork()
    if not child:
        try:
            copy(writer.path, to, Disk(), disk)
        except BaseException:  # noqa: BLE001 - told to whoever judges
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if type(disk) is Disk:
        for _ in range(rng.randrange(3)):
            writer.act()
        time.sleep(rng.random() * LONGEST)
        os.kill(child, signal.SIGKILL)
    else:
        writer.act()
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or not status
    return os.WIFSIGNALED(status)


def require_found(copied, states, *, whole):
    """The copy is one of these states; what its table finds is there, and if it is *whole*, all of it is found."""
    now = state(copied)
    assert now in states
    assert copied.check().problems == []
    with Search.open(copied) as search:
        for variant in range(3):
            answer = search.answer(f"variant{variant}", size=1_000, top=1_000, collapse="off")
            found = {group.shown[0].id for group in answer.results}
            there = {own for own, text, *_ in now if text.endswith(f"variant{variant}")}
            assert found == there if whole else found <= there
    return now


def kills(path, number, seed):
    """Kill so many copies to one folder; return how many were killed before their end, and what they left."""
    path.mkdir()
    writer, to, rng = Writer(path / "seen", seed), path / "copy", random.Random(seed)
    counts = {"kills": 0, "earlier": 0, "newer": 0}
    before = None
    for life in range(number):
        begun = len(writer.states) - 1
        counts["kills"] += killed(writer, to, rng)
        if not (to / "manifest.json").exists():
            assert before is None
            continue
        states = writer.states[begun:] + [before] * (before is not None)
        with reopen(to, Disk(), "r") as copied:
            now = require_found(copied, states, whole=False)
        counts["earlier" if now == before else "newer"] += 1
        before = now
        if life % 3 == 0:
            with reopen(to, Disk()) as copied:
                require_found(copied, [before], whole=True)
    writer.index.copy(to)
    with reopen(to, Disk(), "r") as copied:
        require_found(copied, writer.states[-1:], whole=True)
    writer.index.close()
    return counts


def test_kills():
    counts = kills_apart("test_copy_kills", 18, 1)
    assert counts["kills"] > 6


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 18))
def test_many_kills(seed):
    counts = kills_apart("test_copy_kills", 500, seed)
    assert min(counts.values()) > 50
