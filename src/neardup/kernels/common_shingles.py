"""Blocks of text that many documents share: which documents count as different, and features left out.

Documents are ragged sets: document *d* has the features ``values[bounds[d]:bounds[d + 1]]`` (uint64), ascending and
distinct.
"""

import numpy as np

from neardup.kernels.ascending import common, prefix_shift, sort_distinct
from neardup.kernels.compile import kernel, njit
from neardup.kernels.shingles import SPREAD, mix
from neardup.kernels.weights import place_of

ROOM = 8  # counted documents of a bucket that later ones are compared with
NEAREST = 4  # of these

_SPREAD = np.uint64(SPREAD)


@kernel
def sort_sets(values, bounds):
    """Sort each document's features and remove repeats, in place; update *bounds*. Returns the number of features."""
    count = 0
    begin = bounds[0]
    for document in range(bounds.size - 1):
        own = values[begin : bounds[document + 1]]
        left = sort_distinct(own)
        begin = bounds[document + 1]
        bounds[document] = count
        for i in range(left):
            values[count] = own[i]
            count += 1
    bounds[bounds.size - 1] = count
    return count


@njit
def _apart(document, nearest, values, bounds, places):
    """Count the features of a document that no *nearest* has, and those of all *nearest* that it lacks."""
    alone = 0
    lacking = 0
    own, end = bounds[document], bounds[document + 1]
    for i in range(nearest.size):
        places[i] = bounds[nearest[i]]
    while True:
        any_left = own < end
        lowest = values[own] if any_left else np.uint64(0)
        for i in range(nearest.size):
            if places[i] < bounds[nearest[i] + 1]:
                value = values[places[i]]
                lowest = min(lowest, value) if any_left else value
                any_left = True
        if not any_left:
            return alone, lacking
        having = 0
        for i in range(nearest.size):
            if places[i] < bounds[nearest[i] + 1] and values[places[i]] == lowest:
                places[i] += 1
                having += 1
        if own < end and values[own] == lowest:
            own += 1
            alone += having == 0
        else:
            lacking += having == nearest.size


@njit
def _insert(candidate, shared, union, number, nearest, shares, unions):
    """Insert a neighbour by descending resemblance (compared exactly), ties by position; returns their number."""
    place = number
    while place > 0:
        one, other = shared * unions[place - 1], shares[place - 1] * union
        if one < other or (one == other and nearest[place - 1] < candidate):
            break
        place -= 1
    if place == nearest.size:
        return number
    last = min(number, nearest.size - 1)
    for i in range(last, place, -1):
        nearest[i], shares[i], unions[i] = nearest[i - 1], shares[i - 1], unions[i - 1]
    nearest[place], shares[place], unions[place] = candidate, shared, union
    return last + 1


@kernel
def count_once(values, bounds, meetings, buckets, least, counted):
    """Mark the documents that count, in the given order: those that are not versions of a document that counts.

    *meetings* (int64[n, k]) has the numbers of a document's buckets, below *buckets*, or -1. A document meets the
    first ``ROOM`` counted documents of each of its buckets. Of these, its neighbours are the up to ``NEAREST`` with the
    greatest resemblance, of at least 1/2; in a tie the earlier document comes first. A document ``D`` with neighbours
    ``A``, ``B``, ... is a version, and does not count, if

    - ``|D - A| < least``: it adds almost nothing to the nearest neighbour; or
    - there are two or more, and ``3 * |all - D| >= |D - any|``, where *all* has the features that every neighbour has,
      and *any* those of at least one: where it differs from them, they mostly agree, as with edited copies. Documents
      of one template differ from each other in the same places.

    Documents without features do not count either.
    """
    number = bounds.size - 1
    entries = np.empty((buckets, ROOM), np.int32)
    filled = np.zeros(buckets, np.int32)
    seen = np.full(number, -1, np.int32)
    nearest, places = np.empty(NEAREST, np.int64), np.empty(NEAREST, np.int64)
    shares, unions = np.empty(NEAREST, np.int64), np.empty(NEAREST, np.int64)
    for document in range(number):
        own = values[bounds[document] : bounds[document + 1]]
        counted[document] = False
        if own.size == 0:
            continue
        found = np.int64(0)  # for a plain 0 helpers would be compiled again
        for bucket in meetings[document]:
            if bucket < 0:
                continue
            for place in range(filled[bucket]):
                candidate = entries[bucket, place]
                if seen[candidate] == document:
                    continue
                seen[candidate] = document
                other = values[bounds[candidate] : bounds[candidate + 1]]
                if 2 * min(own.size, other.size) < max(own.size, other.size):
                    continue
                shared = common(own, other, 0)
                union = own.size + other.size - shared
                if 2 * shared >= union:
                    found = _insert(candidate, shared, union, found, nearest, shares, unions)
        if found > 0 and own.size - shares[0] < least:
            continue
        if found > 1:
            alone, lacking = _apart(document, nearest[:found], values, bounds, places)
            if 3 * lacking >= alone:
                continue
        counted[document] = True
        for bucket in meetings[document]:
            if bucket >= 0 and filled[bucket] < ROOM:
                entries[bucket, filled[bucket]] = document
                filled[bucket] += 1


@kernel
def leave_out(values, bounds, terms, prefixes):
    """Remove the features that are among *terms* from each document, in place. Returns the number of features left.

    If a document has no other features, one feature replaces them, in their order and with repeats:
    ``h = h * SPREAD + feature`` for each, beginning with 0, then ``mix(h)``, mod 2**64 (see
    ``neardup.kernels.shingles``). *terms* (uint64) are ascending and distinct; *prefixes* are their bounds as in
    ``neardup.kernels.weights``. Features may repeat and keep their order; *bounds* follow.
    """
    shift = prefix_shift(prefixes.size - 1)
    count = 0
    begin = bounds[0]
    for document in range(bounds.size - 1):
        end = bounds[document + 1]
        bounds[document] = count
        first = count
        for position in range(begin, end):
            value = values[position]
            if place_of(value, terms, prefixes, shift) < 0:
                values[count] = value
                count += 1
        if count == first and begin < end:  # all are common, and nothing was written yet
            whole = np.uint64(0)
            for position in range(begin, end):
                whole = whole * _SPREAD + values[position]
            values[count] = mix(whole)
            count += 1
        begin = end
    bounds[bounds.size - 1] = count
    return count
