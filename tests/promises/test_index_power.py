"""An index outlives the death of its process at any operation, and a power failure at any.

Its files are in memory (``disks``), so that every state can be made in which they may be found. What may be found in
them is told by the same life, undisturbed (``lives.Record``).
"""

import random
from functools import cache

import pytest
from disks import FOLDER, MemoryDisk
from lives import Record, answers, create, fields_of, read_of, reopen, script, some_of_each

from neardup.model.errors import StorageRefused

DURABILITIES = ["commit", "interval", "bulk"]
# Lives of few steps, of every kind.
SHORT = [("minhash", "commit", 374, 14), ("simhash", "interval", 118, 14), ("minhash", "bulk", 331, 14)]
KINDS = {"admit", "remove", "see", "flush", "compact", "sync", "reopen"}


@cache
def recorded(scheme, durability, seed, length):
    return Record(scheme, list(script(seed, length)), durability)


def require_one_of(record, least, most, files, *, meet=None):
    """Open what is found to write; it must answer what was answered once, *least* or later."""
    try:
        writer = reopen(FOLDER, MemoryDisk(files, meet), durability=record.durability)
    except StorageRefused:
        assert least == 0, "no index is left"
        return None
    told = answers(writer)
    assert told in record.answers[least : most + 1], (least, most, told)
    return writer, least + record.answers[least : most + 1].index(told)


def require_the_same_to_read(record, least, most, files):
    """A reader of what is found answers what a writer answers."""
    told = answers(reopen(FOLDER, MemoryDisk(files), "r"))
    _, at = require_one_of(record, least, most, files)
    assert told == record.answers[at]


def go_on(writer, files):
    """A writer that was opened on what was found can be worked with, and leaves nothing that troubles a check."""
    before = len(writer)
    writer.admit(["one more"], ["it is never too late to come"], fields_of(["one more"], 0))
    writer.flush()
    writer.close()
    again = reopen(FOLDER, MemoryDisk(files), "r")
    assert len(again) == before + 1
    assert again.check().problems == []


@pytest.mark.parametrize("life", SHORT)
def test_a_life_undisturbed(life):
    assert {step.does for step in script(*life[2:])} == KINDS
    record = recorded(*life)
    _, at = require_one_of(record, len(record.answers) - 1, len(record.answers) - 1, record.files.copy())
    assert at == len(record.answers) - 1


def deaths(record, numbers, seed, *, every):
    """Let the process die before each operation, and in each write; then again while what it left is opened."""
    rng = random.Random(seed)
    trials = 0
    met = set()
    for number in numbers:
        moment = record.moments[number]
        found = moment.files
        states = [found]
        if moment.operation == "write":
            states.append(half(found, record.moments[number + 1].files))
        for files in states:
            state = read_of(files), moment.least, moment.most
            if state in met and not every:
                continue
            met.add(state)
            trials += 1
            recovery, found = [], files.copy()
            opened = require_one_of(record, moment.least, moment.most, found, meet=kept(found, recovery))
            if opened is None:
                assert len(create(FOLDER, record.scheme, MemoryDisk(files))) == 0
                continue
            writer, at = opened
            chosen = list(recovery) if every else rng.sample(recovery, 1)  # without what comes now
            if trials % 7 == 0:
                go_on(writer, found)
                require_the_same_to_read(record, at, at, files)
            for again in chosen:
                trials += 1
                assert require_one_of(record, at, at, again)
    return trials


def kept(files, moments):
    """Keep what the files were before each operation."""

    def meet(*_):
        moments.append(files.copy())

    return meet


def half(before, after):
    """Return the files with half of what was written."""
    files = after.copy()
    for path, file in files.names.items():
        if file and path in before.names and before.names[path]:
            first, last = len(before.names[path].data), len(file.data)
            del file.data[first + (last - first) // 2 :]
    return files


@pytest.mark.parametrize("life", SHORT[:2])
def test_death_at_some_operations_of_every_kind(life):
    record = recorded(*life)
    numbers = some_of_each([moment.operation for moment in record.moments[:-1]], 8)
    assert deaths(record, numbers, 1, every=False) > 80


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 20))
def test_death_at_operations_of_every_kind_of_long_lives_and_again_at_every_one_of_the_recovery(seed):
    scheme = ("minhash", "simhash")[seed % 2]
    record = recorded(scheme, DURABILITIES[seed % 3], seed, 120)
    numbers = some_of_each([moment.operation for moment in record.moments[:-1]], 60)
    print(deaths(record, numbers, seed, every=True), "deaths")


def power_failures(record, number, seed):
    """Make this many states that a power failure may leave: of any operation, and of opening what another one left."""
    rng = random.Random(seed)
    left, least, most = None, 0, 0
    for made in range(number):
        if left is None or rng.random() < 0.7:
            moment = rng.choice(record.moments)
            left, least, most = moment.files.copy(), moment.lasting, moment.most
            if rng.random() < 0.2:  # first only the process dies: what it had not synced may still be lost
                left = interrupted(record, moment.least, most, left, rng)
        else:
            left = interrupted(record, least, most, left, rng)
        if left is None:
            continue
        left = left.after_power_failure(rng)
        if made % 10 == 0 and FOLDER / "manifest.json" in left.names:
            require_the_same_to_read(record, least, most, left.copy())
        require_one_of(record, least, most, left.copy())


def interrupted(record, least, most, files, rng):
    """Open what is found, and stop in the middle of that, or go on; return what is found then.

    ``None`` stands for the cases that end here.
    """
    moments, chosen = [], rng.randrange(30)

    def meet(operation, path):
        if len(moments) <= chosen:
            moments.append(files.copy())

    opened = require_one_of(record, least, most, files, meet=meet)
    if opened and rng.random() < 0.3:
        go_on_acknowledged(record, opened[0], files, rng)
        return None
    return moments[-1] if opened else None


def go_on_acknowledged(record, writer, files, rng):
    """What is acknowledged after a recovery outlives the next power failure, too."""
    writer.admit(["one more"], ["it is never too late to come"], fields_of(["one more"], 0))
    if record.durability != "commit":
        writer.sync()
    expected = answers(writer)
    for _ in range(3):
        again = reopen(FOLDER, MemoryDisk(files.after_power_failure(rng)))
        assert answers(again) == expected


@pytest.mark.parametrize("life", SHORT)
def test_power_failures(life):
    power_failures(recorded(*life), 30, seed=5)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20, 60))
def test_many_power_failures(seed):
    scheme = ("minhash", "simhash")[seed % 2]
    power_failures(recorded(scheme, DURABILITIES[seed % 3], seed, 100), 2_500, seed)
