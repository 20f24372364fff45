"""Charikar's fingerprints (2002); without weights by vertical counters: one word operation counts for 64 bits.

Word *j* of a feature's hash is the feature itself for j = 0, and ``mix(value + j * SPREAD mod 2**64)`` for
the others (``mix`` and ``SPREAD`` are those of ``neardup.kernels.shingles``, whose hashes are well
mixed already). Bit *i* of a fingerprint is bit ``i % 64`` of word ``i // 64``. It is 1 if and only if the
features whose hash has that bit carry more than half of the document's total weight; a tie gives 0.

Without weights, the count of a bit is spread over planes: bit *i* of plane *k* is bit *k* of the count of bit *i*.
Words are added 16 at a time by full adders, a Harley-Seal tree. The carry of a group waits, one word per plane, for
the carry of the next group, so that all higher planes together cost one full adder per group.
"""

import numpy as np

from neardup.kernels.compile import kernel, njit, ones
from neardup.kernels.shingles import SPREAD, mix
from neardup.kernels.weights import weigh

GROUP = 16  # words that one tree of full adders takes
BLOCK = 256  # hashes made at a time; they stay in the processor's first-level cache

_GROUP_PLANES = 4  # planes that a group adds to directly
_PLANES = 64  # a document's total weight is below 2**63
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_NONE = np.int64(0)  # a plain 0 would be compiled for by itself
_SPREAD = np.uint64(SPREAD)


@njit
def _add(one, other, third):
    """Add three bits in each of 64 columns: the sum's low bit, and its carry."""
    differ = one ^ other
    return differ ^ third, (one & other) | (differ & third)


@njit
def _count(words, groups, planes, waiting, turn):
    """Add *groups* groups of 16 words to the planes; *turn* groups were added before.

    ``waiting[k]`` is a carry not yet added to plane *k*; it holds one exactly where *turn* has bit
    ``k - 4``.
    """
    plane0, plane1, plane2, plane3 = planes[0], planes[1], planes[2], planes[3]
    for group in range(groups):
        w = words[group * GROUP : (group + 1) * GROUP]
        plane0, two0 = _add(plane0, w[0], w[1])
        plane0, two1 = _add(plane0, w[2], w[3])
        plane1, four0 = _add(plane1, two0, two1)
        plane0, two0 = _add(plane0, w[4], w[5])
        plane0, two1 = _add(plane0, w[6], w[7])
        plane1, four1 = _add(plane1, two0, two1)
        plane2, eight0 = _add(plane2, four0, four1)
        plane0, two0 = _add(plane0, w[8], w[9])
        plane0, two1 = _add(plane0, w[10], w[11])
        plane1, four0 = _add(plane1, two0, two1)
        plane0, two0 = _add(plane0, w[12], w[13])
        plane0, two1 = _add(plane0, w[14], w[15])
        plane1, four1 = _add(plane1, two0, two1)
        plane2, eight1 = _add(plane2, four0, four1)
        plane3, carry = _add(plane3, eight0, eight1)
        plane = _GROUP_PLANES
        passed = turn + group
        while passed & 1:
            planes[plane], carry = _add(planes[plane], waiting[plane], carry)
            waiting[plane] = _ZERO
            plane += 1
            passed >>= 1
        waiting[plane] = carry
    planes[0], planes[1], planes[2], planes[3] = plane0, plane1, plane2, plane3


@njit
def _settle(planes, waiting, turn):
    """Add the waiting carries after *turn* groups to the planes; returns the number of planes that may not be zero."""
    plane = _GROUP_PLANES
    carry = _ZERO
    while turn > 0:
        planes[plane], carry = _add(planes[plane], waiting[plane], carry)
        waiting[plane] = _ZERO
        plane += 1
        turn >>= 1
    planes[plane] = carry
    return plane + 1


@njit
def _majority(planes, total):
    """Find the columns where the count is more than half of *total*, comparing from the highest plane down."""
    half = np.uint64(total) >> _ONE  # an integer is more than total / 2 where it is more than this
    more = _ZERO
    same = ~_ZERO
    for plane in range(planes.size - 1, -1, -1):
        if (half >> np.uint64(plane)) & _ONE:
            same &= planes[plane]
        else:
            more |= same & planes[plane]
            same &= ~planes[plane]
    return more


@njit
def _hash(values, place, hashes):
    """Write word *place* of each value's hash, then zeros up to a whole group, which do not change the sum.

    Returns the number of groups.
    """
    if place == 0:
        for i in range(values.size):
            hashes[i] = values[i]
    else:
        step = np.uint64(place) * _SPREAD
        for i in range(values.size):
            hashes[i] = mix(values[i] + step)
    groups = (values.size + GROUP - 1) // GROUP
    hashes[values.size : groups * GROUP] = _ZERO
    return groups


@kernel
def fingerprints(values, starts, ends, rows):
    """Fill one row of *rows* (uint64, one column per 64 bits) per document.

    Document *d* has the features ``values[starts[d]:ends[d]]`` (uint64), each of weight 1; repeats
    count. The row of a document without features is zero.
    """
    hashes = np.empty(BLOCK, np.uint64)
    planes = np.zeros(_PLANES, np.uint64)
    waiting = np.zeros(_PLANES, np.uint64)
    for document in range(starts.size):
        features = values[starts[document] : ends[document]]
        for place in range(rows.shape[1]):
            turn = _NONE
            for begin in range(0, features.size, BLOCK):
                groups = _hash(features[begin : begin + BLOCK], place, hashes)
                _count(hashes, groups, planes, waiting, turn)
                turn += groups
            used = _settle(planes, waiting, turn)
            rows[document, place] = _majority(planes[:used], features.size)
            planes[:used] = _ZERO


@kernel
def weighted_fingerprints(values, starts, ends, terms, bounds, units, otherwise, rows):
    """As ``fingerprints``, but each occurrence of a feature has the weight that ``weigh`` looks up in a table.

    The weights of each bit are summed, in a loop over all bits without a branch.
    """
    longest = 0
    for document in range(starts.size):
        longest = max(longest, ends[document] - starts[document])
    weights = np.empty(longest, np.uint32)
    sums = np.empty(64, np.uint64)
    for document in range(starts.size):
        features = values[starts[document] : ends[document]]
        weigh(features, terms, bounds, units, otherwise, weights)
        for place in range(rows.shape[1]):
            step = np.uint64(place) * _SPREAD
            sums[:] = _ZERO
            total = _ZERO
            for i in range(features.size):
                word = features[i] if place == 0 else mix(features[i] + step)
                weight = np.uint64(weights[i])
                total += weight
                for bit in range(64):
                    sums[bit] += weight & (_ZERO - ((word >> np.uint64(bit)) & _ONE))
            row = _ZERO
            for bit in range(64):
                row |= np.uint64(sums[bit] > total >> _ONE) << np.uint64(bit)
            rows[document, place] = row


@kernel
def distances(left, right, left_rows, right_rows, counts):
    """Count the bits in which ``left[left_rows[i]]`` and ``right[right_rows[i]]`` differ, into *counts* (int64)."""
    for pair in range(left_rows.size):
        one = left[left_rows[pair]]
        other = right[right_rows[pair]]
        differing = _ZERO
        for place in range(one.size):
            differing += ones(one[place] ^ other[place])
        counts[pair] = np.int64(differing)


@kernel
def block_keys(rows, masks, keys):
    """Hash the bits of each row that each mask chooses to ``keys[:, m]`` (uint64).

    ``h = m + 1``, then for each word *w* of the row ``h = mix(h * SPREAD + (word & masks[m, w])) mod 2**64``:
    injective if a row has one word.
    """
    for row in range(rows.shape[0]):
        for table in range(masks.shape[0]):
            key = np.uint64(table + 1)
            for place in range(rows.shape[1]):
                key = mix(key * _SPREAD + (rows[row, place] & masks[table, place]))
            keys[row, table] = key
