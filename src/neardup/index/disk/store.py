"""An index on disk: a log of what happened last, segments of all before, and a manifest that says which files count.

It stores documents and proposes candidates. A document's *place* is its part's number and its position there; it holds
until the next change.
"""

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast, get_args

import numpy as np
import numpy.typing as npt

from neardup.index.disk.arrays import ArraysWriter, Stored, StoredArrays, expect, understood
from neardup.index.disk.buffers import GrowingStrings
from neardup.index.disk.columns import CHANGING, NEVER, Batch, Columns, decoded, encoded, flattened, unflattened
from neardup.index.disk.files import LOCK, Disk
from neardup.index.disk.log import LogReader, LogWriter, Record
from neardup.index.disk.lookup import Finding
from neardup.index.disk.manifest import NAME as MANIFEST
from neardup.index.disk.manifest import UNFINISHED, Manifest
from neardup.index.disk.part import Part, Rows, id_keys
from neardup.index.disk.postings import ROOM, Hits
from neardup.index.disk.recent import Recent
from neardup.index.disk.segment import Segment, write_segment
from neardup.kernels.places import by_part
from neardup.kernels.strings import WHOLE
from neardup.model.arrays import Flags, Positions, TextBatch, Words
from neardup.model.errors import StorageDamaged, StorageError, StorageFailed, StorageMoved, StorageRefused, require

Durability = Literal["commit", "interval", "bulk"]
Places = Positions

UPDATES: Final = "updates of an index"
INTERVAL: Final = 1.0  # seconds between two syncs of the log, where durability is "interval"
FAN: Final = 4  # segments of about one size that are merged into one
LEAST_MEMORY: Final = 1 << 20
REPLAYED: Final = 1 << 25  # bytes of recent documents that closing leaves in the log, for opening to repeat

_POSITION_BITS: Final = 32
_POSITION: Final = (1 << _POSITION_BITS) - 1
TRIES: Final = 20  # of a reader whose files a writer removes meanwhile
_KINDS: Final = ("segment-", "log-", "updates-")
_BYTES_WHILE_MERGING: Final = 32  # a list entry takes so many at most

_stores: "weakref.WeakSet[Store]" = weakref.WeakSet()


class Found(NamedTuple):
    """Candidates: row ``rows[i]`` has ``places[i]``; *oversized* keys had more than were looked at."""

    rows: Positions
    places: Places
    oversized: int

    def where(self, holds: Flags) -> "Found":
        """Keep the candidates that *holds* marks."""
        return Found(self.rows[holds], self.places[holds], self.oversized)


class Store:
    """The files of one index, opened to read or to write.

    If the system refuses an operation, or a change is interrupted, the change raises and its memory is discarded: the
    next answer comes from the files, as a reader has it, with everything that was acknowledged. The next change writes
    that to new files first. While it cannot, ``failure`` has the reason.

    ``oversized_buckets`` counts the keys with more documents than were compared, ``discarded_bytes`` the bytes after
    the last record of the log, which the writer discarded on opening.
    """

    def __init__(  # noqa: PLR0913 - what an index is made of
        self,
        folder: Path,
        manifest: Manifest,
        columns: Columns,
        finding: Finding,
        *,
        lock: int = -1,
        durability: Durability = "commit",
        memory: int = 1 << 28,
        disk: Disk | None = None,
    ) -> None:
        require(durability in get_args(Durability), "durability", durability, "must be commit, interval or bulk")
        self.folder, self.columns = folder.absolute(), columns  # the process may change its own folder
        self._disk = disk or Disk()
        self._finding, self._memory, self._durability = finding, memory, durability
        self._lock, self._process = lock, os.getpid()
        self.failure: str | None = None
        self._stale = False  # whether the memory has what the files do not have
        self._owed = False  # whether what was acknowledged may not be on the disk since a failure
        self._moved = False  # whether a caller was told that the folder was moved
        self._closed = False
        self._log: LogWriter | None = None
        self.busy = threading.RLock()
        self._synced = threading.Event()
        self.oversized_buckets = 0
        self.discarded_bytes = 0
        self.segments: list[Segment] = []
        self.manifest = manifest
        self._next_ordinal = 0
        self._mark, self._place = bytes.fromhex(manifest.mark), self._disk.identity(self.folder)
        self._salt = np.frombuffer(self._mark, "<u8").astype(np.uint64)
        self._load(manifest)
        _stores.add(self)
        if lock >= 0:
            try:
                self._take_over()
            except BaseException:
                self._lock = -1  # whoever opened it gives the lock back
                raise
            if durability == "interval":
                threading.Thread(target=_sync_now_and_then, args=(weakref.ref(self), self._synced), daemon=True).start()

    # What is there.

    @property
    def parts(self) -> list[Part]:
        """The parts, in the order of admission: the last one is the recent one."""
        return [*self.segments, self.recent]

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    @property
    def torn(self) -> int:
        """How many bytes behind the last record are no record: a death in the middle of writing leaves them."""
        return self._reader.tail.torn if self._log is None else 0

    @property
    def log_bytes(self) -> int:
        """How many bytes of records the log has."""
        return self._reader.tail.end if self._log is None else self._log.size

    def __len__(self) -> int:
        return sum(_alive(part) for part in self.parts)

    def propose(self, rows: Rows, asking: Flags, room: int = ROOM) -> Found:
        """Find the documents that share a key with each row that asks; in each part the first *room* of a key."""
        self.require_open()
        keys = self._finding.keyed(rows, asking)
        return self._found([(part, part.propose(rows, keys, asking, room)) for part in self.parts])

    def with_ids(self, ids: Sequence[str]) -> Places:
        """Find the document of each id, or -1."""
        self.require_open()
        names = list(ids)
        strings = encoded(names)
        keys = id_keys(strings, self._salt)
        found = [part.with_ids(strings, keys) for part in self.segments]
        if self.recent.documents or not found:
            found.append(self.recent.with_ids(names))
        return self._first(found)

    def with_contents(self, contents: Words, besides: Places | None = None) -> Places:
        """Find the first document of each content, or -1; with *besides*, another one than that."""
        self.require_open()
        left_out = np.full(len(contents), -1) if besides is None else besides
        if not contents.any():  # as of signatures
            return np.full(len(contents), -1)
        numbers, positions = left_out >> _POSITION_BITS, left_out & _POSITION
        parts: list[Any] = self.parts
        own = [np.where(numbers == number, positions, -1) for number in range(len(parts))]
        return self._first([part.with_contents(contents, out) for part, out in zip(parts, own, strict=True)])

    def with_ordinals(self, ordinals: Positions) -> Places:
        """Find the document of each ordinal, or -1, also where it was removed."""
        self.require_open()
        found = [part.with_ordinals(ordinals) for part in self.segments]
        recent = self.recent.ordinals
        if len(recent) or not found:
            places = np.minimum(np.searchsorted(recent, ordinals), max(len(recent) - 1, 0))
            there = recent[places] == ordinals if len(recent) else np.zeros(len(ordinals), np.bool_)
            found.append(np.where(there, places, -1))
        return self._first(found)

    def kept_by(self, keepers: Positions) -> Places:
        """Find the documents for which other ones stand, by the ordinals of those."""
        self.require_open()
        found = [*(part.kept_by(keepers) for part in self.segments), self.recent.kept_by(keepers)]
        return np.concatenate([_places(number, positions) for number, positions in enumerate(found)])

    def alive(self, places: Places) -> Flags:
        """Say which documents are there: those that have a place and were not removed."""
        flags = places >= 0
        if any(len(part.alive) for part in self.parts):  # as after a removal, or of recent ones
            for part, rows, positions in self._by_part(places):
                if len(part.alive):
                    flags[rows] = part.alive[positions]
        return flags

    def take(self, name: str, places: Places) -> npt.NDArray[Any]:
        """Copy what a column says of some documents."""
        return self.take_all((name,), places)[0]

    def take_all(self, names: Sequence[str], places: Places) -> list[npt.NDArray[Any]]:
        """Copy what several columns say of some documents."""
        taken: list[npt.NDArray[Any]] = []
        for part, rows, positions in self._by_part(places):
            if len(rows) == len(places):
                return [part.take(name, positions) for name in names]
            taken = taken or self._nothing(names, len(places))
            for name, column in zip(names, taken, strict=True):
                column[rows] = part.take(name, positions)
        return taken or self._nothing(names, len(places))

    def _nothing(self, names: Sequence[str], number: int) -> list[npt.NDArray[Any]]:
        """Give columns that say nothing of so many documents."""
        kinds = (self.columns.fixed[name] for name in names)
        return [np.zeros((number, *shape), kind) for kind, shape in kinds]

    def strings(self, name: str, places: Places, most: int = WHOLE) -> TextBatch:
        """Copy what a column of strings says of some documents, *most* bytes of each at most."""
        gathered, order, done = GrowingStrings(), np.empty(len(places), np.int64), 0
        for part, rows, positions in self._by_part(places):
            if len(rows) == len(places):
                return part.strings(name, positions, most)
            gathered.extend(part.strings(name, positions, most))
            order[rows] = np.arange(done, done + len(rows))
            done += len(rows)
        return gathered.take(order)

    def decoded(self, name: str, places: Places) -> list[str]:
        """Give what a column of strings says of some documents, as Python has them."""
        found: list[str] = []
        for part, rows, positions in self._by_part(places):
            own = decoded(part.strings(name, positions))
            if len(rows) == len(places):
                return own
            found = found or [""] * len(places)
            for row, string in zip(rows.tolist(), own, strict=True):
                found[row] = string
        return found

    def behind(self, ordinal: int, number: int) -> Places:
        """Give the places of the first documents, so many at most, that were admitted after one."""
        self.require_open()
        found, missing = [np.empty(0, np.int64)], number
        for part_number, part in enumerate(self.parts):
            begin = int(np.searchsorted(part.ordinals, ordinal, side="right"))
            while missing and begin < part.documents:
                end = min(begin + number, part.documents)  # no more is looked at than is wanted
                there = np.flatnonzero(part.alive[begin:end]) + begin if len(part.alive) else np.arange(begin, end)
                found.append(_places(part_number, there[:missing]))
                missing -= len(found[-1])
                begin = end
        return np.concatenate(found)

    def all_places(self) -> Iterator[Places]:
        """Give the places of all documents that are there, part by part, in the order of admission."""
        self.require_open()
        for number, part in enumerate(self.parts):
            positions = np.flatnonzero(part.alive) if len(part.alive) else np.arange(part.documents)
            yield _places(number, positions)

    # What changes.

    @property
    def writes(self) -> bool:
        """Whether it was opened to write."""
        return self._lock >= 0

    @property
    def next_ordinal(self) -> int:
        """The ordinal of the next document."""
        return self._next_ordinal

    @contextmanager
    def change(self) -> Iterator[None]:
        """Make one change, undisturbed; an exception in the middle discards it."""
        with self.busy:
            self.require_writer()
            try:
                yield
            except BaseException as error:
                self._fail(error)
                raise

    def append(self, batch: Batch) -> Found:
        """Add documents, in memory; return the documents before each that share a key. ``log_change`` makes it last."""
        rows, present = cast("Rows", batch["rows"]), cast("Flags", batch["present"])
        keys = self._finding.keyed(rows, present)
        older = [(part, part.propose(rows, keys, present)) for part in self.segments]
        found = self._found([*older, (self.recent, self.recent.append(batch, keys))])
        self._next_ordinal += len(rows)
        return found

    def remove(self, places: Places) -> None:
        """Remove documents, in memory; ``log_change`` makes it last."""
        for part, _, positions in self._by_part(places):
            part.remove(positions)

    def set(self, name: str, places: Places, values: Positions) -> None:
        """Set the values of different documents in one of the ``CHANGING`` columns, in memory."""
        for part, rows, positions in self._by_part(places):
            part.change(name, positions, values[rows])

    def log_change(self, removed: Positions, moved: Places, batch: Batch | None = None) -> None:
        """Write one record: the ordinals *removed*, the representatives of the documents *moved*, those appended."""
        ordinals, keepers = self.take_all(("ordinal", "keeper"), moved)
        self._write("change", {"removed": removed, "moved": ordinals, "keepers": keepers, **flattened(batch or {})})

    def see(self, places: Places, moment: int) -> None:
        """Record that different documents were seen at a *moment*, and that callers know which of them are kept."""
        ordinals, keepers, told = self.take_all(("ordinal", "keeper", "told"), places)
        news = (keepers == ordinals) & (told == NEVER)
        numbers = np.full(int(news.sum()), self._next_ordinal)
        self._see(places, moment, places[news], numbers)
        seen = {"ordinal": ordinals, "seen": np.array([moment])}
        self._write("see", {**seen, "told": ordinals[news], "numbers": numbers} if len(numbers) else seen)

    def _see(self, places: Places, moment: int, news: Places, numbers: Positions) -> None:
        self.set("seen", places, np.maximum(self.take("seen", places), moment))
        self.set("told", news, numbers)

    def commit(self) -> None:
        """End a change: what was written down is on the disk on return, if the durability says so."""
        if self._durability == "commit":
            self._sync_log()
        if max(self.recent.nbytes, self.log_bytes) > self._memory // 2:
            self.flush()
            self._merge_tail()

    def sync(self) -> None:
        """Wait until everything written down is on the disk."""
        with self.busy:
            self.require_open()
            self._require_own()
            if self.writes:
                self.require_writer()
                self._sync_log()

    def sync_unasked(self) -> bool:
        """Sync when no caller waits for it, and return whether to go on; after a failure the next change repairs it."""
        with self.busy:
            if not self._closed and self.failure is None:
                with suppress(StorageError):
                    self._sync_log()
            return not self._closed

    def flush(self) -> None:
        """Put what is in memory into a segment, and begin a new log."""
        with self.change():
            self._flush()

    def _flush(self) -> None:
        if self.recent.documents or self.log_bytes > self._log_begin:
            self._commit_parts(self.segments, [self.recent] if _alive(self.recent) else [])

    def compact(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Leave removed documents out of the files, and merge the segments, as far as the memory allows."""
        with self.change():
            self.flush()
            groups = self._groups()
            for done, group in enumerate(groups):
                worth = len(group) > 1 or any(part.is_changed for part in group)
                if worth:
                    begin = self.segments.index(group[0])
                    self._replace_segments(begin, begin + len(group))
                if progress:
                    progress(done + 1, len(groups))

    def close(self) -> None:
        """Make everything last, and let others write. A second call does nothing.

        Raises ``StorageFailed`` where that is not so, and ``StorageMoved`` if the folder was moved or replaced and no
        other call has raised it: everything is then in the folder that was opened.
        """
        with self.busy:
            if self._closed:
                return
            try:
                if self.writes and self._process == os.getpid():
                    self._finish()
            finally:
                self._release()

    def _finish(self) -> None:
        """Put on the disk what was acknowledged, in the folder that was opened, wherever that is now."""
        if self.failure is not None:
            if not self._owed:
                return
            self.require_open()
            self._resume()
        if max(self.recent.nbytes, self.log_bytes) > REPLAYED:
            self._flush()
        self._sync_log()
        if self.log_bytes != self.manifest.sealed:
            sealed = replace(self.manifest, sealed=self.log_bytes, next_ordinal=self._next_ordinal)
            self.manifest = self._guarded(lambda: sealed.commit(self._disk, self.folder))
        if not self._moved:
            self._require_place()

    def _release(self) -> None:
        self._closed = True
        self._synced.set()
        try:
            if self._log is not None:
                self._log.close()
        finally:
            if self._lock >= 0:
                self._lock = -1
                self._disk.unlock(self.folder)

    def forget_in_child(self) -> None:
        """After a fork, release the lock in the child, as it is the parent's, and what the parent's threads held."""
        if self._lock >= 0:
            self._disk.forget(self.folder)
            self._lock = -2
        self.busy = threading.RLock()

    # Reading what others write.

    def refresh(self) -> bool:
        """Read what a writer has written since; say whether there was anything.

        Raises ``StorageMoved`` where another folder or index is at the path by now, for a writer too.
        """
        self.require_open()
        if self.writes:
            self._require_own()
            self._require_place()
            return False
        self._require_own()
        for _ in range(TRIES):
            try:
                manifest = Manifest.read(self._disk, self.folder)
                if self._disk.identity(self.folder) != self._place or manifest.mark != self.manifest.mark:
                    raise StorageMoved(str(self.folder), "was replaced while it was open; open the index again")
                if manifest.log == self.manifest.log:
                    before = self._reader.tail
                    self._replay()
                    return self._reader.tail != before
                self._load(manifest)
            except FileNotFoundError:  # a newer manifest does without it
                continue
            return True
        raise StorageDamaged(str(self.folder), "the files that its manifest names are not there")

    def _read_again(self) -> None:
        """Discard the memory, and take from the files what they have."""
        self.segments, self._stale = [], False  # in memory segments may have what was not acknowledged
        try:
            self._load(Manifest.read(self._disk, self.folder))
        except BaseException as error:
            self._stale = True
            if isinstance(error, FileNotFoundError):
                raise StorageDamaged(str(error.filename), "is named by the manifest, but not there") from error
            raise

    def _load(self, manifest: Manifest) -> None:
        """Open the files that a manifest names; what is open already stays so."""
        known = {segment.stored: segment for segment in self.segments}
        segments = [known.get(stored) or self._segment(stored) for stored in manifest.segments]
        for one, other in pairwise(segments):
            if one.last >= other.first:
                raise StorageDamaged(str(self.folder / other.stored.name), "comes before the segment in front of it")
        if manifest.updates:
            file = StoredArrays(self._disk, self.folder / manifest.updates.name, UPDATES, manifest.updates)
            with understood(file.path):
                removed = _ordinals(file.whole("removed"))
                for segment in segments:
                    segment.update_removed(removed)
                for name in CHANGING:
                    ordinals, values = _ordinals(file.whole(name)), _ordinals(file.whole(f"{name}.new"))
                    expect(len(ordinals) == len(values), f"the changed values of {name!r} are incomplete")
                    for segment in segments:
                        segment.update(name, ordinals, values)
        reader = LogReader(self._disk, self.folder / manifest.log, self._mark, manifest.sealed)
        self._log_begin = reader.tail.end
        self.segments, self._reader, self.manifest = segments, reader, manifest
        self.recent = self._new_recent()
        self._next_ordinal = manifest.next_ordinal
        self._replay()

    def _segment(self, stored: Stored) -> Segment:
        path = self.folder / stored.name
        return Segment(self._disk, path, self.columns, stored, self._finding)

    def _new_recent(self) -> Recent:
        return Recent(self.columns, self._finding, self._salt)

    def _replay(self) -> None:
        """Repeat what the log says."""
        for record in self._reader.read():
            with understood(self.folder / self.manifest.log):
                self._repeat(record)

    def _repeat(self, record: Record) -> None:
        arrays = record.arrays
        if record.kind == "change":
            removed, moved, keepers = (_ordinals(arrays[name]) for name in ("removed", "moved", "keepers"))
            expect(len(moved) == len(keepers), "every document must have a representative")
            batch = unflattened(self.columns, arrays) if "ordinal" in arrays else None
            self.remove(self.with_ordinals(removed))
            self.set("keeper", self.with_ordinals(moved), keepers)
            if batch is not None:
                ordinals = cast("Positions", batch["ordinal"])
                before = [*(segment.last for segment in self.segments[-1:]), *self.recent.ordinals[-1:].tolist()]
                expect(int(ordinals[0]) > max(before, default=-1), "its documents are not in the order of admission")
                self.recent.append(batch)
                self._next_ordinal = max(self._next_ordinal, int(ordinals[-1]) + 1)
        elif record.kind == "see":
            nothing = np.empty(0, np.int64)
            named = (arrays["ordinal"], arrays["seen"], arrays.get("told", nothing), arrays.get("numbers", nothing))
            ordinals, moments, told, numbers = map(_ordinals, named)
            expect(len(moments) == 1 and len(told) == len(numbers), "the record of seen documents is incomplete")
            places = self.with_ordinals(ordinals)
            self._see(places[places >= 0], int(moments[0]), self.with_ordinals(told), numbers)
        else:
            raise StorageRefused(str(self.folder), f"its log has records of the unknown kind {record.kind!r}")

    # Writing.

    def _take_over(self, *, new_log: bool = False) -> None:
        """Become the writer: remove what no manifest names, and go on behind the log's last record.

        With *new_log* nothing is added to the old log, as after a failed sync nobody knows what of it is on the disk.
        """
        self._guarded(lambda: self._disk.sync_folder(self.folder))  # whoever renamed the manifest may have died then
        named = {*self.manifest.files, MANIFEST, LOCK}
        for name in self._disk.names(self.folder):
            if name not in named and name.startswith(_KINDS):
                self._disk.remove(self.folder / name)
        if not new_log:
            self.discarded_bytes = self._reader.tail.torn
        if self._reader.tail.torn or new_log:  # nothing is cut off in place: the next log does without it
            self._commit_parts(self.segments, [self.recent] if _alive(self.recent) else [])
        else:
            path, reader = self.folder / self.manifest.log, self._reader
            self._log = self._guarded(lambda: LogWriter.reopen(self._disk, path, reader.seed, reader.tail))

    def _resume(self) -> None:
        """Write again after a failure: everything acknowledged goes to new files first."""
        try:
            self._take_over(new_log=True)
        except BaseException as error:
            self._fail(error)
            if isinstance(error, StorageFailed):
                rule = f"cannot be written: {error}. Acknowledged changes are safe; reads continue; each change retries"
                raise StorageFailed(str(self.folder), rule) from error
            raise
        self.failure, self._owed = None, False

    def _write(self, kind: str, arrays: dict[str, npt.NDArray[Any]]) -> None:
        log = self._log
        if log is not None:
            self._require_place()
            self._guarded(lambda: log.append(kind, arrays))

    def _sync_log(self) -> None:
        if self._log is not None:
            self._guarded(self._log.sync)

    def _merge_tail(self) -> None:
        """Merge segments of about one size, so that there are few: their number grows as the logarithm of the index."""
        while True:
            levels = [_level(segment.documents) for segment in self.segments]
            run = 0
            while run < len(levels) and levels[-1 - run] <= levels[-1]:
                run += 1
            begin = len(levels) - run
            if run < FAN or sum(segment.documents for segment in self.segments[begin:]) > self._most():
                return
            with self.change():
                self._replace_segments(begin, len(self.segments))

    def _groups(self) -> list[list[Segment]]:
        """Gather neighbours that fit into the memory together."""
        groups: list[list[Segment]] = []
        for segment in self.segments:
            if groups and sum(_alive(part) for part in (*groups[-1], segment)) <= self._most():
                groups[-1].append(segment)
            else:
                groups.append([segment])
        return groups

    def _most(self) -> int:
        """How many documents a merged segment may have, so that its longest list fits into the memory."""
        entries = max([1, *(part.longest_list // max(part.documents, 1) for part in self.segments)])
        return self._memory // (_BYTES_WHILE_MERGING * entries)

    def _replace_segments(self, begin: int, end: int) -> None:
        self._require_place()
        self._commit_parts([*self.segments[:begin], None, *self.segments[end:]], self.segments[begin:end])

    def _commit_parts(self, segments: "Sequence[Segment | None]", merged: Sequence[Part]) -> None:
        """Write some parts as one segment, in place of ``None`` or at the end, and make that the state of the index.

        With the recent part among them a new log begins.
        """
        flushes = None not in segments
        if not flushes:  # what is removed in the log must not be lost while its consequences stay
            self._sync_log()
        before = self.manifest
        number = before.next_file
        disk, folder = self._disk, self.folder

        def written() -> tuple[Manifest, list[Segment], LogWriter | None]:
            listed = list(segments)
            if merged and any(map(_alive, merged)):
                stored = write_segment(disk, folder / f"segment-{number:08}", self.columns, merged, self._finding)
                listed = [self._segment(stored) if part is None else part for part in listed]
                listed += [self._segment(stored)] if flushes else []
            kept = [part for part in listed if part is not None]
            log = None
            if flushes:
                log = LogWriter.create(disk, folder / f"log-{number:08}", self._mark, self._following())
            with log.closed_on_failure() if log else nullcontext():
                return committed(kept, log), kept, log

        def committed(kept: list[Segment], log: LogWriter | None) -> Manifest:
            following = replace(
                before,
                next_file=number + 1,
                next_ordinal=self._next_ordinal if flushes else before.next_ordinal,
                log=f"log-{number:08}" if flushes else before.log,
                sealed=log.size if log else before.sealed,
                segments=tuple(part.stored for part in kept),
                updates=self._write_updates(kept, number),
            )
            return following.commit(disk, folder)

        try:
            self.manifest, self.segments, log = self._guarded(written)
        except BaseException:
            self._discard(number)
            raise
        if log:
            old, self._log, self._log_begin = self._log, log, log.size
            self.recent = self._new_recent()
            if old is not None:
                self._guarded(old.close)
        for name in sorted(set(before.files) - set(self.manifest.files)):
            self._guarded(lambda name=name: disk.remove(folder / name))  # type: ignore[misc]

    def _discard(self, number: int) -> None:
        """Remove the files of a commit that failed, at once, as they may fill the disk; unless it reached the disk."""
        disk, folder = self._disk, self.folder
        with suppress(OSError):  # the next writer removes what is left
            if Manifest.read(disk, folder).next_file <= number:
                for kind in _KINDS:
                    disk.remove(folder / f"{kind}{number:08}")
                disk.remove(folder / UNFINISHED)

    def _following(self) -> int:
        return self._reader.tail.following if self._log is None else self._log.following

    def _write_updates(self, segments: Sequence[Segment], number: int) -> Stored | None:
        """Write down what happened to documents of segments since those were written."""
        if not any(part.is_changed for part in segments):
            return None
        nothing = np.empty(0, np.int64)
        with ArraysWriter(self._disk, self.folder / f"updates-{number:08}", UPDATES) as writer:
            writer.add("removed", np.concatenate([nothing, *(part.removed for part in segments if len(part.alive))]))
            for name in CHANGING:
                pairs = [(nothing, nothing), *(part.changes(name) for part in segments)]
                writer.add(name, np.concatenate([ordinals for ordinals, _ in pairs]))
                writer.add(f"{name}.new", np.concatenate([values for _, values in pairs]))
            return writer.finish({})

    def _guarded(self, action: Callable[[], Any]) -> Any:
        """Do something to the files; if the system refuses, what is in memory does not count any more."""
        try:
            return action()
        except OSError as error:
            self._fail(error)
            if isinstance(error, StorageError):
                raise
            raise StorageFailed(str(self.folder), error.strerror or str(error)) from error

    def _fail(self, error: BaseException) -> None:
        """Stop writing until a change succeeds in beginning new files."""
        self.failure = str(error) if isinstance(error, OSError) else f"interrupted by {type(error).__name__}"
        self._stale = True
        self._owed = self._owed or self._durability != "commit"
        log, self._log = self._log, None
        if log is not None:
            with suppress(StorageError):
                log.close()

    def require_open(self) -> None:
        """Raise ``StorageRefused`` if it was closed; after a failure, take what counts from the files."""
        if self._closed:
            raise StorageRefused(str(self.folder), "was closed")
        if self._stale:
            with self.busy:
                self._read_again()

    def require_writer(self) -> None:
        """Raise ``StorageRefused`` unless this may change the index; after a failure, try to write again.

        Raises ``StorageMoved`` if another folder is at the path by now, ``StorageFailed`` if the system refuses still.
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
            raise StorageRefused(str(self.folder), "is written by the process that forked this one; open it again here")

    def _require_place(self) -> None:
        """Raise ``StorageMoved`` unless the folder is at its path, and its lock in place."""
        self._moved = not self._disk.holds(self.folder)
        if self._moved:
            where = self._disk.moved_to(self.folder)
            rule = f"was moved, replaced or unlocked while it was being written. Acknowledged changes are in {where}"
            raise StorageMoved(str(self.folder), f"{rule}; open the index again to write here")

    # Places.

    def _found(self, hits: list[tuple[Any, Hits]]) -> Found:
        rows = np.concatenate([found.rows for _, found in hits])
        places = np.concatenate([_places(number, found.documents) for number, (_, found) in enumerate(hits)])
        oversized = sum(found.oversized for _, found in hits)
        self.oversized_buckets += oversized
        order = np.lexsort((places, rows))
        return Found(rows[order], places[order], oversized)

    def _first(self, by_part: list[Positions]) -> Places:
        """Give the place in the first part that has one, or -1."""
        last = len(by_part) - 1
        if not last:
            return by_part[0]
        places = np.where(by_part[last] >= 0, _places(last, by_part[last]), -1)
        for number in range(last - 1, -1, -1):
            positions = by_part[number]
            places = np.where(positions >= 0, _places(number, positions), places)
        return places

    def _by_part(self, places: Places) -> Iterator[tuple[Part, Positions, Positions]]:
        """Give each part that has some of these, which of them, and their positions there."""
        if not len(places):
            return
        parts = self.parts
        order, positions = np.empty(len(places), np.int64), np.empty(len(places), np.int64)
        bounds = np.empty(len(parts) + 1, np.int64)
        if not by_part(places, _POSITION_BITS, order, positions, bounds):
            raise IndexError("there is no such place any more: the index has changed")
        for part, (begin, end) in zip(parts, pairwise(bounds.tolist()), strict=True):
            if end > begin:
                yield part, order[begin:end], positions[begin:end]


def _ordinals(array: npt.NDArray[Any]) -> Positions:
    """Take a column of ordinals that a file states; for use in ``understood``."""
    expect((array.dtype.str, array.ndim) == ("<i8", 1), "invalid ordinals")
    return array


def _places(part: int, positions: npt.NDArray[np.integer[Any]]) -> Places:
    return positions.astype(np.int64) + (part << _POSITION_BITS)


def _alive(part: Part) -> int:
    return int(part.alive.sum()) if len(part.alive) else part.documents


def _level(documents: int) -> int:
    return max(documents, 1).bit_length() // 2  # the logarithm to the base of ``FAN``


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
