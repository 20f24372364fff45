"""What an index does when the system refuses: a typed error, answers from what is committed, and writing again."""

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
from disks import FOLDER, ROOT, MemoryDisk
from lives import AT, Record, answers, create, fields_of, quiet, reopen, script, some_of_each

from neardup import Index, SimHash
from neardup.index.disk.files import LOCK, Disk, _named
from neardup.index.disk.manifest import SECOND
from neardup.model.errors import StorageError, StorageFailed, StorageRefused
from neardup.verdicts import ExactDuplicate, New

FAULTS = [errno.ENOSPC, errno.EIO, errno.EMFILE, "short", "Ctrl-C"]
MANIFESTS = {"manifest.json", "manifest.copy", "manifest.copy.new"}
HARMLESS = {"holds", "close", "unlock", "remove", "read", "map", "size", "names"}
WRITING = {"create", "write", "sync", "sync_folder", "rename"}


class Fault:
    """Refuses operation *at*, counted from 0, and with *ever* every later one that writes; or takes only some bytes."""

    def __init__(self, at, kind, *, ever=False):
        self.at, self.kind, self.ever = at, kind, ever
        self.operations = []
        self.failed = []
        self.off = False

    def __call__(self, operation, path):
        number = len(self.operations)
        self.operations.append((operation, path))
        if operation == "sync":
            assert path not in self.failed, "a failed sync was tried again"
        if operation in {"create", "remove"} and path in self.failed:
            self.failed.remove(path)
        if self.off or not (number == self.at or (self.ever and number > self.at and operation in WRITING)):
            return None
        if self.kind == "short":
            return 1
        if self.kind == "Ctrl-C":
            raise KeyboardInterrupt
        if operation == "sync":
            self.failed.append(path)
        raise OSError(self.kind, os.strerror(self.kind))

    @property
    def spares(self):
        """Return whether the refused operation was about the second manifest, without which everything continues."""
        return self.operations[self.at][1].name.startswith(SECOND)


def lived(steps, scheme, fault, durability="commit"):
    """Live until the system refuses; return the disk, the index, a reader that was there, and how many steps were done.

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
        assert fault.kind in {"short", None} or fault.at >= len(fault.operations) or fault.spares
        done += 1
    return disk, index, reader, done


def require_refused(index):
    """Every change is refused, and reading continues."""
    told = answers(index)
    tries = [
        lambda: index.admit(["x"], ["some text or other"], fields_of(["x"], 0)),
        index.flush,
        index.compact,
        lambda: index.see(["document 1"]),
        index.sync,
    ]
    for attempt in tries:
        with pytest.raises(StorageFailed, match="cannot be written"):
            attempt()
        assert answers(index) == told
    return told


def require_writes_again(index, files):
    """A change succeeds where the system does, on top of what was answered before it."""
    told, [verdict, *_] = answers(index), index.judge(["one more text that nobody knows"])
    index.admit(["one more"], ["one more text that nobody knows"], fields_of(["one more"], 0), at=AT)
    assert index.failure is None
    index.remove(["one more"])
    assert (answers(index), verdict) == (told, New())
    assert answers(reopen(FOLDER, MemoryDisk(files), "r")) == told
    named = {path.name for path in files.names} - {FOLDER.name, ROOT.name, LOCK, *MANIFESTS}
    assert named == set(index._store.manifest.files), "files are left behind"
    return told


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


def faults(seed, length, most):
    """Refuse at most so many operations of each kind of a life, one at a time and in one way each."""
    steps, told = steps_of(seed, length)
    known = Record("simhash", steps, "commit").answers
    count = Fault(-1, None)
    lived(steps, "simhash", count)
    places = some_of_each([operation for operation, _ in count.operations], most)
    for trial, at in enumerate(places):
        kind = FAULTS[trial % len(FAULTS)]
        fault = Fault(at, kind, ever=at % 2 == 1 and isinstance(kind, int))
        disk, index, reader, done = lived(steps, "simhash", fault)
        fault.off = True
        if index is None:
            require_nothing_or_empty(disk.files)
            continue
        first = known.index(told[done])
        last = known.index(told[min(done + 1, len(told) - 1)], first)
        if not index._store.closed:
            harmless = fault.operations[at][0] in HARMLESS or fault.spares
            assert index.failure or kind in {"short", "Ctrl-C"} or harmless
            assert answers(index) in known[first : last + 1], (at, kind, done)
            if index.failure and fault.ever:
                fault.off = False
                require_refused(index)
                fault.off = True
            if at % 3:
                require_writes_again(index, disk.files)
        index.close()
        assert not disk.open, "files are left open"
        if reader is not None:
            reader.refresh()
            reader.check()
        again = reopen(FOLDER, MemoryDisk(disk.files))
        seen = answers(again)
        assert seen in known[first : last + 1], (at, kind, done)
        assert reader is None or answers(reader) == seen
    return len(places)


def require_nothing_or_empty(files):
    try:
        index = reopen(FOLDER, MemoryDisk(files))
    except StorageError:
        index = create(FOLDER, "simhash", MemoryDisk(files))
    assert len(index) == 0


def test_some_operations_of_every_kind_refused():
    assert faults(331, 10, 5) > 50


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 16))
def test_operations_of_every_kind_of_long_lives_refused(seed):
    print(faults(seed, 40, 60), "refusals")


# What fails when nobody waits for an answer.


def broken_unasked(index):
    deadline = time.monotonic() + 120
    while index.failure is None and time.monotonic() < deadline:
        time.sleep(0.005)


@pytest.mark.parametrize("call", ["sync", "close", "flush"])
def test_a_sync_that_fails_when_nobody_waits_for_it_is_reported(monkeypatch, call):
    monkeypatch.setattr("neardup.index.disk.store.INTERVAL", 0.01)
    fault = Fault(1 << 60, errno.EIO, ever=True)
    index = create(FOLDER, "simhash", MemoryDisk(meet=fault), "interval")
    with index._store.busy:
        index.admit(["a"], ["some text or other"])
        fault.at = len(fault.operations)
    broken_unasked(index)
    with pytest.raises(StorageFailed, match="Input/output error"):
        getattr(index, call)()
    fault.off = True
    index.close()


def test_a_sync_that_failed_when_nobody_waited_is_made_good_by_the_next_change(monkeypatch):
    monkeypatch.setattr("neardup.index.disk.store.INTERVAL", 0.01)
    fault = Fault(1 << 60, errno.EIO, ever=True)
    disk = MemoryDisk(meet=fault)
    index = create(FOLDER, "simhash", disk, "interval")
    with index._store.busy:
        index.admit(["a"], ["some text or other"])
        fault.at = len(fault.operations)
    broken_unasked(index)
    assert list(index.ids()) == ["a"]
    fault.off = True
    index.sync()
    assert index.failure is None
    left = disk.files.after_power_failure(random.Random(1))
    assert list(reopen(FOLDER, MemoryDisk(left)).ids()) == ["a"]


# A disk that is full or may not be written to, for real.


def mounted(folder, *options):
    """Mount something, or skip where that is not permitted."""
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")


def unmounted(folder):
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def words(number):
    rng = random.Random(number)
    return " ".join(str(rng.random()) for _ in range(200))


def require_answers(index, acknowledged):
    """Every kind of reading continues, and files that no manifest names are removed."""
    names = [f"document {number}" for number in acknowledged]
    assert [document.text for document in index.get(names)] == [*map(words, acknowledged)]
    assert index.judge([words(acknowledged[-1])]) == [ExactDuplicate(names[-1])]
    assert set(names) <= set(index.ids())
    assert index.group(names[0]) == names[:1]
    assert index.stats().documents == len(index) >= len(names)
    there = {path.name for path in index._store.folder.iterdir()} - {LOCK, *MANIFESTS}
    assert there == set(index._store.manifest.files)


def filled(folder):
    """Admit documents until some are refused, and go on; return the index and the documents acknowledged."""
    index = Index.create(folder / "index", SimHash(), texts=True, memory=1 << 20)
    reader = Index.open(folder / "index")
    acknowledged, refused = [], 0
    for number in range(10_000):
        try:
            index.admit([f"document {number}"], [words(number)])
            acknowledged.append(number)
        except StorageFailed:
            require_answers(index, acknowledged)
            refused += 1
            if refused == 3:
                break
    reader.refresh()
    require_answers(reader, acknowledged)
    return index, acknowledged


def test_writing_continues_by_itself_when_a_full_file_system_has_room_again(tmp_path):
    mounted(tmp_path, "-t", "tmpfs", "-o", "size=2m", "tmpfs")
    try:
        (tmp_path / "ballast").write_bytes(bytes(1 << 20))
        index, acknowledged = filled(tmp_path)
        assert "No space left" in index.failure
        (tmp_path / "ballast").unlink()
        index.admit(["one more"], ["text"])
        assert index.failure is None
        require_answers(index, acknowledged)
        index.close()
        with Index.open(tmp_path / "index", "w") as index:
            require_answers(index, acknowledged)
            assert index.get(["one more"])[0].text == "text"
            assert index.check().problems == []
    finally:
        unmounted(tmp_path)


def test_the_bytes_of_a_failed_write_are_removed_at_once(tmp_path):
    mounted(tmp_path, "-t", "tmpfs", "-o", "size=3m", "tmpfs")
    try:
        with Index.create(tmp_path / "index", SimHash(), texts=True) as index:
            names = [f"document {number}" for number in range(2000)]
            index.admit(names[:100], [*map(words, range(100))])
            log = next((tmp_path / "index").glob("log-*"))
            size = log.stat().st_size
            with pytest.raises(StorageFailed, match="No space left"):
                index.admit(names[100:], [*map(words, range(100, 2000))])
            assert log.stat().st_size == size
            index.remove(names[:1])
            assert index.failure is None
            assert [*index.ids()] == names[1:100]
            (tmp_path / "ballast").write_bytes(bytes(shutil.disk_usage(tmp_path).free - (1 << 17)))
            with pytest.raises(StorageFailed, match="No space left"):
                index.copy(tmp_path / "copy")
            assert not [*(tmp_path / "copy").glob("*.new")]
        with Index.open(tmp_path / "index", "w") as index:
            assert index.stats().discarded_bytes == 0
            assert index.check().problems == []
    finally:
        unmounted(tmp_path)


def test_a_file_system_that_stays_full(tmp_path):
    mounted(tmp_path, "-t", "tmpfs", "-o", "size=1m", "tmpfs")
    try:
        index, acknowledged = filled(tmp_path)
        index.close()
        with Index.open(tmp_path / "index") as reader:
            require_answers(reader, acknowledged)
        shutil.copytree(tmp_path / "index", tmp_path.parent / "with room")
    finally:
        unmounted(tmp_path)
    with quiet(), Index.open(tmp_path.parent / "with room", "w") as index:
        require_answers(index, acknowledged)
        index.admit(["one more"], ["text"])
        assert index.check().problems == []


LIMITED = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
from test_index_faults import filled
index, acknowledged = filled(Path(sys.argv[2]))
index.close()
print(*acknowledged)
"""


def test_a_file_that_may_not_grow(tmp_path):
    told = subprocess.run(
        [sys.executable, "-c", LIMITED, str(Path(__file__).parent), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    with quiet(), Index.open(tmp_path / "index", "w") as index:
        assert {f"document {number}" for number in told.stdout.split()} <= set(index.ids())
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
    with pytest.raises(StorageRefused, match="its folder does not exist"):
        Index.create(tmp_path / "nowhere" / "index", SimHash())


def test_nothing_is_left_in_a_folder_of_somebody_else(tmp_path):
    (tmp_path / "letter").write_text("dear")
    with pytest.raises(StorageRefused, match="not empty"):
        Index.create(tmp_path, SimHash())
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


def test_a_folder_in_one_that_may_not_be_read(tmp_path):
    class Shut(Disk):
        def sync_folder(self, path):
            with _named(path, "written"):
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
