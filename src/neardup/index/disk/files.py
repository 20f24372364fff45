"""All file operations of an index, so that tests can interrupt, refuse or lose each of them."""

import errno
import fcntl
import mmap
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple
from weakref import finalize

import numpy as np

from neardup.model.arrays import Bytes
from neardup.model.errors import LINKED_LOCK, StorageBusy, StorageError, StorageFailed, StorageRefused

LOCK: Final = "writer.lock"

_TOKEN: Final = secrets.token_hex(8)
_PIECE: Final = 1 << 24  # bytes written by one call, between which signals are noticed; systems take up to 2 GiB
_NO_RESERVE: Final = getattr(mmap, "MAP_NORESERVE", 0)
_LOCKED: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CANNOT_LOCK: Final = frozenset(
    {errno.EBADF, errno.EINVAL, errno.EISDIR, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
)

Identity = tuple[int, int]


class _Held(NamedTuple):
    """A locked folder: its descriptor, that of its lock file, and the path and identity of what is locked."""

    folder: int
    file: int
    locked: str
    identity: Identity


class Disk:
    """The file system for an index. An operation that the system refuses raises ``StorageFailed``.

    Files are made once, appended to, renamed and removed; nothing is ever written over, and nothing is cut off but what
    a failed ``append`` has left. While a folder is locked, its files are reached through the descriptor of the folder,
    so that they are the same files after it was moved. A disk that is no longer used locks nothing.
    """

    def __init__(self) -> None:
        self._held: dict[Path, _Held] = {}
        finalize(self, _close_all, self._held).atexit = False

    def create(self, path: Path) -> int:
        """Make a new file to append to; one that exists is refused."""
        with _named(path, "created"):
            return self._open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)

    def reopen(self, path: Path) -> int:
        """Open a file to append to it."""
        with _named(path, "written"):
            return self._open(path, os.O_WRONLY | os.O_APPEND)

    def _open(self, path: Path, flags: int) -> int:
        name, folder = self._reached(path)
        return os.open(name, flags | os.O_CLOEXEC, 0o666, dir_fd=folder)

    def _reached(self, path: Path) -> tuple[Path | str, int | None]:
        """Return the name of a file and the descriptor of its locked folder; otherwise its path and none."""
        held = self._held.get(path.parent)
        return (path, None) if held is None else (path.name, held.folder)

    def append(self, file: int, data: bytes | memoryview, path: Path) -> None:
        """Append all of *data*."""
        rest = memoryview(data).cast("B")
        with _named(path, "written"):
            while rest:
                written = self._write(file, rest[:_PIECE])
                if not written:
                    raise StorageFailed(str(path), "the system takes no more bytes")
                rest = rest[written:]

    def _write(self, file: int, data: memoryview) -> int:
        return os.write(file, data)

    def cut(self, file: int, size: int, path: Path) -> None:
        """Remove the bytes of an opened file behind this size, which a failed ``append`` has left."""
        with _named(path, "written"):
            os.ftruncate(file, size)

    def sync(self, file: int, path: Path) -> None:
        """Wait until all written data are on the disk."""
        with _named(path, "written"):
            os.fsync(file)

    def close(self, file: int, path: Path) -> None:
        """Close a file; unsynced data may still be lost."""
        with _named(path, "written"):
            os.close(file)

    def write(self, path: Path, data: bytes | memoryview) -> None:
        """Write a new file, in place of the remains of an interrupted attempt; it is on the disk on return.

        If that fails, the file is removed.
        """
        self.remove(path)
        file = self.create(path)
        try:
            try:
                self.append(file, data, path)
                self.sync(file, path)
            finally:
                self.close(file, path)
        except BaseException:
            with suppress(StorageError):
                self.remove(path)
            raise

    def replace(self, path: Path, data: bytes | memoryview) -> None:
        """Write a file in place of the one of this name, which is whole until then.

        Its bytes are on the disk on return, and its name is after ``sync_folder``.
        """
        new = path.with_name(f"{path.name}.new")
        self.write(new, data)
        self.rename(new, path)

    def sync_folder(self, path: Path) -> None:
        """Wait until the names in a folder are on the disk."""
        with _named(path, "written"):
            held = self._held.get(path)
            folder = os.open(path, _FOLDER) if held is None else held.folder
            try:
                os.fsync(folder)
            finally:
                if held is None:
                    os.close(folder)

    def rename(self, old: Path, new: Path) -> None:
        """Rename a file; it replaces a file of that name."""
        with _named(new, "written"):
            (source, folder), (target, other) = self._reached(old), self._reached(new)
            os.rename(source, target, src_dir_fd=folder, dst_dir_fd=other)

    def remove(self, path: Path) -> None:
        """Remove a file if it exists."""
        with _named(path, "removed"), suppress(FileNotFoundError):
            name, folder = self._reached(path)
            os.unlink(name, dir_fd=folder)

    def make_folder(self, path: Path) -> None:
        """Make a folder, unless it exists."""
        with _named(path, "created"):
            try:
                path.mkdir(exist_ok=True)
            except FileExistsError:
                raise StorageRefused(str(path), "is not a folder") from None
            except FileNotFoundError:
                raise StorageRefused(str(path), f"its folder does not exist: {path.parent}; create it first") from None
            except NotADirectoryError:
                raise StorageRefused(str(path), f"{path.parent} is a file, or inside one") from None

    def names(self, path: Path) -> list[str]:
        """List a folder, sorted."""
        with _named(path, "listed"):
            held = self._held.get(path)
            return sorted(os.listdir(path if held is None else held.folder))  # noqa: PTH208 - a descriptor

    def size(self, path: Path) -> int:
        """Return the number of bytes of a file."""
        return self.placed(path)[1]

    def read(self, path: Path, begin: int = 0) -> bytes:
        """Read a file from this byte to its end."""
        with _named(path, "read"), self._readable(path) as file:
            file.seek(begin)
            return file.read()

    def map(self, path: Path) -> Bytes:
        """Map a whole file into memory.

        The array is writable, so that kernels are compiled only once; writing to it does not change the file.
        """
        with _named(path, "read"), self._readable(path) as file:
            size = os.fstat(file.fileno()).st_size
            if not size:
                return np.empty(0, np.uint8)
            flags, access = mmap.MAP_PRIVATE | _NO_RESERVE, mmap.PROT_READ | mmap.PROT_WRITE
            return np.frombuffer(mmap.mmap(file.fileno(), size, flags=flags, prot=access), np.uint8)

    def _readable(self, path: Path) -> BinaryIO:
        return open(self._open(path, os.O_RDONLY), "rb")  # noqa: PTH123 - a descriptor, closed by the caller

    # The lock.

    def lock(self, path: Path) -> int:
        """Become the one writer of a folder and return its descriptor, or raise ``StorageBusy`` at once.

        The folder itself is locked, and the file ``writer.lock`` in it, which has the number of the process and is
        the lock where the file system cannot lock folders. The kernel releases both when the process closes them or
        ends, so that a lock is never stale.
        """
        opened: list[int] = []
        with _named(path, "locked to write to it"):
            try:
                _require_free(path.absolute() not in self._held)
                opened.append(os.open(path, _FOLDER))
                locked = path if _locks_folder(opened[0]) else path / LOCK
                opened.append(os.open(LOCK, _LOCKED, 0o666, dir_fd=opened[0]))
                fcntl.flock(opened[1], fcntl.LOCK_EX | fcntl.LOCK_NB)
                identity = _identity(os.fstat(opened[locked != path]))
            except BaseException as error:
                for descriptor in opened:
                    os.close(descriptor)
                if isinstance(error, OSError) and error.errno == errno.ELOOP and (path / LOCK).is_symlink():
                    raise StorageRefused(str(path / LOCK), LINKED_LOCK) from None
                if isinstance(error, BlockingIOError):
                    rule = f"{_writer_of(path)} is writing to it; only one process can write; others can read"
                    raise StorageBusy(str(path), rule) from None
                raise
        folder, file = opened
        with suppress(OSError):  # for the messages of other processes only
            os.ftruncate(file, 0)
            os.pwrite(file, _this_process(), 0)
        self._held[path.absolute()] = _Held(folder, file, str(locked.absolute()), identity)
        return folder

    def holds(self, path: Path) -> bool:
        """Return whether a locked folder is still at its path, and its lock still in place."""
        held = self._held[path]
        try:
            return _identity(os.stat(held.locked)) == held.identity  # noqa: PTH116 - before each change
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise StorageFailed.by(error, held.locked, "read") from error

    def moved_to(self, path: Path) -> str:
        """Return the present path of a locked folder, or a description if the system does not report it.

        It is empty if the folder was removed.
        """
        try:
            if not os.fstat(self._held[path].folder).st_nlink:
                return ""
            return str(Path(f"/proc/self/fd/{self._held[path].folder}").readlink())
        except OSError:
            return "the folder that it opened"

    def placed(self, path: Path) -> tuple[Identity, int]:
        """Return the identity of the file at a path, and its number of bytes."""
        with _named(path, "read"):
            name, folder = self._reached(path)
            found = os.stat(name, dir_fd=folder)
            return _identity(found), found.st_size

    def identity(self, path: Path) -> Identity:
        """Return the identity of a file or folder, which another one at its path does not have."""
        with _named(path, "read"):
            return _identity(os.stat(path))  # noqa: PTH116 - thrice as quick as Path.stat

    def unlock(self, path: Path) -> None:
        """Release the lock, even if a forked process still has its descriptors."""
        held = self._held.pop(path)
        with _named(path, "unlocked"):
            try:
                fcntl.flock(held.file, fcntl.LOCK_UN)
                with suppress(OSError):  # if folders cannot be locked
                    fcntl.flock(held.folder, fcntl.LOCK_UN)
            finally:
                os.close(held.file)
                os.close(held.folder)

    def forget(self, path: Path) -> None:
        """After a fork, close the parent's locked files in the child; they remain locked."""
        _close_all({path: self._held.pop(path)})


def _close_all(held: dict[Path, _Held]) -> None:
    """Close locked folders; they remain locked if another process has them, too."""
    while held:
        _, one = held.popitem()
        os.close(one.file)
        os.close(one.folder)


def _require_free(free: bool) -> None:  # noqa: FBT001 - reads as a sentence
    if not free:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def _locks_folder(folder: int) -> bool:
    """Lock a folder, and return whether the file system can; raise ``BlockingIOError`` if another process has it."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _CANNOT_LOCK:
            raise
        return False
    return True


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino


def _writer_of(folder: Path) -> str:
    """Name the process that has locked a folder."""
    try:
        known = (folder / LOCK).read_bytes()
    except OSError:
        return "another process"
    name = known.partition(b"\n")[0].decode(errors="replace")
    if known == _this_process():
        return "this process"
    return name if name.startswith("process ") else "another process"


def _this_process() -> bytes:
    """Return the content of a lock file: the name of this process, and a token, as another may have the same name."""
    return f"process {os.getpid()} on {os.uname().nodename}\n{_TOKEN}\n".encode()


@contextmanager
def _named(path: Path, doing: str) -> Iterator[None]:
    """Raise the error of the system with the name of the file, and what it cannot be."""
    try:
        yield
    except StorageError:
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(error.errno, error.strerror, str(path)) from error
    except OSError as error:
        raise StorageFailed.by(error, path, doing) from error
