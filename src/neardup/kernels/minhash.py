"""Minima of shingle hashes by Fast Similarity Sketching (Dahlgaard, Knudsen, Thorup 2017).

Round *r* hashes a value x to ``z = (multipliers[r] * x + addends[r]) mod 2**64``. Its candidate minimum is
``z mod 2**32`` (``EMPTY`` counts as ``EMPTY - 1``), its bin ``((z >> 32) * p) >> 32`` in rounds 0 to p - 1
and ``r - p`` in rounds p to 2p - 1. Each of the p bins keeps the smallest candidate of the first round that has any for
it; rounds continue until every bin has one, which round 2p - 1 guarantees.

Keys are hashes of several minima, or of several *trials*, which are keys of minima themselves.
"""

import numpy as np

from neardup.kernels.compile import kernel, njit
from neardup.kernels.sets import few_distinct
from neardup.kernels.shingles import absorbed

EMPTY = 0xFFFFFFFF
FEW = 4  # empty bins from which on each is filled by itself, from many features at a time
REPETITIVE = 3  # rounds in which four values per bin fill almost all bins, unless a text repeats itself

_EMPTY = np.uint32(EMPTY)
_HALF = np.uint64(32)
_LOW = np.uint64(EMPTY)  # the bits of a hash that are its candidate
_ONE = np.uint64(1)
_NEVER = np.uint64((1 << 64) - 1)


@njit
def _scatter(features, multiplier, addend, minima):
    """Lower the minimum of every bin to the lowest candidate that falls into it."""
    bins = np.uint64(minima.size)
    for value in features:
        hashed = value * multiplier + addend
        place = ((hashed >> _HALF) * bins) >> _HALF
        minima[place] = min(minima[place], np.uint32(hashed), np.uint32(_EMPTY - np.uint32(1)))


@njit
def _lowest(features, multiplier, addend, place, bins):
    """Return the lowest candidate of one of a number of bins; ``EMPTY`` if there is none.

    A bin has the hashes between two bounds, which a vectorised loop finds by one comparison.
    """
    first = _first_of(place, bins)
    others = _first_of(place + _ONE, bins) - first - _ONE  # relative to the first; mod 2**64 also for the last bin
    lowest = _LOW
    for i in range(features.size):
        hashed = features[i] * multiplier + addend
        candidate = min(hashed & _LOW, _LOW - _ONE)
        lowest = min(lowest, candidate if hashed - first <= others else _LOW)
    return np.uint32(lowest)


@njit
def _first_of(place, bins):
    """Find the lowest hash that falls into a bin: ``ceil(place * 2**32 / bins) * 2**32 mod 2**64``."""
    return ((place << _HALF) + bins - _ONE) // bins << _HALF


@njit
def _sketch_many(features, multipliers, addends, row, fresh, earliest):
    """Fill a row from many features: each round fills a large part of the empty bins."""
    bins = row.size
    row[:] = _EMPTY
    waiting = bins
    for turn in range(2 * bins):
        multiplier = multipliers[turn]
        addend = addends[turn]
        if turn == REPETITIVE and waiting > FEW and features.size > 4 * bins:  # most of them must be repeats
            features = few_distinct(features, 4 * bins)
            if features.size < bins:
                _sketch_few(features, multipliers, addends, row, earliest)
                return
        if turn == 0:
            _scatter(features, multiplier, addend, row)
        elif turn >= bins:
            if row[turn - bins] == _EMPTY:
                row[turn - bins] = _lowest(features, multiplier, addend, np.uint64(0), _ONE)
        elif waiting <= FEW:
            for place in range(bins):
                if row[place] == _EMPTY:
                    row[place] = _lowest(features, multiplier, addend, np.uint64(place), np.uint64(bins))
        else:
            fresh[:] = _EMPTY
            _scatter(features, multiplier, addend, fresh)
            for place in range(bins):
                if row[place] == _EMPTY:
                    row[place] = fresh[place]
        waiting = 0
        for place in range(bins):
            waiting += row[place] == _EMPTY
        if waiting == 0:
            return


@njit
def _sketch_few(features, multipliers, addends, row, earliest):
    """Fill a row from few features, in many rounds.

    The words of *earliest* are rounds, and below them candidates: the smallest one of a bin has its minimum.
    """
    bins = row.size
    earliest[:] = _NEVER
    together = max(1, bins // features.size)  # rounds until the bins are looked at again
    for begin in range(0, bins, together):
        for turn in range(begin, min(begin + together, bins)):
            before = np.uint64(turn) << _HALF
            for value in features:
                hashed = value * multipliers[turn] + addends[turn]
                place = ((hashed >> _HALF) * np.uint64(bins)) >> _HALF
                earliest[place] = min(earliest[place], before | min(hashed & _LOW, _LOW - _ONE))
        waiting = 0
        for place in range(bins):
            waiting += earliest[place] == _NEVER
        if waiting == 0:
            break
    for place in range(bins):
        if earliest[place] == _NEVER:
            turn = bins + place
            row[place] = _lowest(features, multipliers[turn], addends[turn], np.uint64(0), _ONE)
        else:
            row[place] = np.uint32(earliest[place] & _LOW)


@kernel
def sketch(values, starts, ends, multipliers, addends, minima):
    """Fill one row of *minima* (uint32 or uint16, p columns) per document.

    Document *d* has the values ``values[starts[d]:ends[d]]`` (uint64); repeats have no effect.
    *multipliers* and *addends* are uint64, 2p each. The row of a document without values is filled
    with ``EMPTY``. In 16 bits, a minimum is its value mod 2**16, where 0xFFFF counts as 0xFFFE, and
    ``EMPTY`` is 0xFFFF.
    """
    bins = minima.shape[1]
    mask = np.uint32(EMPTY) if minima.itemsize == 4 else np.uint32(0xFFFF)
    row = np.empty(bins, np.uint32)
    scratch = np.empty(bins, np.uint32)
    earliest = np.empty(bins, np.uint64)
    for document in range(starts.size):
        features = values[starts[document] : ends[document]]
        short = minima[document]
        if features.size == 0:
            short[:] = mask
            continue
        if features.size < bins:
            _sketch_few(features, multipliers, addends, row, earliest)
        else:
            _sketch_many(features, multipliers, addends, row, scratch, earliest)
        for place in range(bins):
            short[place] = min(row[place] & mask, mask - np.uint32(1))


@kernel
def agreements(left, right, left_rows, right_rows, absent, counts):
    """Count the equal columns of ``left[left_rows[i]]`` and ``right[right_rows[i]]``.

    A row that begins with *absent*, of the rows' own type, is not a signature, and agrees with no row.
    """
    for pair in range(left_rows.size):
        one = left[left_rows[pair]]
        other = right[right_rows[pair]]
        equal = np.int32(0)
        for column in range(one.size):
            equal += np.int32(one[column] == other[column])
        counts[pair] = equal if one[0] != absent and other[0] != absent else np.int32(0)


@njit(forceinline=True)
def _band_key(row, band, edges, mask):
    """Hash a band of a row of minima; see ``band_keys``."""
    whole = row.itemsize == 2 and mask == np.uint32(0xFFFF)
    key = np.uint64(band + 1)
    for column in range(edges[band], edges[band + 1]):
        key = absorbed(key, np.uint64(row[column] if whole else min(row[column] & mask, mask - np.uint32(1))))
    return key


@kernel
def band_keys(minima, edges, mask, keys):
    """Hash each band ``minima[:, edges[b]:edges[b + 1]]`` to ``keys[:, b]`` (uint64).

    ``h = b + 1``, then for each minimum ``h = (h ^ m) * SPREAD``, ``h ^= h >> 32``, mod 2**64, where ``m`` is
    ``min(minimum & mask, mask - 1)``: with a *mask* of 0xFFFF the low 16 bits, as ``sketch`` writes them; minima of
    that type count as they are.
    """
    for row in range(minima.shape[0]):
        for band in range(edges.size - 1):
            keys[row, band] = _band_key(minima[row], band, edges, mask)


@kernel
def band_column(minima, documents, band, edges, mask, keys):
    """Fill *keys* with column *band* of ``band_keys`` for the rows *documents*."""
    for place in range(documents.size):
        keys[place] = _band_key(minima[documents[place]], band, edges, mask)


@kernel
def choice_keys(trials, choices, keys):
    """Hash each choice of trials ``trials[:, choices[c]]`` to ``keys[:, c]`` (uint64).

    ``h = c + 1``, then for each chosen trial ``h = (h ^ trial) * SPREAD``, ``h ^= h >> 32``, mod 2**64.
    """
    for row in range(trials.shape[0]):
        for choice in range(choices.shape[0]):
            key = np.uint64(choice + 1)
            for trial in choices[choice]:
                key = absorbed(key, trials[row, trial])
            keys[row, choice] = key
