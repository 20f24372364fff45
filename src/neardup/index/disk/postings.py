"""Which documents have a key: sorted lists in a file, chains in memory. Both propose the same documents."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from secrets import randbits
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.index.disk.arrays import ArraysWriter, StoredArrays, expect
from neardup.index.disk.buffers import Growing
from neardup.kernels import postings as kernels
from neardup.kernels.ids import find_ids
from neardup.model.arrays import Flags, Positions, TextBatch, Words
from neardup.model.errors import StorageDamaged

ROOM: Final = 64  # documents of a key that are looked at

_ENTRIES_PER_PREFIX_BITS: Final = 3

Documents = npt.NDArray[np.int32]


class Hits(NamedTuple):
    """Row *r* has found ``documents[bounds[r]:bounds[r + 1]]``; *oversized* keys had more than were looked at."""

    bounds: Positions
    documents: Documents
    oversized: int

    @property
    def rows(self) -> Positions:
        """The asking row beside each document."""
        bounds = self.bounds
        return np.repeat(np.arange(len(bounds) - 1), bounds[1:] - bounds[:-1])


def document_bits(documents: int) -> int:
    """Tell how many bits number so many documents."""
    return max(1, (documents - 1).bit_length())


def write_lists(writer: ArraysWriter, name: str, lists: Iterable[Words], number: int, length: int) -> None:
    """Write *number* sorted lists of *length* entries each, as ``NAME.entries`` and ``NAME.starts``."""
    bits = max(1, length.bit_length() - _ENTRIES_PER_PREFIX_BITS)
    starts = np.empty((number, (1 << bits) + 1), np.uint32)

    def noted() -> Iterator[Words]:
        for row, entries in enumerate(lists):
            kernels.prefixes(entries, bits, starts[row])
            yield entries.reshape(1, -1)

    writer.extend(f"{name}.entries", noted(), np.uint64, (length,))
    writer.add(f"{name}.starts", starts)


class SortedLists:
    """Keys of the documents of a file; see ``write_lists``. Raises ``StorageDamaged`` where a block is damaged."""

    def __init__(self, arrays: StoredArrays, name: str, bits: int, documents: int) -> None:
        self._arrays, self._name, self._bits, self._documents = arrays, name, bits, documents
        self.entries: Words = arrays[f"{name}.entries"]
        self._starts: Any = arrays[f"{name}.starts"]
        types = self.entries.dtype == np.uint64 and self._starts.dtype == np.uint32
        expect(types and self.entries.ndim == self._starts.ndim == 2, f"invalid list {name!r}")  # noqa: PLR2004
        prefixes = self._starts.shape[1] - 1
        expect(prefixes >= 2 and prefixes & (prefixes - 1) == 0, f"the list {name!r} has no prefixes")  # noqa: PLR2004
        expect(0 < len(self.entries) == len(self._starts), f"the list {name!r} is not as many as its prefixes")

    def find(self, keys: Words, asking: Flags, alive: Flags, *, pooled: bool = False, room: int = ROOM) -> Hits:
        """Find the documents that share a key with each row that asks; *alive* says which are there, empty: all."""
        if len(self.entries) not in {1, keys.shape[1]}:
            raise StorageDamaged(str(self._arrays.path), f"the list {self._name!r} is of other keys")
        bounds, documents, oversized, block = kernels.find(
            keys,
            asking,
            pooled,
            self.entries,
            self._starts,
            self._bits,
            alive,
            room,
            self._arrays.guard,
            self._arrays.begin(f"{self._name}.entries"),
            self._arrays.begin(f"{self._name}.starts"),
        )
        self._arrays.require(block)
        self._require_documents(int(documents.max(initial=0)))
        return Hits(bounds, documents, oversized)

    def find_strings(self, keys: Words, strings: TextBatch, alive: Flags) -> Positions:
        """Find for each of these strings the document that is there and has it, or -1: one at most does.

        The list is that of a column of strings of its own name, and *keys* (uint64[n]) are made as those of the column.
        """
        arrays, name = self._arrays, self._name
        parts = self.entries[0], self._starts[0], self._bits, alive, arrays.guard, self._string_begins
        column = arrays[f"{name}.offsets"], arrays[f"{name}.data"]
        found = np.empty(len(keys), np.int64)
        arrays.require(find_ids(keys, strings.data, strings.offsets, *parts, *column, found))
        return found

    @cached_property
    def _string_begins(self) -> Positions:
        return np.array(
            [self._arrays.begin(f"{self._name}.{part}") for part in ("entries", "starts", "offsets", "data")]
        )

    def _require_documents(self, last: int) -> None:
        if last >= self._documents:
            raise StorageDamaged(str(self._arrays.path), f"the list {self._name!r} has documents that are not there")

    def list(self, number: int) -> Words:
        """Give one whole list, verified."""
        entries: Words = self._arrays.slice(f"{self._name}.entries", number, number + 1)[0]
        below = np.uint64((1 << self._bits) - 1)
        self._require_documents(int((entries & below).max(initial=0)))
        return entries


class Chains:
    """Keys of documents that come one after the other, in memory."""

    def __init__(self, *, pooled: bool) -> None:
        self._pooled = pooled
        self._secret = np.uint64(randbits(64) | 1)
        self._heads, self._tails = np.full(1 << 10, -1, np.int32), np.empty(1 << 10, np.int32)
        self._keys, self._documents, self._following = Growing(np.uint64), Growing(np.int32), Growing(np.int32)
        self._nodes = 0

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        return (
            self._heads.nbytes
            + self._tails.nbytes
            + self._keys.nbytes
            + self._documents.nbytes
            + self._following.nbytes
        )

    def find(self, keys: Words, asking: Flags, alive: Flags, room: int = ROOM) -> Hits:
        """Find the documents that share a key with each row that asks."""
        return self._follow(keys, asking, -1, alive, room)

    def find_and_add(self, keys: Words, asking: Flags, first: int, alive: Flags, room: int = ROOM) -> Hits:
        """Find them, and put row *r* there as document ``first + r`` before row ``r + 1`` asks."""
        more = keys.shape[0] * keys.shape[1]
        for column in (self._keys, self._documents, self._following):
            column.reserve(more)
        if self._nodes + more > len(self._heads):
            chains = 1 << (2 * (self._nodes + more)).bit_length()
            self._heads, self._tails = np.empty(chains, np.int32), np.empty(chains, np.int32)
            ends = (self._heads, self._tails)
            kernels.chain_anew(self._keys.room, self._nodes, *ends, self._following.room, self._secret)
        return self._follow(keys, asking, first, alive, room)

    def _follow(self, keys: Words, asking: Flags, first: int, alive: Flags, room: int) -> Hits:
        chains = (self._heads, self._tails, self._keys.room, self._documents.room, self._following.room)
        bounds, documents, oversized, self._nodes = kernels.follow(
            keys, asking, self._pooled, first, *chains, self._nodes, alive, room, self._secret
        )
        for column in (self._keys, self._documents, self._following):
            column.size = self._nodes
        return Hits(bounds, documents, oversized)
