"""Files of runs and states: locked, replaced as a whole, with checksums, and named by errors."""

import errno
import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Final

from isal.isal_zlib import crc32

from neardup.model.errors import LINKED_LOCK, NeardupError, StorageBusy, StorageFailed, StorageRefused, raising

_REFUSED: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
_READ: Final = 1 << 18  # bytes of a file at a time


def has_file(folder: Path, *names: str) -> bool:
    """Return whether a folder has a file of one of these names; ``StorageFailed`` if the system refuses to look."""
    with raising(StorageFailed.by, folder, "read"):
        return any((folder / name).is_file() for name in names)


def why_no_folder(parent: Path) -> str:
    """Return why nothing can be made in a folder: it is missing, or it is a file or inside one."""
    there = next(one for one in (parent, *parent.parents) if one.exists())
    return f"its folder does not exist: {parent}; create it first" if there.is_dir() else f"{there} is a file"


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that the names of new files survive a power failure."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def locked(path: Path, *, shared: bool = False) -> int:
    """Lock a file, which is created if it is missing, for this process, and return it, open.

    *Shared* locks exclude only exclusive ones, and need a file that can be read. Raises ``StorageBusy`` with the
    folder of the file and the process that has the lock.
    """
    while True:
        file, writable = _opened(path, or_read=shared)
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file), path.stat()):
                    if writable:
                        os.ftruncate(file, 0)
                        os.write(file, f"process {os.getpid()} on {socket.gethostname()}".encode())
                    return file
        except BlockingIOError:
            holder = os.pread(file, 200, 0).decode("utf-8", "replace") or "another process"
            os.close(file)
            reason = f"{holder} is using it; wait until that ends, or use another folder"
            raise StorageBusy(str(path.parent), reason, "folder busy") from None
        except BaseException:
            os.close(file)
            raise
        os.close(file)  # its name was removed by a run that finished in this moment


def _opened(path: Path, *, or_read: bool) -> tuple[int, bool]:
    """Open a lock file, or create it, and return whether it can be written, which *or_read* does not require.

    A link is not followed: its target would be overwritten.
    """
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666), True
    except OSError as error:
        if error.errno == errno.ELOOP and path.is_symlink():
            raise StorageRefused(str(path), LINKED_LOCK) from None
        if not or_read or error.errno not in _REFUSED:
            raise
        return os.open(path, os.O_RDONLY), False


@contextmanager
def replacing(target: Path, partial: Path, *, sync: bool = True) -> Iterator[BinaryIO]:
    """Yield a new file that replaces *target* when it is complete and on the disk; an exception removes it.

    A file at *partial* is removed first: it may be a link of another user, whose target would be overwritten.
    """
    try:
        partial.unlink(missing_ok=True)
        with partial.open("xb") as file:
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def naming(path: Path, folder: Path | None = None, *, doing: str = "written") -> Iterator[None]:
    """Raise errors of the system as ``StorageFailed`` with the file, or *path*, and what it cannot be.

    Errors that name files outside *folder* (by default *path*) are not changed.
    """
    try:
        yield
    except NeardupError:
        raise
    except OSError as error:
        if error.filename is None or Path(error.filename).is_relative_to(folder or path):
            raise StorageFailed.by(error, error.filename or path, doing) from error
        raise


def checksum_of(path: Path) -> int:
    """Return the CRC-32 of a file."""
    checksum, part = 0, memoryview(bytearray(_READ))  # of one memory, as new memory takes longer
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(part):
            checksum = crc32(part[:size], checksum)
    return checksum


def sealed(values: Any) -> bytes:
    """Return plain values as JSON with a digest; unlike that of ``msgspec``, it can have paths that are not UTF-8.

    >>> unsealed(sealed({"a": [1, None]}))
    {'a': [1, None]}
    """
    return _with_digest(json.dumps(values).encode())


def unsealed(content: bytes) -> Any:
    """Return the values that ``sealed`` made; ``ValueError`` if their digest is another one."""
    values = content[_PREFIX:-1]
    if _with_digest(values) != content:
        raise ValueError("its digest is that of other content")
    return json.loads(values)


def _with_digest(values: bytes) -> bytes:
    return b'{"digest": "%b", "values": %b}' % (blake2b(values, digest_size=8).hexdigest().encode(), values)


_PREFIX: Final = len(_with_digest(b"")) - 1
