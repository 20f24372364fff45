"""All fingerprints within a Hamming distance, exactly."""

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from functools import partial
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, Literal, Self, overload

import numpy as np

from neardup.index.disk.arrays import ArraysWriter, StoredArrays, expect
from neardup.index.disk.files import Disk
from neardup.index.hamming.entries import NO_PLACES, Coded, EntryGuard, Lists, Plain, layout_of
from neardup.index.hamming.tables_file import KIND, UNFINISHED, TablesFile, read
from neardup.kernels import hamming as kernels
from neardup.kernels import radix
from neardup.model.arrays import Flags, Positions, Signatures, Words, run_starts
from neardup.model.errors import (
    ParameterError,
    StorageDamaged,
    StorageRefused,
    counted,
    require,
    require_flag,
    require_kind,
    require_path,
    require_whole,
)
from neardup.model.tables import MOST_DISTANCE, TableDesign

if TYPE_CHECKING:
    from neardup.index.hamming.shards import ShardedTables

MOST_SHARDS: Final = 99_999
MOST = 1 << kernels.POSITION_BITS  # fingerprints of an index, and queries that are looked up together
NO_FLAGS = np.empty(0, np.bool_)
BLOCK = 1 << 20  # queries that are looked up together if few matches of each are wanted

Found = tuple[Positions, Positions, Positions]


class HammingTables:
    """An index of 64-bit fingerprints that finds all within a Hamming distance, and misses none.

    A fingerprint's position is its place in the array that the index was built from. Equal fingerprints are
    stored once, with their positions. The answers do not depend on the design.

    >>> fingerprints = np.array([0b0000, 0b0111, 0b1111, 0b0111], np.uint64)
    >>> tables = HammingTables.build(fingerprints, distance=1)
    >>> [found.tolist() for found in tables.lookup(np.array([0b0011], np.uint64))]
    [[0, 0], [1, 3], [1, 1]]
    >>> [found.tolist() for found in tables.self_join()]
    [[1, 1, 2], [2, 3, 3], [1, 0, 1]]
    """

    def __init__(
        self, design: TableDesign, entries: Plain | Coded, lists: Lists, file: TablesFile | None = None
    ) -> None:
        """Use ``build`` and ``open``; *lists* has the positions of the distinct values."""
        self.design = design
        self._layout = layout_of(design)
        self._entries = entries
        self._lists = lists
        self._file = file

    @overload
    @classmethod
    def build(
        cls,
        fingerprints: Words,
        distance: int = ...,
        design: TableDesign | Literal["auto"] = ...,
        *,
        compressed: bool = ...,
        shards: None = ...,
    ) -> Self: ...

    @overload
    @classmethod
    def build(
        cls,
        fingerprints: Words,
        distance: int = ...,
        design: TableDesign | Literal["auto"] = ...,
        *,
        compressed: bool = ...,
        shards: int,
    ) -> "ShardedTables": ...

    @classmethod
    def build(
        cls,
        fingerprints: Words,
        distance: int = 3,
        design: TableDesign | Literal["auto"] = "auto",
        *,
        compressed: bool = False,
        shards: int | None = None,
    ) -> "Self | ShardedTables":
        """Index an array of uint64, at most 2**30, for lookups within *distance*, 0 to 7.

        *design* defines the tables; ``"auto"`` means ``TableDesign.choose`` for this number. *compressed* stores each
        fingerprint as its difference from the previous one in its table: 20 million random ones take a tenth to a sixth
        less memory, similar ones still less, and a lookup takes 3 times as long, or 11 times with four tables, whose
        buckets are large. A join reads all entries first, into as much memory as they take uncompressed.

        *shards* divides the array, which may then be mapped from a file, into this many parts of at most 2**30
        fingerprints each. They are indexed when they are read or saved, one after another; see ``ShardedTables``.

        Raises ``ParameterError``.
        """
        require_flag("compressed", compressed)
        parts = 1 if shards is None else require_whole("shards", shards, 1, MOST_SHARDS)
        fingerprints = _array("fingerprints", fingerprints, parts * MOST)
        distance = require_whole("distance", distance, 0, MOST_DISTANCE)
        if isinstance(design, TableDesign):
            require(design.distance == distance, "design", design, f"must be for distance {distance}")
        else:
            require(isinstance(design, str) and design == "auto", "design", design, "must be a TableDesign or 'auto'")
        if shards is not None:
            from neardup.index.hamming.shards import ShardedTables

            edges = [len(fingerprints) * part // parts for part in range(parts + 1)]
            if not isinstance(design, TableDesign):
                design = TableDesign.choose(distance=distance, fingerprints=-(-len(fingerprints) // parts))
            make = partial(cls.build, distance=distance, design=design, compressed=compressed)
            made = [(begin, partial(make, fingerprints[begin:end])) for begin, end in pairwise(edges)]
            return ShardedTables(design, made, len(fingerprints))
        values, lists = _ranked(fingerprints)
        if not isinstance(design, TableDesign):
            design = TableDesign.choose(distance=distance, fingerprints=len(values))
        return cls(design, _entries(design, values, compressed=compressed), lists)

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Open an index that was saved. It is read from its file, which must not change.

        A lookup verifies each block of the file before it uses it for the first time; a join reads and verifies all.
        Raises ``StorageDamaged`` for a damaged file, here or when it is read; a file that was cut off looks
        like one of another program, and is damaged, too. Raises ``StorageRefused`` for a missing file, for a folder and
        for neardup's files of another kind or a newer format; ``ParameterError`` for an invalid path.
        """
        where = require_path("path", path)
        if where.is_dir():
            raise StorageRefused(str(where), "is a folder; to open a folder of shards, use ShardedTables.open")
        try:
            stored = StoredArrays(Disk(), where, KIND)
        except FileNotFoundError:
            raise StorageRefused(str(where), "is not there") from None
        design, entries, lists, file = read(stored, "", stored.meta)
        unknown = sorted(set(stored.names) - {*entries._fields, *lists._fields})
        if unknown:
            raise StorageDamaged(str(where), f"holds {', '.join(unknown)}, which its design does not have")
        return cls(design, entries, lists, file)

    @property
    def part(self) -> Any:
        """The *part* that the ``save`` of an opened file was given."""
        return None if self._file is None else self._file.part

    def save(self, path: str | PathLike[str], *, part: tuple[str, int, int] | None = None) -> None:
        """Write the index to a new file, for ``open``. The file has its name only when it is complete.

        *part* is for the shards of an index: the name of the whole, the number of this part, and the number of parts.
        Raises ``StorageRefused`` for a path that exists or a missing folder, ``StorageFailed`` if it cannot be written.
        """
        self._require_all()
        where, disk = require_path("path", path), Disk()
        if os.path.lexists(where):  # if that cannot be asked, creating the file has the same error
            raise StorageRefused(str(where), "exists already")
        unfinished = where.with_name(where.name + UNFINISHED)
        try:
            disk.remove(unfinished)
            with ArraysWriter(disk, unfinished, KIND) as writer:
                writer.finish(self.write(writer, "") | ({} if part is None else {"part": part}))
            disk.rename(unfinished, where)
            disk.sync_folder(where.parent)
        except FileNotFoundError:
            raise StorageRefused(str(where.parent), "is not a folder") from None
        except BaseException:
            disk.remove(unfinished)
            raise

    @classmethod
    def read(cls, stored: StoredArrays, prefix: str, meta: Any) -> Self:
        """Open an index that is a part of another file: see ``write``."""
        return cls(*read(stored, prefix, meta))

    def write(self, writer: ArraysWriter, prefix: str) -> dict[str, Any]:
        """Write the index into a file with other arrays, and return the arguments of ``read``."""
        for name, array in (self._entries._asdict() | self._lists._asdict()).items():
            if name != "bucket_bits":
                writer.add(f"{prefix}{name}", array)
        return {
            "design": asdict(self.design),
            "compressed": self.compressed,
            "bucket_bits": self._entries.bucket_bits,
            "values": self._entries.number,
        }

    def lookup(self, queries: Words, first: int | None = None, there: Flags | None = None) -> Found:
        """Find the fingerprints near each query: arrays ``(query_index, position, distance)``, sorted by the first two.

        *queries* is a one-dimensional array of uint64, the results are int64, empty if nothing is near. *first* is the
        most positions per query, the smallest ones. *there* (bool, one per fingerprint) marks the positions that can be
        found; by default all. Raises ``ParameterError``, and ``StorageDamaged`` for a damaged file.
        """
        queries = _words("queries", queries)
        flags = require_flags(there, len(self))
        most, block = MOST, MOST
        if first is not None:
            most, block = min(require_whole("first", first, 1), MOST), BLOCK
        if len(queries) <= block:
            return self._lookup(queries, 0, most, flags)
        parts = [
            self._lookup(queries[begin : begin + block], begin, most, flags) for begin in range(0, len(queries), block)
        ]
        index, positions, distances = (np.concatenate(column) for column in zip(*parts, strict=True))
        return index, positions, distances

    def count(self, queries: Words) -> Positions:
        """Count the fingerprints near each query: int64, one per query; errors as in ``lookup``."""
        queries = _words("queries", queries)
        counts = np.zeros(len(queries), np.int64)
        with self._guarded() as guard:
            kernels.tally(self._entries.search(queries, self._layout, guard), self._lists.bounds, guard, counts)
        return counts

    def self_join(self) -> Found:
        """Find all pairs of near fingerprints: ``(i, j, distance)`` with i < j, sorted.

        Equal fingerprints make pairs, too: a thousand equal ones are half a million pairs.
        """
        return self._joined(self, itself=True)

    def join(self, other: "HammingTables | ShardedTables | Words") -> Found:
        """Find the pairs of near fingerprints of two indexes: positions here, positions there, distances, sorted.

        *other* is an index, also of shards, or an array of uint64, which is indexed first, as is an index of another
        design. The results are int64. For many queries this is faster than ``lookup``, because both indexes are read in
        the same order, table by table.
        """
        from neardup.index.hamming.shards import ShardedTables

        if isinstance(other, ShardedTables):
            return ShardedTables(self.design, [(0, lambda: self)], len(self)).join(other)
        if not isinstance(other, HammingTables):
            other = tables_of(other, self.design)
        elif other.design != self.design:
            other = other.redesigned(self.design)
        return self._joined(other, itself=False)

    def redesigned(self, design: TableDesign) -> "HammingTables":
        """Index the same fingerprints by other tables, also for another distance."""
        require_kind("design", design, TableDesign)
        self._require_all()
        with self._understood():
            values = self._entries.values()
            expect(bool((values[1:] > values[:-1]).all()), "its values are not in order")
        entries = _entries(design, values, compressed=self.compressed)
        return HammingTables(design, entries, Lists(*map(np.array, self._lists)))

    @property
    def compressed(self) -> bool:
        """Whether the tables are compressed."""
        return isinstance(self._entries, Coded)

    @property
    def distance(self) -> int:
        """The most bits in which near fingerprints differ."""
        return self.design.distance

    @property
    def nbytes(self) -> int:
        """The memory of the arrays of the index."""
        return sum(array.nbytes for array in (*self._layout[1:], *self._entries[1:], *self._lists))

    def __len__(self) -> int:
        return len(self._lists.positions)

    def __repr__(self) -> str:
        return f"<HammingTables of {counted(len(self), 'fingerprint')}, {self.design}>"

    def _require_all(self) -> None:
        """Raise ``StorageDamaged`` if anything is damaged."""
        if self._file is not None:
            self._file.require_all()

    def _understood(self) -> AbstractContextManager[None]:
        return nullcontext() if self._file is None else self._file.understood()

    def _guarded(self) -> AbstractContextManager[EntryGuard | None]:
        """Return a context with the guard for one call of a kernel; none of entries in memory."""
        return nullcontext() if self._file is None else self._file.guarded()

    def _whole(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the plain entries and the lists, verified."""
        self._require_all()
        with self._understood():
            return tuple(self._entries.plain(self.design)), tuple(self._lists)

    def _joined(self, other: "HammingTables", *, itself: bool) -> Found:
        ours = self._whole()
        theirs = ours if itself else other._whole()  # noqa: SLF001 - of the same class
        return _unpacked(kernels.join(itself, tuple(self._layout), *ours, *theirs))

    def _lookup(self, queries: Words, shift: int, most: int, there: Flags) -> Found:
        with self._guarded() as guard:
            pairs = self._entries.first(queries, self._layout, self._lists, there, guard, most)
        index, positions, distances = _unpacked(pairs)
        if most < MOST:
            index, positions, distances = first_found((index, positions, distances), most)
        return index + shift, positions, distances


def _entries(design: TableDesign, values: Words, *, compressed: bool) -> Plain | Coded:
    """Make the tables of distinct values, ascending."""
    return (Coded if compressed else Plain).of(design, layout_of(design), values)


def tables_of(other: Any, design: TableDesign) -> HammingTables:
    """Index an array of uint64 that is to be joined by these tables; ``ParameterError`` for anything else."""
    return HammingTables.build(_array("other", other, MOST), design.distance, design)


def require_flags(there: Flags | None, number: int) -> Flags:
    """Return the flags of this number of fingerprints, none for ``None``; ``ParameterError`` for anything else."""
    if there is None:
        return NO_FLAGS
    fits = isinstance(there, np.ndarray) and there.dtype == np.bool_ and there.shape == (number,)
    require(fits, "there", there, f"must be {number:,} flags, one per fingerprint")
    return there


def first_found(found: Found, most: int) -> Found:
    """Return the first matches of each query, at most this many."""
    index, positions, distances = found
    kept = np.arange(len(index)) - np.searchsorted(index, index) < most
    return index[kept], positions[kept], distances[kept]


def _words(name: str, given: Any) -> Words:
    """Return an array of uint64 for kernels; ``ParameterError`` for anything else."""
    words = _array(name, given, MOST)
    return words if words.flags.carray else words.copy()  # kernels would be compiled again for read-only ones


def _array(name: str, given: Any, most: int) -> Words:
    """Return an array of at most this many uint64; ``ParameterError`` for anything else."""
    words = np.asarray(given.rows if isinstance(given, Signatures) else given)
    if words.dtype != np.uint64 or words.ndim != 1:
        raise ParameterError(name, given, "must be a one-dimensional array of uint64; of Signatures, pass .rows[:, 0]")
    require(len(words) <= most, name, given, f"must be at most {most:,}")
    return words


def _unpacked(found: Words) -> Found:
    found.sort()
    packed = found.view(np.int64)
    right = kernels.DISTANCE_BITS + kernels.POSITION_BITS
    below = (1 << kernels.POSITION_BITS) - 1
    return packed >> right, packed >> kernels.DISTANCE_BITS & below, packed & 7


def _ranked(fingerprints: Words) -> tuple[Words, Lists]:
    """Return the distinct values, ascending, and their positions."""
    values, positions = radix.sort(fingerprints.copy(), np.arange(len(fingerprints), dtype=np.uint32), 0)
    begins = run_starts(values)
    if begins.all():
        return values, Lists(positions, NO_PLACES)
    bounds = np.append(np.flatnonzero(begins), len(values)).astype(np.uint32)
    return values[begins], Lists(positions, bounds)
