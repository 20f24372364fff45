"""The positions of the words of one text, in characters, and the parts that normalisation may change."""

import numpy as np

from neardup.kernels.characters import INVISIBLE, SEPARATOR, SYMBOL, WORD, code_point, entry_of, kind_of
from neardup.kernels.compile import kernel
from neardup.kernels.symbols import address_end, counts, is_picture

_SLASH = 0x2F


@kernel
def spans(data, index, table, symbols, starts, ends):
    """Find the words of one UTF-8 text (uint8), in order: the words of ``fold`` with the same *symbols*.

    Word *w* is the characters ``starts[w] .. ends[w] - 1`` (int64), a character being a byte that does
    not continue one: a code point, or a lone surrogate in its three bytes. Invisible code points
    are part of a word only between two other code points of it. *index* and *table* are the ``analysis``
    tables of ``neardup.text.unicode``. Returns the number of words, at most that of the bytes.
    """
    count = 0
    inside = False
    behind = 0  # the character behind the last one of the word
    character = 0
    position = 0
    while position < data.size:
        first = data[position]
        code, length = code_point(data, position)
        position += length
        entry = entry_of(index, table, code)
        kind = kind_of(entry)
        if code == _SLASH and symbols:
            end = address_end(data, position - length, index, table)
            if end >= position:  # the word before the colon continues
                for place in range(position, end):
                    character += data[place] & 0xC0 != 0x80
                position = end
                character += 1
                ends[count - 1] = character
                continue
        if kind == SYMBOL and not (symbols and counts(data, position - length, position, index, table)):
            kind = SEPARATOR
        if entry & INVISIBLE == 0:
            if inside and kind != WORD:
                ends[count] = behind
                count += 1
                inside = False
            if kind == WORD:
                if not inside:
                    starts[count] = character
                    inside = True
                behind = character + 1
            elif kind != SEPARATOR:
                starts[count] = character
                ends[count] = character + 1
                count += 1
                if kind == SYMBOL and is_picture(code):
                    starts[count] = character
                    ends[count] = character + 1
                    count += 1
        if first & 0xC0 != 0x80:
            character += 1
    if inside:
        ends[count] = behind
        count += 1
    return count


@kernel
def unsettled(data, index, table, bit, starts, ends):
    """Find the stretches of one UTF-8 text that normalisation may change, each independent of its surroundings.

    A stretch ends before a code point that begins no decomposition with a mark and never changes: nothing composes with
    the code points before it (the boundaries of UAX #15). Stretches in which no code point has *bit* in the ``normal``
    table (*index*, *table*) and marks are in order are omitted. Positions are counted as in ``spans``; returns the
    number of stretches, at most that of the bytes.
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
        entry = entry_of(index, table, code)
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
