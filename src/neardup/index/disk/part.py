"""What the parts of an index have in common: each holds documents in the order of their admission."""

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
        """How many there are, removed ones included."""
        ...

    @property
    def bits(self) -> int:
        """How many low bits of its keys have given way to numbers of documents, in lists."""
        ...

    @property
    def alive(self) -> Flags:
        """Which of them were not removed; empty if none was."""
        ...

    @property
    def ordinals(self) -> Positions:
        """The number of each document's admission, ascending."""
        ...

    @property
    def kept(self) -> int:
        """How many of those that are there stand for themselves."""
        ...

    def take(self, name: str, positions: AnyPositions) -> npt.NDArray[Any]:
        """Copy what a column says of some documents."""
        ...

    def strings(self, name: str, positions: AnyPositions, most: int = WHOLE) -> TextBatch:
        """Copy what a column of strings says of some documents, *most* bytes of each at most."""
        ...

    def propose(self, rows: Rows, query: Query) -> Hits:
        """Find the documents that share a key with each row of signatures that asks, or those with a near one."""
        ...

    def divide(self, division: Division) -> Hits:
        """Find the documents in the divisions of oversized keys: key *i* is row *i* of the hits."""
        ...

    def leaders(self, equals: Words, besides: Positions) -> Positions:
        """Find the first document of each group of equals that is not *besides*, or -1."""
        ...

    def copies(self, contents: Words, equals: Words, besides: Positions) -> Positions:
        """Find the first document of each content, among its equals, that is not *besides*, or -1."""
        ...

    def packed(self, name: str, number: int, bits: int, renumbered: Positions) -> Words:
        """Give one of the ``LISTS`` for a new part, by the numbers there (less than 0: left out), in any order."""
        ...

    def lists(self, name: str) -> int:
        """Tell how many lists of this name there are."""
        ...

    def remove(self, positions: AnyPositions) -> None:
        """Mark documents as removed."""
        ...

    def change(self, name: str, positions: AnyPositions, values: npt.NDArray[Any]) -> None:
        """Replace the values of different documents in one of the ``CHANGING`` columns.

        Those that lead from now on are found by their keys.
        """
        ...


def id_keys(ids: TextBatch, salt: Words) -> Words:
    """Give a key for each id; who does not know the salt cannot make many equal ones."""
    keys = np.zeros(len(ids), np.uint64)
    add_field(ids.data, ids.offsets, ids.offsets[1:], salt, keys)
    return keys


def ordinal_keys(ordinals: Positions) -> Words:
    """Give a key for each ordinal; no two have the same, and their high bits differ."""
    return ordinals.astype(np.uint64) * _ORDINAL


def alive_in(part: Part) -> int:
    """Count the documents of a part that were not removed."""
    return int(part.alive.sum()) if len(part.alive) else part.documents


def packed_keys(keys: Words, documents: Positions, number: int, bits: int, *, pooled: bool) -> Words:
    """Make the entries of one list of the keys (uint64[n, K]) of documents of these numbers; less than 0: left out."""
    rows = np.flatnonzero(documents >= 0)
    chosen, numbers = keys[rows, number], documents[rows]
    if pooled:
        chosen, numbers = keys[rows].reshape(-1), np.repeat(numbers, keys.shape[1])
    out = np.empty(len(numbers), np.uint64)
    pack(np.ascontiguousarray(chosen), numbers, bits, out)
    return np.unique(out) if pooled else out
