"""How much each of many sets shares with each of a few: one look at every value finds all.

A *table* of the values of the few sets is ``(keys, numbers)``, as of ``neardup.kernels.sets.numbered_place``: a power
of two of places, and ``numbers`` is -1 where no value is.
"""

import numpy as np

from neardup.kernels.compile import fetch_ahead, kernel, njit
from neardup.kernels.sets import first_place, may_share, numbered_place

_AHEAD = 16  # values whose places in the table are on their way


@kernel
def enter(values, table):
    """Enter distinct *values*, which are numbered in their order, in an empty table."""
    keys, numbers = table
    for number in range(values.size):
        place = numbered_place(values[number], keys, numbers)
        keys[place] = values[number]
        numbers[place] = number


@njit(forceinline=True)
def number_at(values, at, keys, numbers):
    """Return the number of ``values[at]`` in a table, or -1, and prefetch the places of a later value."""
    if at + _AHEAD < values.size:
        ahead = np.int64(first_place(values[at + _AHEAD], np.uint64(keys.size - 1)))
        fetch_ahead(numbers, ahead)
        fetch_ahead(keys, ahead)
    return numbers[numbered_place(values[at], keys, numbers)]


@kernel
def partners(sets, first, table, lists, few, least, measure, met, left, right, shared):
    """Find what shares at least *least* of its values with one of a few sets, from set *first* on.

    *sets*, without repeats, and the *measure* are those of ``neardup.kernels.sets``; one of the few asks. *lists* are
    ``(begins, owners, rest_begins, rest)``: ``owners[begins[k] : begins[k + 1]]`` are those of the few sets that have
    the value with the number *k* in the table; *few* are their sizes. A set may lack the most common of its values in
    these lists, fewer than it must share: they are ``rest[rest_begins[o] : rest_begins[o + 1]]``, by their numbers,
    which are the first ones. *met* notes the values that were found. Found pairs are written to *left* (one of the
    few), *right* (the set) and *shared*, which must have room for one set's pairs: as many as there are few. Returns
    the first set for which there was no room, and the number of pairs.
    """
    values, starts, sizes = sets
    keys, numbers = table
    begins, owners, rest_begins, rest = lists
    counts = np.zeros(few.size, np.int64)
    touched = np.empty(few.size, np.int64)
    common_ones = 0 if rest.size == 0 else rest.max() + 1
    seen = np.full(common_ones, -1, np.int64)
    found = 0
    for one in range(first, starts.size):
        if found + few.size > left.size:
            return one, found
        asked = 0
        content = values[starts[one] : starts[one] + sizes[one]]
        for at in range(content.size):
            number = number_at(content, at, keys, numbers)
            if number < 0:
                continue
            met[number] = True
            if number < common_ones:
                seen[number] = one
            for owner in owners[begins[number] : begins[number + 1]]:
                if counts[owner] == 0:
                    touched[asked] = owner
                    asked += 1
                counts[owner] += 1
        for owner in touched[:asked]:
            common = counts[owner]
            counts[owner] = 0
            others = rest[rest_begins[owner] : rest_begins[owner + 1]]
            if others.size > 0 and may_share(few[owner], sizes[one], common + others.size, least, measure):
                for number in others:
                    common += seen[number] == one
            if may_share(few[owner], sizes[one], common, least, measure):
                left[found] = owner
                right[found] = one
                shared[found] = common
                found += 1
    return starts.size, found
