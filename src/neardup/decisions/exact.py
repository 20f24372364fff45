"""Equal documents, found without comparing all pairs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from secrets import token_bytes
from typing import Final, Self

import numpy as np

from neardup.kernels.checksum import add_field
from neardup.kernels.sets import equal_ranges
from neardup.model.arrays import Features, Flags, Positions, TextBatch, Words, run_starts
from neardup.model.engine import IN_TURN, Engine, in_parts

ROUNDS: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class Leaders:
    """The leaders: the best-ranked document of each group of equals. Only these are compared.

    ``ranks`` and ``positions`` are those of the leaders, best first; ``of`` maps every rank to the number of its
    leader.
    """

    ranks: Positions
    positions: Positions
    of: Positions

    @classmethod
    def by_rank(cls, leaders: Positions, order: Positions) -> Self:
        """Return the leaders of ranked documents: *order* has their positions, *leaders* the ranks of their leaders."""
        leads = leaders == np.arange(len(leaders))
        ranks = np.flatnonzero(leads)
        numbers = np.cumsum(leads) - 1
        return cls(ranks, order[ranks], numbers[leaders])


def leaders_by_digest(
    digests: Words, ranks: Positions, equal: Callable[[Positions, Positions], Flags], leaders: Positions
) -> None:
    """Group the documents of these *ranks* (ascending) that are equal, into *leaders*, in place.

    *digests* are those of the ranks. Equal digests do not prove equality: *equal* compares ranks pair by pair. The
    leader of a document is the best-ranked document that it equals. Documents that only share a (shortened) digest with
    another one are grouped among themselves, at most ``ROUNDS`` times: documents crafted to share digests may remain
    ungrouped. The time is linear, except for a sort.
    """
    for _ in range(ROUNDS):
        if len(ranks) < 2:  # noqa: PLR2004 - a pair takes two
            return
        bits = np.uint64(int(ranks[-1]).bit_length())
        below = (np.uint64(1) << bits) - np.uint64(1)
        packed = (digests & ~below) | ranks.astype(np.uint64)
        packed.sort()
        members = (packed & below).astype(np.int64)
        begins = run_starts(packed >> bits)
        firsts = members[np.flatnonzero(begins)[np.cumsum(begins) - 1]]
        repeats = firsts != members
        left, right = members[repeats], firsts[repeats]
        holds = equal(left, right)
        leaders[left[holds]] = right[holds]
        again = np.sort(left[~holds])
        digests = digests[np.searchsorted(ranks, again)]
        ranks = again


def leaders_by_features(features: Features, sums: Words, order: Positions, engine: Engine = IN_TURN) -> Positions:
    """Return, by rank, the best-ranked document with the same features, which may be the document itself.

    *features* and their digests *sums* are by position, *order* is the ranking. Documents without features are alone.
    """
    leaders = np.arange(len(order))
    starts, ends = features.offsets[order], features.offsets[order + 1]

    def equal(left: Positions, right: Positions) -> Flags:
        holds = np.empty(len(left), np.bool_)
        own = features.values, starts, ends

        def compare(part: slice) -> None:
            equal_ranges(*own, *own, left[part], right[part], holds[part])

        in_parts(engine, compare, len(left))
        return holds

    ranks = np.flatnonzero(ends > starts)
    leaders_by_digest(sums[order[ranks]], ranks, equal, leaders)
    return leaders


def leaders_by_content(contents: Sequence[object], ranks: Sequence[int], leaders: Positions) -> None:
    """Group the documents of these *ranks* (ascending) by equal *contents*, into *leaders*, in place.

    A document with the content ``None`` is alone.
    """
    first: dict[object, int] = {}
    for content, rank in zip(contents, ranks, strict=True):
        if content is not None:
            leaders[rank] = first.setdefault(content, rank)


def leaders_by_key(digests: Words, ranks: Positions) -> Positions:
    """Return the best rank with the same digest of 128 bits, uint64[n, 2]; other than these *ranks* are alone."""
    leaders = np.arange(len(digests))

    def equal(left: Positions, right: Positions) -> Flags:
        return np.asarray((digests[left] == digests[right]).all(axis=1))

    leaders_by_digest(digests[ranks, 0], ranks, equal, leaders)
    return leaders


def repeats(digests: Words) -> Flags:
    """Return which digests of 128 bits, uint64[n, 2], are those of an earlier row."""
    every = np.arange(len(digests))
    return np.asarray(leaders_by_key(digests, every) != every)


def count_repeats(batches: Iterable[TextBatch]) -> int:
    """Return how many contents occur earlier in the batches, including empty ones, by digests of 128 bits."""
    keys = np.frombuffer(token_bytes(32), np.uint64).reshape(2, 2)  # new each time: equal digests cannot be crafted
    parts = [np.empty((2, 0), np.uint64)]
    for batch in batches:
        parts.append(np.zeros((2, len(batch)), np.uint64))
        for column, key in zip(parts[-1], keys, strict=True):
            add_field(batch.data, batch.offsets, batch.offsets[1:], key, column)
    return int(repeats(np.concatenate(parts, axis=1).T).sum())


def spread(matched: Positions, ranks: Positions, leader_of: Positions) -> Positions:
    """Extend the decisions on the leaders of groups of equal documents to all documents; by rank.

    ``matched[h]`` is the kept leader that leader *h* is dropped for, or -1; leader *h* has rank ``ranks[h]``, and
    ``leader_of[r]`` is the leader of rank *r*. The equals of a kept leader are dropped for it, those of a dropped
    leader for the same document as the leader, which they match as well.
    """
    of_leader = matched[leader_of]
    own = ranks[leader_of]
    equals = own != np.arange(len(leader_of))
    return np.where(of_leader >= 0, ranks[of_leader], np.where(equals, own, -1))
