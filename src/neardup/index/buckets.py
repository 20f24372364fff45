"""Candidates that share a key of their signature, in memory."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from neardup.kernels import buckets as kernels
from neardup.model.arrays import AnyPositions, Flags, Positions, Words

ROOM = 64  # members a bucket lists; what finds no room is counted, never compared silently not at all
DEPTH = 6  # how often a crowded bucket is divided by further keys
BLOCK = 2048  # documents whose candidates are proposed together
ROWS = 1 << 12  # documents whose keys in all columns are there together
PAIRS = 1 << 20  # candidates proposed together at most

Ranks = npt.NDArray[np.int32]
_Level = tuple[Ranks, Ranks, Ranks]  # ranks and their buckets, the buckets' sizes


class Keys(Protocol):
    """Keys that are made when they are asked for: uint64[n, K], for some documents at a time."""

    @property
    def columns(self) -> int:
        """The number K of columns."""
        ...

    def column(self, column: int, documents: AnyPositions) -> Words:
        """Return the keys of these documents in one column."""
        ...

    def rows(self, documents: AnyPositions) -> Words:
        """Return all keys of these documents."""
        ...


class _Matrix:
    """Keys that are all there."""

    def __init__(self, keys: Words) -> None:
        self.columns = keys.shape[1]
        self._keys = keys

    def column(self, column: int, documents: AnyPositions) -> Words:
        found: Words = self._keys[documents, column]
        return found

    def rows(self, documents: AnyPositions) -> Words:
        return self._keys[documents]


class _Map(Protocol):
    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any], /) -> Iterable[Any]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """Candidates of a block: ``asking[i]`` has ``candidates[bounds[i]:bounds[i + 1]]``, better ranks, ascending."""

    asking: Ranks
    bounds: Positions
    candidates: Ranks

    @property
    def pairs(self) -> Ranks:
        """The asking rank beside each candidate."""
        return np.repeat(self.asking, np.diff(self.bounds))

    def where(self, holds: npt.NDArray[np.bool_]) -> "Proposal":
        """Keep the candidates that *holds* marks."""
        kept = np.concatenate([[0], np.cumsum(holds)])
        return Proposal(self.asking, kept[self.bounds], self.candidates[holds])


class Buckets:
    """Documents by shared key; asked once per document, from the best rank to the worst.

    ``keys`` is uint64[n, K], row *i* the document of rank *i*, or what makes parts of it. Two documents are candidates
    if they share a key in some column. Keys are cut to make room for the rank (44 bits for a million
    documents): that proposes a few strangers, which verification refuses, and loses nobody.

    A bucket lists its first ``ROOM`` members that stay. One with more members than that is also
    divided by the next column's key, again and again (``DEPTH``), so that documents which share more
    than the common key still meet. The work is linear in n whatever the buckets' sizes, and
    ``not_compared`` counts the pairs that shared a key and were passed over in that bucket (they may
    have met in another).

    *pooled* keys count in whatever column they stand: two documents are candidates if any key of the
    one is a key of the other. A crowded bucket is then divided by each member's next larger key, the
    smallest after the largest.
    """

    def __init__(
        self,
        keys: Words | Keys,
        present: npt.NDArray[np.bool_],
        *,
        pooled: bool = False,
        map: _Map = map,  # noqa: A002 - what it is
    ) -> None:
        self._number = len(present)
        self._rank_bits = max(1, int(self._number - 1).bit_length()) if self._number else 1
        parts = _Matrix(keys) if isinstance(keys, np.ndarray) else keys
        documents = np.flatnonzero(present)
        levels = self._pool(parts, documents) if pooled else self._collect(parts, documents, map)
        sizes = np.concatenate([np.empty(0, np.int32), *(sizes for _, _, sizes in levels)])
        self._member_bounds: Positions = np.zeros(self._number + 1, np.int64)
        self._memberships: Ranks = self._by_rank(levels)
        self._entry_bounds: Positions = np.concatenate([[0], np.cumsum(np.minimum(sizes, ROOM), dtype=np.int64)])
        self._entries: Ranks = np.empty(self._entry_bounds[-1], np.int32)
        self._filled: Ranks = np.zeros(len(sizes), np.int32)
        self._overflow: Ranks = np.zeros(len(sizes), np.int32)
        self._seen: Ranks = np.full(self._number, -1, np.int32)
        self.not_compared = 0
        memberships = np.diff(self._member_bounds).astype(np.int32)
        self._asking: Ranks = np.flatnonzero(memberships).astype(np.int32)
        self._asked = 0
        most = ROOM * int(memberships.max(initial=0))  # one document's candidates always fit
        self._candidates: Ranks = np.empty(max(PAIRS, most), np.int32)
        self._bounds: Positions = np.empty(BLOCK + 1, np.int64)

    def propose(self) -> Proposal | None:
        """Propose the candidates of the next block of documents; None when all have been asked for."""
        asking = self._asking[self._asked : self._asked + BLOCK]
        if not len(asking):
            return None
        done, missed = kernels.propose(
            asking,
            self._member_bounds,
            self._memberships,
            self._entry_bounds,
            self._entries,
            self._filled,
            self._overflow,
            self._seen,
            self._bounds,
            self._candidates,
        )
        self.not_compared += missed
        self._asked += done
        bounds = self._bounds[: done + 1].copy()
        return Proposal(asking[:done], bounds, self._candidates[: bounds[done]].copy())

    def retire(self, gone: Ranks) -> None:
        """Forget documents that were dropped: nobody is compared with them any more."""
        kernels.retire(
            gone,
            self._member_bounds,
            self._memberships,
            self._entry_bounds,
            self._entries,
            self._filled,
            self._overflow,
        )

    def _by_rank(self, levels: list[_Level]) -> Ranks:
        """Group the memberships by rank, in ``_member_bounds`` and what is returned; the levels are used up."""
        bounds = self._member_bounds
        for ranks, _, _ in levels:
            kernels.count(ranks, bounds[:-1])
        np.cumsum(bounds[:-1], out=bounds[:-1])
        bounds[-1] = bounds[-2] if self._number else 0
        grouped = np.empty(bounds[-1], np.int32)
        first_bucket = sum(len(sizes) for _, _, sizes in levels)
        while levels:
            ranks, buckets, sizes = levels.pop()
            first_bucket -= len(sizes)
            kernels.by_rank(ranks, buckets, first_bucket, bounds[:-1], grouped)
        return grouped

    def _collect(self, keys: Keys, documents: Positions, map_: _Map) -> list[_Level]:
        parts = list(map_(lambda column: self._column(keys, documents, column), range(keys.columns)))
        return [level for part in parts for level in part]

    def _pool(self, keys: Keys, documents: Positions) -> list[_Level]:
        """Find the buckets of all columns together, and the finer ones that crowded buckets divide into."""
        levels: list[_Level] = []
        bits = np.uint64(self._rank_bits)
        packed = np.concatenate([np.empty(0, np.uint64), *map(partial(self._listed, keys), _blocks(documents))])
        packed.sort()
        packed = packed[changes(packed)]  # a document has a key once
        current = packed >> bits
        for depth in range(DEPTH + 1):
            level = ranks, buckets, sizes = self._runs(packed)
            if not len(sizes):
                break
            levels.append(level)
            crowded = (sizes > ROOM)[buckets]
            if depth == DEPTH or not crowded.any():
                break
            begins = changes(packed >> bits)
            ends = np.append(begins[1:], True)
            members, current = ranks[crowded], current[~(begins & ends)][crowded]
            for block, before in zip(_blocks(members), _blocks(current), strict=True):
                kernels.next_larger(keys.rows(block), self._rank_bits, before)
            packed = self._packed(_mixed(current << bits, buckets[crowded]), members)
            order = np.argsort(packed)
            order = order[changes(packed[order])]  # nor twice the same where two happen to be cut alike
            packed, current = packed[order], current[order]
        return levels

    def _listed(self, keys: Keys, documents: Positions) -> Words:
        """Pack the keys of these documents; a row of fewer keys repeats its first one."""
        rows = keys.rows(documents)
        listed = rows != rows[:, :1]
        listed[:, :1] = True
        return self._packed(rows[listed], np.repeat(documents, listed.sum(axis=1)))

    def _column(self, keys: Keys, present: Positions, column: int) -> list[_Level]:
        """Find one column's buckets, and the finer ones that its crowded buckets divide into."""
        levels: list[_Level] = []
        members: npt.NDArray[np.integer[Any]] = present
        shared = keys.column(column, present)
        for depth in range(DEPTH + 1):
            packed = self._packed(shared, members)
            packed.sort()
            level = ranks, buckets, sizes = self._runs(packed)
            if not len(sizes):
                break
            levels.append(level)
            crowded = (sizes > ROOM)[buckets]
            if keys.columns == 1 or not crowded.any():
                break
            members = ranks[crowded]
            further = keys.column((column + depth + 1) % keys.columns, members)
            shared = _mixed(further, buckets[crowded])
        return levels

    def _packed(self, shared: Words, members: npt.NDArray[np.integer[Any]]) -> Words:
        """Put the members' ranks in the place of the keys' low bits."""
        below = np.uint64((1 << self._rank_bits) - 1)
        return np.asarray((shared & ~below) | members.astype(np.uint64))

    def _runs(self, packed: Words) -> _Level:
        ranks = np.empty(len(packed), np.int32)
        buckets = np.empty(len(packed), np.int32)
        sizes = np.empty(len(packed) // 2, np.int32)
        count, found = kernels.runs(packed, self._rank_bits, 0, ranks, buckets, sizes)
        return ranks[:count].copy(), buckets[:count].copy(), sizes[:found].copy()  # mostly a small part of the room


def _blocks(documents: Words | AnyPositions) -> Iterator[Any]:
    """Cut an array into parts of at most ``ROWS``, which are written through."""
    return (documents[begin : begin + ROWS] for begin in range(0, len(documents), ROWS))


def changes(values: Words) -> Flags:
    """Mark where sorted *values* begin anew."""
    anew = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=anew[1:])
    return anew


def _mixed(keys: Words, buckets: Ranks) -> Words:
    """Combine a key with the bucket it divides, so that the high bits tell both."""
    return (keys ^ (buckets.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))) * np.uint64(0xD6E8FEB86659FD93)
