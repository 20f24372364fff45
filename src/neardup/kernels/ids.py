"""The document of an id: a sorted list of keys, and the strings of their documents.

See ``neardup.kernels.postings`` and ``neardup.kernels.strings``. Several documents may share a key, or have had the
same id; at most one existing document has it.
"""

import numpy as np

from neardup.kernels.ascending import prefix_shift
from neardup.kernels.blocks import BLOCK_BITS, INTACT, damaged
from neardup.kernels.compile import fetch_ahead, kernel, njit, word_at
from neardup.kernels.postings import begin_of
from neardup.kernels.strings import TOGETHER, bounds_of, fetch_string

_ONE = np.uint64(1)


@njit(forceinline=True)
def _same(data, first, last, other, other_first, other_last):
    """Compare ``data[first:last]`` with ``other[other_first:other_last]``."""
    if last - first != other_last - other_first:
        return False
    apart = other_first - first
    if last - first < 8:
        for place in range(first, last):
            if data[place] != other[place + apart]:
                return False
        return True
    differing = word_at(data, last - 8) ^ word_at(other, last - 8 + apart)  # the words before may reach into this one
    for place in range(first, last - 8, 8):
        differing |= word_at(data, place) ^ word_at(other, place + apart)
    return differing == 0


@kernel
def find_ids(keys, ids, bounds, entries, starts, document_bits, alive, guard, begins, offsets, data, found):
    """Find the existing document with id *r*, ``ids[bounds[r]:bounds[r + 1]]`` with the key ``keys[r]``, or -1.

    *entries* and *starts* are those of one list (uint64[m], uint32[p + 1]); *alive* marks existing documents; if it is
    empty, all exist. In guarded files, the entries, starts, offsets and data begin at the bytes *begins*. Returns the
    first block that is damaged, or that refers to missing documents or bytes; otherwise ``INTACT``.

    Several passes over the ids prefetch the memory that they need.
    """
    above = ~((_ONE << np.uint64(document_bits)) - _ONE)
    shift = prefix_shift(starts.size - 1)
    length, documents = entries.size, offsets.size - 1
    places = np.empty(TOGETHER, np.int64)
    for start in range(0, keys.size, TOGETHER):
        stop = min(start + TOGETHER, keys.size)
        for row in range(start, stop):
            fetch_ahead(starts, np.int64(keys[row] >> shift))
        for row in range(start, stop):
            prefix = np.int64(keys[row] >> shift)
            at = begins[1] + 4 * prefix
            block = damaged(guard, at, at + 8)
            if block != INTACT:
                return block
            fetch_ahead(entries, min(np.int64(starts[prefix]), length - 1))
            fetch_ahead(entries, max(0, min(np.int64(starts[prefix + 1]), length) - 1))  # mostly in another line
        for row in range(start, stop):
            prefix = np.int64(keys[row] >> shift)
            low, high = np.int64(starts[prefix]), min(np.int64(starts[prefix + 1]), length)
            place, block = begin_of(entries, low, high, keys[row] & above, guard, begins[0])
            if block != INTACT:
                return block
            places[row - start] = place
            if place < length:
                fetch_ahead(offsets, min(np.int64(entries[place] & ~above), documents))
        for row in range(start, stop):  # what is read for its memory alone needs no verifying
            place = places[row - start]
            if place < length:
                fetch_string(data, offsets[min(np.int64(entries[place] & ~above), documents)])
        for row in range(start, stop):
            found[row] = -1
            place = places[row - start]
            while place < length:
                at = begins[0] + 8 * place
                block = damaged(guard, at, at + 8)
                if block != INTACT:
                    return block
                if (entries[place] ^ keys[row]) & above:
                    break
                document = np.int64(entries[place] & ~above)
                if document >= documents:
                    return at >> BLOCK_BITS
                if alive.size == 0 or alive[document]:
                    first, last, block = bounds_of(guard, begins[2], offsets, data, document)
                    if block == INTACT:
                        block = damaged(guard, begins[3] + first, begins[3] + last)
                    if block != INTACT:
                        return block
                    if _same(data, first, last, ids, bounds[row], bounds[row + 1]):
                        found[row] = document
                        break
                place += 1
    return INTACT
