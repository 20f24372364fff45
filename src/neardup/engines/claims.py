"""Which process does which task of a run, in files, for processes on any machines that share a folder."""

import fcntl
import os
import re
import secrets
import socket
import threading
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

FOLDERS: Final = ("workers", "claims", "partial")
DIGITS: Final = r"[0-9a-f]{16}"
"""The form of a token. Tokens are names of files, so they must not be paths."""

_BEATS: Final = 8  # in the time after which a silent process counts as ended
_TOKEN: Final = re.compile(DIGITS)


class Claims:
    """The claims of this process and of all others that share the tasks of a run.

    Each process has a file in ``workers/``, named by a random token, with its machine, number, host and token. It
    locks the file and touches it every few seconds. A process counts as ended if its file is missing, if it was not
    touched for *lease* seconds, or if the process ran on this machine and its lock is free. Times are those of
    the file server: the clocks of machines differ.

    A claim is a file in ``claims/``: a link to the file of its process, or a copy of it. Any process may take over the
    claims of an ended one; if that was only suspended, a task is done twice, which is harmless. Unfinished files are in
    ``partial/``, named by the token of the process that writes them, and are removed with its claims.
    """

    def __init__(self, folder: Path, lease: float) -> None:
        self._workers, self._claims, self._partial = (folder / name for name in FOLDERS)
        self._lease = lease
        self._numbers = count()
        self._held: set[Path] = set()
        self._left = threading.Event()
        self._lock = threading.Lock()
        self.token = secrets.token_hex(8)
        self._line = f"{_machine()} {os.getpid()} {socket.gethostname()} {self.token}\n"
        self._own = self._workers / self.token
        self._file = self._join()
        threading.Thread(target=self._beat, daemon=True).start()

    def _join(self) -> int:
        file = os.open(self._own, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        with suppress(OSError):  # a file system without locks: only the time of the last touch counts
            fcntl.flock(file, fcntl.LOCK_EX)
        os.write(file, self._line.encode())
        return file

    def _beat(self) -> None:
        while not self._left.wait(self._lease / _BEATS):
            with suppress(OSError):  # the next beat may succeed
                self._touch()

    def _touch(self) -> float:
        """Show a sign of life; return its time, by the clock of the file server."""
        with self._lock:
            try:
                os.utime(self._own)
            except FileNotFoundError:  # another process has removed it: this one was suspended for too long
                if self._left.is_set():
                    raise
                joined = self._join()
                os.close(self._file)
                self._file = joined
            return self._own.stat().st_mtime

    def claim(self, name: str) -> bool:
        """Claim a task; return false if another process or thread has claimed it."""
        path = self._claims / name
        for _ in range(2):
            with self._lock:
                if self._left.is_set():
                    return False
                if self._make(path) or (path not in self._held and self.holds(name)):  # a release may have failed
                    self._held.add(path)
                    return True
            if self._is_held(path):
                return False
        return False

    def _make(self, path: Path) -> bool:
        """Return whether a claim was made, and not by another process before."""
        try:
            os.link(self._own, path)
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links, or this process must join again
            try:
                with path.open("x", encoding="utf-8") as file:
                    file.write(self._line)
            except FileExistsError:
                return False
            except BaseException:
                path.unlink(missing_ok=True)
                raise
        return True

    def holds(self, name: str) -> bool:
        """Return whether this process holds a claim, which another process has not taken over."""
        try:
            return _token(self._claims / name) == self.token
        except FileNotFoundError:
            return False

    def release(self, name: str) -> None:
        """Remove a claim, unless another process has taken it over."""
        path = self._claims / name
        with suppress(OSError):  # a claim that cannot be removed ends with its process
            if self.holds(name):
                path.unlink()
        self._held.discard(path)

    def _is_held(self, path: Path) -> bool:
        """Return whether a process that has not ended holds a claim; remove the claim of one that has."""
        with suppress(FileNotFoundError):
            token = _token(path)
            if not (self.is_ended(token) if token else self._touch() - path.stat().st_mtime > self._lease):
                return True
            removed = self._claims / f".{self.token}-{next(self._numbers)}"
            path.rename(removed)
            if _token(removed) != token:  # another process was faster: this is its new claim
                removed.rename(path)
                return True
            removed.unlink()
            if token:
                self._remove(token)
        return False

    def is_ended(self, token: str) -> bool:
        """Return whether a process has ended or no longer responds; an invalid token counts as ended."""
        if not _TOKEN.fullmatch(token):
            return True
        try:
            file = os.open(self._workers / token, os.O_RDONLY)  # opening makes NFS ask for the time of the last touch
        except FileNotFoundError:
            return True
        try:
            here = os.read(file, 100).startswith(f"{_machine()} ".encode())
            return (here and _is_free(file)) or self._touch() - os.fstat(file).st_mtime > self._lease
        finally:
            os.close(file)

    def _remove(self, token: str) -> None:
        for path in self._partial.glob(f"{token}-*"):
            path.unlink(missing_ok=True)
        (self._workers / token).unlink(missing_ok=True)

    def remove_ended(self) -> None:
        """Remove what ended processes left: their claims and unfinished files."""
        for path in self._claims.iterdir():
            self._is_held(path)
        for token in {path.name.partition("-")[0] for path in (*self._workers.iterdir(), *self._partial.iterdir())}:
            if _TOKEN.fullmatch(token) and self.is_ended(token):
                self._remove(token)

    def partial(self) -> Path:
        """Return a new path for an unfinished file."""
        return self._partial / f"{self.token}-{next(self._numbers)}"

    def leave(self) -> None:
        """Release all claims and remove the unfinished files of this process; they may be of running threads."""
        with self._lock:
            if self._left.is_set():
                return
            self._left.set()
            with suppress(OSError):  # other processes can see that this one has ended
                for path in tuple(self._held):
                    self.release(path.name)
                self._remove(self.token)
            os.close(self._file)


def _token(claim: Path) -> str:
    """Return the token of the process that made a claim.

    It is empty while the claim is being written, and for other files, whose last word may be a path.
    """
    *_, token = claim.read_text("utf-8", "replace").rpartition(" ")
    return token[:-1] if _TOKEN.fullmatch(token[:-1]) and token.endswith("\n") else ""


def _is_free(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # locked, or the file system has no locks
        return False
    return True


@cache
def _machine() -> str:
    """Return an identity of this machine since it was started, the same in all its containers."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return socket.gethostname()
