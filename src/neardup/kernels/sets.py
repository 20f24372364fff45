"""Ragged sets of uint64 hashes: what two of them have in common.

*sets* are ``(values, starts, sizes)``: a set is ``values[starts[d] : starts[d] + sizes[d]]``. The measure of an asking
set A and another set B is their number of common values, divided by the size of the union (``RESEMBLANCE``), of the
smaller set (``OVERLAP``), or of A (``CONTAINMENT``).

A table of values, open-addressing, is two arrays, *keys* and *owners*: a place is taken where ``owners`` holds the
number of the set that is entered, its *owner*. So it needs no clearing between two sets.
"""

import numpy as np

from neardup.kernels.ascending import copy_distinct, first_from
from neardup.kernels.compile import kernel, njit, process_salt
from neardup.kernels.radix import ordered
from neardup.kernels.thresholds import required

RESEMBLANCE, OVERLAP, CONTAINMENT = 0, 1, 2
LONG = np.int64(1024)  # values of a set from which it is sorted

_TIMES = 4  # as long as another set: then the values of that one are looked up in it
_NEAR = 8
_HALF = np.uint64(32)
_ONE, _TWO = np.uint64(1), np.uint64(2)


@njit
def places_for(entries):
    """Size a table so that at most half of it is filled."""
    places = 8
    while places < 2 * entries:
        places *= 2
    return places


@njit
def first_place(value, mask):
    """Choose a value's first place in a table of ``mask + 1`` places.

    It must not be predictable; otherwise crafted texts would cause long runs of collisions. It never affects a result.
    """
    salted = value * process_salt()
    return (salted ^ (salted >> np.uint64(32))) & mask


@njit
def table_for(sizes, chosen):
    """Make an empty table that has room for the largest of the *chosen* sets."""
    widest = np.int64(0)
    for segment in chosen:
        widest = max(widest, sizes[segment])
    return empty_table(widest)


@njit
def empty_table(size):
    """Make a table that has room for a set of this size: keys, and their owners, -1 at first."""
    keys = np.empty(places_for(size), np.uint64)
    return keys, np.full(keys.size, -1, np.int64)


@njit
def part_for(table, size):
    """Return the part of a table that a set of this size is entered in."""
    places = places_for(size)
    return table[0][:places], table[1][:places]


@njit
def place_in(value, keys, owners, owner):
    """Return the place of a value in a table, or the free place for it."""
    mask = np.uint64(keys.size - 1)
    place = first_place(value, mask)
    while owners[place] == owner and keys[place] != value:
        place = (place + _ONE) & mask
    return place


@njit
def numbered_place(value, keys, numbers):
    """Return the place of a value in a table of numbered values, or the free place for it: its number is below 0."""
    mask = np.uint64(keys.size - 1)
    place = first_place(value, mask)
    while numbers[place] >= 0 and keys[place] != value:
        place = (place + _ONE) & mask
    return place


@njit
def enter(values, keys, owners, owner):
    """Enter *values* in a table."""
    for value in values:
        place = place_in(value, keys, owners, owner)
        owners[place] = owner
        keys[place] = value


@njit
def shared_of(values, keys, owners, owner, enough):
    """Count the distinct *values* found in the table; stops once fewer than *enough* are certain."""
    shared = 0
    left = values.size
    for value in values:
        place = place_in(value, keys, owners, owner)
        if owners[place] == owner:
            shared += 1
        left -= 1
        if shared + left < enough:
            break
    return shared


@njit
def _shared_with_ascending(values, ascending, enough):
    """Count the distinct *values* that are among others, which ascend; stops once fewer than *enough* are certain.

    Hashes are spread evenly, so the search for one begins near its place.
    """
    number = ascending.size
    shared = 0
    left = values.size
    for value in values:
        guess = np.int64(((value >> _HALF) * np.uint64(number)) >> _HALF)
        step = _NEAR
        if ascending[guess] < value:
            low = guess + 1
            end = low
            while end < number and ascending[end] < value:
                low = end + 1
                end += step
                step *= 2
            end = min(end, number)
        else:
            end = guess
            low = max(0, end - step)
            while low > 0 and ascending[low] >= value:
                end = low
                step *= 2
                low = max(0, end - step)
        low = first_from(ascending, low, end, value)
        if low < number and ascending[low] == value:
            shared += 1
        left -= 1
        if shared + left < enough:
            break
    return shared


@njit
def few_distinct(values, most):
    """Return the distinct values, in order of first occurrence; if there are more than *most*, all values unchanged."""
    keys, owners = empty_table(most)
    owner = np.int64(0)
    found = np.empty(most, np.uint64)
    count = 0
    for value in values:
        place = place_in(value, keys, owners, owner)
        if owners[place] != owner:
            if count == most:
                return values
            owners[place] = owner
            keys[place] = value
            found[count] = value
            count += 1
    return found[:count]


@kernel
def digests(values, bounds, sums):
    """Sum each segment's values times 1, 3, 5, ..., mod 2**64: equal segments have equal sums, others almost never.

    Segments of the same values in another order are not equal, and have different sums.
    """
    for segment in range(bounds.size - 1):
        total, factor = np.uint64(0), _ONE
        for value in values[bounds[segment] : bounds[segment + 1]]:
            total += value * factor
            factor += _TWO
        sums[segment] = total


@kernel
def make_distinct(sets, chosen, distinct):
    """Remove repeats from the *chosen* segments, in place; their *sizes* shrink, first occurrences stay.

    Segments of more than ``LONG`` values are sorted. Segments that are already ``distinct`` are skipped; the others
    become distinct.
    """
    values, starts, sizes = sets
    table = empty_table(LONG)
    for segment in chosen:
        if distinct[segment]:
            continue
        distinct[segment] = True
        content = values[starts[segment] : starts[segment] + sizes[segment]]
        if content.size > LONG:
            sizes[segment] = copy_distinct(ordered(content), content)
            continue
        keys, owners = part_for(table, content.size)
        count = 0
        for value in content:
            place = place_in(value, keys, owners, segment)
            if owners[place] != segment:
                owners[place] = segment
                keys[place] = value
                content[count] = value
                count += 1
        sizes[segment] = count


@kernel
def intersections(sets, left, right, shared):
    """Count what the distinct sets ``left[i]`` and ``right[i]`` share."""
    values, starts, sizes = sets
    table = table_for(sizes, left)
    for pair in range(left.size):
        one, other = left[pair], right[pair]
        keys, owners = part_for(table, sizes[one])
        if pair == 0 or one != left[pair - 1]:
            enter(values[starts[one] : starts[one] + sizes[one]], keys, owners, pair)
            owner = pair
        shared[pair] = shared_of(values[starts[other] : starts[other] + sizes[other]], keys, owners, owner, 0)


@kernel
def equal_ranges(values, starts, ends, other_values, other_starts, other_ends, left, right, equal):
    """Return whether two ranges hold the same values in the same order.

    ``equal[i]`` compares ``values[starts[l]:ends[l]]``, *l* being ``left[i]``, with the range ``right[i]`` of
    the other arrays.
    """
    for pair in range(left.size):
        one = values[starts[left[pair]] : ends[left[pair]]]
        other = other_values[other_starts[right[pair]] : other_ends[right[pair]]]
        equal[pair] = one.size == other.size
        for i in range(one.size if equal[pair] else 0):
            if one[i] != other[i]:
                equal[pair] = False
                break


@njit
def denominator(size, other, shared, measure):
    """Return the size of the set by which *shared* is divided; *size* is that of the asking set."""
    if measure == OVERLAP:
        return min(size, other)
    return size if measure == CONTAINMENT else size + other - shared


@njit
def may_share(size, other, most, threshold, measure):
    """Return whether sets that share *most* values would reach the threshold, with the division that decides."""
    return most > 0 and most / denominator(size, other, most, measure) >= threshold


@njit
def may_match(size, other, threshold, measure):
    """Return whether a subset would reach the threshold, with the division that decides in the end."""
    return may_share(size, other, min(size, other), threshold, measure)


@njit
def least_shared(size, other, threshold, measure):
    """Return the number of common values with which two sets reach the threshold, or this number less one."""
    of_union = threshold * (size + other) / (1.0 + threshold)
    least = of_union if measure == RESEMBLANCE else threshold * denominator(size, other, 0, measure)
    return np.int64(least) - 1  # rounding loses nothing


@njit
def shared_enough(one, other, values, starts, sizes, keys, owners, owner, threshold, measure):
    """Count what the asking set *one*, which is in the table, shares with another set; 0 if that is not enough.

    One division of integers, by ``denominator``, decides. Long sets are sorted (see ``make_distinct``), and the values
    of a much shorter asking set are searched in them.
    """
    size, of_other = sizes[one], sizes[other]
    content = values[starts[other] : starts[other] + of_other]
    enough = least_shared(size, of_other, threshold, measure)
    if of_other > LONG and of_other > _TIMES * size:
        shared = _shared_with_ascending(values[starts[one] : starts[one] + size], content, enough)
    else:
        shared = shared_of(content, keys, owners, owner, enough)
    return shared if shared > 0 and shared / denominator(size, of_other, shared, measure) >= threshold else 0


@kernel
def first_matches(asking, bounds, candidates, lowest, highest, sets, thresholds, measure, removed, matched, common):
    """Find for each asking set the first candidate that matches it, in the given order.

    ``asking[i]`` has the candidates ``candidates[bounds[i]:bounds[i + 1]]``, ascending. Candidates below *lowest* or
    from *highest* on are skipped, and so is a candidate *c* with ``removed[c] >= 0``; *removed* may be *matched*. All
    sets are distinct. The first candidate whose *measure* reaches the threshold of the pair, by *thresholds*, becomes
    ``matched[asking[i]]``, and ``|A & B|`` its ``common``. An asking set that already has a match is skipped. Returns
    the number of comparisons.
    """
    values, starts, sizes = sets
    compared = 0
    table = table_for(sizes, asking)
    for turn in range(asking.size):
        document = asking[turn]
        if matched[document] >= 0:
            continue
        size = sizes[document]
        keys, owners = part_for(table, size)
        entered = False
        for candidate in candidates[bounds[turn] : bounds[turn + 1]]:
            if candidate < lowest or candidate >= highest or removed[candidate] >= 0:
                continue
            other = sizes[candidate]
            least = required(document, candidate, min(size, other), thresholds)
            if not may_match(size, other, least, measure):
                continue
            if not entered:
                enter(values[starts[document] : starts[document] + size], keys, owners, turn)
                entered = True
            compared += 1
            shared = shared_enough(document, candidate, values, starts, sizes, keys, owners, turn, least, measure)
            if shared > 0:
                matched[document] = candidate
                common[document] = shared
                break
    return compared


@kernel
def first_given(asking, bounds, candidates, holds, matched):
    """As ``first_matches``, but ``holds[j]`` is whether ``candidates[j]`` matches."""
    for turn in range(asking.size):
        for place in range(bounds[turn], bounds[turn + 1]):
            if holds[place] and matched[candidates[place]] < 0:
                matched[asking[turn]] = candidates[place]
                break


@kernel
def known_matches(asking, firsts, undecided, matched):
    """Decide asking sets, in order, by their first match, removed or not: ``firsts[i]`` of ``asking[i]``, or -1.

    The first match becomes ``matched[asking[i]]``. If it is removed, or not decided, ``undecided[asking[i]]`` becomes
    true instead: a later candidate may match.
    """
    for turn in range(asking.size):
        document, first = asking[turn], firsts[turn]
        if first >= 0 and (undecided[first] or matched[first] >= 0):
            undecided[document] = True
        else:
            matched[document] = first


@njit
def root_of(parents, node):
    """Return the root of a node of a union-find forest, and shorten the way to it."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@kernel
def connect(asking, bounds, candidates, sets, thresholds, measure, parents):
    """Join each asking set with every candidate that matches it; returns the comparisons.

    Arrays and rule are as in ``first_matches``. *parents* is a union-find forest; a pair that is already connected
    is not compared.
    """
    values, starts, sizes = sets
    compared = 0
    table = table_for(sizes, asking)
    for turn in range(asking.size):
        document = asking[turn]
        size = sizes[document]
        keys, owners = part_for(table, size)
        entered = False
        for candidate in candidates[bounds[turn] : bounds[turn + 1]]:
            other = sizes[candidate]
            least = required(document, candidate, min(size, other), thresholds)
            if not may_match(size, other, least, measure):
                continue
            one, two = root_of(parents, document), root_of(parents, candidate)
            if one == two:
                continue
            if not entered:
                enter(values[starts[document] : starts[document] + size], keys, owners, turn)
                entered = True
            compared += 1
            shared = shared_enough(document, candidate, values, starts, sizes, keys, owners, turn, least, measure)
            if shared > 0:
                parents[max(one, two)] = min(one, two)
    return compared


@kernel
def connect_given(asking, bounds, candidates, holds, parents):
    """As ``connect``, but ``holds[j]`` is whether ``candidates[j]`` matches."""
    for turn in range(asking.size):
        for place in range(bounds[turn], bounds[turn + 1]):
            if holds[place]:
                one, two = root_of(parents, asking[turn]), root_of(parents, candidates[place])
                parents[max(one, two)] = min(one, two)


@kernel
def roots(parents):
    """Point every node of a union-find forest at its root, in place."""
    for node in range(parents.size):
        parents[node] = root_of(parents, node)
