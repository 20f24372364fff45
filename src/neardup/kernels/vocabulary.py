"""Words that are replaced or dropped, by their token hashes: ``DROPPED`` is in the place of a dropped one.

A table of tokens to drop is a uint64 array of a power-of-two size; 0 is a free place. A cache is uint64[rows, 4], a
power of two of rows; a row has the last two tokens that were entered there, each with its replacement.
"""

import numpy as np

from neardup.kernels.characters import UNSPACED, code_point, entry_of, kind_of, letters_of
from neardup.kernels.compile import kernel, njit
from neardup.kernels.sets import first_place

DROPPED = 0

_NOTHING = np.uint64(0)


@njit
def _place(table, token):
    """Return the place of a token, or the free place for it."""
    mask = np.uint64(table.size - 1)
    place = first_place(token, mask)
    while table[place] != _NOTHING and table[place] != token:
        place = (place + np.uint64(1)) & mask
    return place


@kernel
def insert(table, tokens):
    """Add tokens to a table; at least one place must remain free."""
    for token in tokens:
        table[_place(table, token)] = token


@kernel
def recall(tokens, positions, cache):
    """Replace, in place, the tokens at *positions* that a cache knows; return the number of the others.

    The positions of the others are moved to the beginning of *positions*, without those of ``DROPPED``.
    """
    mask = np.uint64(cache.shape[0] - 1)
    count = 0
    for position in positions:
        token = tokens[position]
        row = first_place(token, mask)
        if cache[row, 0] == token:
            tokens[position] = cache[row, 1]
        elif cache[row, 2] == token:
            tokens[position] = cache[row, 3]
        else:
            positions[count] = position
            count += np.int64(token != _NOTHING)
    return count


@kernel
def remember(tokens, positions, replacements, cache):
    """Replace, in place, the tokens at *positions*, and enter them in a cache."""
    mask = np.uint64(cache.shape[0] - 1)
    for number in range(positions.size):
        token, replacement = tokens[positions[number]], replacements[number]
        tokens[positions[number]] = replacement
        row = first_place(token, mask)
        if cache[row, 0] != token:
            cache[row, 2], cache[row, 3] = cache[row, 0], cache[row, 1]
            cache[row, 0], cache[row, 1] = token, replacement


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
def drop_listed(tokens, table):
    """Set to ``DROPPED``, in place, each token that is in the table."""
    for position in range(tokens.size):
        if table[_place(table, tokens[position])] != _NOTHING:
            tokens[position] = _NOTHING


@kernel
def drop_short(tokens, starts, folded, minimum, index, table):
    """Set to ``DROPPED``, in place, the words of fewer than *minimum* letters (see ``letters_of``).

    A word of a script without spaces has one character and always stays.
    """
    for position in range(tokens.size):
        at = starts[position]
        letters = 0
        while folded[at] != 0 and letters < minimum:
            if folded[at] < 0x80:
                letters += 1
                at += 1
                continue
            code, length = code_point(folded, at)
            letters += letters_of(code)
            at += length
        if letters < minimum:
            code, _ = code_point(folded[starts[position] :], 0)
            if kind_of(entry_of(index, table, code)) != UNSPACED:
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
