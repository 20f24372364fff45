"""The smallest values of a document as its sample, and how many of them two documents share.

The number of a value (uint64) is its upper 32 bits; ``EMPTY`` counts as ``EMPTY - 1``. The sample of a document are its
numbers below a *bound* and its ``FEWEST`` smallest numbers. A row holds the smallest numbers of the sample that fit
(uint32, distinct, ascending), and then ``EMPTY`` to its end. So the row contains every number of the document up to its
*limit*: the last number if the row is full; any number if the row has fewer than ``FEWEST``; otherwise the larger of
the last number and ``bound - 1``.
"""

import numpy as np

from neardup.kernels.ascending import common, first_from
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


@njit
def _limit(row, number, bound):
    """Return the limit of a row of *number* values."""
    if number < FEWEST:
        return _EMPTY
    last = row[number - 1]
    return last if number == row.size else max(last, np.uint32(bound - np.uint32(1)))


@kernel
def shares(left, right, left_rows, right_rows, bound, measure, least, shared, among):
    """Count the values up to the limit of both rows that ``left[left_rows[i]]`` and ``right[right_rows[i]]`` share.

    The left row is the asking one. ``shared[i]`` is the count, and ``among[i]`` its denominator by the *measure*: see
    ``neardup.kernels.sets.denominator``. A count below ``least[among[i]]`` may be too small.
    """
    for pair in range(left_rows.size):
        one = left[left_rows[pair]]
        other = right[right_rows[pair]]
        ones, others = filled(one), filled(other)
        count = 0
        if ones > 0 and others > 0:
            limit = np.int64(min(_limit(one, ones, bound), _limit(other, others, bound)))
            ones, others = first_from(one, 0, ones, limit + 1), first_from(other, 0, others, limit + 1)
            enough = least[denominator(ones, others, 0, measure)]
            count = common(one[:ones], other[:others], enough)
        shared[pair] = count
        among[pair] = denominator(ones, others, count, measure)
