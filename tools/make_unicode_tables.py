"""Write ``src/neardup/text/unicode.npz``: what the tokeniser and the search table know of every code point.

The tables are committed, so that the same text has the same features under every Python: they are made
with the Unicode version of CPython 3.11 (14.0) and refuse to be made with another. What the search table
makes of a code point is asked of SQLite itself.

Layouts are documented where they are read, in ``neardup.text.unicode``.
"""

import sqlite3
import sys
import unicodedata
from contextlib import closing
from itertools import groupby
from pathlib import Path

import numpy as np

from neardup.index.fulltext import TOKENIZER, cut
from neardup.kernels.symbols import ASCII_SYMBOLS

UNICODE = "14.0.0"
BLOCK = 128
CODE_POINTS = 0x110000
SEPARATOR, WORD, UNSPACED, ACCENT = 0, 1, 2, 3
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
MORE_SYMBOLS = {*ASCII_SYMBOLS, *map(ord, "\u2030\u2031\u066a\uff03\uff05\uff06\uff20")}
NO_SYMBOLS = {
    *range(0x2500, 0x25A0),  # lines and blocks, drawn with characters
    *map(ord, "\u00a9\u00ae\u2120\u2122"),  # copyright and trade marks
    0xFFFC,  # an object that is not in the text
    0xFFFD,  # what could not be read
}

# Default_Ignorable_Code_Point of Unicode 14.0.
INVISIBLE_RANGES = [
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


def searched(codes):
    """Give the entries of code points in the ``search`` table: what FTS5 makes of each between two letters."""
    found = {}
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE VIRTUAL TABLE texts USING fts5(body, tokenize = '{TOKENIZER}')")
        connection.execute("CREATE VIRTUAL TABLE words USING fts5vocab(texts, instance)")
        rows = ((code, cut(f"x{chr(code)}y")) for code in codes if code not in SURROGATES)
        connection.executemany("INSERT INTO texts(rowid, body) VALUES (?, ?)", rows)
        words = connection.execute('SELECT doc, term FROM words ORDER BY doc, "offset"')
        for code, own in groupby(words, key=lambda row: row[0]):
            found[code] = entry(code, [term for _, term in own])
    return [found.get(code, SEPARATOR) for code in codes]


def entry(code, words):
    """Tell what a code point is and folds to, by the words that are found where it stands between x and y."""
    if words == ["x", "y"]:
        return SEPARATOR << 21
    if words == ["xy"]:
        return ACCENT << 21
    kind = WORD if len(words) == 1 else UNSPACED
    (folded,) = words[0][1:-1] if kind == WORD else words[1]
    return (ord(folded) - code) & 0x1FFFFF | kind << 21


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
        if invisible[code]:
            pass
        elif category[0] in "LMN":
            kind = UNSPACED if unspaced[code] else WORD
        elif code in MORE_SYMBOLS or (category in {"Sm", "Sc", "So"} and code not in NO_SYMBOLS):
            kind = SYMBOL
        folded = [ord(part) for part in letter.casefold()]
        entry = (folded[0] - code) & 0x1FFFFF
        if len(folded) > 1:
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
    target = Path(__file__).parent.parent / "src" / "neardup" / "text" / "unicode.npz"
    np.savez_compressed(
        target,
        expansions=np.array(expansions, np.uint32),
        **compressed(analysis, "analysis"),
        **compressed(normal, "normal"),
        **compressed(np.array(searched(range(CODE_POINTS)), np.uint32), "search"),
    )
    print(f"{target}: {target.stat().st_size:,} bytes, {len(expansions)} expansions")


if __name__ == "__main__":
    main()
