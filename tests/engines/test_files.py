import fcntl
import os
import zlib
from contextlib import nullcontext
from errno import ENOSPC

import pytest

from neardup.engines.files import checksum_of, has_file, locked, naming, replacing
from neardup.model.errors import StorageBusy, StorageFailed, StorageRefused


def test_a_lock_excludes_others_and_names_its_process(tmp_path):
    own = locked(tmp_path / "lock")
    for shared in (False, True):
        with pytest.raises(StorageBusy, match=f"process {os.getpid()} on .* is using it") as caught:
            locked(tmp_path / "lock", shared=shared)
        assert caught.value.where == str(tmp_path)
    os.close(own)
    for file in [locked(tmp_path / "lock", shared=True) for _ in range(2)]:
        os.close(file)


def test_a_lock_whose_file_was_removed_by_a_finished_run_is_taken_again(tmp_path, monkeypatch):
    flock, removed = fcntl.flock, []

    def late(file, how):
        if not removed and how == fcntl.LOCK_EX | fcntl.LOCK_NB:
            removed.append((tmp_path / "lock").unlink())
        return flock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    own = locked(tmp_path / "lock")
    with pytest.raises(StorageBusy):
        locked(tmp_path / "lock")
    os.close(own)
    assert removed


def test_a_link_is_no_lock_and_its_target_stays(tmp_path):
    (tmp_path / "target").write_bytes(b"theirs")
    (tmp_path / "lock").symlink_to(tmp_path / "target")
    with pytest.raises(StorageRefused, match="it is a link"):
        locked(tmp_path / "lock")
    assert (tmp_path / "target").read_bytes() == b"theirs"


@pytest.mark.parametrize("fails", [False, True])
def test_a_file_is_replaced_when_it_is_complete(tmp_path, fails):
    target, partial, outside = (tmp_path / name for name in ("target", "partial", "outside"))
    target.write_bytes(b"old")
    outside.write_bytes(b"theirs")
    partial.symlink_to(outside)
    with pytest.raises(KeyboardInterrupt) if fails else nullcontext(), replacing(target, partial) as file:
        file.write(b"new")
        assert target.read_bytes() == b"old"
        if fails:
            raise KeyboardInterrupt
    assert target.read_bytes() == (b"old" if fails else b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside", "target"]
    assert outside.read_bytes() == b"theirs"


def test_errors_name_the_file_or_the_path_that_was_used(tmp_path):
    with pytest.raises(StorageFailed, match="absent cannot be read: No such file"), naming(tmp_path, doing="read"):
        (tmp_path / "absent").read_bytes()
    with pytest.raises(StorageFailed) as caught, naming(tmp_path / "of", tmp_path):
        raise OSError(ENOSPC, os.strerror(ENOSPC))
    assert caught.value.where == str(tmp_path / "of")
    with pytest.raises(FileNotFoundError), naming(tmp_path / "of"):
        (tmp_path / "elsewhere").read_bytes()
    with pytest.raises(StorageRefused, match="as it is"), naming(tmp_path):
        raise StorageRefused("x", "as it is")


@pytest.mark.parametrize("size", [0, 1, 1 << 18, (1 << 19) + 1])
def test_the_checksum_is_that_of_the_whole_file(tmp_path, size):
    content = bytes(range(256)) * (size // 256) + bytes(size % 256)
    (tmp_path / "file").write_bytes(content)
    assert checksum_of(tmp_path / "file") == zlib.crc32(content)


def test_one_of_several_files(tmp_path):
    (tmp_path / "b").touch()
    (tmp_path / "folder").mkdir()
    assert has_file(tmp_path, "a", "b")
    assert not has_file(tmp_path, "a", "folder")
