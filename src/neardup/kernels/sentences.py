"""The smallest CRC-32 values of a document, and how much two documents' values overlap.

CRC-32 is that of zlib (reflected polynomial ``0xEDB88320``) over the 8 bytes of a uint64, lowest
first. A value of ``EMPTY`` counts as ``EMPTY - 1``. A row holds distinct values (uint32), ascending,
and then ``EMPTY`` to its end.
"""

import numpy as np

from neardup.kernels.ascending import first_from
from neardup.kernels.compile import kernel, njit
from neardup.kernels.shingles import mix

EMPTY = 0xFFFFFFFF

_EMPTY = np.uint32(EMPTY)
_POLYNOMIAL = 0xEDB88320


def _tables():
    """Make the eight tables of slicing-by-8: ``tables[k][b]`` is the sum of byte *b* before *k* bytes of zero."""
    tables = np.empty((8, 256), np.uint32)
    sums = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        sums = (sums >> 1) ^ np.where(sums & 1, np.uint32(_POLYNOMIAL), np.uint32(0))
    tables[0] = sums
    for table in range(1, 8):
        sums = tables[table - 1]
        tables[table] = (sums >> 8) ^ tables[0][sums & 0xFF]
    return tables


_TABLES = _tables()


@njit
def _crc32(value):
    value ^= np.uint64(EMPTY)  # the initial sum meets the first four bytes
    total = _EMPTY
    for table in range(8):
        total ^= _TABLES[7 - table, (value >> np.uint64(8 * table)) & np.uint64(0xFF)]
    return total


@njit
def insert(row, number, value):
    """Insert a value in a row of *number* values unless it is there or too large; return their number."""
    most = row.size
    if number == most and value >= row[most - 1]:
        return number
    place = first_from(row, 0, number, value)
    if place < number and row[place] == value:
        return number
    number = min(number + 1, most)
    for later in range(number - 1, place, -1):
        row[later] = row[later - 1]
    row[place] = value
    return number


@kernel
def smallest(values, starts, ends, rows):
    """Fill one row per document with the smallest distinct CRC-32 of ``values[starts[d]:ends[d]]`` (uint64)."""
    for document in range(starts.size):
        row = rows[document]
        row[:] = _EMPTY
        number = np.int64(0)
        for value in values[starts[document] : ends[document]]:
            number = insert(row, number, min(_crc32(value), np.uint32(_EMPTY - np.uint32(1))))


@njit
def filled(row):
    """Count the values of a row."""
    return first_from(row, 0, row.size, _EMPTY)


@kernel
def overlaps(left, right, left_rows, right_rows, of_smaller, shares):
    """Return how much ``left[left_rows[i]]`` and ``right[right_rows[i]]`` overlap; 0 where one has no values.

    With *of_smaller*, ``|A & B| / min(|A|, |B|)``. Without it, the share that is in both, among the
    ``min(columns, |A | B|)`` smallest values of the union. Returns the number of steps: the values of
    the union that were read.
    """
    steps = 0
    for pair in range(left_rows.size):
        one = left[left_rows[pair]]
        other = right[right_rows[pair]]
        ones, others = filled(one), filled(other)
        window = ones + others if of_smaller else one.size
        i, j, seen, shared = 0, 0, 0, 0
        while i < ones and j < others and seen < window:
            low, high = one[i], other[j]
            shared += np.int64(low == high)
            i += np.int64(low <= high)
            j += np.int64(high <= low)
            seen += 1
        steps += seen
        whole = min(ones, others) if of_smaller else min(window, seen + (ones - i) + (others - j))
        shares[pair] = shared / whole if ones > 0 and others > 0 else 0.0
    return steps


@njit
def decided(one, other, of_smaller, least):
    """Return whether two rows overlap enough, by the measure of ``overlaps``, and the steps; stop once it is certain.

    ``least[w]``, for w up to the number of columns, is the smallest sufficient count for a denominator of *w*, at
    least 1. A pair certainly matches once the shared values found so far suffice even if no other follows, and
    certainly does not match once they would not suffice even if all remaining values were shared.
    """
    ones, others = filled(one), filled(other)
    window = ones + others if of_smaller else one.size
    i, j, seen, shared = 0, 0, 0, 0
    while True:
        first, second = ones - i, others - j
        if of_smaller:
            needed = hoped = least[min(ones, others)]
        else:
            needed = least[min(window, seen + first + second)]
            hoped = least[min(window, seen + max(first, second))]
        if shared >= needed:
            return True, seen
        if shared + min(first, second, window - seen) < hoped:
            return False, seen
        low, high = one[i], other[j]
        shared += np.int64(low == high)
        i += np.int64(low <= high)
        j += np.int64(high <= low)
        seen += 1


@kernel
def decide(left, right, left_rows, right_rows, of_smaller, least, flags):
    """Apply ``decided`` to ``left[left_rows[i]]`` and ``right[right_rows[i]]``; returns the total number of steps."""
    steps = 0
    for pair in range(left_rows.size):
        flags[pair], seen = decided(left[left_rows[pair]], right[right_rows[pair]], of_smaller, least)
        steps += seen
    return steps


@kernel
def spread(rows, keys):
    """Make ``keys[:, c] = mix(rows[:, c])`` (uint64); the first key replaces each ``EMPTY`` at the end."""
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            value = rows[row, column]
            keys[row, column] = mix(np.uint64(value)) if value != _EMPTY or column == 0 else keys[row, 0]
