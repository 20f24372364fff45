"""Places of documents in an index of several parts: the number of the part above so many bits, below it a position."""

from neardup.kernels.compile import kernel


@kernel
def by_part(places, bits, order, positions, bounds):
    """Sort places by their parts: ``order[bounds[p]:bounds[p + 1]]`` are those of part *p*, in order.

    *positions* are the positions beside them; both are int64[n], as are *places*. Those below 0 are of no part, and
    left out. Returns whether there are all the parts that the others name; nothing is sorted if there are not.
    """
    parts = bounds.size - 1
    bounds[:] = 0
    for place in places:
        if place >> bits >= parts:
            return False
        if place >= 0:
            bounds[(place >> bits) + 1] += 1
    for part in range(parts):
        bounds[part + 1] += bounds[part]
    below = (1 << bits) - 1
    for i in range(places.size):
        if places[i] >= 0:
            part = places[i] >> bits
            order[bounds[part]], positions[bounds[part]] = i, places[i] & below
            bounds[part] += 1
    for part in range(parts, 0, -1):  # each begins where the one before has come to
        bounds[part] = bounds[part - 1]
    bounds[0] = 0
    return True
