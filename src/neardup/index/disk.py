"""Every file operation of an index, and no other: what a test must be able to stop, refuse or lose is here."""

import fcntl
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from neardup.model.arrays import Bytes
from neardup.model.errors import StorageBusy, StorageError, StorageFailed, StorageRefused

_PIECE: Final = 1 << 30  # bytes written by one call: systems take no more than 2 GiB
_NO_RESERVE: Final = getattr(mmap, "MAP_NORESERVE", 0)


class Disk:
    """The file system, as an index uses it. Whatever it refuses raises ``StorageFailed``.

    Files are made once, appended to, renamed and removed; nothing is ever written over.
    """

    def create(self, path: Path) -> int:
        """Make a new file to append to; one that exists is refused."""
        with _named(path):
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o666)

    def reopen(self, path: Path) -> int:
        """Open a file to append to it."""
        with _named(path):
            return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def append(self, file: int, data: bytes | memoryview, path: Path) -> None:
        """Write all of *data* behind what is there."""
        rest = memoryview(data).cast("B")
        with _named(path):
            while rest:
                written = self._write(file, rest[:_PIECE])
                if not written:
                    raise StorageFailed(str(path), "the system takes no more bytes")
                rest = rest[written:]

    def _write(self, file: int, data: memoryview) -> int:
        return os.write(file, data)

    def sync(self, file: int, path: Path) -> None:
        """Wait until what was written is on the disk."""
        with _named(path):
            os.fsync(file)

    def close(self, file: int, path: Path) -> None:
        """Close a file; what was not synced may still be lost."""
        with _named(path):
            os.close(file)

    def sync_folder(self, path: Path) -> None:
        """Wait until the names in a folder are on the disk."""
        with _named(path):
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def rename(self, old: Path, new: Path) -> None:
        """Give a file another name, in place of whatever has it."""
        with _named(new):
            old.rename(new)

    def remove(self, path: Path) -> None:
        """Remove a file; one that is gone already is no trouble."""
        with _named(path):
            path.unlink(missing_ok=True)

    def make_folder(self, path: Path) -> None:
        """Make a folder, unless it exists."""
        with _named(path):
            try:
                path.mkdir(exist_ok=True)
            except FileExistsError:
                raise StorageRefused(str(path), "is no folder") from None
            except (FileNotFoundError, NotADirectoryError):
                raise StorageRefused(str(path), f"cannot be made: there is no folder {str(path.parent)!r}") from None

    def names(self, path: Path) -> list[str]:
        """List a folder, sorted."""
        with _named(path):
            return sorted(entry.name for entry in path.iterdir())

    def size(self, path: Path) -> int:
        """Tell how many bytes a file has."""
        with _named(path):
            return path.stat().st_size

    def read(self, path: Path, begin: int = 0) -> bytes:
        """Read a file from a byte on."""
        with _named(path), path.open("rb") as file:
            file.seek(begin)
            return file.read()

    def map(self, path: Path) -> Bytes:
        """Map a whole file into memory.

        The array could be written to, as those of kernels can, which compile once for both; the file would never
        know.
        """
        with _named(path), path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                return np.empty(0, np.uint8)
            flags, access = mmap.MAP_PRIVATE | _NO_RESERVE, mmap.PROT_READ | mmap.PROT_WRITE
            return np.frombuffer(mmap.mmap(file.fileno(), size, flags=flags, prot=access), np.uint8)

    def lock(self, path: Path) -> int:
        """Take the lock of a folder's one writer, or raise ``StorageBusy`` at once.

        The kernel frees it when its holder closes it or dies, so it is never stale.
        """
        with _named(path):
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(file)
                raise StorageBusy(str(path.parent), "another writer has it open: there can be one") from None
            except BaseException:
                os.close(file)
                raise
            return file

    def unlock(self, file: int, path: Path) -> None:
        """Give the lock back, also where a process that was forked meanwhile has not let go of the file yet."""
        with _named(path):
            try:
                fcntl.flock(file, fcntl.LOCK_UN)
            finally:
                os.close(file)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in what the system says."""
    try:
        yield
    except (FileNotFoundError, StorageError):
        raise
    except NotADirectoryError as error:
        raise FileNotFoundError(error.errno, error.strerror, str(path)) from error
    except OSError as error:
        raise StorageFailed(str(path), error.strerror or str(error)) from error
