"""The entries of fingerprint tables, plain or compressed, and their lookup."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from neardup.index.disk.arrays import expect
from neardup.index.hamming.prefixes import PrefixCode
from neardup.kernels import dense as dense_kernels
from neardup.kernels import differences, radix
from neardup.kernels import hamming as kernels
from neardup.model.arrays import AnyPositions, Bytes, Flags, Positions, Words
from neardup.model.tables import TableDesign, high_bytes

Places = npt.NDArray[np.uint32]

NO_PLACES: Places = radix.NO_PLACES
DENSE = 2  # times as many matches as are wanted: more make a range dense


class Layout(NamedTuple):
    """A design as arrays for kernels: how each table reads a fingerprint, and its probes."""

    distance: int
    rotations: Positions
    masks: Words
    covers: Words
    radii: Words
    leads: Positions
    flips: Words
    flip_bounds: Positions


@lru_cache(maxsize=8)
def layout_of(design: TableDesign) -> Layout:
    """Return the layout of a design, which all shards share; masks that a table does not need are empty."""
    tables = design.tables
    moves = [table.moves for table in tables]
    most = max(map(len, moves))
    rotations, masks = np.zeros((len(tables), most), np.int64), np.zeros((len(tables), most), np.uint64)
    for number, move in enumerate(moves):
        rotations[number, : len(move)] = list(move)
        masks[number, : len(move)] = list(move.values())
    flips = [table.flips for table in tables]
    return Layout(
        design.distance,
        rotations,
        masks,
        np.array([table.mask for table in tables], np.uint64),
        np.array([table.radius for table in tables], np.uint64),
        np.array([table.lead for table in tables], np.int64),
        np.array(list(chain.from_iterable(flips)), np.uint64),
        np.cumsum([0, *map(len, flips)], dtype=np.int64),
    )


class Lists(NamedTuple):
    """The positions of the distinct values, by rank; see ``neardup.kernels.hamming``."""

    positions: Places
    bounds: Places


class EntryGuard(NamedTuple):
    """The arrays with which kernels verify entries mapped from a file; see ``neardup.kernels.hamming``."""

    data: Bytes
    sums: Words
    seen: Bytes
    begins: Positions
    sizes: Positions
    fault: Positions


class Plain(NamedTuple):
    """Entries without compression; see ``neardup.kernels.hamming``."""

    bucket_bits: int
    lows: Places
    highs: Bytes
    starts: Places

    @classmethod
    def of(cls, design: TableDesign, layout: Layout, values: Words) -> Self:
        """Make the tables of distinct values, ascending."""
        return cls.stored(design, len(values), _ordered(layout, values, whole=False))

    @classmethod
    def stored(cls, design: TableDesign, number: int, ordered: Iterator[Words]) -> Self:
        """Make the tables of a *number* of distinct values, as each table reads them, in its order."""
        tables, bits = len(design.tables), design.bucket_bits(number)
        lows = np.zeros((tables, number + kernels.BLOCK), np.uint32)
        highs = np.empty((tables, number, high_bytes(bits)), np.uint8)
        starts = np.empty((tables, (1 << bits) + 1), np.uint32)
        for table, words in enumerate(ordered):
            kernels.store(words, bits, lows[table], highs[table], starts[table])
        return cls(bits, lows, highs, starts)

    @property
    def number(self) -> int:
        """The number of distinct values."""
        return len(self.highs[0])

    def values(self) -> Words:
        """Return the distinct values, ascending: the first table has this order."""
        lows, highs, starts = self.lows[0], self.highs[0], self.starts[0]
        values: Words = np.repeat(np.arange(len(starts) - 1, dtype=np.uint64), np.diff(starts))
        values <<= np.uint64(64 - self.bucket_bits)
        for byte in range(highs.shape[1]):
            values |= highs[:, byte].astype(np.uint64) << np.uint64(32 + 8 * byte)
        values |= lows[: len(values)]
        return values

    def search(self, queries: Words, layout: Layout, guard: EntryGuard | None) -> Words:
        """Find packed triples of query, rank and distance."""
        return np.asarray(kernels.search(queries, tuple(layout), tuple(self), NO_PLACES, guard, kernels.NEVER)[0])

    def first(  # noqa: PLR0913, PLR0917 - everything that is read
        self, queries: Words, layout: Layout, lists: Lists, there: Flags, guard: EntryGuard | None, most: int
    ) -> Words:
        """Find packed triples of query, position and distance, at least the *most* first positions of each query.

        No more of a dense range are listed, or many near queries would take the square of their number.
        """
        found, later = kernels.search(
            queries, tuple(layout), tuple(self), lists.bounds, guard, min(DENSE * most, kernels.NEVER)
        )
        pairs: list[Words] = [kernels.listed(found, most, there, tuple(lists), guard)]
        if not len(later):
            return pairs[0]
        later = later[np.lexsort((later[:, 3], later[:, 1]))]
        cuts = np.flatnonzero((np.diff(later[:, 1]) != 0) | (np.diff(later[:, 3]) != 0)) + 1
        for own in np.split(later, cuts):  # the probes of one range
            keys, rests = dense_kernels.entries_of(
                own[0], queries, tuple(layout), tuple(self), tuple(lists), there, guard
            )
            keys.sort()
            pairs.append(dense_kernels.first_near(own, queries, tuple(layout), self.bucket_bits, keys, rests, most))
        return np.concatenate(pairs)

    def plain(self, _: TableDesign) -> "Plain":
        """Return the entries without compression."""
        return self


class Coded(NamedTuple):
    """Entries stored as differences of successive ones; see ``neardup.kernels.differences``."""

    bucket_bits: int
    stream: Bytes
    bases: Positions
    offsets: AnyPositions
    lengths: npt.NDArray[np.uint16]
    starts: Places

    @classmethod
    def of(cls, design: TableDesign, layout: Layout, values: Words) -> Self:
        """Make the tables of distinct values, ascending."""
        bits = design.bucket_bits(len(values), compressed=True)
        edges = np.arange((1 << bits) + 1, dtype=np.uint64) << np.uint64(64 - bits)
        starts = np.append(np.searchsorted(values, edges[:-1]), len(values)).astype(np.uint32)
        streams, offsets, lengths = [], [], []
        for words in _ordered(layout, values, whole=True):
            frequencies = np.zeros(differences.LENGTHS, np.int64)
            differences.frequencies(words, bits, frequencies)
            code = PrefixCode.of(frequencies)
            lengths.append(code.read)
            offsets.append(np.empty(len(edges), np.uint64))
            differences.measure(words, bits, code.sizes, offsets[-1])
            streams.append(np.zeros(int(offsets[-1][-1]), np.uint8))
            differences.encode(words, bits, code.codes, code.sizes, offsets[-1], streams[-1])
        bases = np.cumsum([0, *map(len, streams[:-1])], dtype=np.int64)
        number = np.min_scalar_type(max(2**32 - 1, *map(len, streams)))  # 4 bytes are enough to count them
        stream = np.concatenate([*streams, np.zeros(differences.SPARE, np.uint8)])
        return cls(bits, stream, bases, np.stack(offsets).astype(number), np.stack(lengths), starts)

    @property
    def number(self) -> int:
        """The number of distinct values."""
        return int(self.starts[-1])

    def values(self) -> Words:
        """Return the distinct values, ascending: the first table has this order."""
        return self._words(0)

    def _words(self, table: int) -> Words:
        words = np.empty(self.number, np.uint64)
        rows = self.bases[table], self.offsets[table], self.lengths[table]
        expect(differences.decode(self.bucket_bits, self.stream, *rows, words), "its stream does not have all values")
        return words

    def search(self, queries: Words, layout: Layout, guard: EntryGuard | None) -> Words:
        """Find packed triples of query, rank and distance."""
        return np.asarray(differences.search(queries, tuple(layout), tuple(self), guard))

    def first(  # noqa: PLR0913, PLR0917 - everything that is read
        self, queries: Words, layout: Layout, lists: Lists, there: Flags, guard: EntryGuard | None, most: int
    ) -> Words:
        """Find packed triples of query, position and distance, at least the *most* first positions of each query."""
        found = self.search(queries, layout, guard)
        return np.asarray(kernels.listed(found, most, there, tuple(lists), guard))

    def plain(self, design: TableDesign) -> Plain:
        """Return the entries without compression."""
        tables = range(len(self.bases))
        return Plain.stored(design, self.number, map(self._words, tables))


def _ordered(layout: Layout, values: Words, *, whole: bool) -> Iterator[Words]:
    """Return the values as each table reads them, sorted by the leading bits or by the *whole*."""
    words = np.empty_like(values)
    for table, lead in enumerate(layout.leads):
        kernels.read(values, layout.rotations[table], layout.masks[table], words)
        if table:
            words, _ = radix.sort(words, NO_PLACES, 0 if whole else 64 - int(lead))
        yield words
