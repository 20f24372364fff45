"""How pages were answered when they were fetched, by id, in one SQLite file in the folder of an index."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import quote

from neardup.model.errors import StorageBusy, StorageDamaged, StorageFailed
from neardup.model.seen import Fetch

NAME: Final = "fetches.sqlite"

_WAIT: Final = 5.0  # seconds to wait for another process
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS fetches (id TEXT PRIMARY KEY, status INTEGER NOT NULL, at INTEGER NOT NULL, etag TEXT,"
    " last_modified TEXT, location TEXT) WITHOUT ROWID"
)
_FOUND: Final = "SELECT status, at, etag, last_modified, location FROM fetches WHERE id = ?"
_RECORDED: Final = "INSERT OR REPLACE INTO fetches VALUES (?, ?, ?, ?, ?, ?)"


class Fetches:
    """The answers to the last fetch of each page. In a folder, they survive the end of the process; else in memory.

    Raises ``StorageBusy``, ``StorageDamaged`` or ``StorageFailed``.
    """

    def __init__(self, folder: Path | None, *, writes: bool) -> None:
        self._path = None if folder is None else folder / NAME
        self._writes, self._busy = writes, threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close the file."""
        with self._busy:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def get(self, own: str) -> Fetch | None:
        """Return how a page was answered; ``None`` if it was never recorded."""
        with self._opened() as connection:
            row = None if connection is None else connection.execute(_FOUND, (own,)).fetchone()
        if row is None:
            return None
        status, at, etag, modified, location = row
        return Fetch(status, _EPOCH + at * _MICROSECOND, etag, modified, location)

    def record(self, own: str, fetch: Fetch) -> None:
        """Record how a page was answered, in place of the answer before."""
        at = (fetch.at - _EPOCH) // _MICROSECOND
        values = (own, fetch.status, at, fetch.etag, fetch.last_modified, fetch.location)
        with self._opened() as connection:
            if connection is not None:
                connection.execute(_RECORDED, values)

    def expire(self, before: datetime, statuses: Sequence[int] | None) -> int:
        """Forget the answers before a moment, with these *statuses* or any; return their number."""
        chosen = "" if statuses is None else f" AND status IN ({','.join('?' * len(statuses))})"
        moment = (before - _EPOCH) // _MICROSECOND
        with self._opened() as connection:
            if connection is None:
                return 0
            sql = f"DELETE FROM fetches WHERE at < ?{chosen}"  # noqa: S608 - question marks only
            return connection.execute(sql, (moment, *(statuses or ()))).rowcount

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection | None]:
        """Lend the connection; ``None`` for a reader without a file."""
        with self._busy, _translated(self._path or Path(NAME)):
            if self._connection is None and (self._writes or self._path is None or self._path.exists()):
                self._connection = _connect(self._path, "rwc" if self._writes else "ro")
                if self._writes:
                    self._connection.execute("PRAGMA journal_mode = WAL")
                    self._connection.execute(_TABLE)
            yield self._connection


def copy(name: str, folder: Path, to: Path) -> None:
    """Copy a file of SQLite from a folder to another one, as it is at one moment; if there is none, remove the other.

    Raises ``StorageDamaged``, ``StorageBusy`` or ``StorageFailed``.
    """
    path, new = folder / name, to / f"{name}.new"
    with _translated(path):
        if path.exists():
            new.unlink(missing_ok=True)
            with closing(_connect(path, "ro")) as source, closing(sqlite3.connect(new)) as target:
                source.backup(target)
                target.execute("PRAGMA journal_mode = DELETE")
        for old in (name, f"{name}-wal", f"{name}-shm"):
            (to / old).unlink(missing_ok=True)
        if new.exists():
            new.replace(to / name)


def _connect(path: Path | None, mode: str) -> sqlite3.Connection:
    address = ":memory:" if path is None else f"file:{quote(str(path.absolute()))}?mode={mode}"
    connection = sqlite3.connect(address, _WAIT, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Raise the error of this package for an error of SQLite or the system."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise StorageBusy(str(path), "another process has it") from error
        raise StorageFailed(str(path), str(error)) from error
    except sqlite3.Error as error:
        raise StorageDamaged(str(path), f"is not as it was written ({error})") from error
    except OSError as error:
        if isinstance(error, StorageFailed | StorageBusy | StorageDamaged):
            raise
        raise StorageFailed(str(path), error.strerror or str(error)) from error
