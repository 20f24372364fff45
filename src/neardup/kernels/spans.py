"""Where the words of one text lie, counted in characters, and where normalisation may move them."""

import numpy as np

from neardup.kernels.compile import kernel
from neardup.kernels.folding import INVALID, code_point, lookup

_INVALID = np.uint32(INVALID)
_SEPARATOR, _UNSPACED = np.uint32(0), np.uint32(2)


@kernel
def spans(data, index, table, starts, ends):
    """Find the words of one UTF-8 text (uint8), the same that ``fold`` finds, in order.

    Word *w* is the characters ``starts[w] .. ends[w] - 1`` (int64), a character being a byte that does
    not continue one: a code point, or a lone surrogate in the three bytes that it is written with.
    *index* and *table* are the ``analysis`` tables of ``neardup.text.unicode``. Returns the number of
    words, at most that of the bytes.
    """
    count = 0
    inside = False
    character = 0
    position = 0
    while position < data.size:
        first = data[position]
        code, length = code_point(data, position)
        position += length
        kind = _SEPARATOR
        if code != _INVALID:
            kind = (lookup(index, table, code) >> np.uint32(21)) & np.uint32(3)
        if inside and kind != np.uint32(1):
            ends[count] = character
            count += 1
            inside = False
        if kind == _UNSPACED:
            starts[count] = character
            ends[count] = character + 1
            count += 1
        elif kind != _SEPARATOR and not inside:
            starts[count] = character
            inside = True
        if first & 0xC0 != 0x80:
            character += 1
    if inside:
        ends[count] = character
        count += 1
    return count


@kernel
def unsettled(data, index, table, bit, starts, ends):
    """Find the stretches of one UTF-8 text that normalisation may change, each independent of its surroundings.

    A stretch ends before a code point that begins no decomposition with a mark and never changes: nothing
    composes with what stands before it (the boundaries of UAX #15). Stretches in which no code point has
    *bit* in the ``normal`` table (*index*, *table*) and marks stand in order are left out. Positions
    are counted as in ``spans``; returns the number of stretches, at most that of the bytes.
    """
    count = 0
    begin = 0
    character = 0
    position = 0
    last_class = 0
    changes = False
    while position < data.size:
        first = data[position]
        code, length = code_point(data, position)
        position += length
        entry = np.uint16(0)
        if code != _INVALID:
            entry = lookup(index, table, code)
        combining = np.int64(entry & 0xFF)
        marked = (entry & bit) != 0
        if combining == 0 and not marked:
            if changes:
                starts[count] = begin
                ends[count] = character
                count += 1
            begin = character
            changes = False
        elif marked or combining < last_class:
            changes = True
        last_class = combining
        if first & 0xC0 != 0x80:
            character += 1
    if changes:
        starts[count] = begin
        ends[count] = character
        count += 1
    return count
