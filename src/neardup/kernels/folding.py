"""UTF-8 text to words: case folded, every word ended by a zero byte, everything else gone.

Code points outside words become zero bytes, so a word is a maximal run of bytes that are not zero.
"""

import numpy as np

from neardup.kernels.compile import high_at, kernel, njit, trailing_zeros

GROWTH = 3  # folding makes a text at most three times as long: U+0390 is 2 bytes, its fold 6
PADDING = 72  # zero bytes behind the last document, for readers of whole words
MOST_MARKS = 30  # the limit of UAX #15's stream-safe text
INVALID = 0xFFFFFFFF

BLOCK = 64  # bytes looked at together

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_BYTE = np.uint8
_CODE = np.uint32
_INVALID = np.uint32(INVALID)
_SEPARATOR, _UNSPACED = np.uint32(0), np.uint32(2)
_EXPANDS = np.uint32(1 << 23)
_POINT = np.uint32((1 << 21) - 1)


@njit(nogil=True)
def code_point(source, position):
    """Decode the code point at *position*: ``(code, bytes)``; an invalid byte is ``(INVALID, 1)``.

    Valid is what RFC 3629 says: shortest form, no surrogates, at most U+10FFFF.
    """
    first = _CODE(source[position])
    left = source.size - position
    if first < 0x80:
        return first, 1
    length = 2
    lowest = _CODE(0x80)
    code = first & _CODE(0x1F)
    if first >= 0xF0:
        length = 4
        lowest = _CODE(0x10000)
        code = first & _CODE(0x07)
    elif first >= 0xE0:
        length = 3
        lowest = _CODE(0x800)
        code = first & _CODE(0x0F)
    if first < 0xC2 or first > 0xF4 or length > left:
        return _INVALID, 1
    for step in range(1, length):
        byte = _CODE(source[position + step])
        if byte & _CODE(0xC0) != 0x80:
            return _INVALID, 1
        code = (code << _CODE(6)) | (byte & _CODE(0x3F))
    if code < lowest or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return _INVALID, 1
    return code, length


@njit(nogil=True)
def lookup(index, data, code):
    """Read a table of 128-entry blocks at a code point."""
    return data[np.int64(index[code >> _CODE(7)]) * 128 + np.int64(code & _CODE(127))]


@njit(nogil=True)
def _encode(code, target, position):
    """Write a code point as UTF-8; returns the position behind it."""
    if code < 0x80:
        target[position] = _BYTE(code)
        return position + 1
    if code < 0x800:
        target[position] = _BYTE(0xC0 | (code >> 6))
        target[position + 1] = _BYTE(0x80 | (code & 0x3F))
        return position + 2
    if code < 0x10000:
        target[position] = _BYTE(0xE0 | (code >> 12))
        target[position + 1] = _BYTE(0x80 | ((code >> 6) & 0x3F))
        target[position + 2] = _BYTE(0x80 | (code & 0x3F))
        return position + 3
    target[position] = _BYTE(0xF0 | (code >> 18))
    target[position + 1] = _BYTE(0x80 | ((code >> 12) & 0x3F))
    target[position + 2] = _BYTE(0x80 | ((code >> 6) & 0x3F))
    target[position + 3] = _BYTE(0x80 | (code & 0x3F))
    return position + 4


@njit(nogil=True)
def _fold_ascii(byte, lift):
    """Fold one ASCII byte without a branch; *lift* is 32 to fold case, 0 to keep it."""
    lower = _BYTE(byte | _BYTE(32))
    letter = _BYTE(lower - _BYTE(97)) < _BYTE(26)
    digit = _BYTE(byte - _BYTE(48)) < _BYTE(10)
    folded = _BYTE(byte | lift) if letter else byte
    return folded if letter | digit else _BYTE(0)


@kernel
def fold(data, offsets, index, table, expansions, fold_case, folded, bounds):
    """Fold every document of a batch.

    Document *d* is ``data[offsets[d]:offsets[d + 1]]`` (uint8, UTF-8); its words are written to
    ``folded[bounds[d]:bounds[d + 1]]``. The last byte of each document's part is zero, and
    ``PADDING`` zero bytes follow the last one. A code point of a script without spaces becomes a
    word of its own. Invalid UTF-8 separates. *index*, *table* and *expansions* are the
    ``analysis`` tables of ``neardup.text.unicode``. *folded* must hold ``GROWTH`` times the text
    plus one byte a document plus ``PADDING``.
    """
    out = 0
    lift = _BYTE(32) if fold_case else _BYTE(0)
    for document in range(offsets.size - 1):
        bounds[document] = out
        begin = out
        source = data[offsets[document] : offsets[document + 1]]
        position = 0
        while position < source.size:
            if position + BLOCK <= source.size:
                plain = source[position : position + BLOCK]
                target = folded[out : out + BLOCK]
                for i in range(BLOCK):  # what is not ASCII leaves rubbish, which is written over
                    target[i] = _fold_ascii(plain[i], lift)
                ascii_bytes = np.int64(trailing_zeros(high_at(source, position)))
                out += ascii_bytes
                position += ascii_bytes
                if ascii_bytes == BLOCK:
                    continue
            elif source[position] < 0x80:
                folded[out] = _fold_ascii(source[position], lift)
                out += 1
                position += 1
                continue
            while position < source.size and source[position] >= 0x80:
                code, length = code_point(source, position)
                position += length
                kind = _SEPARATOR
                entry = _CODE(0)
                if code != _INVALID:
                    entry = lookup(index, table, code)
                    kind = (entry >> _CODE(21)) & _CODE(3)
                if kind == _SEPARATOR:
                    folded[out] = 0
                    out += 1
                    continue
                if kind == _UNSPACED and out > begin and folded[out - 1] != 0:
                    folded[out] = 0
                    out += 1
                if not fold_case:
                    out = _encode(code, folded, out)
                elif entry & _EXPANDS:
                    for part in expansions[entry & _POINT]:
                        if part != 0:
                            out = _encode(part, folded, out)
                else:
                    out = _encode((code + entry) & _POINT, folded, out)
                if kind == _UNSPACED:
                    folded[out] = 0
                    out += 1
        folded[out] = 0
        out += 1
    bounds[offsets.size - 1] = out
    folded[out : out + PADDING] = 0


@kernel
def may_change(data, offsets, index, table, bit, flags):
    """Flag the documents that Unicode normalisation may change (quick check of UAX #15).

    ``flags[d]`` is set to 1 where a code point has *bit* in the ``normal`` table, or combining
    marks stand out of canonical order; all other documents are certainly normalised. Invalid
    UTF-8 is passed over. A document with more than ``MOST_MARKS`` combining marks in a row is not
    flagged: ordering them would take quadratic time.
    """
    for document in range(offsets.size - 1):
        source = data[offsets[document] : offsets[document + 1]]
        flags[document] = 0
        position = 0
        end = 0  # of the last code point that is not ASCII
        last_class = 0
        marks = 0
        while position < source.size:
            high = _ALL
            if position + BLOCK <= source.size:
                high = high_at(source, position)
            if high == 0:
                position += BLOCK
                continue
            step = np.int64(trailing_zeros(high)) if high != _ALL else 0
            position += step
            if source[position] < 0x80:  # in the last block, which is looked at byte by byte
                position += 1
                continue
            if position != end:  # ASCII lies between
                last_class = 0
                marks = 0
            code, length = code_point(source, position)
            position += length
            end = position
            if code == _INVALID:
                last_class = 0
                marks = 0
                continue
            entry = lookup(index, table, code)
            combining = np.int64(entry & 0xFF)
            if entry & bit or (combining != 0 and combining < last_class):
                flags[document] = 1
            last_class = combining
            marks = marks + 1 if combining != 0 else 0
            if marks > MOST_MARKS:
                flags[document] = 0
                break
