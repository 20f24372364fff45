"""The cosines of many weighted sets with each of a few: one look at every value finds all that are high enough.

*sets* are those of ``neardup.kernels.sets``, without repeats. Their weights, which are not negative, are at the same
places of ``weights``, and ``norms[s]`` is the sum of their squares.
"""

import numpy as np

from neardup.kernels.compile import kernel
from neardup.kernels.partners import number_at

_MORE = 1 + 1e-9  # bounds are that much wider than what rounding could make of them


@kernel
def spared(numbers, weights, bounds, norms, counts, few, least, chosen):
    """Choose values of each set that need not be looked up, the most common ones first.

    The values of set *s* are ``numbers[bounds[s] : bounds[s + 1]]``, ascending; ``counts[k]`` sets have the value with
    the number *k*, and only those in more than *few* are chosen. By Cauchy's inequality, a set whose cosine with
    another one is at least *least* shares a value with it besides any whose squares sum to less than ``least**2`` of
    its norm.
    """
    for one in range(norms.size):
        room = least * least * norms[one] / _MORE
        spent = 0.0
        for place in range(bounds[one], bounds[one + 1]):
            spent += weights[place] * weights[place]
            if spent >= room or counts[numbers[place]] <= few:
                break
            chosen[place] = True


@kernel
def weighted_partners(sets, weights, norms, chosen, first, table, lists, few, least, left, right, shares):
    """Find the *chosen* sets, from number *first* on, whose cosine with one of a few sets is at least *least*.

    The *table* of the values of the few is that of ``neardup.kernels.partners``. *lists* are ``(begins, owners, owned,
    rest_begins, rest, resting)``: ``owners[begins[k] : begins[k + 1]]`` are those of the few sets that have the value
    with the number *k*, and *owned* are its weights in them; *few* are their norms. Values that were spared are not in
    these lists: those of set *o* are ``rest[rest_begins[o] : rest_begins[o + 1]]``, by their numbers, with the weights
    *resting*. Found pairs are written to *left* (one of the few), *right* (the number among the chosen) and *shares*
    (the cosines), which must have room for one set's pairs: as many as there are few. Returns the first number for
    which there was no room, and the number of pairs.
    """
    values, starts, sizes = sets
    keys, numbers = table
    begins, owners, owned, rest_begins, rest, resting = lists
    products = np.zeros(few.size)
    asked_by = np.full(few.size, -1, np.int64)
    touched = np.empty(few.size, np.int64)
    spare = np.zeros(few.size)  # the norms of the values in no list
    for owner in range(few.size):
        for weight in resting[rest_begins[owner] : rest_begins[owner + 1]]:
            spare[owner] += weight * weight
    common_ones = 0 if rest.size == 0 else rest.max() + 1
    seen = np.full(common_ones, -1, np.int64)
    there = np.empty(common_ones)
    found = 0
    for turn in range(first, chosen.size):
        if found + few.size > left.size:
            return turn, found
        one = chosen[turn]
        content = values[starts[one] : starts[one] + sizes[one]]
        asked = 0
        for at in range(content.size):
            number = number_at(content, at, keys, numbers)
            if number < 0:
                continue
            weight = weights[starts[one] + at]
            if number < common_ones:
                seen[number] = turn
                there[number] = weight
            for entry in range(begins[number], begins[number + 1]):
                owner = owners[entry]
                if asked_by[owner] != turn:
                    asked_by[owner] = turn
                    products[owner] = 0.0
                    touched[asked] = owner
                    asked += 1
                products[owner] += weight * owned[entry]
        for owner in touched[:asked]:
            total = products[owner]
            whole = np.sqrt(few[owner] * norms[one])
            if (total + np.sqrt(spare[owner]) * np.sqrt(norms[one])) * _MORE < least * whole:
                continue
            for place in range(rest_begins[owner], rest_begins[owner + 1]):
                if seen[rest[place]] == turn:
                    total += there[rest[place]] * resting[place]
            share = min(1.0, total / whole) if whole > 0.0 else 0.0
            if share >= least:
                left[found] = owner
                right[found] = turn
                shares[found] = share
                found += 1
    return chosen.size, found
