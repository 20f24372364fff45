"""Words that are replaced or dropped: an open-addressing table from token hash to token hash.

A table is two uint64 arrays of one power-of-two size: ``keys`` (0 is a free place) and ``values``
(``DROPPED`` removes the token).
"""

import numpy as np

from neardup.kernels.compile import kernel, njit
from neardup.kernels.folding import INVALID, code_point, lookup
from neardup.kernels.sets import first_place

DROPPED = 0

_NOTHING = np.uint64(0)
_INVALID = np.uint32(INVALID)


@njit(nogil=True)
def _place(keys, key):
    """Where *key* is, or the free place where it would be."""
    mask = np.uint64(keys.size - 1)
    place = first_place(key, mask)
    while keys[place] != _NOTHING and keys[place] != key:
        place = (place + np.uint64(1)) & mask
    return place


@kernel
def insert(keys, values, new_keys, new_values):
    """Add entries; the table must keep a free place. A key already there gets the new value."""
    for entry in range(new_keys.size):
        place = _place(keys, new_keys[entry])
        keys[place] = new_keys[entry]
        values[place] = new_values[entry]


@kernel
def missing(tokens, keys, found):
    """Write the positions of tokens that the table does not know to *found*; returns their number."""
    count = 0
    for position in range(tokens.size):
        if keys[_place(keys, tokens[position])] == _NOTHING:
            found[count] = position
            count += 1
    return count


@kernel
def translate(tokens, keys, values):
    """Replace, in place, each token that the table knows."""
    for position in range(tokens.size):
        place = _place(keys, tokens[position])
        if keys[place] != _NOTHING:
            tokens[position] = values[place]


@kernel
def drop_short(tokens, starts, folded, minimum, index, table):
    """Set to ``DROPPED``, in place, the words of fewer than *minimum* code points.

    A word of a script without spaces is one character by nature and always stays.
    """
    for position in range(tokens.size):
        at = starts[position]
        letters = 0
        while folded[at] != 0 and letters < minimum:
            letters += folded[at] & 0xC0 != 0x80
            at += 1
        if letters < minimum:
            code, _ = code_point(folded[starts[position] :], 0)
            if code == _INVALID or (lookup(index, table, code) >> np.uint32(21)) & np.uint32(3) != 2:
                tokens[position] = np.uint64(DROPPED)


@kernel
def remove_dropped(tokens, offsets):
    """Close the gaps of ``DROPPED`` tokens, in place; returns how many remain."""
    count = 0
    begin = offsets[0]
    for segment in range(offsets.size - 1):
        end = offsets[segment + 1]
        offsets[segment] = count
        for position in range(begin, end):
            if tokens[position] != _NOTHING:
                tokens[count] = tokens[position]
                count += 1
        begin = end
    offsets[offsets.size - 1] = count
    return count
