"""Words that are replaced or dropped: an open-addressing table from token hash to token hash.

A table is two uint64 arrays of one power-of-two size: ``keys`` (0 is a free place) and ``values``
(``DROPPED`` removes the token).
"""

import numpy as np

from neardup.kernels.characters import INVALID, code_point, lookup
from neardup.kernels.compile import kernel, njit
from neardup.kernels.sets import first_place

DROPPED = 0

_NOTHING = np.uint64(0)
_INVALID = np.uint32(INVALID)


@njit(nogil=True)
def _place(keys, key):
    """Return the place of *key*, or the free place for it."""
    mask = np.uint64(keys.size - 1)
    place = first_place(key, mask)
    while keys[place] != _NOTHING and keys[place] != key:
        place = (place + np.uint64(1)) & mask
    return place


@kernel
def insert(keys, values, new_keys, new_values):
    """Add entries; at least one place must remain free. The value of an existing key is replaced."""
    for entry in range(new_keys.size):
        place = _place(keys, new_keys[entry])
        keys[place] = new_keys[entry]
        values[place] = new_values[entry]


@kernel
def meet(tokens, keys, values, found, places):
    """Add each token that is not in the table, with itself as its value, except ``DROPPED``.

    The position of each token's first occurrence is written to *found*, its place in the table to *places*. The table
    must have places for all and a free one. Returns the number of new tokens.
    """
    count = 0
    for position in range(tokens.size):
        token = tokens[position]
        place = _place(keys, token)
        if keys[place] != token:
            keys[place] = token
            values[place] = token
            found[count] = position
            places[count] = place
            count += 1
    return count


@kernel
def gather(folded, starts, words):
    """Concatenate the zero-ended words at *starts*, with their zeros; return their size in bytes."""
    out = 0
    for start in starts:
        position = start
        while folded[position] != 0:
            words[out] = folded[position]
            out += 1
            position += 1
        words[out] = 0
        out += 1
    return out


@kernel
def drop_runs(tokens, offsets, runs, bounds):
    """Set to ``DROPPED``, in place, every run of tokens that is one of the *runs*.

    Run *r* is ``runs[bounds[r]:bounds[r + 1]]``; runs ascend by their first token, and of equal first tokens
    the longest comes first. Runs are found from the left, in document *d* among
    ``tokens[offsets[d]:offsets[d + 1]]``, and do not overlap.
    """
    number = bounds.size - 1
    for document in range(offsets.size - 1):
        position = offsets[document]
        end = offsets[document + 1]
        while position < end:
            low, high = 0, number
            while low < high:
                middle = (low + high) >> 1
                if runs[bounds[middle]] < tokens[position]:
                    low = middle + 1
                else:
                    high = middle
            length = 0
            while low < number and length == 0 and runs[bounds[low]] == tokens[position]:
                size = bounds[low + 1] - bounds[low]
                same = size <= end - position
                step = 1
                while same and step < size:
                    same = tokens[position + step] == runs[bounds[low] + step]
                    step += 1
                if same:
                    length = size
                low += 1
            tokens[position : position + length] = _NOTHING
            position += max(1, length)


@kernel
def translate(tokens, keys, values):
    """Replace, in place, each token that is in the table."""
    for position in range(tokens.size):
        place = _place(keys, tokens[position])
        if keys[place] != _NOTHING:
            tokens[position] = values[place]


@kernel
def drop_short(tokens, starts, folded, minimum, index, table):
    """Set to ``DROPPED``, in place, the words of fewer than *minimum* code points.

    A word of a script without spaces has one character and always stays.
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
