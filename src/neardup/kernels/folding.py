"""UTF-8 text to words: case folded, every word ended by a zero byte, everything else removed.

Code points outside words become zero bytes, so a word is a maximal run of bytes that are not zero. Invisible code
points are removed and do not separate. A symbol that counts (``neardup.kernels.symbols``) is a word.
"""

import numpy as np

from neardup.kernels.characters import INVISIBLE, SEPARATOR, SYMBOL, WORD, code_point, encode, entry_of, kind_of
from neardup.kernels.compile import borrowed, high_at, kernel, njit, special_at, trailing_zeros
from neardup.kernels.symbols import (
    TOKEN,
    UNKNOWN,
    address_end,
    begins_ruler,
    counts,
    is_ascii_symbol,
    is_picture,
    row_end,
    verdict_at,
)

GROWTH = 3  # folding makes a text at most three times as long: U+0390 is 2 bytes, its fold 6
PADDING = 72  # zero bytes behind the last document, for readers of whole words
MOST_MARKS = 30  # the limit of UAX #15's stream-safe text
BEYOND = 1 << 10  # in the normal table: not assigned in its version of Unicode

BLOCK = 64  # bytes looked at together

_ONE = np.uint64(1)
_BYTE = np.uint8
_CODE = np.uint32
_EXPANDS = np.uint32(1 << 23)
_POINT = np.uint32((1 << 21) - 1)
_LETTER = np.uint32(WORD << np.uint32(21))
_UNUSUAL = np.uint32(INVISIBLE | _EXPANDS | np.uint32(3 << 21))
_SLASH, _COLON = 0x2F, _BYTE(0x3A)
_MINUS, _WIDE_HYPHEN, _HYPHEN = np.uint32(0x2212), np.uint32(0xFF0D), np.uint32(0x2D)


@njit
def _fold_ascii(byte, lift):
    """Fold one ASCII byte without a branch; *lift* is 32 to fold case, 0 to keep it."""
    lower = _BYTE(byte | _BYTE(32))
    letter = _BYTE(lower - _BYTE(97)) < _BYTE(26)
    digit = _BYTE(byte - _BYTE(48)) < _BYTE(10)
    folded = _BYTE(byte | lift) if letter else byte
    return folded if letter | digit else _BYTE(0)


@kernel
def fold(data, offsets, index, table, expansions, fold_case, symbols, folded, bounds):
    """Fold every document of a batch.

    Document *d* is ``data[offsets[d]:offsets[d + 1]]`` (uint8, UTF-8); its words are written to
    ``folded[bounds[d]:bounds[d + 1]]``. The last byte of each document's part is zero, and
    ``PADDING`` zero bytes follow the last one. A code point of a script without spaces becomes a
    word of its own, and so does, with *symbols*, a symbol that counts; a picture becomes two words, an address one,
    and the minus U+2212 and the full-width one become ``-``.
    Other symbols and invalid UTF-8 separate; invisible code points are skipped. *index*, *table* and
    *expansions* are the ``analysis`` tables of ``neardup.text.unicode``. *folded* must hold ``GROWTH``
    times the text plus one byte per document plus ``PADDING``.
    """
    data, index, table, folded = borrowed(data), borrowed(index), borrowed(table), borrowed(folded)
    out = 0
    lift = _BYTE(32) if fold_case else _BYTE(0)
    moves = _POINT if fold_case else _CODE(0)
    for document in range(offsets.size - 1):
        bounds[document] = out
        begin = out
        source = data[offsets[document] : offsets[document + 1]]
        position = np.int64(0)
        while position < source.size:
            if position + BLOCK <= source.size:
                plain = source[position : position + BLOCK]
                target = folded[out : out + BLOCK]
                for i in range(BLOCK):  # bytes handled below leave garbage, which is overwritten
                    target[i] = _fold_ascii(plain[i], lift)
                special = special_at(source, position) if symbols else high_at(source, position)
                verdict = UNKNOWN
                while symbols and special != 0:
                    place = np.int64(trailing_zeros(special))
                    verdict = verdict_at(source, position + place, index, table)
                    if verdict == UNKNOWN:
                        break
                    if verdict == TOKEN:
                        begins = out + place == begin or folded[out + place - 1] == 0
                        ends = place + 1 < BLOCK and target[place + 1] == 0 and plain[place + 1] < 0x80
                        if not (begins and ends):
                            break
                        target[place] = plain[place]
                    special &= special - _ONE
                plain_bytes = np.int64(trailing_zeros(special))
                out += plain_bytes
                position += plain_bytes
                if plain_bytes == BLOCK:
                    continue
                if verdict == TOKEN:
                    if out > begin and folded[out - 1] != 0:
                        folded[out] = 0
                        out += 1
                    folded[out] = source[position]
                    folded[out + 1] = 0
                    out += 2
                    position += 1
                    continue
            elif source[position] < 0x80 and not (symbols and is_ascii_symbol(source[position])):
                folded[out] = _fold_ascii(source[position], lift)
                out += 1
                position += 1
                continue
            while position < source.size:
                byte = source[position]
                if byte < 0x80 and not (symbols and is_ascii_symbol(byte)):
                    break
                code, length = code_point(source, position)
                entry = entry_of(index, table, code)
                if entry & _UNUSUAL == _LETTER:
                    out = encode(_CODE((code + (entry & moves)) & _POINT), folded, out)
                    position += length
                    continue
                if begins_ruler(source, position):
                    end = row_end(source, position)
                    folded[out : out + end - position] = 0
                    out += end - position
                    position = end
                    continue
                position += length
                if entry & INVISIBLE:
                    continue
                kind = kind_of(entry)
                if code == _SLASH and symbols:
                    end = address_end(source, position - length, index, table)
                    if end >= position:  # continue the word before the colon, which has left a zero byte
                        folded[out - 1] = _COLON
                        for place in range(position - length, end):
                            if source[place] < 0x80:
                                byte = _fold_ascii(source[place], lift)
                                folded[out] = byte if byte != 0 else source[place]
                                out += 1
                        folded[out] = 0
                        out += 1
                        position = end
                        continue
                if kind == SYMBOL and not (symbols and counts(source, position - length, position, index, table)):
                    kind = SEPARATOR
                if kind == SEPARATOR:
                    folded[out] = 0
                    out += 1
                    continue
                alone = kind != WORD
                if alone and out > begin and folded[out - 1] != 0:
                    folded[out] = 0
                    out += 1
                if code == _MINUS or code == _WIDE_HYPHEN:
                    code = _HYPHEN
                if not fold_case:
                    out = encode(code, folded, out)
                elif entry & _EXPANDS:
                    for part in expansions[entry & _POINT]:
                        if part != 0:
                            out = encode(_CODE(part), folded, out)
                else:
                    out = encode(_CODE((code + entry) & _POINT), folded, out)
                if alone:
                    folded[out] = 0
                    out += 1
                if kind == SYMBOL and is_picture(code):
                    out = encode(code, folded, out)
                    folded[out] = 0
                    out += 1
        folded[out] = 0
        out += 1
    bounds[offsets.size - 1] = out
    folded[out : out + PADDING] = 0


@kernel
def may_change(data, offsets, index, table, bit, leads, flags):
    """Flag the documents that Unicode normalisation may change (quick check of UAX #15).

    ``flags[d]`` is set to 1 where a code point has *bit* in the ``normal`` table, or combining
    marks are out of canonical order; all other documents are certainly normalised. Only a code point whose first byte
    is one of *leads* (bool[256]) can have *bit*, or be a combining mark. Invalid UTF-8 is skipped. A document with more
    than ``MOST_MARKS`` combining marks in a row is not flagged: ordering them would take quadratic time.
    """
    for document in range(offsets.size - 1):
        source = data[offsets[document] : offsets[document + 1]]
        flags[document] = 0
        position = np.int64(0)
        end = 0  # of the last code point that was looked at
        last_class = 0
        marks = 0
        while position < source.size:
            until = min(position + BLOCK, source.size)
            if until == position + BLOCK and high_at(source, position) == 0:
                position = until
                continue
            while position < until and not leads[source[position]]:
                position += 1
            if position == until:
                continue
            if position != end:
                last_class = 0
                marks = 0
            code, length = code_point(source, position)
            position += length
            end = position
            entry = entry_of(index, table, code)
            combining = np.int64(entry & 0xFF)
            if entry & bit or (combining != 0 and combining < last_class):
                flags[document] = 1
            last_class = combining
            marks = marks + 1 if combining != 0 else 0
            if marks > MOST_MARKS:
                flags[document] = 0
                break
