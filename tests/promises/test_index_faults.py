"""What an index does when the system refuses: a typed error, no further work by this writer, and nothing is lost."""

import contextlib
import errno
import os
import random
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest
from disks import FOLDER, MemoryDisk
from lives import Record, answers, create, quiet, reopen, script

from neardup import Index, SimHash
from neardup.index.disk import Disk, _named
from neardup.model.errors import StorageError, StorageFailed, StorageRefused

FAULTS = [errno.ENOSPC, errno.EIO, errno.EMFILE, "short", "Ctrl-C"]


class Fault:
    """Refuses operation *at*, counted from 0, and *ever* after if so wanted; or takes only some of its bytes."""

    def __init__(self, at, kind, *, ever=False):
        self.at, self.kind, self.ever = at, kind, ever
        self.operations = []
        self.failed = []
        self.off = False

    def __call__(self, operation, path):
        number = len(self.operations)
        self.operations.append((operation, path))
        if operation == "sync":
            assert self.off or path not in self.failed, "a failed sync was tried again"
        if self.off or not (number == self.at or (self.ever and number > self.at)):
            return None
        if self.kind == "short":
            return 1
        if self.kind == "Ctrl-C":
            raise KeyboardInterrupt
        if operation == "sync":
            self.failed.append(path)
        raise OSError(self.kind, os.strerror(self.kind))


def lived(steps, scheme, fault, durability="commit"):
    """Live until the system refuses; give the disk, the index, a reader that was there, and how many steps were done.

    Steps are counted as the ``Record`` of them does it: the first one is the creation.
    """
    disk = MemoryDisk(meet=fault)
    index = reader = None
    done = 0
    try:
        index = create(FOLDER, scheme, disk, durability)
        reader = reopen(FOLDER, MemoryDisk(disk.files), "r")
        for step in steps:
            done += 1
            if step.does == "reopen":
                index.close()
                index = reopen(FOLDER, disk, durability=durability)
            else:
                step.act(index)
        index.close()
    except (StorageFailed, KeyboardInterrupt):
        pass
    else:
        assert fault.kind in {"short", None} or fault.at >= len(fault.operations)
        done += 1
    return disk, index, reader, done


def require_no_further_work(index):
    tries = [
        lambda: index.admit(["x"], ["some text or other"]),
        lambda: index.remove(["document 1"]),
        index.flush,
        index.compact,
        index.promote,
        index.sync,
        lambda: index.judge(["some text"]),
    ]
    for attempt in tries:
        with pytest.raises(StorageError) as caught:
            attempt()
        assert isinstance(caught.value, StorageFailed | StorageRefused)


@cache
def steps_of(seed, length):
    """The steps of a life, and of each what the index answers after it."""
    steps = list(script(seed, length))
    disk = MemoryDisk()
    index = create(FOLDER, "simhash", disk)
    told = [None, answers(index)]
    for step in steps:
        if step.does == "reopen":
            index.close()
            index = reopen(FOLDER, disk)
        else:
            step.act(index)
        told.append(answers(index))
    index.close()
    return steps, told


def faults(seed, length, kinds, *, stride=1):
    """Refuse each operation of a life in turn."""
    steps, told = steps_of(seed, length)
    known = Record("simhash", steps, "commit").answers
    count = Fault(-1, None)
    lived(steps, "simhash", count)
    trials = 0
    for at in range(0, len(count.operations), stride):
        for kind in kinds(at):
            trials += 1
            fault = Fault(at, kind, ever=at % 2 == 1 and isinstance(kind, int))
            disk, index, reader, done = lived(steps, "simhash", fault)
            fault.off = True
            if index is None:
                require_nothing_or_empty(disk.files)
                continue
            broken = index._store._broken is not None
            assert broken or kind in {"short", "Ctrl-C"} or index._store._closed
            if broken and not index._store._closed:
                require_no_further_work(index)
            index.close()
            assert not disk.open, "files are left open"
            if reader is not None:
                reader.refresh()
                reader.check()
            again = reopen(FOLDER, MemoryDisk(disk.files))
            seen = answers(again)
            first = known.index(told[done])
            last = known.index(told[min(done + 1, len(told) - 1)], first)
            assert seen in known[first : last + 1], (at, kind, done)
            assert reader is None or answers(reader) == seen
    return trials


def require_nothing_or_empty(files):
    try:
        index = reopen(FOLDER, MemoryDisk(files))
    except StorageError:
        index = create(FOLDER, "simhash", MemoryDisk(files))
    assert len(index) == 0


def test_every_operation_refused():
    assert faults(4, 10, lambda at: [FAULTS[at % 5]]) > 150


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 16))
def test_every_operation_of_long_lives_refused_in_every_way(seed):
    print(faults(seed, 40, lambda _: FAULTS), "refusals")


# What fails when nobody waits for an answer.


def broken_unasked(monkeypatch, index):
    deadline = time.monotonic() + 10
    while index._store._broken is None and time.monotonic() < deadline:
        time.sleep(0.005)


@pytest.mark.parametrize("call", ["sync", "close", "flush"])
def test_a_sync_that_fails_when_nobody_waits_for_it_is_told(monkeypatch, call):
    monkeypatch.setattr("neardup.index.store.INTERVAL", 0.01)
    fault = Fault(1 << 60, errno.EIO, ever=True)
    index = create(FOLDER, "simhash", MemoryDisk(meet=fault), "interval")
    with index._store.busy:
        index.admit(["a"], ["some text or other"])
        fault.at = len(fault.operations)
    broken_unasked(monkeypatch, index)
    with pytest.raises(StorageFailed, match="Input/output error"):
        getattr(index, call)()
    fault.off = True
    index.close()  # it was told


# A disk that is full or may not be written to, for real.


def mounted(folder, *options):
    """Mount something, or skip where that is not permitted."""
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")


def unmounted(folder):
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def filled(folder):
    """Admit documents until no more fit; give how many were acknowledged."""
    index = Index.create(folder / "index", SimHash(), texts=True, memory=1 << 20)
    reader = Index.open(folder / "index")
    rng = random.Random(1)
    acknowledged = 0
    with contextlib.suppress(StorageFailed):
        for number in range(10_000):
            words = " ".join(str(rng.random()) for _ in range(200))
            index.admit([f"document {number}"], [words])
            acknowledged = number + 1
    with pytest.raises(StorageFailed):
        index.admit(["one more"], ["text"])
    index.close()
    reader.refresh()
    assert len(reader) >= acknowledged
    return acknowledged


def test_a_full_file_system(tmp_path):
    mounted(tmp_path, "-t", "tmpfs", "-o", "size=1m", "tmpfs")
    try:
        acknowledged = filled(tmp_path)
        with Index.open(tmp_path / "index") as reader:
            assert len(reader) >= acknowledged
        shutil.copytree(tmp_path / "index", tmp_path.parent / "with room")
    finally:
        unmounted(tmp_path)
    with quiet(), Index.open(tmp_path.parent / "with room", "w") as index:
        ids = set(index.ids())
        assert {f"document {number}" for number in range(acknowledged)} <= ids
        index.admit(["one more"], ["text"])
        assert len(index) == len(ids) + 1
        assert index.check().problems == []


FILLED = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
from test_index_faults import filled
print(filled(Path(sys.argv[2])))
"""


def test_a_file_that_may_not_grow(tmp_path):
    told = subprocess.run(
        [sys.executable, "-c", FILLED, str(Path(__file__).parent), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    with quiet(), Index.open(tmp_path / "index", "w") as index:
        assert {f"document {number}" for number in range(int(told.stdout))} <= set(index.ids())
        index.compact()
        assert index.check().problems == []


def test_a_file_system_that_is_read_only(tmp_path):
    with Index.create(tmp_path / "index", SimHash()) as index:
        index.admit(["a"], ["some text or other"])
    mounted(tmp_path, "--bind", str(tmp_path))
    try:
        mounted(tmp_path, "-o", "remount,bind,ro")
        with Index.open(tmp_path / "index") as reader:
            assert list(reader.ids()) == ["a"]
            assert not reader.refresh()
            assert reader.check().problems == []
        with pytest.raises(StorageFailed, match="Read-only"):
            Index.open(tmp_path / "index", "w")
        with pytest.raises(StorageFailed, match="Read-only"):
            Index.create(tmp_path / "other", SimHash())
    finally:
        unmounted(tmp_path)


def test_a_folder_without_a_parent(tmp_path):
    with pytest.raises(StorageRefused, match="there is no folder"):
        Index.create(tmp_path / "nowhere" / "index", SimHash())


def test_nothing_is_left_in_a_folder_of_somebody_else(tmp_path):
    (tmp_path / "letter").write_text("dear")
    with pytest.raises(StorageRefused, match="not empty"):
        Index.create(tmp_path, SimHash())
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


def test_a_folder_in_one_that_may_not_be_read(tmp_path):
    class Shut(Disk):
        def sync_folder(self, path):
            with _named(path):
                if path == tmp_path:
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            super().sync_folder(path)

    with Index.create(tmp_path / "index", SimHash(), disk=Shut()) as index:
        index.admit(["a"], ["some text or other"])
    assert len(Index.open(tmp_path / "index")) == 1


def test_a_system_that_takes_no_bytes(tmp_path):
    class Deaf(Disk):
        def _write(self, *_):
            return 0

    with pytest.raises(StorageFailed, match="no more bytes"):
        Index.create(tmp_path / "index", SimHash(), disk=Deaf())
