"""The words of search in plain Python."""

from functools import cache

from neardup.kernels.search_words import ALONE, DROPPED, EXPANDED, EXTENDS, PART
from neardup.text.unicode import unicode_tables

INDEX, TABLE, EXPANSIONS = unicode_tables().search
STACKERS = "\u17d2\u1039"
AM = {"\u0e4d\u0e32", "\u0ecd\u0eb2"}  # the two halves of a vowel of Thai and Lao


@cache
def letters_of(character):
    """Return kind and letter of everything that a character folds to."""
    code = ord(character)
    entry = int(TABLE[int(INDEX[code >> 7]) << 7 | code & 127])
    if entry >> 21 == EXPANDED:
        row = EXPANSIONS[entry & 0x1FFFFF].tolist()
        return [(part >> 21, chr(part & 0x1FFFFF)) for part in row[1 : row[0] + 1]]
    return [(entry >> 21, chr((code + entry) & 0x1FFFFF))]


def joined(word, letter):
    """Append a mark; Hangul letters become a syllable."""
    last, code = ord(word[-1]), ord(letter)
    if 0x1100 <= last < 0x1113 and 0x1161 <= code < 0x1176:
        return word[:-1] + chr(0xAC00 + ((last - 0x1100) * 21 + code - 0x1161) * 28)
    if 0xAC00 <= last < 0xD7A4 and (last - 0xAC00) % 28 == 0 and 0x11A8 <= code < 0x11C3:
        return word[:-1] + chr(last + code - 0x11A7)
    return word + letter


def belongs(last, letter):
    """Return whether a letter is part of the word before it, in a script where each letter is a word."""
    return last in STACKERS or last + letter in AM


def words_of(text):
    """Return begin, end and letters of each word, by characters."""
    words, kind_of_last = [], None
    for place, character in enumerate(text):
        for kind, letter in letters_of(character):
            if kind in {DROPPED, EXTENDS} and kind_of_last is not None:
                words[-1][1] = place + 1
                words[-1][2] = joined(words[-1][2], letter) if kind == EXTENDS else words[-1][2]
            elif kind == PART == kind_of_last or (kind == ALONE == kind_of_last and belongs(words[-1][2][-1], letter)):
                words[-1][1:] = [place + 1, words[-1][2] + letter]
            elif kind in {PART, ALONE}:
                words.append([place, place + 1, letter])
                kind_of_last = kind
            else:
                kind_of_last = None
    return words
