"""The files of an index that lives in memory."""

import errno
import os
from pathlib import Path

import numpy as np

from neardup.index.disk.files import Disk, Identity
from neardup.model.arrays import Bytes

FOLDER = Path("/index in memory")  # what messages call it


class MemoryDisk(Disk):
    """Files in memory, of one index and one process. They are gone with the index."""

    def __init__(self) -> None:
        super().__init__()
        self._files: dict[Path, bytearray] = {}
        self._opened: dict[int, bytearray] = {}

    def create(self, path: Path) -> int:
        """Make a new file to append to."""
        self._files[path] = bytearray()
        return self.reopen(path)

    def reopen(self, path: Path) -> int:
        """Open a file to append to it."""
        file = max(self._opened, default=0) + 1
        self._opened[file] = self._found(path)
        return file

    def append(self, file: int, data: bytes | memoryview, path: Path) -> None:  # noqa: ARG002 - named as on a disk
        """Write all of *data* behind what is there."""
        self._opened[file] += memoryview(data).cast("B")

    def sync(self, file: int, path: Path) -> None:
        """Do nothing: there is nothing that would last longer."""

    def sync_folder(self, path: Path) -> None:
        """Do nothing: there is nothing that would last longer."""

    def close(self, file: int, path: Path) -> None:  # noqa: ARG002 - named as on a disk
        """Close a file."""
        del self._opened[file]

    def rename(self, old: Path, new: Path) -> None:
        """Give a file another name, in place of the file that has it."""
        self._files[new] = self._files.pop(old)

    def remove(self, path: Path) -> None:
        """Remove a file, if it is there."""
        self._files.pop(path, None)

    def make_folder(self, path: Path) -> None:
        """Do nothing: files have their names without one."""

    def names(self, path: Path) -> list[str]:
        """List the files of a folder, sorted."""
        return sorted(file.name for file in self._files if file.parent == path)

    def size(self, path: Path) -> int:
        """Return the number of bytes of a file."""
        return len(self._found(path))

    def read(self, path: Path, begin: int = 0) -> bytes:
        """Return the bytes of a file from one on."""
        return bytes(self._found(path)[begin:])

    def map(self, path: Path) -> Bytes:
        """Return the bytes of a file that nothing is appended to any more."""
        return np.frombuffer(self._found(path), np.uint8)

    def lock(self, path: Path) -> int:  # noqa: ARG002 - named as on a disk
        """Return any descriptor: no other process can write."""
        return 0

    def unlock(self, path: Path) -> None:
        """Do nothing: no other process can write."""

    def forget(self, path: Path) -> None:
        """Do nothing: the process that was forked has files of its own."""

    def holds(self, path: Path) -> bool:  # noqa: ARG002 - named as on a disk
        """Return that the files are in their place."""
        return True

    def identity(self, path: Path) -> Identity:  # noqa: ARG002 - named as on a disk
        """Return what is the same for all files: none is ever replaced from outside."""
        return 0, 0

    def _found(self, path: Path) -> bytearray:
        try:
            return self._files[path]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from None
