"""Concatenated byte strings: string *d* is ``data[offsets[d]:offsets[d + 1]]``.

In guarded files (``neardup.kernels.blocks``), the offsets and the data begin at the bytes *begins*.
"""

from neardup.kernels.blocks import BLOCK_BITS, INTACT, LINE, damaged
from neardup.kernels.compile import fetch_ahead, kernel, njit

WHOLE = 1 << 62  # more bytes than a string has
TOGETHER = 128  # strings whose memory is on its way together


@njit(forceinline=True)
def bounds_of(guard, begin, offsets, data, string):
    """Return the bounds of a string, and the damaged block that contains them or ``INTACT``.

    *begin* is the byte at which the offsets begin.
    """
    at = begin + 8 * string
    block = damaged(guard, at, at + 16)
    first, last = offsets[string], offsets[string + 1]
    if block == INTACT and not 0 <= first <= last <= data.size:
        block = at >> BLOCK_BITS
    return first, last, block


@njit(forceinline=True)
def fetch_string(data, first):
    """Prefetch the first cache lines of a string, two at most: few ids are longer."""
    fetch_ahead(data, max(0, min(first, data.size - 1)))
    fetch_ahead(data, max(0, min(first + LINE - 1, data.size - 1)))


@kernel
def locate(guard, begins, offsets, data, strings, most, firsts, bounds):
    """Find the beginnings ``firsts[i]`` of *strings* (int64[n]), and the ends ``bounds[i + 1]`` of their concatenation.

    Only the first *most* bytes of each string count.

    Returns the first block that is damaged or refers to missing bytes, the block of the first offset for a missing
    string, or ``INTACT``. The bytes that count are verified, too.
    """
    bounds[0] = 0
    for start in range(0, strings.size, TOGETHER):
        stop = min(start + TOGETHER, strings.size)
        for place in range(start, stop):
            if not 0 <= strings[place] < offsets.size - 1:
                return begins[0] >> BLOCK_BITS
            fetch_ahead(offsets, strings[place])
        for place in range(start, stop):
            first, last, block = bounds_of(guard, begins[0], offsets, data, strings[place])
            if block != INTACT:
                return block
            firsts[place], bounds[place + 1] = first, bounds[place] + min(last - first, most)
            fetch_string(data, first)
        if guard is not None:
            for place in range(start, stop):
                first = begins[1] + firsts[place]
                block = damaged(guard, first, first + bounds[place + 1] - bounds[place])
                if block != INTACT:
                    return block
    return INTACT


@kernel
def copy(data, firsts, bounds, out):
    """Copy the strings that begin at *firsts*: number *i* to ``out[bounds[i]:bounds[i + 1]]``."""
    for place in range(firsts.size):
        apart = firsts[place] - bounds[place]
        for byte in range(bounds[place], bounds[place + 1]):
            out[byte] = data[byte + apart]
