"""Ragged sets of uint64 hashes with weights, and the cosines of two of them.

*sets* are those of ``neardup.kernels.sets``, and the weights of a set are at the same places of ``weights``. Weights
are whole numbers, so sums below ``2**53`` are exact.
"""

import numpy as np

from neardup.kernels.ascending import prefix_shift
from neardup.kernels.compile import kernel
from neardup.kernels.sets import part_for, place_in, table_for
from neardup.kernels.weights import place_of


@kernel
def make_weighted(sets, chosen, distinct, terms, bounds, units, otherwise, weights, norms):
    """Remove repeats from the *chosen* segments, in place, and set the weight of every value; first occurrences stay.

    The weight is the number of occurrences times that of the value in a table (see ``neardup.kernels.weights.weigh``).
    ``norms[d]`` becomes the sum of the squares. Segments that are already ``distinct`` are skipped; the others become
    distinct.
    """
    values, starts, sizes = sets
    table = table_for(sizes, chosen)
    at = np.empty(table[0].size, np.int64)
    shift = prefix_shift(bounds.size - 1)
    for segment in chosen:
        if distinct[segment]:
            continue
        distinct[segment] = True
        begin = starts[segment]
        keys, owners = part_for(table, sizes[segment])
        count = 0
        for position in range(begin, begin + sizes[segment]):
            value = values[position]
            place = place_in(value, keys, owners, segment)
            if owners[place] != segment:
                owners[place] = segment
                keys[place] = value
                at[place] = begin + count
                values[begin + count] = value
                weights[begin + count] = 0.0
                count += 1
            weights[at[place]] += 1.0
        sizes[segment] = count
        norm = 0.0
        for position in range(begin, begin + count):
            term = place_of(values[position], terms, bounds, shift)
            weights[position] *= np.float64(units[term] if term >= 0 else otherwise)
            norm += weights[position] * weights[position]
        norms[segment] = norm


@kernel
def cosines(sets, weights, norms, left, right, shares):
    """Make ``shares[i]`` the cosine of the weights of the sets ``left[i]`` and ``right[i]``; 0 if one is empty.

    It is the sum of the products of their weights, divided by the root of the product of their *norms*: exactly 1 for
    equal and for proportional sets, because the root of a square is exact.
    """
    values, starts, sizes = sets
    table = table_for(sizes, left)
    at = np.empty(table[0].size, np.int64)
    owner = 0
    for pair in range(left.size):
        one, other = left[pair], right[pair]
        keys, owners = part_for(table, sizes[one])
        if pair == 0 or one != left[pair - 1]:
            owner = pair
            for position in range(starts[one], starts[one] + sizes[one]):
                place = place_in(values[position], keys, owners, owner)
                owners[place] = owner
                keys[place] = values[position]
                at[place] = position
        total = 0.0
        for position in range(starts[other], starts[other] + sizes[other]):
            place = place_in(values[position], keys, owners, owner)
            if owners[place] == owner:
                total += weights[at[place]] * weights[position]
        whole = np.sqrt(norms[one] * norms[other])
        shares[pair] = min(1.0, total / whole) if whole > 0.0 else 0.0
