"""A file system in memory that knows what a power failure may take, and disks that refuse or kill at an operation."""

import os
import signal
from errno import EAGAIN
from pathlib import Path

import numpy as np

from neardup.index.disk.files import LOCK, Disk, _named
from neardup.model.errors import StorageBusy

ROOT = Path("/simulated")
FOLDER = ROOT / "index"
SECTOR = 512


class File:
    """What was appended to a file, and how much of it was synced."""

    def __init__(self, data=b"", synced=0):
        self.data, self.synced = bytearray(data), synced


class Files:
    """Files by path; *lasting* are the names that outlive a power failure, *pending* the changes of names since.

    What a folder is named is pending until its parent is synced, as the names within are until it is synced itself.
    """

    def __init__(self):
        self.names = {ROOT: None}
        self.lasting = dict(self.names)
        self.pending = []

    def copy(self):
        other, twins = Files(), {None: None}
        everywhere = [*self.names.values(), *self.lasting.values(), *(change[-1] for change in self.pending)]
        for file in everywhere:
            if file not in twins:
                twins[file] = File(file.data, file.synced)
        other.names = {path: twins[file] for path, file in self.names.items()}
        other.lasting = {path: twins[file] for path, file in self.lasting.items()}
        other.pending = [(*change[:-1], twins[change[-1]]) for change in self.pending]
        return other

    def change(self, kind, *paths, file=None):
        """Change names: at once for readers, and perhaps after a power failure."""
        self.pending.append((kind, *paths, file))
        _apply(self.names, self.pending[-1])

    def sync_folder(self, path):
        mine = [change for change in self.pending if change[1].parent == path]
        self.pending = [change for change in self.pending if change[1].parent != path]
        for change in mine:
            _apply(self.lasting, change)

    def after_power_failure(self, rng):
        """Return one of the states in which a power failure may leave the files, all of it on the disk."""
        names = dict(self.lasting)
        odds = rng.choice([0.0, 0.5, 0.5, 1.0])
        for kind, *paths, file in self.pending:
            if rng.random() >= odds:
                continue
            _apply(names, (kind, *paths, file))
            if kind == "rename" and rng.random() < 0.2:  # the new name is there, the old one still
                names[paths[0]] = file
        other, twins = Files(), {None: None}
        for path, file in names.items():
            if path.parent in names or path == ROOT:
                if file not in twins:
                    left = _left(file, rng)
                    twins[file] = File(left, len(left))
                other.names[path] = twins[file]
        other.lasting = dict(other.names)
        return other


def _apply(names, change):
    kind, *paths, file = change
    if kind == "rename":
        names.pop(paths[0], None)
        names[paths[1]] = file
    elif kind == "remove":
        names.pop(paths[0], None)
    else:
        names[paths[0]] = file


def _left(file, rng):
    """Return what a power failure leaves of a file: all that was synced, and of the rest anything."""
    safe, rest = bytes(file.data[: file.synced]), bytearray(file.data[file.synced :])
    what = rng.choice(["lost", "kept", "cut", "torn", "holes"])
    if what == "kept" or not rest:
        return safe + rest
    if what == "lost":
        return safe
    cut = rng.randrange(len(rest) + 1)
    if what == "cut":
        return safe + rest[:cut]
    if what == "torn":  # the file is as long as it was to be, but its last sectors were never written
        end = min(len(rest), cut + rng.randrange(4096))
        return safe + rest[:cut] + (bytes(end - cut) if rng.random() < 0.5 else rng.randbytes(end - cut))
    for begin in range(-(file.synced % SECTOR), len(rest), SECTOR):  # some of its sectors were never written
        if rng.random() < 0.3:
            hole = slice(max(begin, 0), min(begin + SECTOR, len(rest)))
            rest[hole] = bytes(hole.stop - hole.start)
    return safe + rest


class MemoryDisk(Disk):
    """A disk whose files are in memory. *meet* is called before each operation, and may raise.

    For a write it may also return how many bytes the system takes of it.
    """

    def __init__(self, files=None, meet=None):
        super().__init__()
        self.files = files or Files()
        self.meet = meet or (lambda *_: None)
        self.open = {}
        self.locked = {}
        self._following = 100

    def _number(self, thing):
        self._following += 1
        self.open[self._following] = thing
        return self._following

    def _file(self, path):
        if self.files.names.get(path) is None:
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return self.files.names[path]

    def create(self, path):
        with _named(path, "written"):
            self.meet("create", path)
            if path in self.files.names:
                raise FileExistsError(17, "File exists", str(path))
            file = File()
            self.files.change("create", path, file=file)
            return self._number((path, file))

    def reopen(self, path):
        with _named(path, "written"):
            self.meet("reopen", path)
            return self._number((path, self._file(path)))

    def _write(self, file, data):
        path, stored = self.open[file]
        taken = self.meet("write", path)
        part = data if taken is None else data[:taken]
        stored.data += part
        return len(part)

    def cut(self, file, size, path):
        with _named(path, "written"):
            self.meet("cut", path)
            del self.open[file][1].data[size:]

    def sync(self, file, path):
        with _named(path, "written"):
            self.meet("sync", path)
            stored = self.open[file][1]
            stored.synced = len(stored.data)

    def close(self, file, path):
        own = self.open.pop(file)[0]
        assert own == path
        with _named(path, "written"):
            self.meet("close", path)

    def sync_folder(self, path):
        with _named(path, "written"):
            self.meet("sync_folder", path)
            self.files.sync_folder(path)

    def rename(self, old, new):
        with _named(new, "written"):
            self.meet("rename", new)
            self.files.change("rename", old, new, file=self._file(old))

    def remove(self, path):
        with _named(path, "written"):
            self.meet("remove", path)
            if path in self.files.names:
                self.files.change("remove", path)

    def make_folder(self, path):
        with _named(path, "written"):
            self.meet("make_folder", path)
            if path not in self.files.names:
                self.files.change("make_folder", path)

    def names(self, path):
        with _named(path, "written"):
            self.meet("names", path)
            return sorted(own.name for own in self.files.names if own.parent == path)

    def placed(self, path):
        with _named(path, "written"):
            self.meet("size", path)
            return (0, 0), len(self._file(path).data)

    def read(self, path, begin=0):
        with _named(path, "written"):
            self.meet("read", path)
            return bytes(self._file(path).data[begin:])

    def map(self, path):
        with _named(path, "written"):
            self.meet("map", path)
            return np.frombuffer(bytearray(self._file(path).data), np.uint8)

    def lock(self, path):
        with _named(path, "written"):
            self.meet("lock", path)
            if path in self.locked:
                raise StorageBusy(str(path), os.strerror(EAGAIN))
            if path / LOCK not in self.files.names:
                self.files.change("create", path / LOCK, file=File())
            number = self._number((path, self.files))
            self.locked[path] = number, self.identity(path)
            return number

    def holds(self, path):
        with _named(path, "written"):
            self.meet("holds", path)
        return self.identity(path) == self.locked[path][1]

    def moved_to(self, path):
        return f"what was {path}"

    def identity(self, path):
        return (0, id(self.files)) if path in self.files.names else (0, 0)

    def unlock(self, path):
        del self.open[self.locked.pop(path)[0]]
        with _named(path, "written"):
            self.meet("unlock", path)

    forget = unlock


class Deadly(Disk):
    """Kills its process at one of its operations, in the middle of it if that is a write."""

    def __init__(self, at):
        super().__init__()
        self.left = at

    def _met(self):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def _write(self, file, data):
        if self.left == 1:
            super()._write(file, data[: len(data) // 2])
        self._met()
        return super()._write(file, data)


def _deadly(name):
    def operation(self, *args):
        self._met()
        return getattr(Disk, name)(self, *args)

    return operation


for _name in ("create", "reopen", "cut", "sync", "close", "sync_folder", "rename", "remove", "lock", "unlock"):
    setattr(Deadly, _name, _deadly(_name))
