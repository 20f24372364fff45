"""UTF-8 to code points, and their entries in the ``analysis`` table of ``neardup.text.unicode``."""

import numpy as np

from neardup.kernels.compile import njit

INVALID = 0xFFFFFFFF

_CODE = np.uint32
_INVALID = np.uint32(INVALID)
_REPLACEMENT = np.uint32(0xFFFD)

SEPARATOR, WORD, UNSPACED, SYMBOL = np.uint32(0), np.uint32(1), np.uint32(2), np.uint32(3)
NUMBER = np.uint32(1 << 24)
INVISIBLE = np.uint32(1 << 25)


@njit
def code_point(source, position):
    """Decode the code point at *position*: ``(code, bytes)``; an invalid byte is ``(INVALID, 1)``.

    Valid means as in RFC 3629: shortest form, no surrogates, at most U+10FFFF.
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


@njit
def code_point_before(source, position):
    """Decode the code point that ends before *position*, as ``code_point`` does."""
    for length in range(1, min(4, position) + 1):
        if source[position - length] & 0xC0 != 0x80:
            code, found = code_point(source, position - length)
            if found == length:
                return code, length
            break
    return _INVALID, 1


@njit
def encode(code, target, position):
    """Write a code point as UTF-8; return the position after it."""
    if code < 0x80:
        target[position] = np.uint8(code)
        return position + 1
    if code < 0x800:
        target[position] = np.uint8(0xC0 | (code >> 6))
        target[position + 1] = np.uint8(0x80 | (code & 0x3F))
        return position + 2
    if code < 0x10000:
        target[position] = np.uint8(0xE0 | (code >> 12))
        target[position + 1] = np.uint8(0x80 | ((code >> 6) & 0x3F))
        target[position + 2] = np.uint8(0x80 | (code & 0x3F))
        return position + 3
    target[position] = np.uint8(0xF0 | (code >> 18))
    target[position + 1] = np.uint8(0x80 | ((code >> 12) & 0x3F))
    target[position + 2] = np.uint8(0x80 | ((code >> 6) & 0x3F))
    target[position + 3] = np.uint8(0x80 | (code & 0x3F))
    return position + 4


@njit
def is_unreadable(code):
    """Return whether a code point represents bytes that are not UTF-8: invalid, or U+FFFD, written for such bytes."""
    return code == _INVALID or code == _REPLACEMENT


@njit
def _lookup(index, data, code):
    """Read a table of 128-entry blocks at a code point; as a part of ``entry_of``, folding would take 6 % longer."""
    return data[np.int64(index[code >> _CODE(7)]) * 128 + np.int64(code & _CODE(127))]


@njit
def entry_of(index, table, code):
    """Read a table at a code point; 0 for an invalid one, which is a separator in the tables of kinds."""
    return _CODE(0) if code == _INVALID else _lookup(index, table, code)


@njit
def kind_of(entry):
    """Return the kind in an entry of the ``analysis`` table: separator, word, unspaced or symbol."""
    return (entry >> _CODE(21)) & _CODE(3)


@njit
def letters_of(code):
    """Return how many letters a code point counts as: a syllable of Hangul or Ethiopic has at least two."""
    return 2 if 0xAC00 <= code <= 0xD7A3 or 0x1200 <= code <= 0x135A else 1


@njit
def ends_line(code):
    """Return whether a code point is a line end: LF, VT, FF, CR, NEL, U+2028, U+2029."""
    return 0x0A <= code <= 0x0D or code == 0x85 or code == 0x2028 or code == 0x2029


@njit
def is_space(code):
    """Return whether a code point is white space."""
    return ends_line(code) or 0x2000 <= code <= 0x200A or code in (0x20, 0x09, 0xA0, 0x1680, 0x202F, 0x205F, 0x3000)
