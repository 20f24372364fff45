"""Candidates that share a key of their signature, in memory."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from neardup.kernels import buckets as kernels
from neardup.kernels import radix
from neardup.model.arrays import AnyPositions, Flags, Positions, Words, run_starts
from neardup.model.candidates import DEPTH, ROOM, Candidates, Ranks, chained
from neardup.model.engine import IN_TURN, Engine

BLOCK = 4096  # documents whose candidates are proposed together
RANGE = 1 << 16  # ranks whose large buckets are arranged together: they fit in the processor's cache
ROWS = 1 << 12  # documents whose keys in all columns are held together
PAIRS = 1 << 20  # candidates proposed together at most
_MEMBERS = 4  # members of a bucket, on average, for each range into which ranks are divided
_SPREAD = 32  # values of the filter for each key of an asking document


class Keys(Protocol):
    """Keys that are computed on request: uint64[n, K], for some documents at a time."""

    @property
    def columns(self) -> int:
        """The number K of columns."""

    def column(self, column: int, documents: AnyPositions) -> Words:
        """Return the keys of these documents in one column."""

    def rows(self, documents: AnyPositions) -> Words:
        """Return all keys of these documents."""


class Column(NamedTuple):
    """The buckets of one column of keys, with their divisions: the members of each bucket, by rank, and the sizes.

    *not_compared* counts the pairs of an asking document that share a key and are not candidates by it.
    """

    members: Ranks
    sizes: Ranks
    not_compared: int

    def within(self, begin: int, end: int) -> "Column":
        """Return the part of the buckets that determines the candidates of the ranks from *begin* to *end*."""
        members, sizes = np.empty(len(self.members), np.int32), np.empty(len(self.sizes), np.int32)
        count, found = kernels.within(self.members, self.sizes, ROOM, begin, end, members, sizes)
        return Column(members[:count].copy(), sizes[:found].copy(), 0)


def column_of(
    keys: Keys, present: Flags, *, column: int = 0, first: int = 0, position_independent: bool = False
) -> Column:
    """Return the buckets of one column of keys; of all columns together if keys are *position_independent*."""
    members = np.flatnonzero(present).astype(np.int32)
    if position_independent:
        blocks = (members[begin : begin + ROWS] for begin in range(0, len(members), ROWS))  # written through
        listed = [_distinct(keys.rows(block), block) for block in blocks]
        shared = np.concatenate([np.empty(0, np.uint64), *(part for part, _ in listed)])
        members = np.concatenate([members[:0], *(part for _, part in listed)])
        shared, members = _asked_for(shared, members, first)
        places, sizes = _shared(shared, members)
        return Column(members[places], sizes, _not_compared(members[places], sizes, first))

    def following(depth: int, members: Ranks) -> Words:
        return keys.column((column + depth) % keys.columns, members)

    return _with_finer(*_asked_for(keys.column(column, members), members, first), following, first)


def proposed(columns: list[Column], begin: int, end: int) -> Iterator[Candidates]:
    """Yield the candidates of the ranks from *begin* to *end*, block by block; this empties the list of *columns*.

    These have what determines them: see ``Column.within``.
    """
    lists = _arranged(columns, begin, end)
    memberships = np.diff(lists[0])
    asking: Ranks = (begin + np.flatnonzero(memberships)).astype(np.int32)
    seen: Ranks = np.full(end, -1, np.int32)
    most = ROOM * int(memberships.max(initial=0))  # one document's candidates always fit
    candidates: Ranks = np.empty(max(PAIRS, most), np.int32)
    bounds: Positions = np.empty(BLOCK + 1, np.int64)
    while len(asking):
        done = kernels.propose(asking[:BLOCK], begin, lists, seen, bounds, candidates)
        yield Candidates(asking[:done], bounds[: done + 1].copy(), candidates[: bounds[done]].copy())
        asking = asking[done:]


def _arranged(columns: list[Column], begin: int, end: int) -> tuple[Positions, Ranks, Positions, Ranks]:
    """Return the buckets of each rank and the members that each bucket lists, each with their bounds."""
    bounds = np.zeros(end - begin + 1, np.int64)
    rooms = [np.empty(len(column.sizes), np.int32) for column in columns]
    for column, listed in zip(columns, rooms, strict=True):
        kernels.count(column.members, column.sizes, ROOM, begin, listed, bounds[:-1])
    np.cumsum(bounds[:-1], out=bounds[:-1])
    bounds[-1] = bounds[-2] if end > begin else 0
    entry_bounds: Positions = np.concatenate([[0], np.cumsum(np.concatenate([*rooms, bounds[:0]]), dtype=np.int64)])
    memberships, entries = np.empty(bounds[-1], np.int32), np.empty(entry_bounds[-1], np.int32)
    first = len(entry_bounds) - 1
    while columns:
        column = columns.pop()
        first -= len(column.sizes)
        kernels.arrange(column.members, column.sizes, first, begin, bounds[:-1], memberships, entry_bounds, entries)
    return bounds, memberships, entry_bounds, entries


class Buckets:
    """The candidates of every document by the canonical rule, in memory; see ``neardup.model.candidates``.

    Row *i* of the *keys* is the document of rank *i*. Only *present* documents are members. *position_independent* keys
    count in any column. Only members from rank *first* on ask. ``not_compared`` counts the pairs of an asking document
    that share a key and are not candidates by it; they may be candidates by another key.
    """

    def __init__(
        self,
        keys: Keys,
        present: Flags,
        *,
        first: int = 0,
        position_independent: bool = False,
        engine: Engine = IN_TURN,
    ) -> None:
        def find(column: int) -> Column:
            return column_of(keys, present, column=column, first=first, position_independent=position_independent)

        self._first, self._end = first, len(present)
        self._columns = list(engine.map(find, range(1 if position_independent else keys.columns)))
        self.not_compared = sum(column.not_compared for column in self._columns)

    def proposed(self) -> Iterator[Candidates]:
        """Yield the candidates of all documents that share a key with a better one, block by block; once.

        Where buckets are large, the ranks are divided into ranges. Each range looks at all buckets, so this would take
        longer where these are small.
        """
        columns, self._columns = self._columns, []
        members, buckets = sum(len(one.members) for one in columns), sum(len(one.sizes) for one in columns)
        number = min(-(-(self._end - self._first) // RANGE), members // (_MEMBERS * max(buckets, 1)))
        if number <= 1:
            yield from proposed(columns, self._first, self._end)
            return
        for begin, end in pairwise(np.linspace(self._first, self._end, number + 1).astype(int).tolist()):
            yield from proposed([column.within(begin, end) for column in columns], begin, end)


def _asked_for(keys: Words, members: Ranks, first: int) -> tuple[Words, Ranks]:
    """Remove most keys that no asking document has, and their members."""
    if not first:
        return keys, members
    asking = int((members >= first).sum())
    left: tuple[Words, Ranks] = kernels.asked_for(keys, members, first, max(6, (_SPREAD * asking).bit_length()))
    return left


def _not_compared(members: Ranks, sizes: Ranks, first: int) -> int:
    """Count the pairs of an asking document in buckets that are not candidates by them."""
    if not first:
        return _passed_over(sizes)
    ends = np.cumsum(sizes)
    before = np.concatenate([[0], np.cumsum(members < first)])
    return _passed_over(sizes) - _passed_over(before[ends] - before[ends - sizes])


def _passed_over(sizes: AnyPositions) -> int:
    """Count the pairs of buckets of these sizes that are not candidates."""
    past = np.maximum(sizes.astype(np.int64) - ROOM, 0)
    return int((past * (past - 1) // 2).sum())


def _with_finer(shared: Words, members: Ranks, following: Callable[[int, Ranks], Words], first: int) -> Column:
    """Find the buckets of keys, and the divisions of oversized buckets.

    Member *i* has the key ``shared[i]``, and *following* returns the keys of members in a later column. A division that
    has all members of its bucket proposes no more candidates, and is omitted.
    """
    found: list[tuple[Ranks, Ranks]] = [(members[:0], members[:0])]
    not_compared = 0
    parents = np.zeros(len(shared), np.int32)  # the sizes of the buckets that the members were in
    for depth in range(DEPTH + 1):
        places, sizes = _shared(shared, members[:0])
        if not len(sizes):
            break
        inside = np.repeat(sizes, sizes)
        finer = sizes != parents[places[np.cumsum(sizes) - 1]]
        taken = slice(None) if finer.all() else np.repeat(finer, sizes)
        found.append((members[places[taken]], sizes[finer]))
        if depth == 0:
            not_compared = _not_compared(*found[1], first)
        places, parents = places[inside > ROOM], inside[inside > ROOM]
        if depth == DEPTH or not len(places):
            break
        members = members[places]
        shared = chained(shared[places], following(depth + 1, members))
    own, sizes = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Column(own, sizes, not_compared)


def _shared(keys: Words, members: Ranks) -> tuple[Ranks, Ranks]:
    """Find the keys of several documents: the places of the members of each key, ascending, and their numbers.

    *members* are the documents of the keys if a document may have a key several times, otherwise empty.
    """
    bits = max(1, (len(keys) - 1).bit_length())
    packed, _ = radix.sort(kernels.repeated(keys, bits), radix.NO_PLACES, bits)
    places, sizes = np.empty(len(keys), np.int32), np.empty(len(keys) // 2, np.int32)
    count, found, equal = kernels.runs(packed, bits, keys, members, places, sizes)
    if equal:
        return places[:count].copy(), sizes[:found].copy()  # mostly a small part of the room
    order = np.lexsort((np.arange(len(keys)), keys))  # keys that are equal only in their first bits
    if len(members):
        order = order[run_starts(keys[order]) | run_starts(members[order])]
    begins = np.flatnonzero(run_starts(keys[order]))
    sizes = np.diff(np.append(begins, len(order))).astype(np.int32)
    return order[np.repeat(sizes > 1, sizes)].astype(np.int32), sizes[sizes > 1]


def _distinct(rows: Words, documents: Ranks) -> tuple[Words, Ranks]:
    """List the keys of documents, and the document of each; a row with fewer keys repeats its first key."""
    listed = rows != rows[:, :1]
    listed[:, :1] = True
    return rows[listed], np.repeat(documents, listed.sum(axis=1))
