"""Values in ascending order."""

import numpy as np

from neardup.kernels.compile import njit
from neardup.kernels.radix import ordered

_FEW = 96  # values that are sorted by insertion, at most


@njit(forceinline=True)
def first_from(ascending, begin, end, least):
    """Return the first position from *begin* to *end* whose value is at least *least*, or *end*."""
    while begin < end:
        middle = (begin + end) >> 1
        if ascending[middle] < least:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(forceinline=True)
def prefix_shift(prefixes):
    """Return the number of bits behind the prefix of a uint64, if there is a power of two of *prefixes*."""
    shift = np.uint64(64)
    while prefixes > 1:
        prefixes >>= 1
        shift -= np.uint64(1)
    return shift


@njit
def sort(values):
    """Sort uint64 values in place: a few by insertion, more of them digit by digit.

    No order of the values makes this slow. For hashes, it is faster than the ``sort`` of arrays, which also takes a
    second to compile.
    """
    if values.size > _FEW:
        in_order = ordered(values)
        for place in range(values.size):
            values[place] = in_order[place]
        return
    for end in range(1, values.size):
        value = values[end]
        place = end
        while place > 0 and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value


@njit
def sort_distinct(values):
    """Sort uint64 values and remove repeats, in place; return how many are left."""
    sort(values)
    return copy_distinct(values, values)


@njit
def copy_distinct(ascending, target):
    """Copy ascending values without repeats to *target*, which may be the same array; return their number."""
    count = 0
    for value in ascending:
        if count == 0 or value != target[count - 1]:
            target[count] = value
            count += 1
    return count


@njit
def _run_end(values, begin):
    """Return the end of the ascending run that begins at a position; one further, if that is the end already."""
    end = begin + 1
    while end < values.size and values[end - 1] <= values[end]:
        end += 1
    return end


@njit
def merge_runs(values, other):
    """Sort values in place that are a few ascending runs, by merging neighbours; *other* is scratch memory as long."""
    moved = False
    first = np.int64(0)
    while _run_end(values, first) < values.size:
        begin = 0
        while begin < values.size:
            i, j = begin, _run_end(values, begin)
            middle = j
            end = _run_end(values, middle) if middle < values.size else middle
            place = begin
            while i < middle and j < end:
                later = values[j] < values[i]  # no branch to foresee
                other[place] = values[j] if later else values[i]
                j += np.int64(later)
                i += np.int64(not later)
                place += 1
            for rest in range(i, middle):
                other[place] = values[rest]
                place += 1
            for rest in range(j, end):
                other[place] = values[rest]
                place += 1
            begin = end
        values, other = other, values
        moved = not moved
    if moved:
        for place in range(values.size):
            other[place] = values[place]


@njit
def common(one, other, enough):
    """Count the values that are in both of two arrays, each ascending and without repeats.

    Stops early, with a count below *enough*, once that many can no longer be reached.
    """
    count = 0
    i, j = 0, 0
    fewer, others = one.size - enough, other.size - enough  # values that may be in one of the two only
    while i < one.size and j < other.size and i - count <= fewer and j - count <= others:
        low, high = one[i], other[j]
        count += np.int64(low == high)
        i += np.int64(low <= high)
        j += np.int64(high <= low)
    return count
