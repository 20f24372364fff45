"""Stretches that two token sequences share."""

import numpy as np

from neardup.kernels.ascending import first_from
from neardup.kernels.compile import kernel, njit
from neardup.kernels.sets import numbered_place, places_for

TRIES = 8  # occurrences of a shingle that are tried: those nearest to the continuation of the last passage


@njit
def _occurrences(shingles):
    """Group equal shingles: the table's keys and groups, the groups' bounds, and the positions, ascending."""
    keys = np.empty(places_for(shingles.size), np.uint64)
    groups = np.full(keys.size, -1, np.int64)
    group_of = np.empty(shingles.size, np.int64)
    bounds = np.zeros(shingles.size + 1, np.int64)
    number = 0
    for position in range(shingles.size):
        place = numbered_place(shingles[position], keys, groups)
        if groups[place] < 0:
            keys[place] = shingles[position]
            groups[place] = number
            number += 1
        group_of[position] = groups[place]
        bounds[groups[place] + 1] += 1
    for group in range(number):
        bounds[group + 1] += bounds[group]
    free = bounds[: number + 1].copy()
    positions = np.empty(shingles.size, np.int64)
    for position in range(shingles.size):
        positions[free[group_of[position]]] = position
        free[group_of[position]] += 1
    return keys, groups, bounds, positions


@kernel
def passages(left, right, left_shingles, right_shingles, least, found):
    """Find stretches of at least *least* tokens that are in both sequences (uint64), from the left of *left*.

    The shingle arrays hold one hash (uint64) for every *least* consecutive tokens, in order. At each
    token of *left* that no passage covers, at most ``TRIES`` occurrences of its shingle in *right* are
    tried: those nearest to the continuation of the last passage. The longest one is taken (of equal ones, the nearest),
    and the search continues after it. So passages are disjoint in *left*, in order, and end only where the sequences
    differ or one ends. In *right* they may be anywhere and may overlap, because text can be moved and repeated.

    Row *p* of *found* (int64, ``left.size // least`` rows) becomes ``(begin, end)`` in *left* and
    ``(begin, end)`` in *right*. Returns the number of passages, and of steps, which is at most
    ``(TRIES + 1) * (left.size + 1)``: a rejected try is not longer than the chosen passage. (A step is a
    comparison of two tokens or a table lookup; finding the nearest occurrence takes logarithmic time.)
    """
    keys, groups, bounds, positions = _occurrences(right_shingles)
    count = 0
    steps = 0
    begin = 0
    ahead = 0  # what is to add to a position in left for the one opposite
    while begin < left_shingles.size:
        steps += 1
        group = groups[numbered_place(left_shingles[begin], keys, groups)]
        longest = 0
        chosen = 0
        if group >= 0:
            low, high = bounds[group], bounds[group + 1]
            opposite = begin + ahead
            near = first_from(positions, low, high, opposite)
            first = max(low, min(near - TRIES // 2, high - TRIES))
            for occurrence in range(first, min(high, first + TRIES)):
                start = positions[occurrence]
                most = min(left.size - begin, right.size - start)
                length = 0
                while length < most and left[begin + length] == right[start + length]:
                    length += 1
                steps += length + 1
                nearer = abs(start - opposite) < abs(chosen - opposite)
                if length > longest or (length == longest and nearer):
                    longest = length
                    chosen = start
        if longest < least:  # no shingle, or another one of the same hash
            begin += 1
            continue
        found[count, 0] = begin
        found[count, 1] = begin + longest
        found[count, 2] = chosen
        found[count, 3] = chosen + longest
        count += 1
        ahead = chosen - begin
        begin += longest
    return count, steps
