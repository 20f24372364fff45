"""All pairs of sets that share enough: by the rarest values of each set, because such pairs share one of them.

*sets* are those of ``neardup.kernels.sets``, without repeats.

A *table* that numbers values is ``(distinct, numbers)``: ``distinct[k]`` is the value with the number *k*. ``numbers``
has a power of two of places, -1 where no number is: that of a value is at ``neardup.kernels.sets.first_place`` or, if
others are there, behind it.
"""

import numpy as np

from neardup.kernels.ascending import first_from, prefix_shift, sort
from neardup.kernels.compile import fetch_ahead, kernel, njit, ones
from neardup.kernels.sets import (
    empty_table,
    enter,
    first_place,
    least_shared,
    may_match,
    may_share,
    part_for,
    shared_of,
)

_ONE, _SIX, _LOW = np.uint64(1), np.uint64(6), np.uint64(63)
_MANY = 255  # the largest count
_FEW = 127  # sets that are counted one by one
_MORE = 191  # the count up to which every eighth set counts; then every 128th
_AHEAD = 16  # values whose counts are on their way


@kernel
def occurrences(sets, shift, counts):
    """Count the sets of each value in ``counts[value >> shift]``; values of one place count together.

    Above 127, one more means 8 more sets, and above 191 it means 128, so that 255 are more than 8,000 sets.
    """
    values, starts, sizes = sets
    for one in range(starts.size):
        most = _MANY if one % 128 == 0 else _MORE if one % 8 == 0 else _FEW
        for value in values[starts[one] : starts[one] + sizes[one]]:
            place = value >> shift
            if counts[place] < most:
                counts[place] += np.uint8(1)


@kernel
def add_occurrences(others, counts):
    """Add the counts of other sets to ``counts``: exactly up to 127, otherwise the larger one counts."""
    for place in range(counts.size):
        one, other = np.int64(counts[place]), np.int64(others[place])
        counts[place] = max(one, other, min(one + other, _FEW))


@kernel
def rarest_first(sets, shift, counts, chosen, wanted, alone):
    """Sort each *chosen* set in place by ``counts[value >> shift]``, and its first *wanted* values also by value.

    So the first ones are the same for any order of the set before. Those of one set only, ``alone[s]`` of them, remain
    in any order: they are never looked up.
    """
    values, starts, sizes = sets
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
            others[met] = value  # both are written, and one is overwritten: no branch to foresee
            often[met] = count
            content[kept] = value
            ends[count] += 1
            kept += count <= 1
            met += count > 1
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
            sort(content[begin : ends[count]])
            begin = ends[count]


@njit(forceinline=True)
def _fetch(value, numbers):
    """Ask for the place of a value in a table, before it is needed."""
    fetch_ahead(numbers, np.int64(first_place(value, np.uint64(numbers.size - 1))))


@njit(forceinline=True)
def _place_of(value, distinct, numbers):
    """Return the place of a value in a table, or the free place for it."""
    mask = np.uint64(numbers.size - 1)
    place = first_place(value, mask)
    while numbers[place] >= 0 and distinct[numbers[place]] != value:
        place = (place + _ONE) & mask
    return place


@kernel
def lists(sets, alone, wanted, table, begins, owners, at):
    """List the sets that have each value, among those of each set from ``alone[s]`` up to ``wanted[s]``.

    Values are numbered in the empty *table* as they are found, so those of one set are neighbours.
    ``owners[begins[k] : begins[k + 1]]`` become the sets that have the value with the number *k*, ascending, and *at*
    its positions in them. Returns how many values there are; the other arrays have room for all of them, *begins* for
    two more.
    """
    values, starts, _ = sets
    distinct, numbers = table
    found = np.empty(owners.size, np.int32)
    begins[:] = 0
    known = 0
    total = 0
    for one in range(starts.size):
        for position in range(alone[one], wanted[one]):
            if position + _AHEAD < wanted[one]:
                _fetch(values[starts[one] + position + _AHEAD], numbers)
            value = values[starts[one] + position]
            place = _place_of(value, distinct, numbers)
            if numbers[place] < 0:
                numbers[place] = known
                distinct[known] = value
                known += 1
            found[total] = numbers[place]
            begins[found[total] + 2] += 1
            total += 1
    for number in range(known):
        begins[number + 2] += begins[number + 1]
    total = 0
    for one in range(starts.size):
        for position in range(alone[one], wanted[one]):
            place = begins[found[total] + 1]
            begins[found[total] + 1] += 1
            owners[place] = one
            at[place] = position
            total += 1
    return known


@njit
def _differing(one, other):
    """Count the bits in which two rows of bits differ."""
    total = np.int64(0)
    for place in range(one.size):
        total += np.int64(ones(one[place] ^ other[place]))
    return total


@kernel
def parities(sets, chosen, bits):
    """Flip a bit of ``bits[s]`` (uint64) for each value of each *chosen* set, at the place of its highest bits.

    Two sets differ in at least as many values as their bits. The number of bits is a power of two.
    """
    values, starts, sizes = sets
    shift = prefix_shift(64 * bits.shape[1])
    for one in chosen:
        bits[one] = 0
        for value in values[starts[one] : starts[one] + sizes[one]]:
            place = value >> shift
            bits[one, place >> _SIX] ^= _ONE << (place & _LOW)


@njit
def _first_large(sizes, begin, end, threshold, measure):
    """Return the first set from *begin* to *end*, which ascend by size, that is large enough for the set *end*."""
    size = sizes[end]
    while begin < end:
        middle = (begin + end) >> 1
        if may_match(size, sizes[middle], threshold, measure):
            end = middle
        else:
            begin = middle + 1
    return begin


@kernel
def join(
    sets, sides, first, end, alone, probes, bits, table, listed, families, threshold, measure, left, right, shared
):
    """Find the pairs of sets *first* to *end* with earlier sets that share at least *threshold* of their values.

    Sets ascend by size, and have their rarest values first. *listed* are ``(begins, owners, at)``:
    ``owners[begins[k] : begins[k + 1]]`` are the sets, ascending, that have the value with the number *k* in the
    *table* among their rarest, and *at* are its positions in them (see ``lists``). The first ``probes[s]`` values of a
    set are looked up, except those of this set *alone*. Two sets have no common value before the first one that is
    found, so what follows in both bounds what they share (the positional filter of Xiao and others 2008); so does half
    of what they have less the differing *bits* of their ``parities``. *families* are the arrays of
    ``neardup.decisions.pairs.Families``: two members of a *family* share ``medians[f] - lacking[a] - lacking[b] +
    d`` values (see ``neardup.kernels.families``); ``places[s]`` is the place of a set in its family, and the lists of
    values that *only* this family has are passed over. The *measure* is one of ``neardup.kernels.sets``. If there are
    *sides*, two sets of one side do not count as a pair. Pairs are written to *left* (the later set), *right* and
    *shared*. Returns the first set for whose pairs there was no room, the number of pairs and that of comparisons.
    """
    values, starts, sizes = sets
    distinct, numbers = table
    begins, owners, at = listed
    family, places, only, members, bounds, medians, lacking = families[:7]
    deviation_begins, deviating, deviant_begins, deviants = families[7:]
    met = np.full(starts.size, -1, np.int32)
    touched = np.empty(starts.size, np.int64)
    behind = np.empty(starts.size, np.int64)
    room = empty_table(2 * sizes[end - 1] if end > first else 0)
    both = np.empty(starts.size if bounds.size > 1 else 0, np.int32)
    found = 0
    compared = 0
    lowest = np.int64(0)
    for one in range(first, end):
        size = sizes[one]
        lowest = _first_large(sizes, lowest, one, threshold, measure)
        own_family = family[one]
        before = places[one] if own_family >= 0 else 0
        if found + before > left.size:
            return one, found, compared
        asked = 0
        for position in range(alone[one], probes[one]):
            if position + _AHEAD < probes[one]:
                _fetch(values[starts[one] + position + _AHEAD], numbers)
            number = numbers[_place_of(values[starts[one] + position], distinct, numbers)]
            if number < 0 or (own_family >= 0 and only[number] == own_family):
                continue
            begin = first_from(owners, begins[number], begins[number + 1], lowest)
            for entry in range(begin, begins[number + 1]):
                other = np.int64(owners[entry])
                if other >= one:
                    break
                if met[other] != one and (sides.size == 0 or sides[one] != sides[other]):
                    met[other] = one
                    if own_family >= 0 and family[other] == own_family:
                        continue
                    most = min(size - position, sizes[other] - np.int64(at[entry]))
                    if may_share(size, sizes[other], most, threshold, measure):
                        touched[asked] = other
                        behind[asked] = at[entry]
                        asked += 1
        if found + asked + before > left.size:
            return one, found, compared
        if before > 0:
            begin = bounds[own_family]
            both[:before] = 0
            for number in deviating[deviation_begins[begin + before] : deviation_begins[begin + before + 1]]:
                for member in deviants[deviant_begins[number] : deviant_begins[number + 1]]:
                    if member >= before:
                        break
                    both[member] += 1
            rest = medians[own_family] - lacking[begin + before]
            for member in range(first_from(members, begin, begin + before, lowest) - begin, before):
                other = members[begin + member]
                common = rest - lacking[begin + member] + both[member]
                if sides.size > 0 and sides[one] == sides[other]:
                    continue
                compared += 1
                if may_share(size, sizes[other], common, threshold, measure):
                    left[found] = one
                    right[found] = other
                    shared[found] = common
                    found += 1
        if asked == 0:
            continue
        keys, entered = part_for(room, 2 * size)  # a quarter is filled at most: most values are at their first place
        enter(values[starts[one] + alone[one] : starts[one] + size], keys, entered, one)
        for candidate in range(asked):
            other = touched[candidate]
            begin, of_other = starts[other], sizes[other]
            differing = _differing(bits[one], bits[other])
            if not may_share(size, of_other, (size + of_other - differing) // 2, threshold, measure):
                continue
            compared += 1
            enough = least_shared(size, of_other, threshold, measure)
            common = shared_of(values[begin + behind[candidate] : begin + of_other], keys, entered, one, enough)
            if may_share(size, of_other, common, threshold, measure):
                left[found] = one
                right[found] = other
                shared[found] = common
                found += 1
    return end, found, compared
