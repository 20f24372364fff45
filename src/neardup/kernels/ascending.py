"""Values in ascending order."""

import numpy as np

from neardup.kernels.compile import njit

_FEW = 32  # values that are sorted by insertion
_MANY = 4096  # values from which they are divided first
_PART = 1024  # values of a part, if they are spread evenly
_MOST_BITS = 16  # of the number of parts


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
    """Sort hashes in place; many of them are divided by their highest bits first, into parts that caches hold.

    That is 3 times as fast for 170,000 hashes, and 20 times for 16 million. If values are not spread evenly, a part
    may hold all of them, and is sorted as a whole.
    """
    if values.size < _MANY:
        _sort_part(values)
        return
    bits = 1
    while bits < _MOST_BITS and values.size >> bits > _PART:
        bits += 1
    shift = np.uint64(64 - bits)
    begins = np.zeros((1 << bits) + 1, np.int64)
    for value in values:
        begins[np.int64(value >> shift) + 1] += 1
    for part in range(1 << bits):
        begins[part + 1] += begins[part]
    ends = begins.copy()
    divided = np.empty_like(values)
    for value in values:
        part = np.int64(value >> shift)
        divided[ends[part]] = value
        ends[part] += 1
    for part in range(1 << bits):
        begin, end = begins[part], begins[part + 1]
        _sort_part(divided[begin:end])
        for place in range(begin, end):
            values[place] = divided[place]


@njit
def _sort_part(values):
    """Sort values in place: few ones by insertion, more by a heap, which no order of the values makes slow.

    A value is first moved to the end of the heap, as most belong there (Wegener, 1993: bottom-up heapsort). For hashes
    this is faster than the ``sort`` of arrays, which also takes a second to compile for each type of values.
    """
    if values.size <= _FEW:
        for end in range(1, values.size):
            value = values[end]
            place = end
            while place > 0 and values[place - 1] > value:
                values[place] = values[place - 1]
                place -= 1
            values[place] = value
        return
    parent, end = values.size // 2, values.size
    while end > 1:
        if parent > 0:  # make the heap
            parent -= 1
            value = values[parent]
        else:  # move the largest value behind it
            end -= 1
            value = values[end]
            values[end] = values[0]
        place = parent  # which is moved down to the end, by the larger child each time, and from there up again
        child = 2 * place + 1
        while child + 1 < end:
            child += np.int64(values[child] < values[child + 1])  # no branch to foresee
            values[place] = values[child]
            place = child
            child = 2 * place + 1
        if child < end:
            values[place] = values[child]
            place = child
        above = (place - 1) >> 1
        while place > parent and values[above] < value:
            values[place] = values[above]
            place = above
            above = (place - 1) >> 1
        values[place] = value


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
    while _run_end(values, 0) < values.size:
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
