"""The batches of pages that are remembered, in a file of SQLite: by their keys, with their verdicts."""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote
from weakref import finalize

import msgspec

from neardup.index.disk.store import Store
from neardup.model.errors import FULL, StorageDamaged, StorageError, StorageFailed
from neardup.model.verdicts import Verdict, as_record, from_record

FILE: Final = "visits.sqlite"  # in the folder of the index
MOST_VISITS: Final = 1 << 14  # batches that are remembered
MOST_BYTES: Final = 1 << 26  # of the file, before another batch

_MADE: Final = (
    "CREATE TABLE IF NOT EXISTS batches (number INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, content TEXT NOT NULL,"
    " first INTEGER NOT NULL, verdicts BLOB)"
)
_RECORDED: Final = "INSERT OR REPLACE INTO batches (key, content, first) VALUES (?, ?, ?)"
_OLDEST: Final = "DELETE FROM batches WHERE number <= (SELECT max(number) FROM batches) - ?"
_OLDEST_ONE: Final = "DELETE FROM batches WHERE number = (SELECT min(number) FROM batches)"
_USED: Final = (  # bytes of the file: a count that SQLite has
    "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)
_FOUND: Final = "SELECT key, content, first FROM batches WHERE key = ?"
_NEXT: Final = (
    "SELECT key, content, first FROM batches"
    " WHERE number > (SELECT number FROM batches WHERE key = ?) ORDER BY number LIMIT 1"
)
_NOT_OURS: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class Visit(NamedTuple):
    """A batch before its pages were admitted: digests of its key and content, and the number of the next admission."""

    key: str
    content: str
    first: int


class RecordedVisits:
    """The last ``MOST_VISITS`` batches, in the order in which they were recorded, with their verdicts.

    They are in a file in the folder of an index, which is opened when it is needed; they are fewer if it would have
    more than about ``MOST_BYTES``. Callers must hold a lock.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._path = store, Path(store.folder, FILE)
        self._file: sqlite3.Connection | None = None

    def get(self, key: str) -> Visit | None:
        """Return the batch with a key, if it is remembered."""
        return self._visit(_FOUND, key)

    def verdicts(self, key: str) -> list[Verdict] | None:
        """Return the verdicts of a batch; ``None`` if it was interrupted before them, or they have another form."""
        row = self._row("SELECT verdicts FROM batches WHERE key = ?", key)
        if row is None or row[0] is None:
            return None
        try:
            return [*map(from_record, msgspec.json.decode(row[0], type=list[dict[str, Any]]))]
        except (msgspec.MsgspecError, UnicodeDecodeError, KeyError, TypeError):
            return None

    def first_after(self, visit: Visit) -> int | None:
        """Return the *first* admission of the batch that was recorded next."""
        later = self._visit(_NEXT, visit.key)
        return None if later is None else later.first

    def record(self, visit: Visit) -> None:
        """Write a visit to the disk before its pages are admitted; the oldest ones are forgotten."""
        self._store.require_writer()  # or the file could be that of another folder at this path
        with self._writing("FULL") as file:
            while file.execute(_USED).fetchone()[0] > MOST_BYTES and file.execute(_OLDEST_ONE).rowcount:
                pass
            file.execute(_RECORDED, visit)
            file.execute(_OLDEST, (MOST_VISITS,))

    def forget(self, visit: Visit) -> None:
        """Release the key of a refused batch."""
        with suppress(StorageError), self._writing("NORMAL") as file:  # otherwise the key remains in use
            file.execute("DELETE FROM batches WHERE key = ?", (visit.key,))

    def keep(self, key: str, verdicts: Iterable[Verdict]) -> None:
        """Write the verdicts of a batch; if they cannot be written, they are computed again."""
        records = [{part: one for part, one in as_record(verdict).items() if one is not None} for verdict in verdicts]
        with suppress(StorageError), self._writing("NORMAL") as file:
            file.execute("UPDATE batches SET verdicts = ? WHERE key = ?", (msgspec.json.encode(records), key))

    def _visit(self, query: str, key: str) -> Visit | None:
        row = self._row(query, key)
        try:
            return None if row is None else msgspec.convert(row, Visit, builtin_types=(bytes,))
        except msgspec.ValidationError as error:
            raise self._damaged(error) from error

    def _row(self, query: str, key: str) -> tuple[Any, ...] | None:
        with self._opened() as file:
            row: tuple[Any, ...] | None = file.execute(query, (key,)).fetchone()
            return row

    @contextmanager
    def _writing(self, synchronous: str) -> Iterator[sqlite3.Connection]:
        """Make one change; it is on disk at the end if it is *synchronous* as ``FULL``, or at some later time."""
        with self._opened() as file:
            file.execute(f"PRAGMA synchronous = {synchronous}")
            with file:
                yield file

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """Return the open file; errors of SQLite are those of the index."""
        if self._path.is_symlink():  # whose target others have chosen
            raise StorageFailed(str(self._path), "is a link, and must be a file; remove the link")
        try:
            if self._file is None:
                address = f"file:{quote(os.fsencode(self._path.absolute()))}"
                made = sqlite3.connect(address, uri=True, check_same_thread=False)
                finalize(self, made.close)
                made.execute("PRAGMA journal_mode = WAL")
                made.execute(_MADE)
                self._file = made
            yield self._file
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in _NOT_OURS:
                raise self._damaged(error) from error
            full = FULL if code == sqlite3.SQLITE_FULL else ""
            raise StorageFailed(str(self._path), f"cannot be written: {error}", full) from error

    def _damaged(self, error: Exception) -> StorageDamaged:
        way_out = "remove it: it has only the last requests of crawlers, and those repeated then count as new"
        return StorageDamaged(str(self._path), f"is damaged ({error}); {way_out}")
