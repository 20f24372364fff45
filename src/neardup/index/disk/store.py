"""Writing an index: a log of the latest changes, segments of everything before, and the manifest.

It stores documents and proposes candidates.
"""

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from secrets import randbelow
from typing import Any, Final, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from msgspec import structs

from neardup.index.disk import merger
from neardup.index.disk.columns import Batch, Lookup, flattened
from neardup.index.disk.field_changes import FieldChanges, as_arrays
from neardup.index.disk.files import LOCK, Disk
from neardup.index.disk.growing_part import GrowingPart
from neardup.index.disk.latest_changes import LatestChanges
from neardup.index.disk.log import HEADER_BYTES, LogWriter, Tail
from neardup.index.disk.manifest import MANIFEST, MOST_SESSION, SECOND, Manifest, Session, with_session
from neardup.index.disk.memory_files import MemoryDisk
from neardup.index.disk.part import Written
from neardup.index.disk.reader import PlacedCandidates, Places, Reader
from neardup.index.disk.segment import Segment
from neardup.model.arrays import Positions
from neardup.model.engine import StageProgress
from neardup.model.errors import StorageError, StorageFailed, StorageMoved, StorageRefused

Durability = Literal["commit", "interval", "bulk"]

INTERVAL: Final = 1.0  # seconds between two syncs of the log, where durability is "interval"
REPLAYED: Final = 1 << 25  # bytes of recent documents that closing leaves in the log, for opening to repeat
REPLAYED_RECORDS: Final = 1 << 12  # records, likewise: one of a single document takes as long as one of many
MOST_RECORDS: Final = 1 << 14  # records of a log, which opening repeats after a kill, or while the index is written

_stores: "weakref.WeakSet[Store]" = weakref.WeakSet()


class Usage(NamedTuple):
    """How an index is used, chosen on each opening."""

    durability: Durability
    memory: int
    disk: Disk


class Store(Reader):
    """The files of one index, opened to read or to write.

    If the system refuses an operation, or a change is interrupted, the change raises and its memory is discarded: the
    next answer is read from the files, with everything that was acknowledged. The next change writes that to new files
    first. While this fails, ``failure`` has the reason.

    ``discarded_bytes`` counts the bytes after the last record of the log, which the writer discarded on opening.
    """

    def __init__(self, folder: Path, manifest: Manifest, lookup: Lookup, usage: Usage, lock: int = -1) -> None:
        self._memory, self._durability, self._lock = usage.memory, usage.durability, lock
        self.failure: str | None = None
        self._owed = False  # whether acknowledged changes may not be on the disk since a failure
        self._moved = False  # whether a call has raised that the folder was moved
        self._log: LogWriter | None = None
        self._synced = threading.Event()
        self.discarded_bytes = 0
        self._number = randbelow(MOST_SESSION) + 1  # of the session
        super().__init__(folder, manifest, lookup, usage.disk)
        _stores.add(self)
        if lock >= 0:
            try:
                self._take_over()
            except BaseException:
                self._lock = -1  # the caller that opened it releases the lock
                raise
            if usage.durability == "interval":
                threading.Thread(target=_sync_now_and_then, args=(weakref.ref(self), self._synced), daemon=True).start()

    @property
    def _tail(self) -> Tail:
        return super()._tail if self._log is None else self._log.tail

    @property
    def torn(self) -> int:
        """The number of bytes after the last record, which a killed writer left and the next one discards."""
        return self._tail.torn

    @property
    def log_bytes(self) -> int:
        """The number of bytes of records in the log."""
        return self._tail.end

    @property
    def state(self) -> tuple[str, int, int, int]:
        """What identifies the content: the index, its generation, the bytes of its log, and its last session.

        Copies of an index that were changed separately differ in the session, even if all else is equal.
        """
        session = self.sessions[-1].number if self.sessions else 0
        return self.manifest.mark, self.manifest.generation, self._tail.end, session

    @property
    def writes(self) -> bool:
        """Whether it was opened to write."""
        return self._lock >= 0

    @contextmanager
    def change(self) -> Iterator[None]:
        """Make one change, under the lock; an exception discards it."""
        with self.busy:
            self.require_writer()
            try:
                yield
            except BaseException as error:
                self._fail(error)
                raise

    def append(self, batch: Batch) -> PlacedCandidates:
        """Add documents, in memory; return the candidates of each leader before it. ``log_change`` records it."""
        rows, query = cast("Any", batch["rows"]), self.recent.asked(batch)
        older = [part.propose(rows, query) for part in self.segments]
        found = self._found(query, [*older, self.recent.append(batch, query)])
        self.next_ordinal += len(rows)
        self.removals.discard(batch["id"])
        return found

    def log_change(self, removed: Positions, leaders: Places, moved: Places, batch: Batch | None = None) -> None:
        """Write one record.

        It has the ordinals *removed*, the new leaders, the documents *moved* to another representative, and those
        appended.
        """
        clock = np.array([self.next_ordinal - (0 if batch is None else len(batch["ordinal"]))])
        begun = self._session(int(clock[0]))
        self.set("decided", moved, np.repeat(clock, len(moved)))
        ordinals, representatives = self.take_all(("ordinal", "representative"), moved)
        changed = {
            "removed": removed,
            "leaders": self.take("ordinal", leaders),
            "moved": ordinals,
            "representatives": representatives,
        }
        self._write("change", {**begun, **changed, "clock": clock, **flattened(batch or {})})

    def fill(self, batches: Iterable[Batch], documents: int, removed: Callable[[], Positions], **terms: Any) -> None:
        """Write the first documents of the index and commit them together; then merge the segments if they are many.

        They are *documents*, or fewer. Ordinals ascend from 0. *removed* is called after the last batch was taken: the
        documents with these ordinals are left out. *terms* change those of the manifest. The index must be new (see
        ``require_new``).
        """
        with self.change():
            self._session(self.next_ordinal)
            before = replace(self._known(), terms=structs.replace(self.manifest.terms, **terms))
            parts = ([part] for part in self._gathered(batches, documents))
            self._commit(before, parts, first=self._tail.following, removed=removed)  # readers notice a new log
            self.next_ordinal = self.manifest.next_ordinal
        if len(self.segments) > merger.FAN:
            with suppress(StorageFailed):  # the documents are there, and merged later
                self.compact()

    def require_new(self) -> None:
        """Raise ``StorageRefused`` if the index has, or had, documents."""
        if self.next_ordinal:
            raise StorageRefused(str(self.folder), "has documents already; only a new index can be filled", "not empty")

    def _gathered(self, batches: Iterable[Batch], documents: int) -> Iterator[GrowingPart]:
        """Gather batches into parts as large as the memory allows; each is valid until the next one is taken."""
        part, most = GrowingPart(self.columns, self.lookup, self.salt), self._memory // 3
        for batch in batches:
            own = part.documents
            part.extend(batch)
            if part.used_bytes > most:  # up to twice that is reserved
                yield part
                part.clear()
            elif not own:  # its memory need not be copied as it grows
                part.reserve(min(documents, part.documents + most * part.documents // part.used_bytes))
        if part.documents:
            yield part

    def see(self, places: Places, moment: int, changes: FieldChanges) -> None:
        """Write one record: different documents were seen at a *moment*, some with other fields.

        It also has which of them callers know to be kept.
        """
        begun = self._session(self.next_ordinal)
        ordinals, news = self.take("ordinal", places), self.unreported(places)
        numbers = np.full(int(news.sum()), self.next_ordinal)
        self._see(places, moment, places[news], numbers)
        record: dict[str, npt.NDArray[Any]] = {**begun, "ordinal": ordinals, "seen": np.array([moment])}
        if len(numbers):
            record |= {"reported": ordinals[news], "numbers": numbers}
        if changes:
            self._change_fields(changes, self.next_ordinal)
            record |= {"clock": np.array([self.next_ordinal]), **as_arrays(changes)}
        self._write("see", record)

    def restate(self, files: Mapping[str, bytes] | None = None, **terms: Any) -> None:
        """Change some of the terms that the manifest states, and commit it.

        Before that, *files* that the terms name are written, in place of earlier ones.
        """

        def commit() -> Manifest:
            for name, content in (files or {}).items():
                self.disk.replace(self.folder / name, content)
            following = structs.replace(self.manifest.terms, **terms)
            return replace(self.manifest, terms=following).commit(self.disk, self.folder)

        with self.change():
            self.manifest = self._guarded(commit)

    def commit(self) -> None:
        """End a change: its records are on the disk on return, if the durability requires that."""
        if self._durability == "commit":
            self._sync_log()
        many = self.records - self.manifest.records > MOST_RECORDS
        if many or max(self.recent.nbytes, self.log_bytes) > self._memory // 2:
            self.flush()
            self._merge_tail()

    def sync(self) -> None:
        """Wait until all records are on the disk."""
        with self.busy:
            self.require_open()
            self._require_own()
            if self.writes:
                self.require_writer()
                self._sync_log()

    def sync_unasked(self) -> bool:
        """Sync in the background, and return whether to continue; after a failure the next change repairs it."""
        with self.busy:
            if not self.closed and self.failure is None:
                with suppress(StorageError):
                    self._sync_log()
            return not self.closed

    def flush(self) -> None:
        """Write the documents in memory as a segment, and begin a new log."""
        with self.change():
            self._flush()

    def _flush(self) -> None:
        counted = self.next_ordinal == self.manifest.next_ordinal
        if self.recent.documents or self.log_bytes > HEADER_BYTES or not counted:
            self._commit_all()

    def compact(self, progress: StageProgress | None = None) -> None:
        """Merge segments and purge removed documents, within the memory."""
        with self.change():
            self.flush()
            groups = merger.groups(self.segments, self._most())
            for done, group in enumerate(groups):
                worth = len(group) > 1 or any(part.is_changed for part in group)
                if worth:
                    begin = self.segments.index(group[0])
                    self._replace_segments(begin, begin + len(group))
                if progress:
                    progress(done + 1, len(groups))

    def close(self) -> None:
        """Sync everything and release the lock. A second call does nothing.

        Raises ``StorageFailed`` if that fails, and ``StorageMoved`` if the folder was moved or replaced and no
        other call has raised it: everything is then in the folder that was opened.
        """
        with self.busy:
            if self.closed:
                return
            try:
                if self.writes and self._process == os.getpid():
                    self._finish()
            finally:
                self._release()

    def _finish(self) -> None:
        """Write acknowledged changes to the disk, in the folder that was opened, wherever it is now."""
        if self.failure is not None:
            if not self._owed:
                return
            self.require_open()
            self._resume()
        if self._has_lost_log():  # nothing is written into the files of another state
            if not self._moved:
                self._require_place()
            return
        many = self.records - self.manifest.records > REPLAYED_RECORDS
        if many or max(self.recent.nbytes, self.log_bytes) > REPLAYED:
            self._flush()
        self._sync_log()
        if self.log_bytes != self.manifest.sealed:
            sealed = replace(self.manifest, sealed=self.log_bytes)
            self.manifest = self._guarded(lambda: sealed.commit(self.disk, self.folder))
        if not self._moved:
            self._require_place()

    def _release(self) -> None:
        self.closed = True
        self._synced.set()
        self.segments, self.recent = [], self._new_recent()  # mapped files, and memory
        try:
            if self._log is not None:
                self._log.close()
        finally:
            if self._lock >= 0:
                self._lock = -1
                self.disk.unlock(self.folder)

    def forget_in_child(self) -> None:
        """After a fork, release in the child the parent's lock, and the locks of the parent's threads."""
        if self._lock >= 0:
            self.disk.forget(self.folder)
            self._lock = -2
        self.busy, self.catching_up = threading.RLock(), threading.RLock()

    def refresh(self) -> bool:
        """Read the changes since the last call; return whether there were any. For a writer, there are none.

        Raises ``StorageMoved`` if another folder or index is at the path now, for a writer too.
        """
        self.require_open()
        self._require_own()
        if self.writes:
            self._require_place()
            return False
        return super().refresh()

    def _take_over(self, *, new_log: bool = False) -> None:
        """Become the writer: remove files that the manifest does not name, and continue after the log's last record.

        With *new_log* nothing is added to the old log, as after a failed sync its state on the disk is unknown.
        """
        self._guarded(lambda: self.disk.sync_folder(self.folder))  # the last writer may have ended before that
        named = {*self.manifest.files, MANIFEST, SECOND, LOCK}
        for name in self.disk.names(self.folder):
            if name not in named and name.startswith(merger.PREFIXES):
                self.disk.remove(self.folder / name)
        if not new_log:
            self.discarded_bytes = self._reader.tail.torn
        if self._reader.tail.torn or new_log:  # nothing is cut off in place: the next log omits it
            self._commit_all()
        else:
            path, reader = self.folder / self.manifest.log, self._reader
            self._log = self._guarded(lambda: LogWriter.reopen(self.disk, path, reader.seed, reader.tail))

    def _resume(self) -> None:
        """Write again after a failure, first all acknowledged changes to new files."""
        try:
            self._take_over(new_log=True)
        except BaseException as error:
            self._fail(error)
            if isinstance(error, StorageFailed):
                rule = f"cannot be written: {error}. Acknowledged changes are safe; reads continue; each change retries"
                raise StorageFailed(str(self.folder), rule, error.code) from error
            raise
        self.failure, self._owed = None, False

    def _session(self, ordinal: int) -> dict[str, npt.NDArray[Any]]:
        """Begin the session of this writer at its first change, when the next *ordinal* was this; return its array."""
        if self.sessions and self.sessions[-1].number == self._number:
            return {}
        begun = Session(self._number, ordinal, self.field_changes.number, self.records)
        self.sessions = with_session(self.sessions, begun)
        return {"session": np.array([self._number])}

    def _write(self, kind: str, arrays: dict[str, npt.NDArray[Any]]) -> None:
        log = self._log
        if log is not None:
            self._require_place()
            self._guarded(lambda: log.append(kind, arrays))
            self.records += 1

    def _sync_log(self) -> None:
        if self._log is not None:
            self._guarded(self._log.sync)

    def _merge_tail(self) -> None:
        """Merge segments of similar size, so that their number grows as the logarithm of the index.

        Also write segments again whose changed strings take too much memory.
        """
        while (begin := merger.tail(self.segments, self._most())) is not None:
            with self.change():
                self._replace_segments(begin, len(self.segments))
        while sum(changed := [segment.changed_bytes for segment in self.segments]) > self._memory // 4:
            begin = int(np.argmax(changed))
            with self.change():
                self._replace_segments(begin, begin + 1)

    def _most(self) -> int:
        return merger.most_documents(self.segments, self._memory)

    def _replace_segments(self, begin: int, end: int) -> None:
        """Write some segments again as one, after a flush: a removal in the log could be lost, but not its effects."""
        self._require_place()
        segments = self.segments
        self._commit(self.manifest, [*segments[:begin], segments[begin:end], *segments[end:]])

    def _commit_all(self) -> None:
        """Write the recent documents as the last segment, and begin a new log."""
        self._commit(self._known(), [*self.segments, [self.recent]], first=self._tail.following)

    def _known(self) -> Manifest:
        """Return the manifest with what is known from the log, before a new one begins."""
        return replace(
            self.manifest,
            next_ordinal=self.next_ordinal,
            field_changes=self.field_changes.number,
            records=self.records,
            sessions=tuple(self.sessions),
        )

    def _commit(self, before: Manifest, parts: Iterable[Segment | Sequence[Written]], **more: Any) -> None:
        """Commit the next state of the index, see ``merger.commit``; its files are removed again if that fails."""
        number = self.manifest.next_file
        try:
            found = self._guarded(lambda: merger.commit(self, before, parts, **more))
        except BaseException:
            merger.discard(self.disk, self.folder, number)
            raise
        self.manifest, self.segments, log = found
        if log:
            old, self._log = self._log, log
            self._log_identity, _ = self._guarded(lambda: self.disk.placed(self.folder / self.manifest.log))
            self.recent = self._new_recent()
            self.field_changes = LatestChanges(self.manifest.field_changes)
            self.latest_removals = LatestChanges(self.latest_removals.number)
            if old is not None:
                self._guarded(old.close)
        for name in sorted(set(before.files) - set(self.manifest.files)):
            self._guarded(lambda name=name: self.disk.remove(self.folder / name))  # type: ignore[misc]

    def _guarded(self, action: Callable[[], Any]) -> Any:
        """Run an operation on files; if the system refuses, discard the memory."""
        try:
            return action()
        except OSError as error:
            self._fail(error)
            if isinstance(error, StorageError):
                raise
            raise StorageFailed.by(error, self.folder, "written") from error

    def _fail(self, error: BaseException) -> None:
        """Stop writing until a change succeeds in beginning new files."""
        self.failure = str(error) if isinstance(error, OSError) else f"interrupted by {type(error).__name__}"
        self._stale = True
        self._owed = self._owed or self._durability != "commit"
        log, self._log = self._log, None
        if log is not None:
            with suppress(StorageError):
                log.close()

    def require_writer(self) -> None:
        """Raise ``StorageRefused`` unless the index was opened to write; after a failure, try to write again.

        Raises ``StorageMoved`` if another folder is at the path now, ``StorageFailed`` if the system still refuses.
        """
        self.require_open()
        if self._lock == -1:
            raise StorageRefused(str(self.folder), 'was opened to read; open it with mode="w" to change it')
        self._require_own()
        self._require_place()
        if self.failure is not None:
            self._resume()

    def _require_own(self) -> None:
        if self._lock != -1 and self._process != os.getpid():
            others = "is written by the process that forked this one"
            if isinstance(self.disk, MemoryDisk):
                shared = f"{others}; create an index in a folder to read it in several processes"
                raise StorageRefused(str(self.folder), shared)
            raise StorageRefused(str(self.folder), f"{others}; open it again here")

    def _has_lost_log(self) -> bool:
        """Return whether the log is another file than the one that is written, or has lost records."""
        if self._log is None:
            return False
        try:
            identity, size = self.disk.placed(self.folder / self.manifest.log)
        except FileNotFoundError:
            return True
        return identity != self._log_identity or size < self._tail.end

    def _require_place(self) -> None:
        """Raise ``StorageMoved`` unless the folder is at its path, and its lock and its log are in place."""
        self._moved = not self.disk.holds(self.folder)
        if self._moved:
            where = self.disk.moved_to(self.folder)
            if not where:
                rule = "was removed while it was being written, and acknowledged changes are lost with it"
                raise StorageMoved(str(self.folder), f"{rule}; restore it from a copy, or make a new index")
            rule = f"was moved, replaced or unlocked while it was being written. Acknowledged changes are in {where}"
            raise StorageMoved(str(self.folder), f"{rule}; open the index again to write here")
        self._moved = self._has_lost_log()
        if self._moved:
            rule = "was emptied or restored while it was being written. Changes that its files lack now are lost"
            raise StorageMoved(str(self.folder), f"{rule}; restore missing files from a copy, and open the index again")


def _sync_now_and_then(store: "weakref.ref[Store]", ended: threading.Event) -> None:
    while not ended.wait(INTERVAL):
        living = store()
        if living is None or not living.sync_unasked():
            return
        del living


def _forget_all() -> None:
    for store in list(_stores):
        store.forget_in_child()


os.register_at_fork(after_in_child=_forget_all)
