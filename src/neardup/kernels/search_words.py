"""The words of texts as search compares them: without case, accents and invisible characters.

Kinds and folded letters are those of the ``search`` table of ``neardup.text.unicode``. A word is a maximal run of
letters, marks and numbers; in scripts written without spaces and in Hangul, each letter with its marks is a word.
Texts are UTF-8; invalid bytes separate.
"""

import numpy as np

from neardup.kernels.characters import code_point, encode, entry_of
from neardup.kernels.compile import kernel, njit

SEPARATOR, PART, ALONE, DROPPED, EXTENDS, EXPANDED = range(6)
MOST_EXPANDED = 4  # letters that a code point folds to; one of ASCII folds to one
ROOM = 2  # words, and letters, per byte of a text
GROWTH = 6  # bytes of folded words per byte of a text

_POINT = np.uint32((1 << 21) - 1)


@njit
def _extended(last, code):
    """Return the Hangul syllable of a letter and the vowel or final consonant after it; otherwise 0."""
    if 0x1161 <= code <= 0x1175 and 0x1100 <= last <= 0x1112:
        return np.uint32(0xAC00 + ((np.int64(last) - 0x1100) * 21 + np.int64(code) - 0x1161) * 28)
    if 0x11A8 <= code <= 0x11C2 and 0xAC00 <= last <= 0xD7A3 and (np.int64(last) - 0xAC00) % 28 == 0:
        return np.uint32(np.int64(last) + np.int64(code) - 0x11A7)
    return np.uint32(0)


@njit
def _joined(last, code):
    """Return whether a letter belongs to the one before it.

    That is so below a letter of Khmer and Burmese, and where it is the second half of the vowel am of Thai and Lao.
    """
    if last == 0x17D2 or last == 0x1039:
        return True
    return (last == 0x0E4D and code == 0x0E32) or (last == 0x0ECD and code == 0x0EB2)


@njit
def find_words(source, index, table, expansions, starts, ends, letters, bounds):
    """Find the words of a text: word *w* is ``source[starts[w]:ends[w]]`` and folds to the letters of its *bounds*.

    Returns their number. The words of one character that folds to several have the same place. All arrays have room
    for ``ROOM`` entries per byte, *bounds* for one more.
    """
    words = folded = position = end = 0
    open_kind = SEPARATOR  # of the word that the next letter may continue
    bounds[0] = 0
    while position < source.size:
        code, length = np.uint32(source[position]), 1
        if code < 0x80:
            entry = table[np.int64(index[0]) * 128 + np.int64(code)]
        else:
            code, length = code_point(source, position)
            entry = entry_of(index, table, code)
        kind = np.int64(entry >> np.uint32(21))
        number, row = 1, np.int64(0)
        if kind == EXPANDED:
            row = np.int64(entry & _POINT)
            number = np.int64(expansions[row, 0])
        for step in range(number):
            letter = (code + entry) & _POINT
            own = kind
            if kind == EXPANDED:
                letter = expansions[row, step + 1] & _POINT
                own = np.int64(expansions[row, step + 1] >> np.uint32(21))
            goes_on = own == open_kind and own == PART
            if own == DROPPED or own == EXTENDS:
                goes_on = open_kind != SEPARATOR
            elif own == ALONE and open_kind == ALONE:
                goes_on = _joined(letters[folded - 1], letter)
            if not goes_on:
                if open_kind != SEPARATOR:
                    ends[words] = end
                    words += 1
                    bounds[words] = folded
                open_kind = SEPARATOR
                if own != PART and own != ALONE:
                    continue
                open_kind = own
                starts[words] = position
            end = position + length
            if own == DROPPED:
                continue
            if own == EXTENDS:
                syllable = _extended(letters[folded - 1], letter)
                if syllable != 0:
                    letters[folded - 1] = syllable
                    continue
            letters[folded] = letter
            folded += 1
        position += length
    if open_kind != SEPARATOR:
        ends[words] = end
        words += 1
        bounds[words] = folded
    return words


@njit
def _beginning(source, most):
    """Return the first *most* characters of a text."""
    if source.size <= most:
        return source
    count = 0
    for position in range(source.size):
        count += np.int64(source[position] & 0xC0 != 0x80)
        if count > most:
            return source[:position]
    return source


@kernel
def cut(data, offsets, index, table, expansions, most, out, places):
    """Write the folded words of each text as UTF-8, with a space between two words.

    Text *d* is ``data[offsets[d]:offsets[d + 1]]`` (uint8); its words are ``out[places[d]:places[d + 1]]``. Only the
    first *most* characters of a text count. There is room for ``GROWTH`` bytes per byte in *out* (uint8).
    """
    longest = 0
    for document in range(offsets.size - 1):
        longest = max(longest, offsets[document + 1] - offsets[document])
    room = ROOM * longest
    letters, bounds = np.empty(room, np.uint32), np.empty(room + 1, np.int64)
    starts, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    place = np.int64(0)
    places[0] = 0
    for document in range(offsets.size - 1):
        source = _beginning(data[offsets[document] : offsets[document + 1]], most)
        words = find_words(source, index, table, expansions, starts, ends, letters, bounds)
        for word in range(words):
            if word > 0:
                out[place] = 0x20
                place += 1
            for letter in range(bounds[word], bounds[word + 1]):
                place = encode(letters[letter], out, place)
        places[document + 1] = place
