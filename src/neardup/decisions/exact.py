"""Equal documents, found without comparing all pairs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from secrets import token_bytes
from typing import Final, Self

import numpy as np

from neardup.kernels.checksum import add_field
from neardup.kernels.sets import equal_ranges
from neardup.model.arrays import Features, Flags, Positions, TextBatch, Words

ROUNDS: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class Heads:
    """The leaders: the best-ranked document of each group of equals. Only these are compared.

    ``ranks`` and ``positions`` are those of the leaders, best first; ``of`` maps every rank to the number of its
    leader.
    """

    ranks: Positions
    positions: Positions
    of: Positions

    @classmethod
    def of_leaders(cls, leaders: Positions, order: Positions) -> Self:
        """Return the number of each leader, from best to worst."""
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
        begins = np.concatenate([[True], (packed[1:] >> bits) != (packed[:-1] >> bits)])
        firsts = members[np.flatnonzero(begins)[np.cumsum(begins) - 1]]
        repeats = firsts != members
        left, right = members[repeats], firsts[repeats]
        holds = equal(left, right)
        leaders[left[holds]] = right[holds]
        again = np.sort(left[~holds])
        digests = digests[np.searchsorted(ranks, again)]
        ranks = again


def leaders_by_features(features: Features, sums: Words, order: Positions) -> Positions:
    """Return, by rank, the best-ranked document with the same features, which may be the document itself.

    *features* and their digests *sums* are by position, *order* is the ranking. Documents without features are alone.
    """
    leaders = np.arange(len(order))
    starts, ends = features.offsets[order], features.offsets[order + 1]

    def equal(left: Positions, right: Positions) -> Flags:
        holds = np.empty(len(left), np.bool_)
        equal_ranges(features.values, starts, ends, features.values, starts, ends, left, right, holds)
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


def count_repeats(contents: TextBatch) -> int:
    """Return how many contents occur earlier in the batch, including empty ones."""
    key = np.frombuffer(token_bytes(16), np.uint64)  # a new key each time, so that equal digests cannot be crafted
    starts, ends = contents.offsets[:-1], contents.offsets[1:]
    sums = np.zeros(len(contents), np.uint64)
    add_field(contents.data, contents.offsets, ends, key, sums)

    def equal(left: Positions, right: Positions) -> Flags:
        holds = np.empty(len(left), np.bool_)
        equal_ranges(contents.data, starts, ends, contents.data, starts, ends, left, right, holds)
        return holds

    leaders = np.arange(len(contents))
    leaders_by_digest(sums, np.arange(len(contents)), equal, leaders)
    return int((leaders != np.arange(len(contents))).sum())


def spread(matched: Positions, ranks: Positions, head_of: Positions) -> Positions:
    """Extend the decisions on the leaders of groups of equal documents to all documents; by rank.

    ``matched[h]`` is the kept leader that leader *h* is dropped for, or -1; leader *h* has rank ``ranks[h]``, and
    ``head_of[r]`` is the leader of rank *r*. The equals of a kept leader are dropped for it, those of a dropped leader
    for the same document as the leader, which they match as well.
    """
    of_head = matched[head_of]
    own = ranks[head_of]
    equals = own != np.arange(len(head_of))
    return np.where(of_head >= 0, ranks[of_head], np.where(equals, own, -1))
