"""Candidates that share a key of their signature, in memory."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from neardup.kernels import buckets as kernels
from neardup.model.arrays import AnyPositions, Flags, Positions, Words
from neardup.model.candidates import DEPTH, ROOM, chained

BLOCK = 2048  # documents whose candidates are proposed together
ROWS = 1 << 12  # documents whose keys in all columns are held together
PAIRS = 1 << 20  # candidates proposed together at most
_SPREAD = 8  # values of the filter for each key of an asking document

Ranks = npt.NDArray[np.int32]


class Keys(Protocol):
    """Keys that are made when they are asked for: uint64[n, K], for some documents at a time."""

    @property
    def columns(self) -> int:
        """The number K of columns."""

    def column(self, column: int, documents: AnyPositions) -> Words:
        """Return the keys of these documents in one column."""

    def rows(self, documents: AnyPositions) -> Words:
        """Return all keys of these documents."""


class _Matrix:
    """Keys that are all in memory."""

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
        """The asking rank of each candidate."""
        return np.repeat(self.asking, np.diff(self.bounds))

    def where(self, holds: npt.NDArray[np.bool_]) -> "Proposal":
        """Keep the candidates that *holds* marks."""
        kept = np.concatenate([[0], np.cumsum(holds)])
        return Proposal(self.asking, kept[self.bounds], self.candidates[holds])


class _Level(NamedTuple):
    """Buckets of one depth: the members of each in turn, by rank, and the sizes; *whole* ones divide no other."""

    members: Ranks
    sizes: Ranks
    whole: bool


class Buckets:
    """The candidates of every document by the canonical rule, in memory; see ``neardup.model.candidates``.

    ``keys`` is uint64[n, K], row *i* the document of rank *i*, or what makes parts of it. Those that are *present* are
    members. *pooled* keys count in any column. Only members from the rank *first* on ask for candidates.
    ``not_compared`` counts the pairs of an asking document that share a key and are not candidates by it; they may be
    candidates by another key.
    """

    def __init__(
        self,
        keys: Words | Keys,
        present: npt.NDArray[np.bool_],
        *,
        first: int = 0,
        pooled: bool = False,
        map: _Map = map,  # noqa: A002 - what it is
    ) -> None:
        self._keys: Keys = _Matrix(keys) if isinstance(keys, np.ndarray) else keys
        self._first = first
        self.not_compared = 0
        documents = np.flatnonzero(present).astype(np.int32)
        parts = (
            map(self._pooled, [documents])
            if pooled
            else map(partial(self._column, documents), range(self._keys.columns))
        )
        self._arrange([level for part in parts for level in part], len(present))
        memberships = np.diff(self._member_bounds)
        self._asking: Ranks = (first + np.flatnonzero(memberships[first:])).astype(np.int32)
        self._asked = 0
        self._seen: Ranks = np.full(len(present), -1, np.int32)
        most = ROOM * int(memberships.max(initial=0))  # one document's candidates always fit
        self._candidates: Ranks = np.empty(max(PAIRS, most), np.int32)
        self._bounds: Positions = np.empty(BLOCK + 1, np.int64)

    def propose(self) -> Proposal | None:
        """Return the candidates of the next block of documents that share a key with a better one; ``None`` at last."""
        asking = self._asking[self._asked : self._asked + BLOCK]
        if not len(asking):
            return None
        done = kernels.propose(
            asking,
            self._member_bounds,
            self._memberships,
            self._entry_bounds,
            self._entries,
            self._seen,
            self._bounds,
            self._candidates,
        )
        self._asked += done
        bounds = self._bounds[: done + 1].copy()
        return Proposal(asking[:done], bounds, self._candidates[: bounds[done]].copy())

    def _arrange(self, levels: list[_Level], number: int) -> None:
        """Lay out what each bucket lists, and the buckets of each rank; the levels are used up."""
        for level in levels:
            if level.whole:
                self.not_compared += _passed_over(level.sizes) - _passed_over(self._silent(level))
        bounds = np.zeros(number + 1, np.int64)
        rooms = [np.empty(len(level.sizes), np.int32) for level in levels]
        for level, listed in zip(levels, rooms, strict=True):
            kernels.count(level.members, level.sizes, ROOM, listed, bounds[:-1])
        np.cumsum(bounds[:-1], out=bounds[:-1])
        bounds[-1] = bounds[-2] if number else 0
        entry_bounds: Positions = np.concatenate([[0], np.cumsum(np.concatenate([*rooms, bounds[:0]]), dtype=np.int64)])
        memberships = np.empty(bounds[-1], np.int32)
        entries = np.empty(entry_bounds[-1], np.int32)
        first = len(entry_bounds) - 1
        while levels:
            level = levels.pop()
            first -= len(level.sizes)
            kernels.arrange(level.members, level.sizes, first, bounds[:-1], memberships, entry_bounds, entries)
        self._member_bounds, self._memberships = bounds, memberships
        self._entry_bounds, self._entries = entry_bounds, entries

    def _silent(self, level: _Level) -> Ranks:
        """Return how many members of each bucket do not ask."""
        if not self._first:
            return level.sizes[:0]
        ends = np.cumsum(level.sizes)
        before = np.concatenate([[0], np.cumsum(level.members < self._first)])
        silent: Ranks = (before[ends] - before[ends - level.sizes]).astype(np.int32)
        return silent

    def _column(self, documents: Ranks, column: int) -> list[_Level]:
        """Find the buckets of one column, and the finer ones that its oversized buckets divide into."""
        keys = self._keys

        def following(depth: int, members: Ranks) -> Words:
            return keys.column((column + depth) % keys.columns, members)

        shared = keys.column(column, documents)
        shared, documents = self._asked_for(shared, documents)
        return _levels(shared, documents, following)

    def _asked_for(self, keys: Words, members: Ranks) -> tuple[Words, Ranks]:
        """Leave out keys that no asking document has, and whose they are; a few of them may stay."""
        if not self._first:
            return keys, members
        asking = members >= self._first
        below = np.uint64((1 << (_SPREAD * max(1, int(asking.sum()))).bit_length()) - 1)
        seen = np.zeros(int(below) + 1, np.bool_)
        seen[keys[asking] & below] = True
        chosen = seen[keys & below]
        return keys[chosen], members[chosen]

    def _pooled(self, documents: Ranks) -> list[_Level]:
        """Find the buckets of all columns together."""
        blocks = (documents[begin : begin + ROWS] for begin in range(0, len(documents), ROWS))  # written through
        listed = [_distinct(self._keys.rows(block), block) for block in blocks]
        own = np.concatenate([np.empty(0, np.uint64), *(part for part, _ in listed)])
        members = np.concatenate([documents[:0], *(part for _, part in listed)])
        own, members = self._asked_for(own, members)
        places, sizes = _shared(own, members)
        return [_Level(members[places], sizes, whole=True)]


def _passed_over(sizes: Ranks) -> int:
    """Count the pairs of buckets of these sizes that are not candidates."""
    past = np.maximum(sizes.astype(np.int64) - ROOM, 0)
    return int((past * (past - 1) // 2).sum())


def _levels(shared: Words, members: Ranks, following: Callable[[int, Ranks], Words]) -> list[_Level]:
    """Find the buckets of some keys, and the finer ones that oversized buckets divide into.

    Member *i* has the key ``shared[i]``, and *following* gives the keys of members in a later column. A finer bucket of
    all members of the one that it divides proposes nothing more, and is left out.
    """
    levels: list[_Level] = []
    parents = np.zeros(len(shared), np.int32)  # the sizes of the buckets that the members were in
    for depth in range(DEPTH + 1):
        places, sizes = _shared(shared, members[:0])
        if not len(sizes):
            break
        inside = np.repeat(sizes, sizes)
        finer = sizes != parents[places[np.cumsum(sizes) - 1]]
        taken = slice(None) if finer.all() else np.repeat(finer, sizes)
        levels.append(_Level(members[places[taken]], sizes[finer], whole=depth == 0))
        places, parents = places[inside > ROOM], inside[inside > ROOM]
        if depth == DEPTH or not len(places):
            break
        members = members[places]
        shared = chained(shared[places], following(depth + 1, members))
    return levels


def _shared(keys: Words, members: Ranks) -> tuple[Ranks, Ranks]:
    """Find the keys that several documents have: the places of each one's members, ascending, and how many these are.

    *members* are the documents of the keys, if a document may have a key several times, otherwise empty.
    """
    bits = max(1, (len(keys) - 1).bit_length())
    packed = keys & ~np.uint64((1 << bits) - 1)
    packed |= np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    places, sizes = np.empty(len(keys), np.int32), np.empty(len(keys) // 2, np.int32)
    count, found, equal = kernels.runs(packed, bits, keys, members, places, sizes)
    if equal:
        return places[:count].copy(), sizes[:found].copy()  # mostly a small part of the room
    order = np.lexsort((np.arange(len(keys)), keys))  # keys that are equal only in their first bits
    if len(members):
        order = order[changes(keys[order]) | changes(members[order])]
    begins = np.flatnonzero(changes(keys[order]))
    sizes = np.diff(np.append(begins, len(order))).astype(np.int32)
    return order[np.repeat(sizes > 1, sizes)].astype(np.int32), sizes[sizes > 1]


def _distinct(rows: Words, documents: Ranks) -> tuple[Words, Ranks]:
    """List the keys of some documents, and whose they are; a row of fewer keys repeats its first one."""
    listed = rows != rows[:, :1]
    listed[:, :1] = True
    return rows[listed], np.repeat(documents, listed.sum(axis=1))


def changes(values: npt.NDArray[np.integer[Any]]) -> Flags:
    """Mark the first one of each run of equal values in sorted *values*."""
    anew = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=anew[1:])
    return anew
