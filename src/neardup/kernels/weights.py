"""Weights of terms, looked up in a sorted table."""

import numpy as np

from neardup.kernels.compile import kernel


@kernel
def weigh(values, terms, bounds, units, otherwise, weights):
    """Give every value its weight (uint32): that of the equal term, or *otherwise*.

    *terms* (uint64) are ascending and distinct, *units* (uint32) their weights. ``bounds`` (int64,
    ``2**b + 1`` of them, b from 1 to 63) has the terms whose highest *b* bits are *p* at
    ``bounds[p]`` up to ``bounds[p + 1]``, which are searched by halves.
    """
    shift = np.uint64(64)
    prefixes = bounds.size - 1
    while prefixes > 1:
        prefixes >>= 1
        shift -= np.uint64(1)
    for position in range(values.size):
        value = values[position]
        prefix = np.int64(value >> shift)
        low, end = bounds[prefix], bounds[prefix + 1]
        high = end
        while low < high:
            middle = (low + high) >> 1
            if terms[middle] < value:
                low = middle + 1
            else:
                high = middle
        weights[position] = units[low] if low < end and terms[low] == value else otherwise
