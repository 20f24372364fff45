"""The common interface of the parts of an index, which have documents in the order of admission."""

from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from neardup.index.disk.postings import Division, Hits, Query
from neardup.kernels.checksum import add_field
from neardup.kernels.postings import pack
from neardup.kernels.strings import WHOLE
from neardup.model.arrays import AnyPositions, Flags, Positions, TextBatch, Words

LISTS: Final = ("id", "content", "equal", "keeper", "key")

Rows = npt.NDArray[Any]

_ORDINAL: Final = np.uint64(0x9E37_79B9_7F4A_7C15)


class Part(Protocol):
    """Some documents, by position."""

    @property
    def documents(self) -> int:
        """The number of documents, including removed ones."""

    @property
    def bits(self) -> int:
        """The number of low bits of keys that are replaced by numbers of documents in lists."""

    @property
    def alive(self) -> Flags:
        """Which documents were not removed; empty if none was removed."""

    @property
    def ordinals(self) -> Positions:
        """The number of each document's admission, ascending."""

    @property
    def kept(self) -> int:
        """The number of kept documents."""

    def take(self, name: str, positions: AnyPositions) -> npt.NDArray[Any]:
        """Copy the values of a column for some documents."""

    def strings(self, name: str, positions: AnyPositions, most: int = WHOLE) -> TextBatch:
        """Copy the first *most* bytes of the values of a column of strings for some documents."""

    def propose(self, rows: Rows, query: Query) -> Hits:
        """Find the documents that share a key with each asking row of signatures, or have a near one."""

    def divide(self, division: Division) -> Hits:
        """Find the documents in the divisions of oversized keys: key *i* is row *i* of the hits."""

    def leaders(self, equals: Words, besides: Positions) -> Positions:
        """Find the first document of each group of equals that is not *besides*, or -1."""

    def copies(self, contents: Words, equals: Words, besides: Positions) -> Positions:
        """Find the first document of each content, among its equals, that is not *besides*, or -1."""

    def packed(self, name: str, number: int, bits: int, renumbered: Positions) -> Words:
        """Return one of the ``LISTS`` for a new part, in any order; documents with negative numbers are omitted."""

    def lists(self, name: str) -> int:
        """Return the number of lists of this name."""

    def remove(self, positions: AnyPositions) -> None:
        """Mark documents as removed."""

    def change(self, name: str, positions: AnyPositions, values: npt.NDArray[Any]) -> None:
        """Replace the values of different documents in one of the ``CHANGING`` columns.

        New leaders are found by their keys from then on.
        """


def id_keys(ids: TextBatch, salt: Words) -> Words:
    """Return a key for each id; without the salt, many equal ones cannot be made."""
    keys = np.zeros(len(ids), np.uint64)
    add_field(ids.data, ids.offsets, ids.offsets[1:], salt, keys)
    return keys


def ordinal_keys(ordinals: Positions) -> Words:
    """Return a key for each ordinal; keys of different ordinals differ, also in their high bits."""
    return ordinals.astype(np.uint64) * _ORDINAL


def alive_in(part: Part) -> int:
    """Count the documents of a part that were not removed."""
    return int(part.alive.sum()) if len(part.alive) else part.documents


def packed_keys(keys: Words, documents: Positions, number: int, bits: int, *, pooled: bool) -> Words:
    """Return the entries of one list: keys (uint64[n, K]) and numbers of documents; negative numbers are omitted."""
    rows = np.flatnonzero(documents >= 0)
    chosen, numbers = keys[rows, number], documents[rows]
    if pooled:
        chosen, numbers = keys[rows].reshape(-1), np.repeat(numbers, keys.shape[1])
    out = np.empty(len(numbers), np.uint64)
    pack(np.ascontiguousarray(chosen), numbers, bits, out)
    return np.unique(out) if pooled else out
