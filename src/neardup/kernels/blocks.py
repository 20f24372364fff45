"""Checksummed blocks of bytes, each verified before it is read for the first time.

*Checksum.* The bytes are read as little-endian words of 64 bits, the last one padded with zero bytes.
Word *i* goes to lane ``i % 8``: ``lane = rotate_left(lane ^ word, 29) * PRIME mod 2**64``, where lane *l* begins as
``START + l``. Then the lanes, in order, are added in the same way to a sum that begins as the number of bytes, and
``sum ^ sum >> 32`` is the checksum. Each step is invertible, so a change within one word is always detected; another
change is missed once in 2**64. It detects accidents, not forgeries.

*Guarded.* A guard is ``(data, sums, seen)``: the bytes of a file (uint8), the checksum of each block of ``BLOCK`` bytes
(uint64), and which blocks were found intact (uint8). Threads may share it: at worst they verify a block twice.
A guard may be ``None`` for data in memory; then no checks are compiled.
"""

import numpy as np

from neardup.kernels.compile import fetch_ahead, kernel, last_word, njit, word_at

BLOCK_BITS = 12
BLOCK = 1 << BLOCK_BITS
INTACT = -1  # in place of the number of a damaged block

_AHEAD = 8  # entries that are on their way
LINE = 64  # bytes that come from memory together
WORD = 8  # bytes of a value of most columns

_START = np.uint64(0x6E65_6172_6475_7001)
_PRIME = np.uint64(0x9FB2_1C65_1E98_DF25)
_LEFT, _RIGHT, _FOLD = np.uint64(29), np.uint64(35), np.uint64(32)


@njit(forceinline=True)
def _absorbed(lane, word):
    """Return a lane after one word."""
    lane ^= word
    return ((lane << _LEFT) | (lane >> _RIGHT)) * _PRIME


@njit
def _sum(data, begin, end):
    """Compute the checksum of ``data[begin:end]``."""
    a, b, c, d = _START, _START + np.uint64(1), _START + np.uint64(2), _START + np.uint64(3)
    e, f, g, h = _START + np.uint64(4), _START + np.uint64(5), _START + np.uint64(6), _START + np.uint64(7)
    place = begin
    while place + 64 <= end:
        a = _absorbed(a, word_at(data, place))
        b = _absorbed(b, word_at(data, place + 8))
        c = _absorbed(c, word_at(data, place + 16))
        d = _absorbed(d, word_at(data, place + 24))
        e = _absorbed(e, word_at(data, place + 32))
        f = _absorbed(f, word_at(data, place + 40))
        g = _absorbed(g, word_at(data, place + 48))
        h = _absorbed(h, word_at(data, place + 56))
        place += 64
    while place < end:
        word = word_at(data, place) if place + 8 <= end else last_word(data, place, end)
        # The lanes take turns: the one that is due is always in front.
        a, b, c, d, e, f, g, h = b, c, d, e, f, g, h, _absorbed(a, word)
        place += 8
    for _ in range((8 - ((end - begin + 7) >> 3) % 8) % 8):
        a, b, c, d, e, f, g, h = b, c, d, e, f, g, h, a
    total = np.uint64(end - begin)
    for lane in (a, b, c, d, e, f, g, h):
        total = _absorbed(total, lane)
    return total ^ (total >> _FOLD)


@kernel
def checksum(data):
    """Compute the checksum of all of *data* (uint8)."""
    return _sum(data, np.int64(0), data.size)


@kernel
def block_sums(data, sums):
    """Compute the checksum of each block; the last one may be shorter."""
    for block in range(sums.size):
        sums[block] = _sum(data, block << BLOCK_BITS, min((block + 1) << BLOCK_BITS, data.size))


@njit(forceinline=True)
def damaged(guard, begin, end):
    """Return the first damaged block among those with bytes from *begin* up to *end*, or ``INTACT``."""
    if guard is None or begin >= end:
        return INTACT
    for block in range(begin >> BLOCK_BITS, ((end - 1) >> BLOCK_BITS) + 1):
        if not guard[2][block]:
            return _damaged_anew(guard, block, (end - 1) >> BLOCK_BITS)
    return INTACT


@njit
def _damaged_anew(guard, first, last):
    """Verify the blocks that were not verified yet, and return the first damaged one."""
    data, sums, seen = guard
    for block in range(first, last + 1):
        if not seen[block]:
            if _sum(data, block << BLOCK_BITS, min((block + 1) << BLOCK_BITS, data.size)) != sums[block]:
                return block
            seen[block] = 1
    return INTACT


@kernel
def damaged_range(guard, begin, end):
    """Return the first damaged block from byte *begin* up to byte *end*, or ``INTACT``."""
    return damaged(guard, begin, end)


@kernel
def copy_entries(guard, begin, data, each, positions, out):
    """Copy the entries at these positions of an array that begins at byte *begin*; an entry has *each* bytes.

    Returns the first damaged block, the block of *begin* for a position outside the array, or ``INTACT``.
    """
    if each == WORD:  # most columns; their values are in one block each, which is mostly that of the value before
        words, copies, known = data.view(np.uint64), out.view(np.uint64), np.int64(-1)
        for i in range(positions.size):
            if i + _AHEAD < positions.size:
                fetch_ahead(data, positions[i + _AHEAD] * WORD)
            place = positions[i]
            if not 0 <= place < words.size:
                return begin >> BLOCK_BITS
            at = begin + place * WORD
            if at >> BLOCK_BITS != known:
                block = damaged(guard, at, at + WORD)
                if block != INTACT:
                    return block
                known = at >> BLOCK_BITS
            copies[i] = words[place]
        return INTACT
    for i in range(positions.size):
        if i + _AHEAD < positions.size:
            later = positions[i + _AHEAD] * each
            for line in range(0, each, LINE):
                fetch_ahead(data, later + line)
        place = positions[i] * each
        if not 0 <= place <= data.size - each:
            return begin >> BLOCK_BITS
        block = damaged(guard, begin + place, begin + place + each)
        if block != INTACT:
            return block
        for byte in range(each):
            out[i * each + byte] = data[place + byte]
    return INTACT
