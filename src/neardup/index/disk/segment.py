"""Documents in a file, which never changes: sorted lists or tables of fingerprints, and columns."""

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.index.disk.arrays import Array, ArraysWriter, Stored, StoredArrays, expect, natural, understood
from neardup.index.disk.buffers import ChangedStrings, some
from neardup.index.disk.columns import Columns, Lookup
from neardup.index.disk.files import Disk
from neardup.index.disk.part import LISTS, Written, existing, hits_of, ordinal_keys, packed_keys, with_numbers
from neardup.index.disk.postings import (
    Division,
    KeyHits,
    LateChains,
    Query,
    SortedLists,
    beyond_room,
    divided,
    document_bits,
    in_order,
    is_divided,
    write_finer,
    write_lists,
)
from neardup.index.hamming.tables import HammingTables, first_found
from neardup.kernels.strings import WHOLE
from neardup.model.arrays import AnyPositions, Flags, Positions, TextBatch, Words, positions_in
from neardup.model.candidates import DEPTH
from neardup.model.errors import StorageDamaged

SEGMENT: Final = "a segment of an index"
TABLES: Final = "tables."  # the prefix of the arrays of fingerprints, in the order of the documents
_TOGETHER: Final = 1 << 14  # documents that are copied together
MOST_BITS: Final = 31  # that number a document: kernels return them as int32
MOST_DOCUMENTS: Final = (1 << MOST_BITS) - 1


def find_near(tables: HammingTables, fingerprints: Words, asking: Flags, there: Flags | None, room: int) -> KeyHits:
    """Find the first documents, by number, within the distance of each row that asks, at most *room* of each.

    *there* marks the documents that can be found; ``None`` means all.
    """
    rows = np.flatnonzero(asking)
    found = tables.lookup(np.ascontiguousarray(fingerprints[rows]), room + 1, there)
    index, documents, _ = first_found(found, room)
    bounds = np.searchsorted(rows[index], np.arange(len(asking) + 1))
    return KeyHits(bounds, documents.astype(np.int32), len(found[0]) - len(index))


class Segment:
    """A part of an index in a file. Later changes of its documents are held in memory."""

    def __init__(self, disk: Disk, path: Path, columns: Columns, stored: Stored, lookup: Lookup) -> None:
        self.stored, self._lookup = stored, lookup
        self.arrays = arrays = StoredArrays(disk, path, SEGMENT, stored)
        with understood(path):
            meta = arrays.meta
            self.documents, self.bits = natural(meta["documents"], MOST_DOCUMENTS), natural(meta["bits"], MOST_BITS)
            self.first, self.last, self._kept = natural(meta["first"]), natural(meta["last"]), natural(meta["kept"])
            expect(0 < self.documents <= 1 << self.bits, "invalid number of documents")
            require_columns(arrays, columns, self.documents)
            listed = LISTS if meta["tables"] is None else LISTS[:-1]
            cuts = {} if meta["cuts"] is None else {"key": [natural(cut) for cut in meta["cuts"]]}
            number = (arrays, self.bits, self.documents)
            self._lists = {name: SortedLists(name, *number, cuts.get(name)) for name in listed}
            divides = "key" in listed and is_divided(
                self.lists("key"), position_independent=self._lookup.position_independent
            )
            expect(divides == ("key" in cuts), "its divisions are missing, or not its own")
            self._tables = None if meta["tables"] is None else HammingTables.read(arrays, TABLES, meta["tables"])
            expect(self._tables is None or len(self._tables) == self.documents, "its tables are of other documents")
        self.alive: Flags = np.empty(0, np.bool_)
        self._changes: dict[str, tuple[npt.NDArray[Any], Flags]] = {}  # whole columns, and which values changed
        self._strings: dict[str, ChangedStrings] = {}
        # The keys of documents that became leaders.
        self._late = LateChains(position_independent=lookup.position_independent)

    def propose(self, rows: Array, query: Query) -> KeyHits:
        """Find the documents that share a key with each asking row, or those with a near fingerprint."""
        if self._tables is not None:
            return find_near(self._tables, rows[:, 0], query.asking, self._leading, query.room)
        hits = self._lists["key"].find(query, self.alive, position_independent=self._lookup.position_independent)
        return self._late.with_found(hits, query, self.alive)

    def divide(self, division: Division) -> KeyHits:
        """Find the documents in the divisions of oversized keys; tables need none."""
        if self._tables is not None:
            return KeyHits(np.zeros(len(division.rows) + 1, np.int64), np.empty(0, np.int32), 0)
        return self._lists["key"].divide(division, self.alive)

    @cached_property
    def _leading(self) -> Flags | None:
        """Mark the documents that tables propose: existing leaders with a signature; ``None`` means all."""
        there = np.asarray(self.arrays.whole("present")) & self.take("leads", np.arange(self.documents))
        if len(self.alive):
            there &= self.alive
        return None if there.all() else there

    def with_ids(self, ids: TextBatch, keys: Words) -> Positions:
        """Return the document of each id, or -1; *keys* are those of the ids (``checksums``)."""
        return self._lists["id"].find_strings(keys, ids, self.alive)

    def find(self, name: str, query: Query) -> KeyHits:
        """Find the documents with a key in one of the lists."""
        return self._lists[name].find(query, self.alive)

    def kept_by(self, representatives: Positions) -> Positions:
        """Return the documents with these representatives."""
        keys = ordinal_keys(np.unique(representatives))
        if len(keys) == 1:  # whose documents may be many
            found = self._lists["representative"].of(int(keys[0]))
        else:
            *_, hits = hits_of(self, "representative", keys, np.ones(len(keys), np.bool_))
            found = hits.documents.astype(np.int64)
        if "representative" in self._changes:
            values, changed = self._changes["representative"]
            others = np.flatnonzero(changed)
            found = np.union1d(found, others[np.isin(values[others], representatives)])
        found = found[np.isin(self.take("representative", found), representatives)]
        found = found[self.alive[found]] if len(self.alive) else found
        return np.asarray(found[~np.isin(found, self.with_ordinals(representatives))])  # without the representatives

    @cached_property
    def ordinals(self) -> Positions:
        """The number of each document's admission, ascending."""
        column: Positions = np.asarray(self.arrays.whole("ordinal"))
        ends = (int(column[0]), int(column[-1]))
        if ends != (self.first, self.last) or not (column[1:] > column[:-1]).all():
            raise StorageDamaged(str(self.arrays.path), "its documents are not in the order of their admission")
        return column

    def take(self, name: str, positions: AnyPositions) -> npt.NDArray[Any]:
        """Copy the values of a column for some documents."""
        if name in self._changes:
            return self._changes[name][0][positions]
        return self.arrays.take(name, positions)

    def strings(self, name: str, positions: AnyPositions, most: int = WHOLE) -> TextBatch:
        """Copy the first *most* bytes of the values of a column of strings for some documents."""
        if name in self._strings:
            return self._strings[name].over(partial(self.arrays.strings, name), positions, most)
        return self.arrays.strings(name, positions, most)

    def remove(self, positions: AnyPositions) -> None:
        """Mark documents as removed."""
        if not len(self.alive):
            self.alive = np.ones(self.documents, np.bool_)
        self.alive[positions] = False
        self.__dict__.pop("_leading", None)

    @property
    def removed(self) -> Positions:
        """The ordinals of removed documents."""
        return np.asarray(self.arrays.take("ordinal", np.flatnonzero(~self.alive)))

    def change(self, name: str, positions: AnyPositions, values: Array | TextBatch) -> None:
        """Replace the values of different documents in one of the ``changing`` columns."""
        if isinstance(values, TextBatch):
            self._strings.setdefault(name, ChangedStrings()).change(positions, values)
            return
        if name == "leads":
            self.__dict__.pop("_leading", None)
            if self._tables is None:
                self.alive = self.alive if len(self.alive) else np.ones(self.documents, np.bool_)
                self._late.add(*self._keyed(positions[values > self.take(name, positions)]))
        if name not in self._changes:
            self._changes[name] = np.array(self.arrays.whole(name)), np.zeros(self.documents, np.bool_)
        column, changed = self._changes[name]
        column[positions], changed[positions] = values, True

    def _keyed(self, positions: AnyPositions) -> tuple[Words, Positions]:
        """Return the keys of the documents with a signature, and their positions."""
        found = positions[self.take("present", positions)].astype(np.int64)
        return self._lookup.keyed(self.take("rows", found), np.ones(len(found), np.bool_)), found

    @property
    def changed_bytes(self) -> int:
        """The memory of the changed strings."""
        return sum(strings.nbytes for strings in self._strings.values())

    def changes(self, name: str) -> tuple[Positions, Array | TextBatch]:
        """Return the ordinals of documents whose value in a column was changed, and the values."""
        if name in self._strings:
            positions, strings = self._strings[name].changes()
            return np.asarray(self.arrays.take("ordinal", positions)), strings
        if name not in self._changes:
            nothing = np.empty(0, np.int64)
            return nothing, (self.strings if f"{name}.data" in self.arrays else self.take)(name, nothing)
        column, changed = self._changes[name]
        positions = np.flatnonzero(changed)
        return np.asarray(self.arrays.take("ordinal", positions)), column[positions]

    @property
    def is_changed(self) -> bool:
        """Whether documents were removed or changed since the file was written."""
        return bool(len(self.alive) or self._changes or self._strings)

    def update_removed(self, ordinals: Positions) -> None:
        """Mark documents as removed, given by ordinals, also of other segments."""
        own = ordinals[(ordinals >= self.first) & (ordinals <= self.last)]
        if len(own):
            found = self.with_ordinals(own)
            self.remove(found[found >= 0])

    def update(self, name: str, ordinals: Positions, values: Array | TextBatch) -> None:
        """Replace values of a column for documents given by ordinals, also of other segments."""
        inside = (ordinals >= self.first) & (ordinals <= self.last)
        if inside.any():
            positions = self.with_ordinals(ordinals[inside])
            expect(bool((positions >= 0).all()), f"a document whose {name!r} was changed is missing")
            rows = np.flatnonzero(inside)
            self.change(name, positions, some(values, rows))

    def with_ordinals(self, ordinals: Positions) -> Positions:
        """Return the document of each ordinal, or -1."""
        if self.last - self.first == self.documents - 1:  # all were copied, so they are contiguous
            places = ordinals - self.first
            return np.where((places >= 0) & (places < self.documents), places, -1)
        return positions_in(self.ordinals, ordinals)

    @property
    def kept(self) -> int:
        """The number of kept documents."""
        if not len(self.alive) and "representative" not in self._changes:
            return self._kept
        there = existing(self)
        return int((self.take("representative", there) == self.take("ordinal", there)).sum())

    @property
    def longest_list(self) -> int:
        """The number of entries of the longest list; making tables takes the memory of two lists."""
        if self._tables is not None:
            return 2 * self.documents
        return self._lists["key"].longest

    def lists(self, name: str) -> int:
        """Return the number of lists of this name."""
        return len(self._list(name).entries)

    def _list(self, name: str) -> SortedLists:
        if name not in self._lists:
            raise StorageDamaged(str(self.arrays.path), f"lacks the list {name!r}")
        return self._lists[name]

    @staticmethod
    def by_document(_: str) -> bool:
        """Return whether the entries of ``packed`` are in the order of their documents."""
        return False

    def packed(self, name: str, number: int, bits: int, renumbered: Positions) -> Words:
        """Return one of the lists for a new part, in any order; representatives are read again."""
        if name == "representative":
            return self._packed_representatives(bits, renumbered)
        entries = self._list(name).list(number)
        below = (np.uint64(1) << np.uint64(self.bits)) - np.uint64(1)
        out = with_numbers(entries, renumbered[(entries & below).astype(np.int64)], bits)
        if name != "key" or "leads" not in self._changes:
            return out
        column, changed = self._changes["leads"]
        keys, positions = self._keyed(np.flatnonzero(column & changed))
        own = keys, renumbered[positions], number, bits
        with understood(self.arrays.path):  # a forged one may have more lists than a document has keys
            late = packed_keys(*own, position_independent=self._lookup.position_independent)
        return np.concatenate([out, late])

    def _packed_representatives(self, bits: int, renumbered: Positions) -> Words:
        stay = np.flatnonzero(renumbered >= 0)
        representatives = self.take("representative", stay)
        others = representatives != self.take("ordinal", stay)
        return with_numbers(ordinal_keys(representatives[others]), renumbered[stay[others]], bits)


def write_segment(disk: Disk, path: Path, columns: Columns, parts: Sequence[Written], lookup: Lookup) -> Stored:
    """Write the existing documents of some parts, in their order, as one segment.

    Columns are copied some documents at a time, and lists are made one by one, which takes 24 bytes per document. In
    lists the numbers never have fewer bits than before, because the replaced bits of keys are lost.
    """
    kept = [existing(part) for part in parts]
    total = sum(map(len, kept))
    bits = max([document_bits(total), *(part.bits for part in parts)])
    renumbered, first = [np.full(part.documents, -1) for part in parts], 0
    for numbers, positions in zip(renumbered, kept, strict=True):
        numbers[positions] = first + np.arange(len(positions))
        first += len(positions)
    chunks = [
        (part, positions[begin : begin + _TOGETHER])
        for part, positions in zip(parts, kept, strict=True)
        for begin in range(0, len(positions), _TOGETHER)
    ]
    with ArraysWriter(disk, path, SEGMENT) as writer:
        for name, (kind, shape) in columns.fixed.items():
            writer.extend(name, (part.take(name, positions) for part, positions in chunks), kind, shape)
        for name in columns.strings:
            _write_strings(writer, name, chunks)
        tables, cuts = None, None
        if lookup.design is not None:
            rows = [part.take("rows", positions)[:, 0] for part, positions in chunks]
            fingerprints = np.concatenate([np.empty(0, np.uint64), *rows])
            design = lookup.design(len(fingerprints))
            tables = HammingTables.build(fingerprints, design.distance, design).write(writer, TABLES)
        for name in LISTS if tables is None else LISTS[:-1]:
            number = parts[0].lists(name)
            made = _Lists(parts, name, bits, renumbered)
            write_lists(writer, name, map(made.list, range(number)))
            if name == "key" and is_divided(number, position_independent=lookup.position_independent):
                cuts = write_finer(writer, name, made.finer(number, total))
        edges = [part.take("ordinal", positions) for part, positions in (chunks[:1] + chunks[-1:])]
        for_themselves = sum(
            int((part.take("representative", at) == part.take("ordinal", at)).sum()) for part, at in chunks
        )
        ends = {"first": int(edges[0][0]), "last": int(edges[-1][-1])} if total else {"first": 0, "last": -1}
        own = {"documents": total, "bits": bits, "kept": for_themselves, "tables": tables, "cuts": cuts}
        return writer.finish({**own, **ends})


class _Lists:
    """The lists of one name for a new segment."""

    def __init__(self, parts: Sequence[Written], name: str, bits: int, renumbered: Sequence[Positions]) -> None:
        self._parts, self._name, self._bits, self._renumbered = parts, name, bits, renumbered
        by_document = all(part.by_document(name) for part in parts)  # so is the order of entries with the same key
        self._lowest = bits if by_document else 0
        self._behind: dict[int, Words | None] = {}  # the entries to divide of oversized keys; ``None`` if they are many
        self._room = sum(int((places >= 0).sum()) for places in renumbered)  # for entries that are held

    def list(self, number: int) -> Words:
        """Make one list."""
        entries = in_order(np.concatenate(list(self._packed(number))), self._lowest)
        if number not in self._behind and len(found := beyond_room(entries, self._bits)):
            self._behind[number] = found if len(found) <= self._room else None
            self._room -= len(found) if len(found) <= self._room else 0
        return entries

    def _packed(self, number: int) -> Iterator[Words]:
        pairs = zip(self._parts, self._renumbered, strict=True)
        return (part.packed(self._name, number, self._bits, places) for part, places in pairs)

    def finer(self, number: int, documents: int) -> Iterator[Words]:
        """Yield the entries for divisions, of each list, level by level; only after all lists were made."""
        by_document: dict[int, Words] = {}
        for own in range(number):
            if own not in self._behind:
                yield from [np.empty(0, np.uint64)] * DEPTH
                continue
            further = [(own + level) % number for level in range(1, DEPTH + 1)]
            known = by_document
            by_document = {at: known[at] if at in known else self._keys(at, documents) for at in further}
            held = self._behind[own]
            members = beyond_room(self.list(own), self._bits) if held is None else held
            yield from divided(members, self._bits, (by_document[column] for column in further))

    def _keys(self, number: int, documents: int) -> Words:
        """Return the keys of one list by document."""
        below = np.uint64((1 << self._bits) - 1)
        keys = np.zeros(documents, np.uint64)
        for entries in self._packed(number):
            keys[entries & below] = entries & ~below
        return keys


def _write_strings(writer: ArraysWriter, name: str, chunks: list[tuple[Written, Positions]]) -> None:
    offsets: list[Positions] = [np.zeros(1, np.int64)]

    def data() -> Iterator[npt.NDArray[Any]]:
        for part, positions in chunks:
            strings = part.strings(name, positions)
            offsets.append(strings.offsets[1:] + offsets[-1][-1])
            yield strings.data

    writer.extend(f"{name}.data", data(), np.uint8)
    writer.add(f"{name}.offsets", np.concatenate(offsets))


def require_columns(arrays: StoredArrays, columns: Columns, documents: int) -> None:
    """Check that all columns exist with their types and lengths; for use in ``understood``."""
    for name in columns.fixed:
        columns.read(name, arrays.__getitem__, documents)
    for name in columns.strings:  # whose offsets are not read yet
        data, offsets = arrays[f"{name}.data"], arrays[f"{name}.offsets"]
        expect((data.dtype.str, data.ndim) == ("|u1", 1), f"the column {name!r} is another one")
        expect((offsets.dtype.str, offsets.shape) == ("<i8", (documents + 1,)), f"the column {name!r} is another one")
