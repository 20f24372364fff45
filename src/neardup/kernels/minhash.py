"""Minima of shingle hashes by Fast Similarity Sketching (Dahlgaard, Knudsen, Thorup 2017).

Round *r* hashes a value x to ``z = (multipliers[r] * x + addends[r]) mod 2**64``. Its candidate minimum is
``z mod 2**32`` (``EMPTY`` counts as ``EMPTY - 1``), its bin ``((z >> 32) * p) >> 32`` in rounds 0 to p - 1
and ``r - p`` in rounds p to 2p - 1. Each of the p bins keeps the smallest candidate of the first
round that brings it any; rounds go on until every bin has one, which round 2p - 1 guarantees.
"""

import numpy as np

from neardup.kernels.compile import kernel

EMPTY = 0xFFFFFFFF

_EMPTY = np.uint32(EMPTY)
_HALF = np.uint64(32)


@kernel
def sketch(values, starts, ends, multipliers, addends, minima):
    """Fill one row of *minima* (uint32, p columns) a document.

    Document *d* has the values ``values[starts[d]:ends[d]]`` (uint64); repeats have no effect.
    *multipliers* and *addends* are uint64, 2p each. A document without values gets a row of
    ``EMPTY``.
    """
    bins = minima.shape[1]
    fresh = np.empty(bins, np.uint32)
    for document in range(starts.size):
        row = minima[document]
        row[:] = _EMPTY
        features = values[starts[document] : ends[document]]
        if features.size == 0:
            continue
        for turn in range(2 * bins):
            target = row  # every bin is empty before the first round, which needs no second row
            if turn > 0:
                target = fresh
                target[:] = _EMPTY
            multiplier = multipliers[turn]
            addend = addends[turn]
            if turn < bins:
                for value in features:
                    hashed = value * multiplier + addend
                    place = ((hashed >> _HALF) * np.uint64(bins)) >> _HALF
                    minimum = min(np.uint32(hashed), np.uint32(_EMPTY - np.uint32(1)))
                    target[place] = min(target[place], minimum)
            elif row[turn - bins] == _EMPTY:
                lowest = _EMPTY - np.uint32(1)
                for value in features:
                    lowest = min(lowest, np.uint32(value * multiplier + addend))
                target[turn - bins] = lowest
            waiting = 0
            for place in range(bins):
                if row[place] == _EMPTY:
                    row[place] = target[place]
                waiting += row[place] == _EMPTY
            if waiting == 0:
                break


@kernel
def agreements(left, right, left_rows, right_rows, absent, counts):
    """Count the equal columns of ``left[left_rows[i]]`` and ``right[right_rows[i]]``.

    A row that begins with *absent*, of the rows' own type, is no signature, and agrees with none.
    """
    for pair in range(left_rows.size):
        one = left[left_rows[pair]]
        other = right[right_rows[pair]]
        equal = np.int32(0)
        for column in range(one.size):
            equal += np.int32(one[column] == other[column])
        counts[pair] = equal if one[0] != absent and other[0] != absent else np.int32(0)


@kernel
def band_keys(minima, edges, keys):
    """Hash each band ``minima[:, edges[b]:edges[b + 1]]`` to ``keys[:, b]`` (uint64).

    ``h = b + 1``, then for each minimum ``h = (h ^ minimum) * SPREAD``, ``h ^= h >> 32``, mod 2**64.
    """
    for row in range(minima.shape[0]):
        for band in range(edges.size - 1):
            key = np.uint64(band + 1)
            for column in range(edges[band], edges[band + 1]):
                key = (key ^ np.uint64(minima[row, column])) * np.uint64(0xD6E8FEB86659FD93)
                key ^= key >> _HALF
            keys[row, band] = key
