"""The documents of each key: sorted lists in a file, chains in memory. Both propose the same documents."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from secrets import randbits
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.index.disk.arrays import ArraysWriter, StoredArrays, expect
from neardup.index.disk.buffers import Growing
from neardup.kernels import postings as kernels
from neardup.kernels import radix
from neardup.kernels.ids import find_ids
from neardup.model.arrays import AnyPositions, Flags, Positions, TextBatch, Words
from neardup.model.candidates import DEPTH, ROOM, chained
from neardup.model.errors import StorageDamaged

_ENTRIES_PER_PREFIX_BITS: Final = 3

Documents = npt.NDArray[np.int32]


class KeyHits(NamedTuple):
    """Row *r* has found ``documents[bounds[r]:bounds[r + 1]]``; *oversized* keys had more than were listed."""

    bounds: Positions
    documents: Documents
    oversized: int

    @property
    def rows(self) -> Positions:
        """The asking row of each document."""
        bounds = self.bounds
        return np.repeat(np.arange(len(bounds) - 1), bounds[1:] - bounds[:-1])

    def joined(self, others: "KeyHits") -> "KeyHits":
        """Return the documents of both, row by row."""
        order = np.argsort(np.concatenate([self.rows, others.rows]), kind="stable")
        documents = np.concatenate([self.documents, others.documents])[order]
        return KeyHits(self.bounds + others.bounds, documents, self.oversized + others.oversized)


class Query(NamedTuple):
    """Rows of keys whose documents are looked up (those that are *asking*), in one part of an index after another.

    At most *room* documents are listed per key: ``listed`` (int32[n, K]) counts them over all parts, and is
    ``room + 1`` for an oversized key. ``ends`` (int64[n]) is the end of each row in the last part.
    """

    keys: Words
    asking: Flags
    room: int
    listed: npt.NDArray[np.int32]
    ends: Positions

    @classmethod
    def of(cls, keys: Words, asking: Flags, room: int) -> "Query":
        """Return a new query."""
        return cls(keys, asking, room, np.zeros(keys.shape, np.int32), np.zeros(len(keys), np.int64))

    def division(self) -> "Division":
        """Return the oversized keys, after the lookup in all parts."""
        rows, columns = np.divmod(np.flatnonzero(self.listed > self.room), self.listed.shape[1])  # both contiguous
        return Division(self, rows, columns, np.zeros((len(rows), DEPTH), np.int32))


class Division(NamedTuple):
    """Oversized keys of a query, ``rows[i]`` in ``columns[i]``, and the number of documents listed at each level."""

    query: Query
    rows: Positions
    columns: Positions
    listed: npt.NDArray[np.int32]


def is_divided(columns: int, *, position_independent: bool) -> bool:
    """Return whether oversized keys are divided, by the keys of other columns."""
    return columns > 1 and not position_independent


def document_bits(documents: int) -> int:
    """Return the number of bits that number this many documents."""
    return max(1, (documents - 1).bit_length())


def write_lists(writer: ArraysWriter, name: str, lists: Iterable[Words]) -> None:
    """Write sorted lists of equally many entries, at least one list, as ``NAME.entries`` and ``NAME.starts``."""
    others = iter(lists)
    first = next(others)
    length, every = len(first), chain([first], others)
    del first  # one list at a time is in memory
    bits = max(1, length.bit_length() - _ENTRIES_PER_PREFIX_BITS)
    starts: list[npt.NDArray[np.uint32]] = []

    def noted() -> Iterator[Words]:
        for entries in every:
            starts.append(prefix_starts(entries, bits))
            yield entries.reshape(1, -1)

    writer.extend(f"{name}.entries", noted(), np.uint64, (length,))
    writer.add(f"{name}.starts", np.stack(starts))


def prefix_starts(entries: Words, bits: int) -> npt.NDArray[np.uint32]:
    """Return the first entry of each prefix of *bits* bits in a sorted list, and the number of entries."""
    counts = np.bincount((entries >> np.uint64(64 - bits)).astype(np.int64), minlength=1 << bits)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32)


def write_finer(writer: ArraysWriter, name: str, parts: Iterable[Words]) -> list[int]:
    """Write the sorted entries of each column and level for divisions, as ``NAME.finer``; return their beginnings."""
    cuts = [0]

    def noted() -> Iterator[Words]:
        for entries in parts:
            cuts.append(cuts[-1] + len(entries))
            yield entries

    writer.extend(f"{name}.finer", noted(), np.uint64)
    return cuts


def beyond_room(entries: Words, bits: int) -> Words:
    """Return the entries of a sorted list without the first ``ROOM`` of each key."""
    later = entries[ROOM:]
    return np.asarray(later[(later ^ entries[: len(later)]) >> np.uint64(bits) == 0])


def in_order(entries: Words, lowest: int = 0) -> Words:
    """Sort entries, which are changed, by their bits from *lowest* on; entries with the same ones stay in order."""
    return np.asarray(radix.sort(entries, radix.NO_PLACES, lowest)[0])


def divided(members: Words, bits: int, further: Iterable[Words]) -> Iterator[Words]:
    """Return the sorted entries of each level for some entries of a column.

    *further* are, by document, the keys of the following columns without their low *bits*.
    """
    below = np.uint64((1 << bits) - 1)
    documents, keys = members & below, members & ~below
    for column in further:
        keys = chained(keys, column[documents])
        yield in_order((keys & ~below) | documents)


class SortedLists:
    """Keys of the documents of a file; see ``write_lists``. Raises ``StorageDamaged`` for a damaged block.

    *cuts* are what ``write_finer`` returned if oversized keys are divided.
    """

    def __init__(
        self, name: str, arrays: StoredArrays, bits: int, documents: int, cuts: Sequence[int] | None = None
    ) -> None:
        self._arrays, self._name, self._bits, self._documents = arrays, name, bits, documents
        self._cuts = None if cuts is None else np.array(cuts, np.int64)
        self.entries: Words = arrays[f"{name}.entries"]
        self._starts: Any = arrays[f"{name}.starts"]
        types = self.entries.dtype == np.uint64 and self._starts.dtype == np.uint32
        expect(types and self.entries.ndim == self._starts.ndim == 2, f"invalid list {name!r}")  # noqa: PLR2004
        prefixes = self._starts.shape[1] - 1
        expect(prefixes >= 2 and prefixes & (prefixes - 1) == 0, f"the list {name!r} has no prefixes")  # noqa: PLR2004
        expect(0 < len(self.entries) == len(self._starts), f"the list {name!r} is not as many as its prefixes")
        if self._cuts is not None:
            self._finer: Words = arrays[f"{name}.finer"]
            expect(self._finer.dtype == np.uint64 and self._finer.ndim == 1, f"invalid divisions of the list {name!r}")
            ends = (int(self._cuts[0]), int(self._cuts[-1])) == (0, len(self._finer))
            ends &= len(self._cuts) == DEPTH * len(self.entries) + 1 and bool((np.diff(self._cuts) >= 0).all())
            expect(ends, f"the divisions of the list {name!r} are not cut as they should be")

    @property
    def longest(self) -> int:
        """The number of entries of the longest list, including those for divisions."""
        return int(np.diff([0] if self._cuts is None else self._cuts).max(initial=self.entries.shape[1]))

    def find(self, query: Query, alive: Flags, *, position_independent: bool = False) -> KeyHits:
        """Find the documents that share a key with each asking row; *alive* marks existing ones, empty means all."""
        if len(self.entries) != (1 if position_independent else query.keys.shape[1]):
            raise StorageDamaged(str(self._arrays.path), f"the list {self._name!r} is of other keys")
        own = (self.entries, self._starts), self._bits, alive, self._passed[0], query.room, query.listed
        bounds, documents, oversized, block = kernels.find(
            query.keys, query.asking, position_independent, *own, self._arrays.guard, self._begins
        )
        self._arrays.require(block)
        self._require_documents(documents)
        return KeyHits(bounds, documents, oversized)

    def of(self, key: int) -> Positions:
        """Return all documents with a key of the first list, ascending; keys with the same high bits are one."""
        arrays, below = self._arrays, (1 << self._bits) - 1
        prefix = key >> (65 - self._starts.shape[1].bit_length())
        ends = np.minimum(arrays.slice(f"{self._name}.starts", prefix, prefix + 2), self.entries.shape[1])
        entries = arrays.slice(f"{self._name}.entries", *ends.tolist())
        first = np.searchsorted(entries, np.uint64(key & ~below))
        last = np.searchsorted(entries, np.uint64(key | below), "right")
        found: Positions = (entries[first:last] & np.uint64(below)).astype(np.int64)
        self._require_documents(found)
        return found

    def divide(self, division: Division, alive: Flags) -> KeyHits:
        """Find the documents in the divisions of oversized keys: key *i* is row *i* of the hits."""
        bounds, documents, block = kernels.find_divided(
            *(division.query.keys, division.rows, division.columns, (self.entries, self._starts, self._finer)),
            *(self._cuts, self._bits, alive, self._passed[1], ROOM, division.query.room, division.listed),
            *(self._arrays.guard, self._begins),
        )
        self._arrays.require(block)
        self._require_documents(documents)
        return KeyHits(bounds, documents, 0)

    def find_strings(self, keys: Words, strings: TextBatch, alive: Flags) -> Positions:
        """Return for each of these strings the existing document that has it (at most one), or -1.

        The list is that of a column of strings of its own name, and *keys* (uint64[n]) are made as those of the column.
        """
        arrays, name = self._arrays, self._name
        parts = self.entries[0], self._starts[0], self._bits, alive, arrays.guard, self._begins
        column = arrays[f"{name}.offsets"], arrays[f"{name}.data"]
        found = np.empty(len(keys), np.int64)
        arrays.require(find_ids(keys, strings.data, strings.offsets, *parts, *column, found))
        return found

    @cached_property
    def _passed(self) -> Positions:
        """Where long runs of removed documents begin and end, in the list and in the divisions: see the kernels."""
        return np.zeros((2, kernels.PASSED, 2), np.int64)

    @cached_property
    def _begins(self) -> Positions:
        """Where its arrays begin in the file, and those of the strings of its name."""
        more = ("offsets", "data") if self._cuts is None else ("finer",)
        names = (f"{self._name}.{part}" for part in ("entries", "starts", *more))
        return np.array([self._arrays.begin(name) for name in names if name in self._arrays])

    def _require_documents(self, documents: AnyPositions) -> None:
        if int(documents.max(initial=0)) >= self._documents:
            raise StorageDamaged(str(self._arrays.path), f"the list {self._name!r} has documents that are not there")

    def list(self, number: int) -> Words:
        """Return one whole list, verified."""
        length = self.entries.shape[1]
        entries: Words = self._arrays.slice(f"{self._name}.entries", number * length, (number + 1) * length)
        below = np.uint64((1 << self._bits) - 1)
        self._require_documents(entries & below)
        return entries


class Chains:
    """Keys of documents in memory, added in the order of their numbers."""

    def __init__(self, *, position_independent: bool) -> None:
        self._position_independent = position_independent
        self._secret = np.uint64(randbits(64) | 1)
        self._heads, self._tails = np.full(1 << 10, -1, np.int32), np.empty(1 << 10, np.int32)
        self._columns = Growing(np.uint64), Growing(np.int32), Growing(np.int32)  # keys, documents, following nodes
        self._nodes = 0

    @property
    def nbytes(self) -> int:
        """The memory that it takes."""
        return sum(array.nbytes for array in self._chains)

    def find(self, query: Query, alive: Flags) -> KeyHits:
        """Find the documents that share a key with each asking row."""
        if not self._nodes:  # true while all documents are in segments
            return KeyHits(np.zeros(len(query.keys) + 1, np.int64), np.empty(0, np.int32), 0)
        return self._follow(query, -1, alive)

    def find_and_add(self, query: Query, first: int, alive: Flags) -> KeyHits:
        """Find them, and add row *r* as document ``first + r`` before row ``r + 1`` is looked up."""
        more = query.keys.size
        for column in self._columns:
            column.reserve(more * (1 + self._depth(query)))
        if self._nodes + more > len(self._heads):
            chains = 1 << (2 * (self._nodes + more)).bit_length()
            self._heads, self._tails = np.empty(chains, np.int32), np.empty(chains, np.int32)
            kernels.chain_anew(self._chains, self._nodes)
        return self._follow(query, first, alive)

    def divide(self, division: Division, alive: Flags) -> KeyHits:
        """Find the documents in the divisions of oversized keys: key *i* is row *i* of the hits."""
        query = division.query
        of = (query.keys, division.rows, division.columns, self._chains)
        bounds, documents = kernels.follow_divided(*of, alive, ROOM, query.room, division.listed, query.ends)
        return KeyHits(bounds, documents, 0)

    def _follow(self, query: Query, first: int, alive: Flags) -> KeyHits:
        of, depth = (query.keys, query.asking, self._position_independent, first), self._depth(query)
        limits = (ROOM if depth else 0, depth, query.room, query.listed, query.ends)  # else no bucket is divided
        bounds, documents, oversized, self._nodes = kernels.follow(*of, self._chains, self._nodes, alive, *limits)
        for column in self._columns:
            column.size = self._nodes
        return KeyHits(bounds, documents, oversized)

    def _depth(self, query: Query) -> int:
        return DEPTH if is_divided(query.keys.shape[1], position_independent=self._position_independent) else 0

    @property
    def _chains(self) -> tuple[Any, ...]:
        return (self._heads, self._tails, *(column.room for column in self._columns), self._secret)


class LateChains:
    """Keys of documents in memory, added in any order."""

    def __init__(self, *, position_independent: bool) -> None:
        self._chains, self._documents = Chains(position_independent=position_independent), Growing(np.int32)

    def add(self, keys: Words, documents: AnyPositions) -> None:
        """Add documents."""
        first = self._documents.size
        self._documents.extend(documents)
        everybody = np.ones(self._documents.size, np.bool_)
        self._chains.find_and_add(Query.of(keys, everybody[first:], ROOM), first, everybody)

    def with_found(self, hits: KeyHits, query: Query, alive: Flags) -> KeyHits:
        """Return hits with the documents that share a key with each asking row; *alive* marks existing ones."""
        if not self._documents.size:
            return hits
        found = self._chains.find(Query.of(query.keys, query.asking, query.room), alive[self._documents.values])
        return hits.joined(found._replace(documents=self._documents.values[found.documents]))
