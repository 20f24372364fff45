"""Values in ascending order."""

import numpy as np

from neardup.kernels.compile import njit


@njit(nogil=True, forceinline=True)
def first_from(ascending, begin, end, least):
    """Return the first position from *begin* to *end* whose value is at least *least*, or *end*."""
    while begin < end:
        middle = (begin + end) >> 1
        if ascending[middle] < least:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(nogil=True)
def common(one, other):
    """Count the values that are in both of two arrays, each ascending and without repeats."""
    count = 0
    i, j = 0, 0
    while i < one.size and j < other.size:
        low, high = one[i], other[j]
        count += np.int64(low == high)
        i += np.int64(low <= high)
        j += np.int64(high <= low)
    return count
