"""Full text in one SQLite file: titles and bodies by ordinal, found by words and phrases and ranked by BM25.

Texts and terms arrive as words separated by spaces (``neardup.text.search_words``), which are compared byte by byte.
The table is derived from an index and can always be built again. Each update is one transaction, which also records the
latest document that the table has seen.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Final, NamedTuple
from urllib.parse import quote

import numpy as np

from neardup.model.arrays import Positions, Values
from neardup.model.errors import (
    FULL,
    PERMISSION,
    NeardupError,
    QueryTimeout,
    StorageBusy,
    StorageDamaged,
    StorageError,
    StorageFailed,
    StorageRefused,
)
from neardup.model.query import Term

NAME: Final = "search.sqlite"
_NEW: Final = f"{NAME}.new"  # a copy that is not in place yet
FORMAT: Final = 5
TITLE_WEIGHT: Final = 4.0
BODY_WEIGHT: Final = 1.0
MOST_KNOWN: Final = 200  # results of past queries that are remembered until the table changes
REBUILD: Final = "rebuild it"

PREFIX: Final = 1  # length of the prefixes with an index of their own: the dearest ones to gather
TOKENIZER: Final = "ascii"  # which separates at spaces, and leaves folded words unchanged
_STILL: Final = "ro&immutable=1"  # the mode of a connection to a table that does not change
_TRIES: Final = 10  # to copy a table that changes
_WAIT: Final = 5.0  # seconds to wait for another transaction
_STEPS: Final = 1_000  # steps of SQLite's virtual machine between two checks of the clock
_MOST_LOG: Final = 1 << 26  # bytes of the write-ahead log from which on it is emptied
_BUFFER: Final = 1 << 24  # bytes of new postings that are gathered before they are written
_CACHE: Final = 1 << 16  # KiB of pages that a connection holds
_MAPPED: Final = 1 << 31  # bytes of the file that are mapped into memory, as files of an index are
_DAMAGED: Final = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_ERROR,  # another table, or none
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
    }
)
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})

_OF_WRITING: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_FSYNC,
        sqlite3.SQLITE_IOERR_TRUNCATE,
    }
)

_FOUND: Final = "FROM documents WHERE documents MATCH ?"
_RANKED: Final = (  # since SQLite 3.35 matches are read once, to be counted and ranked
    f"WITH found AS (SELECT rowid AS id, bm25(documents, 0.0, {TITLE_WEIGHT}, {BODY_WEIGHT}, 0.0) AS score "  # noqa: S608
    f"{_FOUND}) SELECT id, score, (SELECT count(*) FROM found) FROM found ORDER BY score, id LIMIT ?"
)
_NEWEST: Final = (
    f"WITH found AS (SELECT rowid AS id {_FOUND}) "  # noqa: S608
    "SELECT id, 0.0, (SELECT count(*) FROM found) FROM found ORDER BY id DESC LIMIT ?"
)
_RETITLED: Final = "UPDATE documents SET title = ?, site = ? WHERE rowid = ? AND (title IS NOT ? OR site IS NOT ?)"
_COLUMNS: Final = "id UNINDEXED, title, body, site"
_COUNTS: Final = ("following", "documents", "changes", "clock", "session")
_TABLES: Final = (
    "DROP TABLE IF EXISTS documents",
    "DROP TABLE IF EXISTS state",
    f"CREATE VIRTUAL TABLE documents USING fts5({_COLUMNS}, prefix = {PREFIX}, tokenize = {TOKENIZER})",
    f"INSERT INTO documents(documents, rank) VALUES ('hashsize', {_BUFFER})",  # noqa: S608 - a number of ours
    f"CREATE TABLE state (mark TEXT, built TEXT, {', '.join(f'{name} INTEGER' for name in _COUNTS)})",
    f"PRAGMA user_version = {FORMAT}",
)


class Texts(NamedTuple):
    """Documents for the table: their ordinals, ascending, the words of titles and bodies, and ``site_word``s."""

    ordinals: Sequence[int]
    ids: Sequence[str]
    titles: Sequence[str]
    bodies: Sequence[str]
    sites: Sequence[str]


class Titles(NamedTuple):
    """Documents of the table with other fields: their ordinals, the words of their titles, and ``site_word``s."""

    ordinals: Sequence[int]
    titles: Sequence[str]
    sites: Sequence[str]


class TableState(NamedTuple):
    """The state of a table: it has seen all ordinals before *following*, and has this number of *documents*.

    It has also seen the first *field_changes* of the index; at the next one, the next ordinal was at least *clock*.
    Every complete change of the table changes its state, because documents that were seen can only be removed, or get
    other fields. *built* identifies the build of the table, and *session* is the writer of the index whose changes it
    has seen last; 0 if there was none.
    """

    following: int
    documents: int
    built: str
    field_changes: int
    clock: int
    session: int = 0


class RankedMatches(NamedTuple):
    """The best of *total* matching documents, by descending score and then by ordinal; or the newest, with score 0."""

    ordinals: Positions
    scores: Values
    total: int
    state: TableState


_Asked = tuple[tuple[Term, ...], int, bool]


def site_word(site: str) -> str:
    """Return a word for a site that no text has: private characters separate words."""
    return f"\ue000{site.encode(errors='replace').hex()}"


class TimeLimit:
    """A time limit of some seconds from now on."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self._end = seconds, time.monotonic() + seconds

    def passed(self) -> bool:
        """Return whether the time is over."""
        return time.monotonic() > self._end

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock during work that has its own bounds, or compiles."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._end += time.monotonic() - began

    def require(self) -> None:
        """Raise ``QueryTimeout`` if the time is over."""
        if self.passed():
            raise QueryTimeout(self.seconds)


class FullText:
    """A search table, opened to read or to write. Threads may read and write at once; writers take turns.

    Errors of SQLite are raised as ``StorageDamaged`` if the table must be built again, otherwise as ``StorageBusy`` or
    ``StorageFailed``.
    """

    def __init__(self, path: Path, mark: str, *, writes: bool = False) -> None:
        self._path, self._mark, self._writes = path, mark, writes
        self._idle: list[sqlite3.Connection] = []
        self._used = -1, 0  # the file and the process of the idle connections
        self._busy = threading.Lock()  # held while writing
        self._pool = threading.Lock()  # held while a connection is taken or returned
        self._closed = False
        self._most_log = _MOST_LOG
        self._known: dict[_Asked, RankedMatches] = {}  # results of queries, the latest last
        with self._connected():
            pass

    @classmethod
    def build(  # noqa: PLR0913, PLR0917 - the state of a table
        cls, path: Path, mark: str, following: int, batches: Iterable[Texts], field_changes: int = 0, session: int = 0
    ) -> None:
        """Build a table of these documents, replacing an existing one, which remains readable until then.

        It has seen everything that *following* and *field_changes* count, up to changes of the *session*. If the
        process is killed, the existing one remains.
        """
        _require_fts5(path)
        with _translated(path):
            state = (mark, following, field_changes, session)
            if _is_whole(path):
                _fill(path, state, batches)
                return
            new = path.with_name(f"{path.name}.new")
            remove(new)
            try:
                _fill(new, state, batches)
            except BaseException:
                with suppress(OSError):
                    remove(new)
                raise
            remove(path)
            new.rename(path)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        with self._pool:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    # Reading.

    def check(self) -> None:
        """Verify the file; ``StorageDamaged`` if the table must be built again."""
        with self._connected() as connection:
            if fault := _fault_of(connection):
                raise _damaged(self._path, f" ({fault})")

    def state(self) -> TableState:
        """Return the state of the table."""
        with self._connected() as connection:
            return self._state(connection)

    def ordinals(self) -> Positions:
        """Return the ordinals of all documents of the table, ascending."""
        with self._connected() as connection:
            return _numbers(connection.execute("SELECT id FROM documents_docsize ORDER BY id"))

    def find(self, terms: tuple[Term, ...], top: int, limit: TimeLimit, *, newest: bool = False) -> RankedMatches:
        """Return the best or the *newest* *top* documents that have all terms, and their total number.

        The score is BM25, with titles weighted by ``TITLE_WEIGHT``. No terms find nothing. Raises ``QueryTimeout``.
        """
        asked = terms, top, newest
        with self._connected(limit) as connection, _transaction(connection, "DEFERRED"):
            state = self._state(connection)
            if not terms:
                return RankedMatches(np.empty(0, np.int64), np.empty(0), 0, state)
            known = self._known.get(asked)
            if known is not None and known.state == state:
                return known
            rows = connection.execute(_NEWEST if newest else _RANKED, (_matching(terms), top)).fetchall()
        ordinals, scores, totals = zip(*rows, strict=True) if rows else ((), (), (0,))
        found = RankedMatches(np.array(ordinals, np.int64), -np.array(scores, np.float64), totals[0], state)
        self._remember(asked, found)
        return found

    def _remember(self, asked: _Asked, found: RankedMatches) -> None:
        """Remember a result, in place of the oldest one if they are many."""
        with self._pool:
            self._known.pop(asked, None)
            self._known[asked] = found
            if len(self._known) > MOST_KNOWN:
                del self._known[next(iter(self._known))]

    def matching(self, terms: tuple[Term, ...], limit: TimeLimit) -> Positions:
        """Return the ordinals of all documents that ``find`` counts, ascending."""
        if not terms:
            return np.empty(0, np.int64)
        with self._connected(limit) as connection:
            return _numbers(connection.execute(f"SELECT rowid {_FOUND} ORDER BY rowid", (_matching(terms),)))

    # Writing.

    def begin_session(self, session: int) -> TableState:
        """Record that the next updates have changes of this session of a writer of the index."""
        with self._changing() as connection:
            connection.execute("UPDATE state SET session = ?", (session,))
            return self._state(connection)

    def update(self, following: int, added: Texts | None = None, removed: Iterable[int] = ()) -> TableState:
        """Add and remove documents in one transaction; the table has then seen all ordinals before *following*."""
        with self._changing() as connection:
            rows = [(ordinal,) for ordinal in removed]
            number = connection.executemany("DELETE FROM documents WHERE rowid = ?", rows).rowcount if rows else 0
            before = self._state(connection)
            documents = before.documents - number + (_insert(connection, added) if added else 0)
            connection.execute("UPDATE state SET following = ?, documents = ?", (following, documents))
        return before._replace(following=following, documents=documents)

    def update_titles(self, changed: Titles) -> None:
        """Replace the titles and sites of documents; those that are not in the table are left out."""
        rows = [(title, site, own, title, site) for own, title, site in zip(*changed, strict=True)]
        with self._changing() as connection:
            connection.executemany(_RETITLED, rows)

    def end_update(self, field_changes: int, clock: int) -> TableState:
        """Record how many changes of fields the table has seen when the next ordinal was *clock*."""
        with self._changing() as connection:
            connection.execute("UPDATE state SET changes = ?, clock = ?", (field_changes, clock))
            return self._state(connection)

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for one transaction, which other threads wait for."""
        with self._busy, self._connected() as connection:
            with _transaction(connection):
                yield connection
            self._empty_log(connection)

    def _empty_log(self, connection: sqlite3.Connection) -> None:
        """Empty a large write-ahead log, which SQLite itself does only at a moment without any reader.

        This waits for queries that began before, but not for later ones. If they take too long, it is tried again when
        the log has grown by ``_MOST_LOG``.
        """
        log = self._path.with_name(f"{self._path.name}-wal")
        if log.exists() and (size := log.stat().st_size) >= self._most_log:
            self._most_log = size + _MOST_LOG
            with suppress(sqlite3.Error):  # the change itself is complete; the disk may be full
                if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0:  # it was not busy
                    self._most_log = _MOST_LOG

    # Connections.

    @contextmanager
    def _connected(self, limit: TimeLimit | None = None) -> Iterator[sqlite3.Connection]:
        """Lend a connection, until the time limit. A connection is closed if its query was interrupted."""
        with _translated(self._path, limit):
            used, connection = self._taken()
            try:
                if limit:
                    limit.require()
                    connection.set_progress_handler(limit.passed, _STEPS)
                yield connection
                connection.set_progress_handler(None, _STEPS)
            except BaseException:
                connection.close()
                raise
            with self._pool:
                keeps = used == self._used and not self._closed
                if keeps:
                    self._idle.append(connection)
            if not keeps:
                connection.close()

    def _taken(self) -> tuple[tuple[int, int] | None, sqlite3.Connection]:
        """Return an idle connection to the present file, or a new one, and the file if the connection may stay open."""
        try:
            used = self._path.stat().st_ino, os.getpid()  # after a fork, no connection may be used
        except FileNotFoundError:
            raise StorageRefused(str(self._path), f"is missing; {REBUILD}", "search table") from None
        old: list[sqlite3.Connection] = []
        with self._pool:
            if self._closed:
                raise StorageRefused(str(self._path), "is closed; open it again")
            if used != self._used:  # built again, or this process is a fork
                old, self._idle, self._used = self._idle, [], used
            found = self._idle.pop() if self._idle else None
        for connection in old:
            connection.close()
        if found is not None:
            return used, found
        _require_fts5(self._path)
        mode = "rw" if self._writes else _reading(self._path)
        return None if mode == _STILL else used, _connect(self._path, mode, self._require_such)

    def _require_such(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            newer = f"is of format {version}, and this neardup reads {FORMAT}; {REBUILD}"
            raise StorageRefused(str(self._path), newer, "search table")
        rows = connection.execute("SELECT mark FROM state").fetchall()
        if len(rows) != 1:
            raise _damaged(self._path)
        if rows[0][0] != self._mark:
            raise StorageRefused(str(self._path), f"belongs to another index; {REBUILD}", "search table")

    def _state(self, connection: sqlite3.Connection) -> TableState:
        row = connection.execute("SELECT following, documents, built, changes, clock, session FROM state").fetchone()
        if row is None or [*map(type, row)] != [int, int, str, int, int, int]:  # columns of SQLite hold any type
            raise _damaged(self._path)
        return TableState(*row)


def remove(path: Path) -> None:
    """Remove a table, with the other files of SQLite; processes that have it open can still read it."""
    for name in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        name.unlink(missing_ok=True)


def _fill(path: Path, state: tuple[str, int, int, int], batches: Iterable[Texts]) -> None:
    mark, following, field_changes, session = state
    with closing(_connect(path, "rwc")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        with _transaction(connection):
            for statement in _TABLES:
                connection.execute(statement)
            documents = sum(_insert(connection, batch) for batch in batches)
            connection.execute("INSERT INTO documents(documents) VALUES ('optimize')")
            row = (mark, token_hex(8), following, documents, field_changes, following, session)
            connection.execute("INSERT INTO state VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # those that no reader uses


def _is_whole(path: Path) -> bool:
    """Return whether a file is an undamaged database, regardless of its contents."""
    if not path.exists():
        return False
    try:
        with closing(_connect(path, "rw")) as connection:
            return not _fault_of(connection)
    except sqlite3.OperationalError as error:
        if _code(error) in _BUSY:
            raise
        return False
    except sqlite3.DatabaseError:
        return False


def _fault_of(connection: sqlite3.Connection) -> str:
    """Return what is wrong with a database; empty if it is undamaged."""
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    return "" if found == "ok" else str(found)


def _reading(path: Path) -> str:
    """Return how a table is opened to read: as ``_STILL`` if no process is writing to it, and readers cannot register.

    SQLite registers readers by files in the folder, which a user who may only read cannot make.
    """
    is_still = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
    return _STILL if is_still else "ro"


def _connect(
    path: Path, mode: str, require: Callable[[sqlite3.Connection], None] = lambda _: None
) -> sqlite3.Connection:
    address = f"file:{quote(os.fsencode(path.absolute()))}?mode={mode}"
    connection = sqlite3.connect(address, timeout=_WAIT, uri=True, isolation_level=None, check_same_thread=False)
    try:
        connection.execute(f"PRAGMA cache_size = -{_CACHE}")
        connection.execute(f"PRAGMA mmap_size = {_MAPPED}")
        connection.execute("PRAGMA temp_store = MEMORY")  # the only place for matches
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA synchronous = NORMAL")
        require(connection)
    except BaseException:  # the file is damaged, or is another one
        connection.close()
        raise
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """Run a transaction; reading sees one state."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


@contextmanager
def _translated(path: Path, limit: TimeLimit | None = None) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise _own(error, path, limit) from error
    except OSError as error:
        if isinstance(error, NeardupError):
            raise
        raise StorageFailed.by(error, path, "opened") from error


def _own(error: sqlite3.Error, path: Path, limit: TimeLimit | None) -> Exception:
    code = _code(error)
    if code == sqlite3.SQLITE_INTERRUPT and limit:
        return QueryTimeout(limit.seconds)
    if code in _BUSY:
        return StorageBusy(str(path), "another process has it")
    if code in _DAMAGED:
        return _damaged(path, f" ({error})")
    if code == sqlite3.SQLITE_CANTOPEN and (refused := _access_error(path)) is not None:
        return refused
    if code == sqlite3.SQLITE_FULL:
        return StorageFailed(str(path), f"cannot be written: {error}", FULL)
    doing = {sqlite3.SQLITE_CANTOPEN: "opened", sqlite3.SQLITE_READONLY: "written"}.get(code, "used")
    return StorageFailed(str(path), f"cannot be {doing}: {error}", PERMISSION if doing == "written" else "")


def _damaged(path: Path, fault: str = "") -> StorageDamaged:
    return StorageDamaged(str(path), f"is damaged{fault}; {REBUILD}", "search table")


def _access_error(path: Path) -> StorageError | None:
    """Return the error for a file that the user may not read, or not write in its folder; ``None`` otherwise."""
    try:
        path.open("rb").close()
    except OSError as reason:
        return StorageFailed.by(reason, path, "read")
    if os.access(path.parent, os.W_OK):
        return None
    return StorageFailed(str(path), "cannot be opened: its folder is not writable", PERMISSION)


def _code(error: sqlite3.Error) -> int:
    """Return the primary code of an error of SQLite; Python has no function for it."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_MISUSE)) & 0xFF


def _require_fts5(path: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        if not connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchall():
            raise StorageRefused(str(path), f"needs FTS5, which this Python's SQLite {sqlite3.sqlite_version} lacks")


def _insert(connection: sqlite3.Connection, batch: Texts) -> int:
    connection.executemany(
        "INSERT INTO documents(rowid, id, title, body, site) VALUES (?, ?, ?, ?, ?)", zip(*batch, strict=True)
    )
    return len(batch.ordinals)


def _matching(terms: Sequence[Term]) -> str:
    """Return an FTS5 query for all terms; it consists of quoted strings only."""
    return " ".join(f'"{term.text}"{"*" if term.begins else ""}' for term in terms)


def _numbers(rows: Iterable[tuple[int]]) -> Positions:
    return np.fromiter((number for (number,) in rows), np.int64)


def copy(folder: Path, to: Path) -> None:
    """Copy the search table of a folder, if any, to another one, as it is at one moment; ``replace`` puts it in place.

    Raises ``StorageDamaged``, ``StorageBusy`` or ``StorageFailed``.
    """
    path, new = folder / NAME, to / _NEW
    with _translated(path):
        new.unlink(missing_ok=True)
        if path.exists():
            if not any(_is_copied(path, new) for _ in range(_TRIES)):
                raise StorageBusy(str(path), "another process is changing it")
            with _translated(new), closing(sqlite3.connect(new)) as target:
                target.execute("PRAGMA journal_mode = DELETE")


def _is_copied(path: Path, new: Path) -> bool:
    """Copy a table; return false if it changed during this, without registered readers."""
    before = _reading(path), _written(path)
    try:
        with closing(_connect(path, before[0])) as source, closing(sqlite3.connect(new)) as target:
            source.backup(target)
    except sqlite3.DatabaseError as error:
        if {_code(error), getattr(error, "sqlite_errorcode", None)} & _OF_WRITING:  # only the copy is written
            raise _own(error, new, None) from error
        if before == (_reading(path), _written(path)):
            raise
        return False
    return before[0] != _STILL or before == (_reading(path), _written(path))


def _written(path: Path) -> tuple[int, int, int] | None:
    """Return the identity, size and time of a table, which show whether it changed; ``None`` if it is not there."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def discard_copy(to: Path) -> None:
    """Remove what ``copy`` has written to a folder and ``replace`` did not put in place."""
    with suppress(OSError):
        (to / _NEW).unlink(missing_ok=True)


def replace(to: Path) -> None:
    """Replace the search table of a folder by the one that was copied to it; without one, remove the table."""
    new, old = to / _NEW, to / NAME
    with _translated(old):
        for name in (f"{NAME}-wal", f"{NAME}-shm"):  # of the old table
            (to / name).unlink(missing_ok=True)
        if new.exists():
            new.replace(old)
        else:
            old.unlink(missing_ok=True)
