"""The folder of an open index is moved, replaced or unlocked: no other index is harmed, and callers get an error."""

import errno
import fcntl
import os
import shutil
import stat
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from lives import FAST, SCHEMES, quiet

from neardup import Index
from neardup.index.disk.files import LOCK, Disk
from neardup.model.errors import StorageBusy, StorageFailed, StorageMoved, StorageRefused

TEXTS = ["some text or other", "and some more of it", "a third one that is new"]


def made(folder, *names):
    with Index.create(folder, SCHEMES["simhash"]) as index:
        index.admit(names, TEXTS[: len(names)])
    return folder


@pytest.fixture
def folder(tmp_path):
    return made(tmp_path / "seen", "a", "b")


@pytest.fixture
def other(tmp_path):
    return made(tmp_path / "other", "x", "y")


def replace(folder, other):
    """Put another folder in the place of one."""
    old = folder.with_name("old")
    folder.rename(old)
    if other.exists():
        other.rename(folder)
    return old


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != LOCK}


def ids(folder):
    with quiet(), Index.open(folder) as index:
        assert index.check().problems == []
        return [*index.ids()]


CHANGES = {
    "admit": lambda index: index.admit(["d"], ["a fourth one"]),
    "remove": lambda index: index.remove(["a"]),
    "flush": lambda index: index.flush(),
    "compact": lambda index: index.compact(),
    "see": lambda index: index.see(["a"]),
    "sync": lambda index: index.sync(),
    "refresh": lambda index: index.refresh(),
    "close": lambda index: index.close(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_writer_whose_folder_was_replaced_changes_nothing_there_and_says_so(folder, other, change):
    index = Index.open(folder, "w")
    index.admit(["c"], TEXTS[2:])
    before, old = contents(other), replace(folder, other)
    with pytest.raises(StorageMoved, match=f"Acknowledged changes are in {old};"):
        CHANGES[change](index)
    if change != "close":
        assert list(index.ids()) == ["a", "b", "c"]
    with Index.open(folder, "w") as another:
        assert list(another.ids()) == ["x", "y"]
    index.close()
    assert contents(folder) == before
    assert ids(old) == ["a", "b", "c"]
    with Index.open(old, "w") as again:
        again.admit(["e"], ["a fifth one"])


class Moving(Disk):
    """Calls *move* before operation *at* on a file, counted from 0."""

    def __init__(self):
        super().__init__()
        self.at, self.done, self.move = -1, 0, None


def _moving(name):
    def operation(self, *given):
        if self.done == self.at:
            self.move()
        self.done += 1
        return getattr(Disk, name)(self, *given)

    return operation


for _name in ("create", "reopen", "append", "sync", "close", "sync_folder", "rename", "remove", "read", "map", "holds"):
    setattr(Moving, _name, _moving(_name))


def lived(place, folder, other, at):
    """Live, the folder being replaced at an operation; return whether it was, and which documents were acknowledged."""
    folder, other = (shutil.copytree(path, place / path.name) for path in (folder, other))
    disk, acknowledged = Moving(), ["a", "b"]
    index = Index.open(folder, "w", disk=disk)
    disk.at, disk.done, disk.move = at, 0, lambda: replace(folder, other)
    before = contents(other)
    steps = [
        lambda: acknowledged.extend(index.admit(["c"], TEXTS[2:]) and ["c"]),
        index.flush,
        lambda: acknowledged.extend(index.admit(["d"], ["a fourth one"]) and ["d"]),
        index.flush,
        index.compact,
        lambda: index.remove(["a"]) and acknowledged.remove("a"),
        index.compact,
        lambda: acknowledged.extend(index.admit(["e"], ["a fifth one"]) and ["e"]),
        index.close,
    ]
    told = 0
    for step in steps:
        try:
            step()
        except StorageMoved:
            told += 1
    moved = disk.done > at
    assert told > 0 or not moved or at >= disk.done - 3, "nobody was told"  # at the end closing is over
    assert contents(folder if moved else other) == before
    return moved, acknowledged


@pytest.mark.parametrize("stride", [4, pytest.param(1, marks=pytest.mark.soak)])
def test_the_folder_may_be_replaced_at_any_operation(folder, other, stride):
    at, moved = 0, True
    while moved:
        with TemporaryDirectory(dir=FAST if os.access(FAST, os.W_OK) else None) as place:
            moved, acknowledged = lived(Path(place), folder, other, at)
            seen = set(ids(Path(place, "old" if moved else "seen")))
        assert set(acknowledged) <= seen <= {*acknowledged, "a", "c", "d", "e"}, at
        at += stride
    assert at > 60


def test_a_folder_that_was_removed_and_one_that_comes_back(folder):
    index = Index.open(folder, "w")
    folder.rename(folder.with_name("elsewhere"))
    for _ in range(2):
        with pytest.raises(StorageMoved):
            index.admit(["c"], TEXTS[2:])
    folder.with_name("elsewhere").rename(folder)
    index.admit(["c"], TEXTS[2:])
    index.close()
    assert ids(folder) == ["a", "b", "c"]


def test_without_the_lock_file_there_is_still_one_writer(folder):
    index = Index.open(folder, "w")
    (folder / LOCK).unlink()
    for _ in range(2):  # the first try makes no new one
        with pytest.raises(StorageBusy, match="another process is writing to it"):
            Index.open(folder, "w")
    index.admit(["c"], TEXTS[2:])
    index.close()
    with Index.open(folder, "w") as index:
        assert list(index.ids()) == ["a", "b", "c"]


def test_where_folders_cannot_be_locked_the_file_is_the_lock(folder, monkeypatch):
    lock = fcntl.flock

    def of_files_only(file, operation):
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", of_files_only)
    first = Index.open(folder, "w")
    with pytest.raises(StorageBusy):
        Index.open(folder, "w")
    first.admit(["c"], TEXTS[2:])
    (folder / LOCK).unlink()
    second = Index.open(folder, "w")
    second.admit(["d"], ["a fourth one"])
    with pytest.raises(StorageMoved, match="unlocked"):
        first.admit(["e"], ["a fifth one"])
    with pytest.raises(StorageMoved):
        first.flush()
    first.close()
    second.admit(["f"], ["a sixth one"])
    second.close()
    assert ids(folder) == ["a", "b", "c", "d", "f"]


def remove_files(folder, copy):
    for path in folder.iterdir():
        path.unlink()


def rename_into(folder, copy):
    """Restore files as rsync does."""
    for path in copy.iterdir():
        path.rename(folder / path.name)


def write_into(folder, copy):
    """Restore files as cp does."""
    shutil.copytree(copy, folder, dirs_exist_ok=True)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("restore", [remove_files, rename_into, write_into])
def test_a_writer_whose_files_were_removed_or_restored_from_a_copy_acknowledges_no_more(
    folder, tmp_path, change, restore
):
    shutil.copytree(folder, tmp_path / "copy")
    index = Index.open(folder, "w")
    index.admit(["c"], TEXTS[2:])
    restore(folder, tmp_path / "copy")
    before = contents(folder)
    with pytest.raises(StorageMoved, match="seen was emptied or restored while it was being written"):
        CHANGES[change](index)
    if change != "close":
        assert list(index.ids()) == ["a", "b", "c"]
    index.close()
    assert contents(folder) == before
    if before:
        with Index.open(folder, "w") as again:
            again.admit(["d"], TEXTS[2:])
        assert ids(folder) == ["a", "b", "d"]


# Readers.


@pytest.mark.parametrize("restore", [rename_into, write_into])
def test_a_reader_is_told_that_its_files_were_restored_from_a_copy(folder, tmp_path, restore):
    shutil.copytree(folder, tmp_path / "copy")
    with Index.open(folder, "w") as index:
        index.admit(["c"], TEXTS[2:])
    reader = Index.open(folder)
    restore(folder, tmp_path / "copy")
    with pytest.raises(StorageMoved, match="open the index again"):
        reader.refresh()
    assert list(reader.ids()) == ["a", "b", "c"]


def test_a_reader_is_told_that_its_folder_was_replaced(folder, other):
    reader = Index.open(folder)
    replace(folder, other)
    for _ in range(2):
        with pytest.raises(StorageMoved, match="open the index again"):
            reader.refresh()
    assert list(reader.ids()) == ["a", "b"]
    assert isinstance(StorageMoved("x", "y"), StorageFailed)


def test_a_reader_is_told_of_a_copy_and_of_another_index_in_the_same_folder(folder, other, tmp_path):
    reader = Index.open(folder)
    shutil.copytree(folder, tmp_path / "copy")
    with Index.open(folder, "w") as index:
        index.admit(["c"], TEXTS[2:])
    assert reader.refresh()
    replace(folder, tmp_path / "copy")
    with pytest.raises(StorageMoved):
        reader.refresh()
    reader = Index.open(folder)
    for path in folder.iterdir():
        path.unlink()
    with pytest.raises(StorageRefused, match="no manifest"):
        reader.refresh()
    shutil.copytree(other, folder, dirs_exist_ok=True)
    with pytest.raises(StorageMoved):
        reader.refresh()


def test_changes_of_a_removed_folder_are_lost(tmp_path):
    index = Index.create(tmp_path / "index")
    index.admit(["a"], ["one two three"])
    shutil.rmtree(tmp_path / "index")
    with pytest.raises(StorageMoved, match=r"was removed while .* acknowledged changes are lost with it; restore it"):
        index.admit(["b"], ["four five six"])
