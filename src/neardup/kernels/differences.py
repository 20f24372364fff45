"""Tables of 64-bit values, written as differences of successive ones.

*What is written.* A table's words, in its order of bits (``neardup.kernels.hamming``), are sorted by all their bits.
Their first *bucket_bits* choose a bucket, and the rest of each is the exclusive or with the rest of the one before in
the bucket, with 0 for the first. Such a difference is written as a Huffman code for its length in bits, and all of
its bits but the highest, which is 1 (Manku, Jain, Das Sarma 2007, with blocks of a kibibyte; here a block is a bucket
of about a hundred bytes, as each probe has to read one).

*Layout.* The lowest bit of a byte is the first. Bucket *b* of table *t* begins at byte
``bases[t] + offsets[t, b]`` of ``stream`` and ends where the next one begins; 0s fill its last byte, and no code is
all 0s. ``lengths[t, c]`` is ``length << 8 | size`` for the *size* bits of a code, if *c* are ``CODE_BITS`` bits that
begin with these. ``starts`` has the number of words of table 0 before each bucket. *entries* are ``(bucket_bits,
stream, bases, offsets, lengths, starts)``.

*Forged.* A guard comes only with *bases* within the stream and *lengths* of at most 64, whose codes have a bit or more:
then a code that begins before the end of a bucket is read at most ``SPARE`` bytes behind it, and reading ends.
"""

import numpy as np

from neardup.kernels.compile import fetch_ahead, kernel, njit, ones, returned, word_at
from neardup.kernels.hamming import (
    AHEAD,
    DISTANCE_BITS,
    FIRST,
    POSITION_BITS,
    STARTS,
    are_intact,
    behind_first,
    is_first,
    is_intact,
    list_probes,
    refuse,
    restored,
    room_for,
)

STREAM, OFFSETS = np.int64(0), np.int64(1)  # the arrays of a guard, which has the others of those of plain tables
LENGTHS = 65  # 0 to 64
CODE_BITS = 12  # of the longest code
NO_CODE = 255  # in place of a length and a size
SPARE = 64  # bytes behind a stream that may be read, and mean nothing

FETCHED, LINE = 512, 64  # bytes that are asked for, the processor foresees the others; and that come together

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_THREE, _SEVEN = np.uint64(3), np.uint64(7)
_LAST, _EIGHT = np.uint64(63), np.uint64(8)
_CODE, _SIZE = np.uint64((1 << CODE_BITS) - 1), np.uint64(255)
_DISTANCE = np.uint64(DISTANCE_BITS)
_RIGHT = np.uint64(DISTANCE_BITS + POSITION_BITS)


@njit
def _length(difference):
    """Count the bits up to the highest one."""
    length = 0
    while difference != _ZERO:
        difference >>= _ONE
        length += 1
    return length


@njit
def _difference(words, i, to_bucket):
    """Return the difference of a word from the previous one in its bucket, otherwise from the bucket's first value."""
    word = words[i]
    if i > 0 and words[i - 1] >> to_bucket == word >> to_bucket:
        return word ^ words[i - 1]
    return word & ((_ONE << to_bucket) - _ONE)


@kernel
def frequencies(words, bucket_bits, counts):
    """Count the differences of each length in *counts* (``LENGTHS`` entries)."""
    to_bucket = np.uint64(64 - bucket_bits)
    for i in range(words.size):
        counts[_length(_difference(words, i, to_bucket))] += 1


@kernel
def measure(words, bucket_bits, sizes, offsets):
    """Fill *offsets* (one more than buckets) with the first byte of each bucket; *sizes* are the bits of each code."""
    to_bucket = np.uint64(64 - bucket_bits)
    i = 0
    size = 0
    for bucket in range(offsets.size - 1):
        offsets[bucket] = size
        bits = 0
        while i < words.size and np.int64(words[i] >> to_bucket) == bucket:
            length = _length(_difference(words, i, to_bucket))
            bits += sizes[length] + max(length - 1, 0)
            i += 1
        size += (bits + 7) >> 3
    offsets[-1] = size


@njit
def _put(stream, bit, value, number):
    """Write the lowest *number* bits of a value over 0s."""
    while number > 0:
        within = bit & 7
        some = min(8 - within, number)
        part = np.int64(value & ((_ONE << np.uint64(some)) - _ONE))
        stream[bit >> 3] |= np.uint8(part << within)
        value >>= np.uint64(some)
        bit += some
        number -= some


@kernel
def encode(words, bucket_bits, codes, sizes, offsets, stream):
    """Write the words of one table to *stream*, which holds zeros, at the offsets of ``measure``."""
    to_bucket = np.uint64(64 - bucket_bits)
    bit = np.int64(0)
    last = np.int64(-1)
    for i in range(words.size):
        bucket = np.int64(words[i] >> to_bucket)
        if bucket != last:
            bit = np.int64(offsets[bucket]) << 3
            last = bucket
        difference = _difference(words, i, to_bucket)
        length = _length(difference)
        _put(stream, bit, np.uint64(codes[length]), sizes[length])
        bit += sizes[length]
        _put(stream, bit, difference, length - 1)
        bit += max(length - 1, 0)


@njit
def _word(stream, bit):
    """Read 64 bits from any bit position."""
    byte, within = np.int64(bit >> _THREE), bit & _SEVEN
    return (word_at(stream, byte) >> within) | (word_at(stream, byte + 8) << (_LAST - within) << _ONE)


@njit
def _take(stream, bit, lengths):
    """Read the difference written at *bit*; return it, the end of its code, and the beginning of the next one.

    There is a difference only if the bucket ends after its code. The function has no branches, because Numba would
    count references to the arrays in each branch, which takes longer than everything else.
    """
    code = np.uint64(lengths[_word(stream, bit) & _CODE])
    place, length = bit + (code & _SIZE), code >> _EIGHT
    some = np.uint64(length != _ZERO)
    highest = some << (length - some)
    return (_word(stream, place) & (highest - some)) | highest, place, place + length - some


@njit
def _bytes_of(base, offsets, bucket):
    """Return the bytes at which a bucket of a table begins and ends."""
    return base + np.int64(offsets[bucket]), base + np.int64(offsets[bucket + 1])


@kernel
def decode(bucket_bits, stream, base, offsets, lengths, words):
    """Read all *words* of one table, which begins at byte *base*; return whether it has as many."""
    to_bucket = np.uint64(64 - bucket_bits)
    i = 0
    for bucket in range(offsets.size - 1):
        begin, behind = _bytes_of(base, offsets, bucket)
        bit, end = np.uint64(begin) << _THREE, np.uint64(behind) << _THREE
        word = np.uint64(bucket) << to_bucket
        while True:
            difference, read, bit = _take(stream, bit, lengths)
            if read > end:
                break
            if i == words.size:
                return False
            word ^= difference
            words[i] = word
            i += 1
    return i == words.size


@njit(forceinline=True)
def _are_within(begin, end, stream):
    """Return whether a bucket can be at these bytes."""
    return 0 <= begin <= end <= stream.size - SPARE


@njit
def _rank(value, entries, guard):
    """Find a value that is in table 0."""
    bucket_bits, stream, bases, offsets, lengths, starts = entries
    to_bucket = np.uint64(64 - bucket_bits)
    bucket = np.int64(value >> to_bucket)
    if not is_intact(guard, OFFSETS, FIRST, bucket, bucket + 2):
        return np.int64(0)
    begin, behind = _bytes_of(bases[0], offsets[0], bucket)
    if not _are_within(begin, behind, stream):
        refuse(guard, OFFSETS, FIRST, bucket)
        return np.int64(0)
    if not is_intact(guard, STREAM, FIRST, begin, behind) or not is_intact(guard, STARTS, FIRST, bucket, bucket + 1):
        return np.int64(0)
    bit, end = np.uint64(begin) << _THREE, np.uint64(behind) << _THREE
    word = np.uint64(bucket) << to_bucket
    rank = np.int64(starts[bucket]) - 1
    row = lengths[0]
    while True:
        difference, read, bit = _take(stream, bit, row)
        word ^= difference
        rank += 1
        if word == value or read > end:
            return rank


@kernel
def search(queries, layout, entries, guard):
    """Find the values near each of the *queries* (at most 2**30): packed ``query << 33 | rank << 3 | distance``.

    The same as ``search`` in ``neardup.kernels.hamming`` for compressed tables.
    """
    distance, rotations, masks, covers, radii, leads, flips, _ = layout
    bucket_bits, stream, bases, offsets, lengths, starts = entries
    to_bucket, values = np.uint64(64 - bucket_bits), np.int64(starts[starts.size - 1])
    cursor, words, probes = np.zeros(3, np.int64), np.empty(AHEAD, np.uint64), np.empty((AHEAD, 5), np.int64)
    found = np.empty(max(16, queries.size), np.uint64)
    number = 0
    while cursor[0] < queries.size:
        prepared = list_probes(queries, cursor, layout, bucket_bits, offsets, words, probes)
        if not are_intact(guard, OFFSETS, probes, prepared):
            break
        for i in range(prepared):
            table = probes[i, 1]
            bucket = probes[i, 3]
            begin, end = np.int64(offsets[table, bucket]), np.int64(offsets[table, bucket + 1])
            begin, end = bases[table] + begin, bases[table] + end
            if not _are_within(begin, end, stream):
                refuse(guard, OFFSETS, table, bucket)
                begin = end = np.int64(0)
            probes[i, 3], probes[i, 4] = begin, end
            for byte in range(probes[i, 3], min(probes[i, 4], probes[i, 3] + FETCHED), LINE):
                fetch_ahead(stream, byte)
        if not are_intact(guard, STREAM, probes, prepared):
            break
        for i in range(prepared):
            query, table, flip = probes[i, 0], probes[i, 1], flips[probes[i, 2]]
            row = lengths[table]
            wanted = words[i] ^ flip
            behind = behind_first(leads[table])
            first, last = wanted & ~behind, wanted | behind
            bit, end = np.uint64(probes[i, 3]) << _THREE, np.uint64(probes[i, 4]) << _THREE
            word = wanted >> to_bucket << to_bucket
            place = -1
            while True:
                difference, read, bit = _take(stream, bit, row)
                word ^= difference
                if read > end or word > last:
                    break
                place += 1
                if word < first:
                    continue
                difference = word ^ words[i]
                differing = ones(difference)
                if differing > np.uint64(distance):
                    continue
                rank = place
                if table == 0:
                    bucket = np.int64(wanted >> to_bucket)
                    if is_intact(guard, STARTS, FIRST, bucket, bucket + 1):
                        rank += np.int64(starts[bucket])
                else:
                    difference = restored(difference, rotations[table], masks[table])
                    if not is_first(difference, table, covers, radii):
                        continue
                    rank = _rank(queries[query] ^ difference, entries, guard)
                if rank >= values:
                    refuse(guard, STREAM, FIRST, probes[i, 3])
                    break
                found = room_for(found, number + 1)
                found[number] = np.uint64(query) << _RIGHT | np.uint64(rank) << _DISTANCE | differing
                number += 1
                if word == last:
                    break
                first = word + _ONE  # words ascend; equal ones of a forged bucket are not looked up again
    return returned(found[:number])
