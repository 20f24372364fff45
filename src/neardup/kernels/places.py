"""Places of documents in an index of several parts: high bits for the part, low bits for the position."""

from neardup.kernels.compile import kernel


@kernel
def by_part(places, bits, order, positions, bounds):
    """Sort places by their parts: ``order[bounds[p]:bounds[p + 1]]`` are those of part *p*, in order.

    *places* and their *positions* in the parts are int64[n]. Negative places are omitted. Returns whether all parts of
    the places exist; otherwise nothing is sorted.
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
    for part in range(parts, 0, -1):  # each begins at the end of the one before
        bounds[part] = bounds[part - 1]
    bounds[0] = 0
    return True
