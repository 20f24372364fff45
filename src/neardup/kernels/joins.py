"""All pairs of sets that share enough: by the rarest values of each set, because such pairs share one of them.

A set is ``values[starts[s] : starts[s] + sizes[s]]``, without repeats.
"""

import numpy as np

from neardup.kernels.compile import fetch_ahead, kernel, njit
from neardup.kernels.sets import least_shared, may_share, places_for

_ONE = np.uint64(1)
_MANY = 255
_AHEAD = 16  # values whose counts are on their way


@kernel
def occurrences(values, starts, sizes, shift, counts):
    """Count the sets of each value, at most 255, in ``counts[value >> shift]``; values of one place count together."""
    for one in range(starts.size):
        for value in values[starts[one] : starts[one] + sizes[one]]:
            place = value >> shift
            if counts[place] < _MANY:
                counts[place] += np.uint8(1)


@kernel
def rarest_first(values, starts, sizes, shift, counts, chosen, wanted, alone):
    """Sort each *chosen* set in place by ``counts[value >> shift]``, and its first *wanted* values also by value.

    So the first ones are the same for any order of the set before. Those of one set only, ``alone[s]`` of them, remain
    in any order: they are never looked up.
    """
    ends = np.empty(_MANY + 1, np.int64)
    widest = 0
    for one in chosen:
        widest = max(widest, sizes[one])
    others, often = np.empty(widest, np.uint64), np.empty(widest, np.uint8)
    for one in chosen:
        content = values[starts[one] : starts[one] + sizes[one]]
        ends[:] = 0
        met = 0
        kept = 0
        for place in range(content.size):
            if place + _AHEAD < content.size:
                fetch_ahead(counts, np.int64(content[place + _AHEAD] >> shift))
            value = content[place]
            count = counts[value >> shift]
            if count > 1:
                others[met] = value
                often[met] = count
                ends[count] += 1
                met += 1
            else:
                content[kept] = value
                kept += 1
        alone[one] = kept
        total = kept
        for count in range(2, _MANY + 1):
            number = ends[count]
            ends[count] = total
            total += number
        for place in range(met):
            content[ends[often[place]]] = others[place]
            ends[often[place]] += 1
        begin = kept
        for count in range(2, _MANY + 1):
            if begin >= wanted[one]:
                break
            content[begin : ends[count]].sort()
            begin = ends[count]


@kernel
def rarest(values, starts, alone, wanted, found, owners, at):
    """List the values of each set from ``alone[s]`` up to ``wanted[s]``: each value, its set, its position there."""
    total = 0
    for one in range(starts.size):
        for position in range(alone[one], wanted[one]):
            found[total] = values[starts[one] + position]
            owners[total] = one
            at[total] = position
            total += 1


@njit(nogil=True)
def _high_bits(places):
    """Return the shift that leaves of a hash as many high bits as number the places, a power of two."""
    shift = np.uint64(64)
    while places > 1:
        places >>= 1
        shift -= _ONE
    return shift


@njit(nogil=True)
def _enter(values, salt, shift, table):
    """Enter distinct values in an empty table, whose empty places are 0; return whether 0 is among the values.

    The first place of a value is ``(value * salt) >> shift``; *salt* is random, so texts cannot be made to collide.
    """
    mask = np.uint64(table.size - 1)
    with_zero = False
    for value in values:
        place = (value * salt) >> shift
        while table[place] != 0:
            place = (place + _ONE) & mask
        table[place] = value
        with_zero = with_zero or value == 0
    return with_zero


@njit(nogil=True)
def _among(values, salt, shift, table, with_zero, enough):
    """Count the distinct *values* that are in a table; stops once fewer than *enough* are certain."""
    mask = np.uint64(table.size - 1)
    missing = values.size - enough
    shared = values.size
    for value in values:
        place = (value * salt) >> shift
        key = table[place]
        if key != value:
            while key != value and key != 0:
                place = (place + _ONE) & mask
                key = table[place]
        if key != value or (value == 0 and not with_zero):
            shared -= 1
            missing -= 1
            if missing < 0:
                break
    return shared


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
    met = np.full(starts.size, -1, np.int32)
    touched = np.empty(starts.size, np.int64)
    behind = np.empty(starts.size, np.int64)
    table = np.empty(2 * places_for(sizes[end - 1]) if end > first else 0, np.uint64)
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
                other = np.int64(owners[entry])
                if other >= one:
                    break
                if met[other] != one and (sides.size == 0 or sides[one] != sides[other]):
                    met[other] = one
                    most = min(size - position, sizes[other] - np.int64(at[entry]))
                    if may_share(size, sizes[other], most, threshold, measure):
                        touched[asked] = other
                        behind[asked] = at[entry]
                        asked += 1
        if asked == 0:
            continue
        if found + asked > left.size:
            return one, found, compared
        own = table[: 2 * places_for(size)]  # a quarter is filled at most: most values are at their first place
        own[:] = 0
        high = _high_bits(own.size)
        with_zero = _enter(values[starts[one] + alone[one] : starts[one] + size], salt, high, own)
        for candidate in range(asked):
            compared += 1
            other = touched[candidate]
            begin, of_other = starts[other], sizes[other]
            enough = least_shared(size, of_other, threshold, measure)
            common = _among(values[begin + behind[candidate] : begin + of_other], salt, high, own, with_zero, enough)
            if may_share(size, of_other, common, threshold, measure):
                left[found] = one
                right[found] = other
                shared[found] = common
                found += 1
    return end, found, compared
