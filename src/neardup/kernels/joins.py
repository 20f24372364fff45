"""All pairs of sets that share enough: by the rarest values of each set, because such pairs share one of them.

A set is ``values[starts[s] : starts[s] + sizes[s]]``, without repeats.
"""

import numpy as np

from neardup.kernels.compile import kernel
from neardup.kernels.sets import fill, may_share, places_for, shared_enough, table_for

_ONE = np.uint64(1)
_MANY = 255


@kernel
def occurrences(values, starts, sizes, shift, counts):
    """Count the sets of each value, at most 255, in ``counts[value >> shift]``; values of one place count together."""
    for one in range(starts.size):
        for value in values[starts[one] : starts[one] + sizes[one]]:
            place = value >> shift
            if counts[place] < _MANY:
                counts[place] += np.uint8(1)


@kernel
def rarest_first(values, starts, sizes, shift, counts, chosen, alone):
    """Sort each *chosen* set in place: by ``counts[value >> shift]``, and equal ones by value.

    Those of one set only, ``alone[s]`` of them, remain in any order: they are never looked up.
    """
    starts_of = np.empty(_MANY + 1, np.int64)
    for one in chosen:
        content = values[starts[one] : starts[one] + sizes[one]]
        others = np.empty(content.size, np.uint64)
        met = 0
        kept = 0
        for place in range(content.size):
            value = content[place]
            if counts[value >> shift] > 1:
                others[met] = value
                met += 1
            else:
                content[kept] = value
                kept += 1
        alone[one] = kept
        others[:met].sort()
        starts_of[:] = 0
        for value in others[:met]:
            starts_of[counts[value >> shift]] += 1
        total = kept
        for count in range(_MANY + 1):
            number = starts_of[count]
            starts_of[count] = total
            total += number
        for value in others[:met]:
            count = counts[value >> shift]
            content[starts_of[count]] = value
            starts_of[count] += 1


@kernel
def join(
    values,
    starts,
    sizes,
    sides,
    first,
    end,
    alone,
    probes,
    salt,
    shift,
    keys,
    numbers,
    begins,
    owners,
    at,
    threshold,
    measure,
    left,
    right,
    shared,
):
    """Find the pairs of sets *first* to *end* with earlier sets that share at least *threshold* of their values.

    Sets ascend by size, and have their rarest values first. ``owners[begins[k] : begins[k + 1]]`` are the sets,
    ascending, that have the value with the number *k* in the table (see ``partners.enter``) among their rarest, and
    *at* are its positions in them. The first ``probes[s]`` values of a set are looked up, except those of this set
    *alone*. Two sets have no common value before the first one that is found, so what follows in both bounds what they
    share (the positional filter of Xiao and others 2008). The *measure* is one of ``neardup.kernels.sets``. If there
    are *sides*, two sets of one side do not count as a pair. Pairs are
    written to *left* (the later set), *right* and *shared*. Returns the first set for whose pairs there was no room,
    the number of pairs and that of comparisons.
    """
    mask = np.uint64(keys.size - 1)
    met = np.full(starts.size, -1, np.int64)
    touched = np.empty(starts.size, np.int64)
    chosen = np.arange(first, end)
    table, taken = table_for(sizes, chosen)
    found = 0
    compared = 0
    for one in range(first, end):
        size = sizes[one]
        asked = 0
        for position in range(alone[one], probes[one]):
            value = values[starts[one] + position]
            place = (value * salt) >> shift
            while numbers[place] >= 0 and keys[place] != value:
                place = (place + _ONE) & mask
            number = numbers[place]
            if number < 0:
                continue
            for entry in range(begins[number], begins[number + 1]):
                other = owners[entry]
                if other >= one:
                    break
                if met[other] != one and (sides.size == 0 or sides[one] != sides[other]):
                    met[other] = one
                    most = min(size - position, sizes[other] - at[entry])
                    if may_share(size, sizes[other], most, threshold, measure):
                        touched[asked] = other
                        asked += 1
        if asked == 0:
            continue
        if found + asked > left.size:
            return one, found, compared
        places = places_for(size)
        fill(values[starts[one] : starts[one] + size], table[:places], taken[:places], one)
        for other in touched[:asked]:
            compared += 1
            common = shared_enough(
                size, sizes[other], values, starts[other], table[:places], taken[:places], one, threshold, measure
            )
            if common > 0:
                left[found] = one
                right[found] = other
                shared[found] = common
                found += 1
    return end, found, compared
