"""Reading an index: documents are found and looked up in its files, which are read again when they change.

A document's *place* is the number of its part and its position there. It is valid until the next change.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from neardup.index.disk.arrays import Array, Stored, StoredArrays, expect, understood
from neardup.index.disk.buffers import GrowingStrings, checksums, some
from neardup.index.disk.columns import COVERED, NEVER, Columns, Lookup, decoded, encoded, ordinals_of, unflattened
from neardup.index.disk.field_changes import FieldChanges, changed_ordinals, of_arrays
from neardup.index.disk.files import Disk
from neardup.index.disk.latest_changes import LatestChanges, Removals
from neardup.index.disk.log import LogReader, LogRecord, Tail
from neardup.index.disk.manifest import MOST_SESSION, TRIES, Manifest, Session, with_session
from neardup.index.disk.memory_files import FOLDER as IN_MEMORY
from neardup.index.disk.merger import UPDATES
from neardup.index.disk.part import Part, alive_in, existing, first_with
from neardup.index.disk.postings import KeyHits, Query, is_divided
from neardup.index.disk.recent_documents import Recent
from neardup.index.disk.segment import Segment
from neardup.kernels.places import by_part
from neardup.kernels.strings import WHOLE
from neardup.model.arrays import Flags, Positions, TextBatch, Words, positions_in, run_starts
from neardup.model.candidates import ROOM
from neardup.model.errors import StorageDamaged, StorageMoved, StorageRefused

Places = Positions

_REPORTS: Final = ("ordinal", "representative", "reported")
_TOGETHER: Final = 1 << 20  # documents that are looked at together
_POSITION_BITS: Final = 32
_PLACE_BITS: Final = 48  # of a number that has a row, too; a query has fewer rows than the other bits count
_POSITION: Final = (1 << _POSITION_BITS) - 1


class PlacedCandidates(NamedTuple):
    """Candidates: row ``rows[i]`` has ``places[i]``."""

    rows: Positions
    places: Places

    def where(self, holds: Flags) -> "PlacedCandidates":
        """Return the candidates that *holds* marks."""
        return PlacedCandidates(self.rows[holds], self.places[holds])


class Reader:
    """The files of one index, opened to read.

    ``oversized_buckets`` counts the lookups of a key with more documents than it lists, and ``next_ordinal`` is the
    ordinal of the next document. ``sessions`` are the last writers that changed the index, and ``records`` is how many
    records they have written: copies of an index that were changed separately have other sessions from then on.
    """

    def __init__(self, folder: Path, manifest: Manifest, lookup: Lookup, disk: Disk) -> None:
        self.folder = folder.absolute()  # the working directory may change
        self.disk, self.lookup, self.columns = disk, lookup, manifest.terms.columns
        self._process = os.getpid()
        self._stale = False  # whether some changes are only in memory
        self.closed = False
        self.busy = threading.RLock()
        self.catching_up = threading.RLock()  # held, and taken before the other one, to write a search table
        self.oversized_buckets = 0
        self.segments: list[Segment] = []
        self.latest_removals = LatestChanges(0)  # documents that were removed since the log began
        self.manifest = manifest
        self._mark, self._place = bytes.fromhex(manifest.mark), disk.identity(self.folder)
        self.salt = np.frombuffer(self._mark, "<u8").astype(np.uint64)  # of the keys of ids
        self._load(manifest)

    @property
    def _tail(self) -> Tail:
        return self._reader.tail

    @property
    def digest_salt(self) -> Words:
        """The salt of the digests of contents and equals; an index that was filled may have that of its source."""
        raw = bytes.fromhex(self.manifest.terms.digests or self.manifest.mark)
        return np.frombuffer(raw, "<u8").astype(np.uint64)

    @property
    def parts(self) -> list[Part]:
        """The parts, in the order of admission; the last one is in memory."""
        return [*self.segments, self.recent]

    def __len__(self) -> int:
        return sum(alive_in(part) for part in self.parts)

    def propose(self, rows: Array, asking: Flags, wider: int = 1) -> PlacedCandidates:
        """Return the candidates of each asking row, by the canonical rule; *wider* multiplies its room."""
        self.require_open()
        query = Query.of(self.keys(rows, asking), asking, wider * ROOM)
        return self._found(query, [part.propose(rows, query) for part in self.parts])

    def keys(self, rows: Array, asking: Flags) -> Words:
        """Return the keys of the asking rows."""
        return self.lookup.keyed(rows, asking)

    def finding_keys(self, place: int) -> tuple[Words, Flags]:
        """Return the keys of a document, and by which of them every later document finds it.

        That is so if it is one of the first ``ROOM`` in a bucket. By none, if documents are found in tables or by
        position-independent keys, or if the document became a leader after later ones were admitted.
        """
        rows, present = self.take_all(("rows", "present"), np.array([place]))
        keys = self.keys(rows, present)
        number = keys.shape[1]
        if self.lookup.design is not None or self.lookup.position_independent:
            return keys[0], np.zeros(number, np.bool_)
        query = Query.of(np.repeat(keys, number + 1, axis=0), np.repeat(present, number + 1), ROOM)
        query.listed[:] = ROOM + 1  # each row asks for one bucket, the last one for none
        np.fill_diagonal(query.listed, 0)
        flags = np.zeros(number + 1, np.bool_)
        for part, hits in enumerate([part.propose(rows, query) for part in self.parts]):
            flags[hits.rows[_places_in(part, hits.documents) == place]] = True
        return keys[0], flags[:number] & ~flags[number]

    def with_ids(self, ids: Sequence[str]) -> Places:
        """Return the document of each id, or -1."""
        self.require_open()
        names = list(ids)
        strings = encoded(names)
        keys = checksums(strings, self.salt)
        found = [part.with_ids(strings, keys) for part in self.segments]
        if self.recent.documents or not found:
            found.append(self.recent.with_ids(names))
        return self._first(found)

    def leaders(self, equals: Words, besides: Places | None = None) -> Places:
        """Return the first document of each group of equals, or -1; with *besides*, another one than that."""
        return self._first_with("equal", equals, besides)

    def copies(self, contents: Words, besides: Places) -> Places:
        """Return the first document of each content, or -1; another one than *besides*."""
        return self._first_with("content", contents, besides)

    def _first_with(self, name: str, digests: Words, besides: Places | None) -> Places:
        self.require_open()
        places, asking = np.full(len(digests), -1), np.asarray(digests.any(axis=1))
        left_out = places.copy() if besides is None else besides
        for number, part in enumerate(self.parts if asking.any() else ()):  # signatures have no digests
            own = np.where(left_out >> _POSITION_BITS == number, left_out & _POSITION, -1)
            found = first_with(part, name, digests, asking, own)  # later parts are asked for what it did not find
            there = np.flatnonzero(found >= 0)
            places[there] = _places_in(number, found[there])
        return places

    def with_ordinals(self, ordinals: Positions) -> Places:
        """Return the document of each ordinal, or -1, also where it was removed."""
        self.require_open()
        found = [part.with_ordinals(ordinals) for part in self.segments]
        recent = self.recent.ordinals
        if len(recent) or not found:
            found.append(positions_in(recent, ordinals))
        return self._first(found)

    def kept_by(self, representatives: Positions) -> Places:
        """Return the documents with these representatives, given by ordinals."""
        self.require_open()
        found = [*(part.kept_by(representatives) for part in self.segments), self.recent.kept_by(representatives)]
        return np.concatenate([_places_in(number, positions) for number, positions in enumerate(found)])

    def unreported(self, places: Places) -> Flags:
        """Return which documents are kept, although no document of their cluster was passed on.

        That may be so after their representative was removed.
        """
        ordinals, representatives, reported = self.take_all(_REPORTS, places)
        return np.asarray((places >= 0) & (representatives == ordinals) & (reported == NEVER))

    def alive(self, places: Places) -> Flags:
        """Return which documents exist: those that have a place and were not removed."""
        flags = places >= 0
        if any(len(part.alive) for part in self.parts):  # as after a removal, or of recent ones
            for part, rows, positions in self._by_part(places):
                if len(part.alive):
                    flags[rows] = part.alive[positions]
        return flags

    def take(self, name: str, places: Places) -> npt.NDArray[Any]:
        """Copy the values of a column for some documents."""
        return self.take_all((name,), places)[0]

    def take_all(self, names: Sequence[str], places: Places) -> list[npt.NDArray[Any]]:
        """Copy the values of several columns for some documents."""
        taken: list[npt.NDArray[Any]] = []
        for part, rows, positions in self._by_part(places):
            if len(rows) == len(places):
                return [part.take(name, positions) for name in names]
            taken = taken or self._nothing(names, len(places))
            for name, column in zip(names, taken, strict=True):
                column[rows] = part.take(name, positions)
        return taken or self._nothing(names, len(places))

    def _nothing(self, names: Sequence[str], number: int) -> list[npt.NDArray[Any]]:
        kinds = (self.columns.fixed[name] for name in names)
        return [np.zeros((number, *shape), kind) for kind, shape in kinds]

    def strings(self, name: str, places: Places, most: int = WHOLE) -> TextBatch:
        """Copy the first *most* bytes of the values of a column of strings for some documents."""
        gathered, order, done = GrowingStrings(), np.empty(len(places), np.int64), 0
        for part, rows, positions in self._by_part(places):
            if len(rows) == len(places):
                return part.strings(name, positions, most)
            gathered.extend(part.strings(name, positions, most))
            order[rows] = np.arange(done, done + len(rows))
            done += len(rows)
        return gathered.take(order)

    def decoded(self, name: str, places: Places) -> list[str]:
        """Return the values of a column of strings for some documents, as Python strings; "" for -1."""
        found = [""] * len(places)
        for part, rows, positions in self._by_part(places):
            own = decoded(part.strings(name, positions))
            if len(rows) == len(places):
                return own
            for row, string in zip(rows.tolist(), own, strict=True):
                found[row] = string
        return found

    def admitted_after(self, ordinal: int, number: int) -> Places:
        """Return the places of the first documents, at most this many, that were admitted after one."""
        self.require_open()
        found, missing = [np.empty(0, np.int64)], number
        for part_number, part in enumerate(self.parts):
            begin = int(np.searchsorted(part.ordinals, ordinal, side="right"))
            while missing and begin < part.documents:
                end = min(begin + number, part.documents)  # at most the requested number is read
                there = np.flatnonzero(part.alive[begin:end]) + begin if len(part.alive) else np.arange(begin, end)
                found.append(_places_in(part_number, there[:missing]))
                missing -= len(found[-1])
                begin = end
        return np.concatenate(found)

    def all_places(self, together: int = _TOGETHER) -> Iterator[Places]:
        """Yield the places of all existing documents, at most *together* at a time, in the order of admission."""
        self.require_open()
        for number, part in enumerate(self.parts):
            positions = existing(part)
            for begin in range(0, len(positions), together):
                yield _places_in(number, positions[begin : begin + together])

    def earlier(self, moment: int, column: str) -> Places:
        """Return the places of the documents with a time before a moment."""
        found = (places[self.take(column, places) < moment] for places in self.all_places())
        return np.concatenate([np.empty(0, np.int64), *found])

    def decided_since(self, ordinal: int) -> Iterator[Places]:
        """Yield the places of the documents that got a representative or other fields since an ordinal was the next."""
        for places in self.all_places():
            yield places[self.take("decided", places) >= ordinal]

    # The changes of the log, in memory.

    def remove(self, places: Places, clock: int | None = None) -> None:
        """Remove documents, in memory; ``log_change`` records it. *clock* was the next ordinal; by default, it is."""
        there = places[places >= 0]
        self.removals.add(self.decoded("id", there), self.next_ordinal if clock is None else clock)
        self.latest_removals.add(self.take("ordinal", there))
        for part, _, positions in self._by_part(places):
            part.remove(positions)

    def lead(self, places: Places) -> None:
        """Make documents the leaders of their equals, in memory; ``log_change`` records it."""
        self.set("leads", places, np.ones(len(places), np.bool_))

    def cover(self, places: Places) -> None:
        """Record, in memory, which representatives of these documents are covered by them, as they were passed on."""
        ordinals, representatives, reported = self.take_all(_REPORTS, places)
        covering = (reported > NEVER) & (representatives != ordinals)
        if covering.any():
            covered = self.with_ordinals(np.unique(representatives[covering]))
            covered = covered[self.take("reported", covered) == NEVER]
            self.set("reported", covered, np.full(len(covered), COVERED))

    def set(self, name: str, places: Places, values: Array | TextBatch) -> None:
        """Set the values of different documents in one of the ``changing`` columns, in memory."""
        for part, rows, positions in self._by_part(places):
            part.change(name, positions, some(values, rows))

    def _see(self, places: Places, moment: int, news: Places, numbers: Positions) -> None:
        self.set("seen", places, np.maximum(self.take("seen", places), moment))
        self.set("reported", news, numbers)

    def _change_fields(self, changes: FieldChanges, clock: int) -> None:
        """Replace fields of documents, in memory, when the next ordinal is *clock*."""
        for name, change in changes.items():
            places = self.with_ordinals(change.ordinals)
            self.set(f"known.{name}", places, np.ones(len(places), np.bool_))
            self.set(f"field.{name}", places, change.values)
        changed = changed_ordinals(changes)
        self.set("decided", self.with_ordinals(changed), np.full(len(changed), clock))
        self.field_changes.add(changed)

    # The files.

    def refresh(self) -> bool:
        """Read the changes since the last call; return whether there were any.

        Raises ``StorageMoved`` if the path has another folder or index now, or an older copy of this one.
        """
        self.require_open()
        for _ in range(TRIES):
            try:
                manifest = Manifest.read(self.disk, self.folder)
                replaced = self.disk.identity(self.folder) != self._place or manifest.mark != self.manifest.mark
                is_known = manifest.log == self.manifest.log
                if is_known and self.disk.size(self.folder / manifest.log) < self._tail.end:
                    replaced = True  # by an older copy
                if replaced:
                    raise StorageMoved(str(self.folder), "was replaced while it was open; open the index again")
                if is_known:
                    before = self._reader.tail, self.manifest.terms
                    self.manifest = replace(self.manifest, terms=manifest.terms)
                    self._replay()
                    return (self._reader.tail, self.manifest.terms) != before
                self._load(manifest)
            except FileNotFoundError:  # a newer manifest does not name it
                continue
            return True
        raise StorageDamaged(str(self.folder), "the files that its manifest names are not there")

    def require_open(self) -> None:
        """Raise ``StorageRefused`` if it was closed; after a failure, read the files again."""
        if self.closed:
            removed = ", and its documents are removed; create a new one"
            then = removed if self.folder == IN_MEMORY else "; open it again"
            raise StorageRefused(str(self.folder), f"is closed{then}")
        if self._stale:
            with self.busy:
                self._read_again()

    def _read_again(self) -> None:
        self.segments, self._stale = [], False  # segments in memory may have changes that were not acknowledged
        try:
            Manifest.use(self.disk, self.folder, self._load, again=False)
        except BaseException:
            self._stale = True
            raise

    def _load(self, manifest: Manifest) -> None:
        """Open the files that a manifest names, except those that are open already."""
        known = {segment.stored: segment for segment in self.segments}
        segments = [known.get(stored) or self.segment(stored) for stored in manifest.segments]
        for one, other in pairwise(segments):
            if one.last >= other.first:
                raise StorageDamaged(str(self.folder / other.stored.name), "comes before the segment in front of it")
        removals = Removals()
        if manifest.updates:
            file = StoredArrays(self.disk, self.folder / manifest.updates.name, UPDATES, manifest.updates)
            with understood(file.path):
                removed = ordinals_of(file.whole("removed"))
                removals = Removals.of(file)
                for segment in segments:
                    segment.update_removed(removed)
                for name, ordinals, values in changed_values(file, self.columns):
                    for segment in segments:
                        segment.update(name, ordinals, values)
        reader = LogReader(self.disk, self.folder / manifest.log, self._mark, manifest.sealed)
        self.segments, self._reader, self.manifest = segments, reader, manifest
        self._log_identity, _ = self.disk.placed(self.folder / manifest.log)
        self.recent = self._new_recent()
        self.next_ordinal, self.removals = manifest.next_ordinal, removals
        self.field_changes = LatestChanges(manifest.field_changes)
        self.latest_removals = LatestChanges(self.latest_removals.number + 1)  # removals before this are unknown
        self.records, self.sessions = manifest.records, list(manifest.sessions)
        self._replay()

    def segment(self, stored: Stored) -> Segment:
        """Open a segment of this index."""
        path = self.folder / stored.name
        return Segment(self.disk, path, self.columns, stored, self.lookup)

    def _new_recent(self) -> Recent:
        return Recent(self.columns, self.lookup, self.salt)

    def _replay(self) -> None:
        for record in self._reader.read():
            with understood(self.folder / self.manifest.log):
                self._repeat(record)

    def _repeat(self, record: LogRecord) -> None:
        arrays = record.arrays
        if "session" in arrays:
            (number,) = ordinals_of(arrays["session"]).tolist()
            expect(0 < number <= MOST_SESSION, "invalid number of a session")
            begun = Session(number, self.next_ordinal, self.field_changes.number, self.records)
            self.sessions = with_session(self.sessions, begun)
        self.records += 1
        if record.kind == "change":
            self._repeat_change(arrays)
        elif record.kind == "see":
            self._repeat_sighting(arrays)
        else:
            raise StorageRefused(str(self.folder), f"its log has records of the unknown kind {record.kind!r}")

    def _repeat_change(self, arrays: dict[str, Array]) -> None:
        parts = (arrays[name] for name in ("removed", "leaders", "moved", "representatives", "clock"))
        removed, leaders, moved, representatives, clock = map(ordinals_of, parts)
        expect(len(moved) == len(representatives), "every document must have a representative")
        expect(len(clock) == 1, "its time is missing")
        batch = unflattened(self.columns, arrays) if "ordinal" in arrays else None
        if len(removed) + len(leaders) + len(moved):  # otherwise, documents were only added
            self.remove(self.with_ordinals(removed), int(clock[0]))
            self.lead(self.with_ordinals(leaders))
            places = self.with_ordinals(moved)
            self.set("representative", places, representatives)
            self.set("decided", places, np.repeat(clock, len(places)))
            self.cover(places)
        if batch is not None:
            ordinals = cast("Positions", batch["ordinal"])
            before = [*(segment.last for segment in self.segments[-1:]), *self.recent.ordinals[-1:].tolist()]
            expect(int(ordinals[0]) > max(before, default=-1), "its documents are not in the order of admission")
            self.recent.append(batch)
            self.cover(self.with_ordinals(ordinals))
            self.removals.discard(batch["id"])
            self.next_ordinal = max(self.next_ordinal, int(ordinals[-1]) + 1)

    def _repeat_sighting(self, arrays: dict[str, Array]) -> None:
        nothing = np.empty(0, np.int64)
        named = (arrays["ordinal"], arrays["seen"], arrays.get("reported", nothing), arrays.get("numbers", nothing))
        ordinals, moments, reported, numbers = map(ordinals_of, named)
        expect(len(moments) == 1 and len(reported) == len(numbers), "the record of seen documents is incomplete")
        places = self.with_ordinals(ordinals)
        self._see(places[places >= 0], int(moments[0]), self.with_ordinals(reported), numbers)
        if changes := of_arrays(self.columns, arrays):
            clock = ordinals_of(arrays["clock"])
            expect(len(clock) == 1, "its time is missing")
            self._change_fields(changes, int(clock[0]))

    def _found(self, query: Query, hits: list[KeyHits]) -> PlacedCandidates:
        """Return the documents found in all parts, row by row, and in the divisions of oversized keys."""
        pairs = [_pair(found.rows, number, found.documents) for number, found in enumerate(hits)]
        oversized = sum(found.oversized for found in hits)
        self.oversized_buckets += oversized
        if oversized and is_divided(query.keys.shape[1], position_independent=self.lookup.position_independent):
            division = query.division()
            finer = (part.divide(division) for part in self.parts)
            pairs += [_pair(division.rows[found.rows], number, found.documents) for number, found in enumerate(finer)]
        ordered = np.concatenate(pairs)
        ordered.sort()  # numbers are sorted several times as fast as pairs of them
        ordered = ordered[run_starts(ordered)]
        return PlacedCandidates(ordered >> _PLACE_BITS, ordered & ((1 << _PLACE_BITS) - 1))

    def _first(self, by_part: list[Positions]) -> Places:
        """Return the place in the first part that has one, or -1."""
        last = len(by_part) - 1
        if not last:
            return by_part[0]
        places = np.where(by_part[last] >= 0, _places_in(last, by_part[last]), -1)
        for number in range(last - 1, -1, -1):
            positions = by_part[number]
            places = np.where(positions >= 0, _places_in(number, positions), places)
        return places

    def _by_part(self, places: Places) -> Iterator[tuple[Part, Positions, Positions]]:
        """Yield each part that has some of these, which of them, and their positions there."""
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


def each(places: Places, of: Callable[[Places], Iterable[Any]]) -> list[Any]:
    """Return what a function returns for the documents at some places, one by one; ``None`` for -1."""
    found: list[Any] = [None] * len(places)
    there = np.flatnonzero(places >= 0)
    for row, value in zip(there.tolist(), of(places[there]), strict=True):
        found[row] = value
    return found


def changed_values(updates: StoredArrays, columns: Columns) -> Iterator[tuple[str, Positions, Array | TextBatch]]:
    """Yield each column in the updates of an index, with ordinals and values; for use in ``understood``."""
    for name in columns.changing:
        ordinals = ordinals_of(updates.whole(name))
        yield name, ordinals, columns.read(name, updates.whole, len(ordinals), "new.")


def _pair(rows: Positions, part: int, positions: npt.NDArray[np.integer[Any]]) -> Positions:
    """Return rows of a query, and places that they have found, as one number each: rows first."""
    return (rows << _PLACE_BITS) | _places_in(part, positions)


def _places_in(part: int, positions: npt.NDArray[np.integer[Any]]) -> Places:
    return positions.astype(np.int64, copy=False) + (part << _POSITION_BITS)
