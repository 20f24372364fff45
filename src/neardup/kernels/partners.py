"""How much each of many sets shares with each of a few: one look at every value finds all."""

import numpy as np

from neardup.kernels.compile import fetch_ahead, kernel
from neardup.kernels.sets import may_share

_ONE = np.uint64(1)
_AHEAD = 16  # values whose places in the table are on their way


@kernel
def enter(values, salt, shift, keys, numbers):
    """Enter distinct *values* in a table of ``2 ** (64 - shift)`` places: ``numbers`` is -1 where no value is.

    An odd, secret *salt* keeps crafted values from making long runs of collisions.
    """
    mask = np.uint64(keys.size - 1)
    for number in range(values.size):
        place = (values[number] * salt) >> shift
        while numbers[place] >= 0:
            place = (place + _ONE) & mask
        keys[place] = values[number]
        numbers[place] = number


@kernel
def partners(
    values,
    starts,
    sizes,
    first,
    salt,
    shift,
    keys,
    numbers,
    begins,
    owners,
    rest_begins,
    rest,
    few,
    least,
    measure,
    met,
    left,
    right,
    shared,
):
    """Find what shares at least *least* of its values with one of a few sets, from set *first* on.

    A set is ``values[starts[s] : starts[s] + sizes[s]]``, without repeats. ``owners[begins[k] : begins[k + 1]]`` are
    those of the few sets that have the value with the number *k* in the table; *few* are their sizes. The *measure* is
    one of ``neardup.kernels.sets``, and one of the few asks. A set may lack the most common of its values in these
    lists, fewer than it must share: they are ``rest[rest_begins[o] : rest_begins[o + 1]]``, by their numbers, which are
    the first ones. *met* notes the values that were found. Found pairs are written to *left* (one of the few), *right*
    (the set) and *shared*, which must have room for one set's pairs: as many as there are few. Returns the first set
    for which there was no room, and the number of pairs.
    """
    mask = np.uint64(keys.size - 1)
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
            if at + _AHEAD < content.size:
                ahead = np.int64((content[at + _AHEAD] * salt) >> shift)
                fetch_ahead(numbers, ahead)
                fetch_ahead(keys, ahead)
            value = content[at]
            place = (value * salt) >> shift
            while numbers[place] >= 0 and keys[place] != value:
                place = (place + _ONE) & mask
            number = numbers[place]
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
            begin, end = rest_begins[owner], rest_begins[owner + 1]
            if end > begin and may_share(few[owner], sizes[one], common + end - begin, least, measure):
                for number in rest[begin:end]:
                    common += seen[number] == one
            if may_share(few[owner], sizes[one], common, least, measure):
                left[found] = owner
                right[found] = one
                shared[found] = common
                found += 1
    return starts.size, found
