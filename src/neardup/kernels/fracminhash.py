"""The values of a document that are small enough to be sampled, and how many of them two documents share.

The number of a value (uint64) is its upper 32 bits; ``EMPTY`` counts as ``EMPTY - 1``. A row holds distinct numbers
(uint32), ascending, and then ``EMPTY`` to its end: of those below a *bound* or among the document's ``FEWEST``
smallest, the smallest ones that fit. So every number of the document up to the row's *limit* is in the row: up to its
last one if the row is full or, unless it has fewer than ``FEWEST``, up to the larger one of the last and
``bound - 1``; otherwise any number.
"""

import numpy as np

from neardup.kernels.compile import kernel, njit
from neardup.kernels.sentences import EMPTY, filled, insert
from neardup.kernels.sets import denominator

FEWEST = 16

_EMPTY = np.uint32(EMPTY)
_UPPER = np.uint64(32)


@kernel
def sample(values, starts, ends, bound, rows):
    """Fill one row per document with the numbers of ``values[starts[d]:ends[d]]``; rows have ``FEWEST`` or more."""
    for document in range(starts.size):
        row = rows[document]
        row[:] = _EMPTY
        number = 0
        for value in values[starts[document] : ends[document]]:
            one = min(np.uint32(value >> _UPPER), np.uint32(_EMPTY - np.uint32(1)))
            if one >= bound and number >= FEWEST and one >= row[FEWEST - 1]:
                continue
            number = insert(row, number, one)
            if number > FEWEST and row[number - 1] >= bound:
                number -= 1
                row[number] = _EMPTY


@njit(nogil=True)
def _limit(row, number, bound):
    """Return the number up to which a row of *number* values has all of its document."""
    if number < FEWEST:
        return _EMPTY
    last = row[number - 1]
    return last if number == row.size else max(last, np.uint32(bound - np.uint32(1)))


@kernel
def shares(left, right, left_rows, right_rows, bound, measure, shared, among):
    """Count what ``left[left_rows[i]]``, the asking row, and ``right[right_rows[i]]`` share up to the limit of both.

    ``shared[i]`` is the count, and ``among[i]`` the size of the set that it is a share of by the *measure*: see
    ``neardup.kernels.sets.denominator``.
    """
    for pair in range(left_rows.size):
        one = left[left_rows[pair]]
        other = right[right_rows[pair]]
        ones, others = filled(one), filled(other)
        common = 0
        if ones > 0 and others > 0:
            limit = min(_limit(one, ones, bound), _limit(other, others, bound))
            while ones > 0 and one[ones - 1] > limit:
                ones -= 1
            while others > 0 and other[others - 1] > limit:
                others -= 1
            i, j = 0, 0
            while i < ones and j < others:
                low, high = one[i], other[j]
                common += np.int64(low == high)
                i += np.int64(low <= high)
                j += np.int64(high <= low)
        shared[pair] = common
        among[pair] = denominator(ones, others, common, measure)
