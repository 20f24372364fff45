"""Weights of terms, looked up in a sorted table."""

import numpy as np

from neardup.kernels.ascending import first_from, prefix_shift
from neardup.kernels.compile import kernel, njit


@njit(forceinline=True)
def place_of(value, terms, bounds, shift):
    """Find the place of a value among ascending *terms*; -1 if it is not there. *bounds* are those of prefixes."""
    prefix = np.int64(value >> shift)
    end = bounds[prefix + 1]
    low = first_from(terms, bounds[prefix], end, value)
    return low if low < end and terms[low] == value else -1


@kernel
def weigh(values, terms, bounds, units, otherwise, weights):
    """Write the weight (uint32) of every value: that of the equal term, or *otherwise*.

    *terms* (uint64) are ascending and distinct, *units* (uint32) their weights. ``bounds`` (int64,
    ``2**b + 1`` of them, b from 1 to 63) has the terms whose highest *b* bits are *p* at
    ``bounds[p]`` up to ``bounds[p + 1]``, which are searched by halves.
    """
    shift = prefix_shift(bounds.size - 1)
    for position in range(values.size):
        place = place_of(values[position], terms, bounds, shift)
        weights[position] = units[place] if place >= 0 else otherwise
