"""Write ``src/neardup/text/unicode.npz``: what the tokeniser and the search table know of every code point.

The tables are committed, so that the same text has the same features under every Python: they are made
with the Unicode version of CPython 3.11 (14.0) and refuse to be made with another.

Layouts are documented where they are read, in ``neardup.text.unicode``.
"""

import sys
import unicodedata
from pathlib import Path

import numpy as np

from neardup.kernels.search_words import ALONE, DROPPED, EXPANDED, EXTENDS, MOST_EXPANDED, PART
from neardup.kernels.search_words import SEPARATOR as BETWEEN
from neardup.kernels.symbols import ASCII_SYMBOLS

UNICODE = "14.0.0"
BLOCK = 128
CODE_POINTS = 0x110000
SEPARATOR, WORD, UNSPACED = 0, 1, 2
SYMBOL = 3  # in the analysis table
SURROGATES = range(0xD800, 0xE000)  # no characters: separators

# Scripts written without spaces between words: Han, Kana, Thai, Lao, Khmer, Myanmar.
UNSPACED_RANGES = [
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x19E0, 0x19FF),
    (0x2E80, 0x2FDF),
    (0x3005, 0x3007),
    (0x3021, 0x302D),
    (0x3031, 0x30FF),
    (0x3190, 0x319F),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x16FE2, 0x16FE3),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x3FFFF),
]

# Symbols beside the categories Sm, Sc and So, and what is none though it has one of these.
MORE_SYMBOLS = {*ASCII_SYMBOLS, *map(ord, "\u2030\u2031\u066a\uff03\uff05\uff06\uff0a\uff0d\uff0f\uff20\uff3e")}
NO_SYMBOLS = {
    *range(0x2500, 0x25A0),  # lines and blocks, drawn with characters
    *map(ord, "\u00a9\u00ae\u2120\u2122"),  # copyright and trade marks
    *map(ord, "\uff5c\uff5e"),  # the line between titles, and the wave of ranges
    0xFFFC,  # an object that is not in the text
    0xFFFD,  # what could not be read
}

APOSTROPHES = {0x02BB, 0x02BC}  # letters to Unicode, but written as apostrophes, too: separators, as these

# Default_Ignorable_Code_Point of Unicode 14.0, and tatweel, which only makes Arabic words longer.
INVISIBLE_RANGES = [
    (0x0640, 0x0640),
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
]

# The search table.

HANGUL_RANGES = [(0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97F), (0xAC00, 0xD7FF)]
JAMO = [(0x3131, 0x318E)]
KEPT_RANGES = [*JAMO, (0xAC00, 0xD7A3)]  # Hangul that is not taken apart, except first letters of syllables
SQUARED_RANGES = [(0x2E80, 0x2FDF), (0x3200, 0x33FF)]  # symbols that stand for letters, which are searched

# Accents and points that search ignores; marks of other scripts are vowels, and count.
IGNORED_MARKS = [
    (0x0300, 0x036F),
    (0x0483, 0x0489),
    (0x0591, 0x05C7),
    (0x0610, 0x061A),
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x06D6, 0x06ED),
    (0x0711, 0x0711),
    (0x0730, 0x074A),
    (0x07EB, 0x07FD),
    (0x0816, 0x082D),
    (0x0859, 0x085B),
    (0x0898, 0x08FF),
    (0x093C, 0x093C),  # Devanagari: often left out
    (0x0951, 0x0954),
    (0x1AB0, 0x1AFF),
    (0x1CD0, 0x1CFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0x2CEF, 0x2CF1),
    (0x2DE0, 0x2DFF),
    (0x302A, 0x302F),
    (0xA66F, 0xA69F),
    (0xFB1E, 0xFB1E),
    (0xFE20, 0xFE2F),
]

# Letters that people write for one another, beside what Unicode decomposes.
ALIKE = {
    "\u00f8": "o",
    "\u0142": "l",
    "\u0111": "d",
    "\u00f0": "d",
    "\u00fe": "th",
    "\u0127": "h",
    "\u0167": "t",
    "\u0131": "i",
    "\u00e6": "ae",
    "\u0153": "oe",
    "\u0649": "\u064a",
    "\u06cc": "\u064a",
    "\u06a9": "\u0643",
    "\u09ce": "\u09a4\u09cd",
    "\u0d7a": "\u0d23\u0d4d",
    "\u0d7b": "\u0d28\u0d4d",
    "\u0d7c": "\u0d30\u0d4d",
    "\u0d7d": "\u0d32\u0d4d",
    "\u0d7e": "\u0d33\u0d4d",
    "\u0d7f": "\u0d15\u0d4d",
}


def within(ranges):
    return {code for first, last in ranges for code in range(first, last + 1)}


WITHIN_WORDS = within([(0x1160, 0x11FF), (0xD7B0, 0xD7FB)])  # letters that belong to the one before
WHOLE_WORDS = within(UNSPACED_RANGES) | within(HANGUL_RANGES)
FIRST_LETTERS = {code for code in within(JAMO) if "\u1100" <= unicodedata.normalize("NFKD", chr(code)) <= "\u115e"}
KEPT = within(KEPT_RANGES) - FIRST_LETTERS
SQUARED = within(SQUARED_RANGES)
IGNORED = within(INVISIBLE_RANGES) | within(IGNORED_MARKS)


def compressed(full, name):
    """Store equal blocks of a table once: ``data[index[c >> 7]][c & 127]``."""
    blocks, index = np.unique(full.reshape(-1, BLOCK), axis=0, return_inverse=True)
    return {f"{name}_index": index.astype(np.uint16).ravel(), f"{name}_data": blocks.ravel()}


def second_halves():
    """Code points that can combine with the one before: normalisation must look at them."""
    seconds = set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))  # Hangul vowels and final consonants
    for code in range(CODE_POINTS):
        decomposed = unicodedata.decomposition(chr(code))
        parts = decomposed.split()
        if len(parts) == 2 and not decomposed.startswith("<"):
            seconds.add(int(parts[1], 16))
    return seconds


def search_kind(code):
    """Give what a folded code point is in the search table."""
    category = unicodedata.category(chr(code))
    if code in IGNORED or category in {"Cf", "Me"}:
        return DROPPED
    if code in APOSTROPHES:
        return BETWEEN
    if category[0] == "M" or code in WITHIN_WORDS:
        return EXTENDS
    if category[0] not in "LN":
        return BETWEEN
    return ALONE if code in WHOLE_WORDS else PART


def search_folded(code):
    """Give the code points that search takes a code point for, without those it drops."""
    letter = chr(code)
    if code in KEPT:
        return [code]
    if (digit := unicodedata.decimal(letter, None)) is not None:
        return [ord("0") + digit]
    if "\uffa1" <= letter <= "\uffdc" and unicodedata.decomposition(letter):  # half-width Hangul
        return search_folded(int(unicodedata.decomposition(letter).split()[1], 16))
    if unicodedata.category(letter)[0] not in "LMN" and code not in SQUARED:
        return [code]
    before = ""
    folded = letter
    while folded != before:
        before = folded
        folded = "".join(ALIKE.get(part, part) for part in unicodedata.normalize("NFKD", folded))
        folded = "".join(part for part in folded if search_kind(ord(part)) != DROPPED).casefold()
    return [*map(ord, folded)]


def searched():
    """Give the search table, and its expansions."""
    table = np.zeros(CODE_POINTS, np.uint32)
    expansions = []
    for code in range(CODE_POINTS):
        if code in SURROGATES or (unicodedata.category(chr(code)) in {"Cn", "Co"} and code not in IGNORED):
            continue
        folded = search_folded(code)
        if len(folded) > MOST_EXPANDED:
            folded = [code]
        if not folded or search_kind(code) == DROPPED:
            table[code] = DROPPED << 21
        elif len(folded) == 1:
            table[code] = (folded[0] - code) & 0x1FFFFF | search_kind(folded[0]) << 21
        else:
            table[code] = len(expansions) | EXPANDED << 21
            row = [part | search_kind(part) << 21 for part in folded]
            expansions.append([len(row), *row, *[0] * (MOST_EXPANDED - len(row))])
    return table, np.array(expansions, np.uint32)


def main():
    if unicodedata.unidata_version != UNICODE:
        sys.exit(f"needs the Unicode {UNICODE} tables of CPython 3.11, not {unicodedata.unidata_version}")
    analysis = np.zeros(CODE_POINTS, np.uint32)
    normal = np.zeros(CODE_POINTS, np.uint16)
    expansions = []
    unspaced = np.zeros(CODE_POINTS, bool)
    for first, last in UNSPACED_RANGES:
        unspaced[first : last + 1] = True
    seconds = second_halves()
    invisible = np.zeros(CODE_POINTS, bool)
    for first, last in INVISIBLE_RANGES:
        invisible[first : last + 1] = True
    for code in range(CODE_POINTS):
        if code in SURROGATES:
            continue
        letter = chr(code)
        kind, category = SEPARATOR, unicodedata.category(letter)
        if invisible[code] or code in APOSTROPHES:
            pass
        elif category[0] in "LMN":
            kind = UNSPACED if unspaced[code] else WORD
        elif code in MORE_SYMBOLS or (category in {"Sm", "Sc", "So"} and code not in NO_SYMBOLS):
            kind = SYMBOL
        folded = [ord(part) for part in letter.casefold()]
        entry = (folded[0] - code) & 0x1FFFFF
        if len(folded) > 1:  # as what it is in upper case, whose accents may be composed
            upper = unicodedata.normalize("NFC", letter.upper())
            folded = [ord(part) for one in upper for part in one.casefold() if ord(part) not in APOSTROPHES]
            entry = len(expansions) | 1 << 23
            expansions.append([*folded, 0, 0][:3])
        analysis[code] = entry | kind << 21 | (category[0] == "N") << 24 | bool(invisible[code]) << 25
        # What decomposes into marks alone counts as a mark: runs of it are ordered like theirs.
        first = unicodedata.normalize("NFD", letter)[0]
        changes = code in seconds
        normal[code] = (
            unicodedata.combining(first)
            | (changes or not unicodedata.is_normalized("NFC", letter)) << 8
            | (changes or not unicodedata.is_normalized("NFKC", letter)) << 9
            | (category == "Cn") << 10
        )
    search, search_expansions = searched()
    target = Path(__file__).parent.parent / "src" / "neardup" / "text" / "unicode.npz"
    np.savez_compressed(
        target,
        expansions=np.array(expansions, np.uint32),
        **compressed(analysis, "analysis"),
        **compressed(normal, "normal"),
        **compressed(search, "search"),
        search_expansions=search_expansions,
    )
    print(f"{target}: {target.stat().st_size:,} bytes, {len(expansions)} expansions")


if __name__ == "__main__":
    main()
