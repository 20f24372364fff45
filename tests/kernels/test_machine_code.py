import os
import shutil
import subprocess
import sys
import tempfile
from types import SimpleNamespace
from unittest.mock import Mock

import numba
import numpy as np
import pytest
from numba import config

from neardup.kernels import machine_code
from neardup.kernels.machine_code import is_kept, kernel


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(machine_code, "_PARENTS", ())
    machine_code._own_folder.cache_clear()
    yield tmp_path
    machine_code._own_folder.cache_clear()


def test_a_folder_for_this_user_only(temporary):
    folder = machine_code._own_folder("beside")
    (own,) = temporary.iterdir()
    assert folder.startswith(str(own))
    assert own.stat().st_mode & 0o777 == 0o700
    assert machine_code._own_folder("elsewhere") != folder


def test_a_process_that_compiles_nothing_is_told_so():
    code = "import os; os.environ['NUMBA_DISABLE_JIT'] = '1'; import neardup; neardup.dedup(['one'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.endswith(
        "ImportError: neardup needs compiled kernels, and Numba does not compile: unset NUMBA_DISABLE_JIT\n"
    )


@pytest.mark.parametrize("mode", [0o777, 0o755])
def test_a_folder_that_others_could_write_is_not_used(temporary, mode):
    machine_code._own_folder("beside")
    next(temporary.iterdir()).chmod(mode)
    machine_code._own_folder.cache_clear()
    assert machine_code._own_folder("beside") is None


def test_a_link_is_not_used(temporary):
    machine_code._own_folder("beside")
    (own,) = temporary.iterdir()
    own.rename(temporary / "target")
    own.symlink_to(temporary / "target")
    machine_code._own_folder.cache_clear()
    assert machine_code._own_folder("beside") is None


def test_a_folder_without_room_is_not_used(temporary, monkeypatch):
    full, other = temporary / "full", temporary / "other"
    other.mkdir()
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(full))
    monkeypatch.setattr(machine_code, "_PARENTS", (str(other),))
    free = {str(full): 10**6, str(other): 10**9}
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=free[place]))
    assert machine_code._own_folder("beside").startswith(str(other))


def test_without_any_folder_a_kernel_works(temporary, monkeypatch):
    def add(left, right):
        return left + right

    def refused(_):
        raise RuntimeError("no locator available")

    monkeypatch.setattr(machine_code, "_compiled", refused)
    temporary.rmdir()
    added = kernel(add)
    assert added(np.int64(2), np.int64(3)) == 5
    assert is_kept(added) is None


@pytest.mark.parametrize("folder", ["", "~/.cache"])
def test_a_folder_below_the_current_one_is_not_used(temporary, monkeypatch, folder):
    def add(left, right):
        return left + right

    def compiled(function):
        folders.append(config.CACHE_DIR)
        return numba.njit(function, cache=True)

    folders = []
    monkeypatch.setenv("XDG_CACHE_HOME", folder)
    monkeypatch.setattr(os, "access", Mock(return_value=False))  # the folder of the source is read-only
    monkeypatch.setattr(machine_code, "_compiled", compiled)
    machine_code._is_relative.cache_clear()
    assert kernel(add)(np.int64(2), np.int64(3)) == 5
    machine_code._is_relative.cache_clear()
    [own] = folders
    assert own.startswith(str(temporary))


def test_no_folder_for_temporary_files(monkeypatch):
    def refused():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", refused)
    assert [*machine_code._parents()] == ["/dev/shm"]  # noqa: S108


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"no pickle"])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_damaged_file_is_recognized(tmp_path, monkeypatch, kind, content):
    def add(left, right):
        return left + right

    monkeypatch.setattr(machine_code.config, "CACHE_DIR", str(tmp_path))
    assert kernel(add)(1, 2) == 3
    (damaged,) = tmp_path.rglob(f"*.{kind}")
    damaged.write_bytes(content)
    again = kernel(add)
    with pytest.raises(Exception) as raised:  # noqa: PT011 - whatever unpickling raises
        again(1, 2)
    assert machine_code.folder_that_failed(raised.value, again) == damaged.parent
    assert machine_code.folder_that_failed(OSError(), again) is None


def test_code_is_copied_once_and_never_over_other_code(tmp_path):
    place, source = tmp_path / "place", tmp_path / "source"
    for folder in (place, source):
        folder.mkdir()
    for name in ("a.f-1.nbi", "a.f-1.1.nbc", "a.f-1.2.nbc", "a.g-9.nbi", "a.g-9.1.nbc"):
        (source / name).write_text(name)
    (place / "a.g-9.nbi").write_text("own")
    machine_code._fill(place, source)
    found = {path.name: path.read_text() for path in place.iterdir()}
    assert found == {name: name for name in ("a.f-1.nbi", "a.f-1.1.nbc", "a.f-1.2.nbc")} | {"a.g-9.nbi": "own"}


def test_where_there_is_nothing_to_copy(tmp_path):
    machine_code._fill(tmp_path, tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_the_first_compilation_is_announced_once():
    calls = []
    machine_code.on_first_compilation(lambda: calls.append("began"))
    for function in (lambda x: x + 1, lambda x: x + 2):
        compiled = numba.njit(function)
        assert compiled(1) in {2, 3}
        assert calls == ["began"]
