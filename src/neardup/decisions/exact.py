"""Documents with the same features, found without comparing pairs."""

from collections.abc import Sequence

import numpy as np

from neardup.kernels.sets import equal_segments
from neardup.model.arrays import Features, Positions, Words


def leaders_by_features(features: Features, sums: Words, order: Positions) -> Positions:
    """Give each document the best-ranked one with the same features, itself if there is no better.

    *features* and their digests *sums* are by position, *order* is the ranking. Answers by rank. Equal
    digests only suggest: whatever is grouped was compared feature by feature. Documents without
    features stay alone. Linear, but for one sort of the digests.
    """
    number = len(order)
    leaders = np.arange(number)
    with_features = np.diff(features.offsets)[order] > 0
    ranks = np.flatnonzero(with_features)
    if len(ranks) < 2:  # noqa: PLR2004 - a pair takes two
        return leaders
    digests = sums[order[ranks]]
    bits = np.uint64(int(number - 1).bit_length())
    below = (np.uint64(1) << bits) - np.uint64(1)
    packed = (digests & ~below) | ranks.astype(np.uint64)
    packed.sort()
    members = (packed & below).astype(np.int64)
    begins = np.concatenate([[True], (packed[1:] >> bits) != (packed[:-1] >> bits)])
    firsts = members[np.flatnonzero(begins)[np.cumsum(begins) - 1]]
    repeats = firsts != members
    left, right = members[repeats], firsts[repeats]
    equal = np.empty(len(left), np.bool_)
    equal_segments(features.values, features.offsets, order[left], order[right], equal)
    leaders[left[equal]] = right[equal]
    return leaders


def leaders_by_content(contents: Sequence[object], ranks: Sequence[int], leaders: Positions) -> None:
    """Group the documents of these *ranks* (ascending) by equal *contents*, into *leaders*, in place.

    A content of ``None`` stays alone.
    """
    first: dict[object, int] = {}
    for content, rank in zip(contents, ranks, strict=True):
        if content is not None:
            leaders[rank] = first.setdefault(content, rank)


def spread(matched: Positions, ranks: Positions, head_of: Positions) -> Positions:
    """Extend what was decided for the heads of groups of equals to all documents; answers ranks by rank.

    ``matched[h]`` is the kept head that head *h* is dropped for, or -1; head *h* has rank
    ``ranks[h]``, and ``head_of[r]`` is the head of rank *r*. The equals of a kept head are dropped for
    it, those of a dropped head for whatever it was dropped for: they match it just as much.
    """
    of_head = matched[head_of]
    own = ranks[head_of]
    equals = own != np.arange(len(head_of))
    return np.where(of_head >= 0, ranks[of_head], np.where(equals, own, -1))
