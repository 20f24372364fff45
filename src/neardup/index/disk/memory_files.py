"""The files of an index in memory."""

import errno
import os
from pathlib import Path
from typing import Self

import numpy as np

from neardup.index.disk.files import Disk, Identity
from neardup.model.arrays import Bytes


class _InMemory(type(Path())):  # type: ignore[misc]  # Python 3.11 has no other way
    """A path that is the same in every working directory: messages show it."""

    def absolute(self) -> Self:
        """Return the path itself."""
        return self


FOLDER = _InMemory("the index in memory")


class MemoryDisk(Disk):
    """Files in memory, of one index and one process. They are lost when the index is closed."""

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
        """Append all of *data*."""
        self._opened[file] += memoryview(data).cast("B")

    def cut(self, file: int, size: int, path: Path) -> None:  # noqa: ARG002 - named as on a disk
        """Remove the bytes of a file behind this size."""
        del self._opened[file][size:]

    def sync(self, file: int, path: Path) -> None:
        """Do nothing: memory cannot be synced."""

    def sync_folder(self, path: Path) -> None:
        """Do nothing: names need no folder, and no other process can write."""

    make_folder = forget = sync_folder

    def unlock(self, path: Path) -> None:  # noqa: ARG002 - named as on a disk
        """Remove all files: their index is closed."""
        self._files.clear()

    def close(self, file: int, path: Path) -> None:  # noqa: ARG002 - named as on a disk
        """Close a file."""
        del self._opened[file]

    def rename(self, old: Path, new: Path) -> None:
        """Rename a file; it replaces a file of that name."""
        self._files[new] = self._files.pop(old)

    def remove(self, path: Path) -> None:
        """Remove a file, if it is there."""
        self._files.pop(path, None)

    def names(self, path: Path) -> list[str]:
        """List the files of a folder, sorted."""
        return sorted(file.name for file in self._files if file.parent == path)

    def placed(self, path: Path) -> tuple[Identity, int]:
        """Return the identity of a file, and its number of bytes."""
        return self.identity(path), len(self._found(path))

    def read(self, path: Path, begin: int = 0) -> bytes:
        """Return the bytes of a file from this one to its end."""
        return bytes(self._found(path)[begin:])

    def map(self, path: Path) -> Bytes:
        """Return the bytes of a complete file."""
        return np.frombuffer(self._found(path), np.uint8)

    def lock(self, path: Path) -> int:  # noqa: ARG002 - named as on a disk
        """Return any descriptor: no other process can write."""
        return 0

    def holds(self, path: Path) -> bool:  # noqa: ARG002 - named as on a disk
        """Return that the files are in their place."""
        return True

    def identity(self, path: Path) -> Identity:  # noqa: ARG002 - named as on a disk
        """Return the same for all files, because no other process replaces them."""
        return 0, 0

    def _found(self, path: Path) -> bytearray:
        try:
            return self._files[path]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from None
