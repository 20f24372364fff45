"""Token hashes to shingle hashes.

The hash of a sequence of tokens ``t[0] .. t[q - 1]`` (uint64) is
``mix(sum(t[j] * SPREAD ** (q - 1 - j)) mod 2**64)``, where ``mix`` is the 64-bit finaliser of
MurmurHash3: ``h ^= h >> 33; h *= MIX_1; h ^= h >> 33; h *= MIX_2; h ^= h >> 33``, all mod 2**64.
"""

import numpy as np

from neardup.kernels.compile import kernel, njit
from neardup.kernels.sets import empty_table, place_in

SPREAD = 0xD6E8FEB86659FD93
MIX_1 = 0xFF51AFD7ED558CCD
MIX_2 = 0xC4CEB9FE1A85EC53

_SPREAD, _MIX_1, _MIX_2 = np.uint64(SPREAD), np.uint64(MIX_1), np.uint64(MIX_2)
_UNMIX_1, _UNMIX_2 = np.uint64(pow(MIX_1, -1, 1 << 64)), np.uint64(pow(MIX_2, -1, 1 << 64))
_SHIFT = np.uint64(33)
_ONE = np.uint64(1)


@njit
def mix(value):
    """Spread every bit of a uint64 over all of its bits; invertible."""
    value ^= value >> _SHIFT
    value *= _MIX_1
    value ^= value >> _SHIFT
    value *= _MIX_2
    return value ^ (value >> _SHIFT)


@njit
def absorbed(key, value):
    """Return the key of several values extended by one value: ``h = (key ^ value) * SPREAD; h ^ (h >> 32)``."""
    key = (key ^ value) * _SPREAD
    return key ^ (key >> np.uint64(32))


@kernel
def shingles(tokens, offsets, size, values, bounds):
    """Hash every run of *size* consecutive tokens of every document.

    Document *d* has the tokens ``tokens[offsets[d]:offsets[d + 1]]``; its shingle hashes go to
    ``values[bounds[d]:bounds[d + 1]]`` in order, repeats included. A document of fewer than *size*
    tokens has one shingle of all its tokens: the hash of the sequence ``missing, t[0], t[1], ...``,
    where *missing* is the number of tokens it lacks, so it differs from all shingles of longer documents.
    A document without tokens has no shingle. Returns the number of shingles, at most that of the tokens.
    """
    count = 0
    for document in range(offsets.size - 1):
        bounds[document] = count
        source = tokens[offsets[document] : offsets[document + 1]]
        number = source.size - size + 1
        if source.size == 0:
            continue
        if number <= 0:
            total = np.uint64(size - source.size)
            for token in source:
                total = total * _SPREAD + token
            values[count] = mix(total)
            count += 1
            continue
        target = values[count : count + number]
        for i in range(number):
            target[i] = source[i]
        for step in range(1, size):  # one pass a position, so that each is vectorised over the shingles
            later = source[step:]
            for i in range(number):
                target[i] = target[i] * _SPREAD + later[i]
        for i in range(number):
            target[i] = mix(target[i])
        count += number
    bounds[offsets.size - 1] = count
    return count


@njit
def _unmixed(value):
    """Return the inverse of ``mix``."""
    value = (value ^ (value >> _SHIFT)) * _UNMIX_2
    value = (value ^ (value >> _SHIFT)) * _UNMIX_1
    return value ^ (value >> _SHIFT)


@njit(forceinline=True)
def _place(total, bits):
    """Return the word and the bit of a sum of tokens in a filter of ``64 * bits.size`` bits, a power of two of them."""
    place = (total >> _SHIFT) & np.uint64(bits.size * 64 - 1)
    return place >> np.uint64(6), place & np.uint64(63)


@kernel
def enter(values, bits):
    """Set the bits of shingles in a filter (uint64, at most 2 ** 25 of them, a power of two)."""
    for value in values:
        word, bit = _place(_unmixed(value), bits)
        bits[word] |= _ONE << bit


@kernel
def filtered(tokens, offsets, size, bits, values, bounds):
    """Hash runs of tokens as ``shingles`` does, but keep only those whose bit in the filter is set.

    *values* must have room for all. Returns the number of kept hashes.
    """
    count = 0
    highest = _ONE  # what the first token of a run is multiplied by when it has left the run
    for _ in range(size):
        highest *= _SPREAD
    for document in range(offsets.size - 1):
        bounds[document] = count
        source = tokens[offsets[document] : offsets[document + 1]]
        if source.size == 0:
            continue
        total = np.uint64(max(0, size - source.size))
        for token in source[:size]:
            total = total * _SPREAD + token
        for following in range(size, max(size, source.size) + 1):
            word, bit = _place(total, bits)
            values[count] = total
            count += np.int64((bits[word] >> bit) & _ONE)
            if following < source.size:
                total = total * _SPREAD + source[following] - source[following - size] * highest
    bounds[offsets.size - 1] = count
    for i in range(count):
        values[i] = mix(values[i])
    return count


@kernel
def sequences(tokens, offsets, parts, hashes, bounds):
    """Hash the whole token sequence of each line or sentence.

    Part *s* has the tokens ``tokens[offsets[s]:offsets[s + 1]]``, document *d* the parts
    ``parts[d] .. parts[d + 1] - 1``. A part without tokens has no hash. Document *d* gets
    ``hashes[bounds[d]:bounds[d + 1]]``. Returns their number, at most that of the parts.
    """
    count = 0
    for document in range(parts.size - 1):
        bounds[document] = count
        for part in range(parts[document], parts[document + 1]):
            if offsets[part] < offsets[part + 1]:
                total = np.uint64(0)
                for token in tokens[offsets[part] : offsets[part + 1]]:
                    total = total * _SPREAD + token
                hashes[count] = mix(total)
                count += 1
    bounds[parts.size - 1] = count
    return count


@kernel
def label_repeats(values, bounds):
    """Make bags of sets, in place: the n-th repeat of a value becomes ``mix(value + n * SPREAD)``.

    The first occurrence (n = 0) does not change, so a set is a subset of its bag.
    """
    widest = 0
    for document in range(bounds.size - 1):
        widest = max(widest, bounds[document + 1] - bounds[document])
    keys, owners = empty_table(widest)
    counts = np.empty(keys.size, np.int64)
    for document in range(bounds.size - 1):
        for position in range(bounds[document], bounds[document + 1]):
            value = values[position]
            place = place_in(value, keys, owners, document)
            if owners[place] != document:
                owners[place] = document
                keys[place] = value
                counts[place] = 0
            else:
                counts[place] += 1
                values[position] = mix(value + np.uint64(counts[place]) * _SPREAD)
