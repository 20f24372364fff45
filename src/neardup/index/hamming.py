"""All fingerprints within a Hamming distance, exactly, in memory."""

from itertools import chain
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from neardup.index.buckets import changes
from neardup.kernels import hamming as kernels
from neardup.kernels import radix
from neardup.model.arrays import Bytes, Positions, Words
from neardup.model.errors import ParameterError, require, require_whole
from neardup.model.tables import MOST_DISTANCE, FingerprintTable, TableDesign, high_bytes

MOST = 1 << kernels.POSITION_BITS  # fingerprints of an index, and queries that are looked up together
BLOCK = 1 << 20  # queries that are looked up together if few matches of each are wanted

Found = tuple[Positions, Positions, Positions]
_Places = npt.NDArray[np.uint32]

_NO_PLACES: _Places = np.empty(0, np.uint32)


class _Entries(NamedTuple):
    """What the tables hold, as the kernels want it."""

    bucket_bits: int
    lows: npt.NDArray[np.uint32]
    highs: Bytes
    starts: npt.NDArray[np.uint32]
    positions: _Places
    bounds: _Places


class HammingTables:
    """An index of 64-bit fingerprints that finds all within a Hamming distance, and misses none.

    A fingerprint's position is its place in the array that the index was built of. Equal fingerprints are stored
    once, with their positions. Whatever the design, the answers are the same.

    >>> fingerprints = np.array([0b0000, 0b0111, 0b1111, 0b0111], np.uint64)
    >>> tables = HammingTables.build(fingerprints, distance=1)
    >>> [found.tolist() for found in tables.lookup(np.array([0b0011], np.uint64))]
    [[0, 0], [1, 3], [1, 1]]
    >>> [found.tolist() for found in tables.self_join()]
    [[1, 1, 2], [2, 3, 3], [1, 0, 1]]
    """

    def __init__(self, design: TableDesign, values: Words, positions: _Places, bounds: _Places) -> None:
        """Make the tables of distinct *values*, ascending; value *r* is at ``positions[bounds[r]:bounds[r + 1]]``."""
        self.design = design
        tables = design.tables
        bits = design.bucket_bits(len(values))
        rotations, masks = _orders(tables)
        self._layout = rotations, masks, *_rules(tables)
        lows = np.zeros((len(tables), len(values) + kernels.BLOCK), np.uint32)
        highs = np.empty((len(tables), len(values), high_bytes(bits)), np.uint8)
        starts = np.empty((len(tables), (1 << bits) + 1), np.uint32)
        words = np.empty_like(values)
        for number, table in enumerate(tables):
            kernels.read(values, rotations[number], masks[number], words)
            if number:
                words, _ = radix.sort(words, _NO_PLACES, 64 - table.lead)
            kernels.store(words, bits, lows[number], highs[number], starts[number])
        self._entries = _Entries(bits, lows, highs, starts, positions, bounds)

    @classmethod
    def build(cls, fingerprints: Words, distance: int = 3, design: TableDesign | Literal["auto"] = "auto") -> Self:
        """Index an array of uint64, at most 2**30, for lookups within *distance*, 0 to 7.

        *design* says how the tables are cut; ``"auto"`` lets ``TableDesign.choose`` choose for so many.
        """
        fingerprints = _words("fingerprints", fingerprints)
        distance = require_whole("distance", distance, 0, MOST_DISTANCE)
        if isinstance(design, TableDesign):
            require(design.distance == distance, "design", design, f"must be for distance {distance}")
        else:
            require(isinstance(design, str) and design == "auto", "design", design, "must be a TableDesign or 'auto'")
        values, positions, bounds = _ranked(fingerprints)
        if not isinstance(design, TableDesign):
            design = TableDesign.choose(distance=distance, fingerprints=len(values))
        return cls(design, values, positions, bounds)

    def lookup(self, queries: Words, first: int | None = None) -> Found:
        """Find the fingerprints near each query: arrays ``(query_index, position, distance)``, sorted by the first two.

        *first* asks for so many positions of a query at most, the smallest ones.
        """
        queries = _words("queries", queries)
        most, block = MOST, MOST
        if first is not None:
            most, block = require_whole("first", first, 1), BLOCK
        if len(queries) <= block:
            return self._lookup(queries, 0, most)
        parts = [self._lookup(queries[begin : begin + block], begin, most) for begin in range(0, len(queries), block)]
        index, positions, distances = (np.concatenate(column) for column in zip(*parts, strict=True))
        return index, positions, distances

    def count(self, queries: Words) -> Positions:
        """Count the fingerprints near each query."""
        queries = _words("queries", queries)
        counts = np.empty(len(queries), np.int64)
        kernels.count(queries, self.distance, *self._layout, *self._entries[:4], self._entries.bounds, counts)
        return counts

    def self_join(self) -> Found:
        """Find all pairs of near fingerprints: ``(i, j, distance)`` with i < j, sorted.

        Equal fingerprints make pairs, too: a thousand equal ones are half a million pairs.
        """
        return self._joined(self, itself=True)

    def join(self, other: "HammingTables | Words") -> Found:
        """Find the pairs of near fingerprints of two indexes: positions here, positions there, distances, sorted.

        For many queries this is faster than ``lookup``: both indexes are read in the same order, table by table. An
        array is indexed first, and so is an index of another design.
        """
        if not isinstance(other, HammingTables):
            other = HammingTables.build(other, self.distance, self.design)
        elif other.design != self.design:
            other = other.redesigned(self.design)
        return self._joined(other, itself=False)

    def redesigned(self, design: TableDesign) -> "HammingTables":
        """Index the same fingerprints by other tables, also for another distance."""
        return HammingTables(design, self._values(), self._entries.positions, self._entries.bounds)

    @property
    def distance(self) -> int:
        """In how many bits a fingerprint may differ from a query and still be near."""
        return self.design.distance

    @property
    def nbytes(self) -> int:
        """The memory that the arrays of the index take."""
        return sum(array.nbytes for array in (*self._layout, *self._entries[1:]))

    def __len__(self) -> int:
        return len(self._entries.positions)

    def __repr__(self) -> str:
        return f"<HammingTables of {len(self):,} fingerprints, {self.design}>"

    def _values(self) -> Words:
        """Give the distinct fingerprints, ascending: the first table is in their own order."""
        lows, highs, starts = self._entries.lows[0], self._entries.highs[0], self._entries.starts[0]
        values: Words = np.repeat(np.arange(len(starts) - 1, dtype=np.uint64), np.diff(starts))
        values <<= np.uint64(64 - self._entries.bucket_bits)
        for byte in range(highs.shape[1]):
            values |= highs[:, byte].astype(np.uint64) << np.uint64(32 + 8 * byte)
        values |= lows[: len(values)]
        return values

    def _joined(self, other: "HammingTables", *, itself: bool) -> Found:
        theirs = other._entries  # noqa: SLF001 - of the same class
        return _unpacked(kernels.join(itself, self.distance, *self._layout, *self._entries, *theirs))

    def _lookup(self, queries: Words, shift: int, most: int) -> Found:
        found = kernels.lookup(queries, most, self.distance, *self._layout, *self._entries)
        index, positions, distances = _unpacked(found)
        if most < MOST and len(index):
            begins = np.searchsorted(index, index)
            kept = np.arange(len(index)) - begins < most
            index, positions, distances = index[kept], positions[kept], distances[kept]
        return index + shift, positions, distances


def _words(name: str, given: Any) -> Words:
    """Give an array of uint64 as it can go into kernels; ``ParameterError`` for anything else."""
    words = np.asarray(given)
    if words.dtype != np.uint64 or words.ndim != 1:
        raise ParameterError(name, given, "must be a one-dimensional array of uint64")
    require(len(words) <= MOST, name, given, f"must be at most {MOST:,}")
    return words if words.flags.carray else words.copy()  # read-only ones would be compiled for anew


def _unpacked(found: Words) -> Found:
    """Sort packed pairs, and take them apart."""
    found.sort()
    packed = found.view(np.int64)
    right = kernels.DISTANCE_BITS + kernels.POSITION_BITS
    below = (1 << kernels.POSITION_BITS) - 1
    return packed >> right, packed >> kernels.DISTANCE_BITS & below, packed & 7


def _orders(tables: tuple[FingerprintTable, ...]) -> tuple[Positions, Words]:
    """Give the rotations and masks by which each table reads a fingerprint; unused masks are empty."""
    moves = [table.moves for table in tables]
    most = max(map(len, moves))
    rotations, masks = np.zeros((len(tables), most), np.int64), np.zeros((len(tables), most), np.uint64)
    for number, move in enumerate(moves):
        rotations[number, : len(move)] = list(move)
        masks[number, : len(move)] = list(move.values())
    return rotations, masks


def _rules(tables: tuple[FingerprintTable, ...]) -> tuple[Words, Words, Positions, Words, Positions]:
    """Give the masks, radii and numbers of the leading bits, and the flips of all tables with their bounds."""
    flips = [table.flips for table in tables]
    return (
        np.array([table.mask for table in tables], np.uint64),
        np.array([table.radius for table in tables], np.uint64),
        np.array([table.lead for table in tables], np.int64),
        np.array(list(chain.from_iterable(flips)), np.uint64),
        np.cumsum([0, *map(len, flips)], dtype=np.int64),
    )


def _ranked(fingerprints: Words) -> tuple[Words, _Places, _Places]:
    """Give the distinct values, ascending, and their positions with their bounds, as the kernels want them."""
    values, positions = radix.sort(fingerprints.copy(), np.arange(len(fingerprints), dtype=np.uint32), 0)
    begins = changes(values)
    if begins.all():
        return values, positions, _NO_PLACES
    bounds = np.append(np.flatnonzero(begins), len(values)).astype(np.uint32)
    return values[begins], positions, bounds
