import os
import shutil

import pytest

from neardup.index.disk.files import LOCK, Disk
from neardup.model.errors import StorageBusy, StorageFailed, StorageRefused


def test_a_file_is_made_once_and_appended_to(tmp_path):
    disk, path = Disk(), tmp_path / "a"
    file = disk.create(path)
    disk.append(file, b"one ", path)
    disk.close(file, path)
    with pytest.raises(StorageFailed, match="File exists"):
        disk.create(path)
    file = disk.reopen(path)
    disk.append(file, b"two", path)
    disk.sync(file, path)
    disk.close(file, path)
    assert disk.read(path) == b"one two"
    assert disk.read(path, 4) == b"two"
    assert bytes(disk.map(path)) == b"one two"
    assert disk.size(path) == 7
    disk.rename(path, tmp_path / "b")
    assert disk.names(tmp_path) == ["b"]
    disk.remove(tmp_path / "b")
    disk.remove(tmp_path / "b")
    assert disk.names(tmp_path) == []


def test_files_and_folders_are_synced(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_ino))
    disk, file, folder = Disk(), tmp_path / "a", tmp_path
    disk.write(file, b"one")
    disk.sync_folder(folder)
    disk.lock(folder)
    disk.write(file, b"two")
    disk.sync_folder(folder)
    disk.unlock(folder)
    assert synced[1::2] == [folder.stat().st_ino] * 2
    assert synced[2] == file.stat().st_ino


def test_an_empty_file_is_mapped(tmp_path):
    (tmp_path / "a").touch()
    assert len(Disk().map(tmp_path / "a")) == 0


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        Disk().read(tmp_path / "a")
    assert caught.value.filename == str(tmp_path / "a")


def test_a_folder_is_made_once_and_only_in_a_folder(tmp_path):
    disk = Disk()
    disk.make_folder(tmp_path / "new")
    disk.make_folder(tmp_path / "new")
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "none" / "new"):
        with pytest.raises(StorageRefused):
            disk.make_folder(path)


def test_one_writer_has_a_folder(tmp_path):
    disk, other = Disk(), Disk()
    disk.lock(tmp_path)
    own = f"process {os.getpid()} on {os.uname().nodename}\n"
    assert (tmp_path / LOCK).read_text().startswith(own)
    for second in (disk, other):
        with pytest.raises(StorageBusy, match="this process is writing to it"):
            second.lock(tmp_path)
    (tmp_path / LOCK).write_text(f"{own}token of a process with the same number in another container\n")
    with pytest.raises(StorageBusy, match=f"{own[:-1]} is writing to it"):
        other.lock(tmp_path)
    (tmp_path / LOCK).write_text("11020\n")  # restored from a copy of an older version
    with pytest.raises(StorageBusy, match="another process is writing to it"):
        other.lock(tmp_path)
    disk.unlock(tmp_path)
    other.lock(tmp_path)
    other.unlock(tmp_path)


def test_a_lock_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "other").write_text("precious")
    (tmp_path / LOCK).symlink_to(tmp_path / "other")
    with pytest.raises(StorageRefused, match="it is a link, and a lock must be a file"):
        Disk().lock(tmp_path)
    assert (tmp_path / "other").read_text() == "precious"


def test_a_locked_folder_is_followed_where_it_moves(tmp_path):
    disk, old, new = Disk(), tmp_path / "old", tmp_path / "new"
    disk.make_folder(old)
    disk.lock(old)
    assert disk.holds(old)
    old.rename(new)
    old.mkdir()
    assert not disk.holds(old)
    assert disk.moved_to(old) == str(new)
    disk.close(disk.create(old / "a"), old / "a")
    assert (new / "a").exists()
    assert not (old / "a").exists()
    shutil.rmtree(new)
    assert disk.moved_to(old) == ""
    disk.unlock(old)
