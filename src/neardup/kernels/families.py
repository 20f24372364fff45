"""Families of sets that share a rare value: what two members share follows from how both deviate from the median.

The median of a family holds the values that more than half of its members have. A member *deviates* in a value that it
has and the median lacks, or the other way round. For two members A and B of a family with the median M, ``|A & B| =
|M| - |M - A| - |M - B| + d``, where *d* is the number of values in which both deviate.
"""

import numpy as np

from neardup.kernels.compile import kernel, njit, returned
from neardup.kernels.sets import numbered_place, places_for


@kernel
def gather(begins, owners, sizes, lists, least, most, family, members, bounds):
    """Make families of the sets in each of the *lists* that are in no family yet, of at least *least* sets.

    List *k* is ``owners[begins[k] : begins[k + 1]]``, ascending. The next family begins before one has more than *most*
    values together. ``family[s]`` becomes the number of the family, and stays as it is without one;
    ``members[bounds[f] : bounds[f + 1]]`` become the members. Returns the number of families.
    """
    number = 0
    for each in lists:
        begin = end = bounds[number]
        together = 0
        last = begins[each + 1] - 1
        for place in range(begins[each], begins[each + 1]):
            owner = owners[place]
            wanted = family[owner] < 0
            full = wanted and together + sizes[owner] > most
            if wanted and not full:
                members[end] = owner
                end += 1
                together += sizes[owner]
            if full or place == last:
                if end - begin >= least:
                    for member in members[begin:end]:
                        family[member] = number
                    number += 1
                    bounds[number] = end
                begin = end = bounds[number]
                together = 0
                if full and sizes[owner] <= most:
                    members[end] = owner
                    end += 1
                    together = sizes[owner]
    return number


@njit
def _count(values, starts, sizes, chosen, keys, numbers, named, counts):
    """Return the number of distinct values of some sets; *named* has a number for each value, *counts* its sets."""
    distinct = 0
    at = 0
    numbers[:] = -1
    for one in chosen:
        for value in values[starts[one] : starts[one] + sizes[one]]:
            place = numbered_place(value, keys, numbers)
            if numbers[place] < 0:
                keys[place] = value
                numbers[place] = distinct
                counts[distinct] = 0
                distinct += 1
            named[at] = numbers[place]
            counts[named[at]] += 1
            at += 1
    return distinct


@kernel
def deviations(sets, members, bounds, most):
    """Find the medians of some families, and in which values their members deviate.

    *sets* are those of ``neardup.kernels.sets``, without repeats; family *f* has the sets
    ``members[bounds[f] : bounds[f + 1]]``. Returns

    - for each family the size of its median, or -1 if two members both deviate in more than *most* values on average;
    - for each member, by its place in *members*, how many values of the median it lacks;
    - where its deviations begin, and these: the numbers of values in which another member deviates, too;
    - where the list of each number begins, and the lists: the members that deviate, by their places in the family.
    """
    values, starts, sizes = sets
    total = 0
    largest = 0
    for family in range(bounds.size - 1):
        own = sizes[members[bounds[family] : bounds[family + 1]]].sum()
        largest = max(largest, own)
        total += own
    keys, numbers = np.empty(places_for(largest), np.uint64), np.empty(places_for(largest), np.int32)
    named, counts = np.empty(largest, np.int32), np.empty(largest, np.int64)
    inside, median = np.empty(largest, np.bool_), np.empty(largest, np.int64)
    seen, list_of, fill = np.empty(largest, np.int64), np.empty(largest, np.int64), np.empty(largest, np.int64)
    found = np.empty(largest, np.int64)
    medians, lacking = np.full(bounds.size - 1, -1, np.int64), np.zeros(members.size, np.int64)
    begins, deviating = np.zeros(members.size + 1, np.int64), np.empty(total, np.uint32)
    list_begins, deviants = np.zeros(total // 2 + 1, np.int64), np.empty(total, np.uint32)
    lists = 0
    written = 0
    for family in range(bounds.size - 1):
        first, size = bounds[family], bounds[family + 1] - bounds[family]
        chosen = members[first : first + size]
        places = places_for(sizes[chosen].sum())
        distinct = _count(values, starts, sizes, chosen, keys[:places], numbers[:places], named, counts)
        together = 0
        for number in range(distinct):
            deviate = min(counts[number], size - counts[number])
            together += deviate * (deviate - 1)
        if together > most * size * (size - 1):
            begins[first + 1 : first + size + 1] = written
            continue
        common = 0
        for number in range(distinct):
            seen[number] = list_of[number] = -1
            inside[number] = 2 * counts[number] > size
            if inside[number]:
                median[common] = number
                common += 1
            deviate = min(counts[number], size - counts[number])
            if deviate > 1:
                list_of[number] = lists
                fill[number] = list_begins[lists]
                lists += 1
                list_begins[lists] = list_begins[lists - 1] + deviate
        medians[family] = common
        at = 0
        for turn in range(size):
            deviate = 0
            for number in named[at : at + sizes[chosen[turn]]]:
                seen[number] = turn
                found[deviate] = number
                deviate += not inside[number] and list_of[number] >= 0
            at += sizes[chosen[turn]]
            for number in median[:common]:
                if seen[number] != turn:
                    lacking[first + turn] += 1
                    if list_of[number] >= 0:
                        found[deviate] = number
                        deviate += 1
            for number in found[:deviate]:
                deviating[written] = list_of[number]
                written += 1
                deviants[fill[number]] = turn
                fill[number] += 1
            begins[first + turn + 1] = written
    ends = returned(deviating[:written]), returned(list_begins[: lists + 1]), returned(deviants[:written])
    return returned(medians), returned(lacking), returned(begins), *ends
