"""Character references of HTML, such as ``&amp;`` and ``&#38;``, decoded as ``html.unescape`` does."""

import numpy as np

from neardup.kernels.characters import encode
from neardup.kernels.compile import borrowed, kernel, njit
from neardup.kernels.tags import is_digit, is_letter

NAME = 32  # bytes of a name in the table of names, padded with zeros; the rest of a row is what it means
GROWTH = (6, 5)  # the bytes of what a reference means to its own, at most: those of "&nLt;"

_AMPERSAND, _HASH, _SEMICOLON, _LINE_FEED, _RETURN = 0x26, 0x23, 0x3B, np.uint8(0x0A), 0x0D
_BEYOND, _REPLACEMENT = 0x110000, 0xFFFD


@njit
def put(page, begin, end, names, firsts, codes, out, count):
    """Append ``page[begin:end]`` to *out*, which has *count* bytes, with references decoded; return the new count.

    NUL is left out, and CR, or CR and LF, is written as LF, unless a reference means CR.

    A row of *names* (uint8[:, NAME + 8]) is a name, with its semicolon if it has one, and what it means, both padded
    with zeros: first those without a semicolon, ascending, then those with one, ascending. *firsts* (int64[129, 2]) are
    the rows of both kinds from which the first byte of names is at least 0, 1, ... 128. *codes* (int64) are what the
    first code points mean as numbers, -1 for nothing.
    """
    page, names, firsts = borrowed(page), borrowed(names), borrowed(firsts)
    while begin < end:
        byte = page[begin]
        if byte != _AMPERSAND:
            begin += 1
            if byte == _RETURN:
                byte = _LINE_FEED
                begin += begin < end and page[begin] == _LINE_FEED
            out[count] = byte
            count += byte != 0
            continue
        code, after = _number(page, begin + 1, end)
        if after > begin + 1:
            code = _meant(code, codes)
            if code >= 0:
                count = encode(code, out, count)
            begin = after
            continue
        row, begin = _named(page, begin + 1, end, names, firsts)
        if row < 0:
            out[count] = _AMPERSAND
            count += 1
        else:
            for place in range(NAME, names.shape[1]):
                if names[row, place] == 0:
                    break
                out[count] = names[row, place]
                count += 1
    return count


@kernel
def decode(page, names, firsts, codes, out):
    """Write *page* (uint8) to *out* with references decoded, as ``put`` does; return the bytes of *out*."""
    begin = count = np.int64(0)  # for a plain 0 it would be compiled again
    return put(page, begin, page.size, names, firsts, codes, out, count)


@njit
def _number(page, begin, end):
    """Return the number that is written at *begin*, at most U+110000, and the place after it; *begin* without one."""
    if begin == end or page[begin] != _HASH:
        return 0, begin
    base = 16 if begin + 1 < end and page[begin + 1] | 32 == 0x78 else 10
    first = begin + 1 + (base == 16)
    position = first
    code = 0
    while position < end:
        digit = _digit(page[position])
        if digit >= base:
            break
        code = min(code * base + digit, _BEYOND)
        position += 1
    if position == first:
        return 0, begin
    return code, position + (position < end and page[position] == _SEMICOLON)


@njit
def _digit(byte):
    """Return the value of a hexadecimal digit; 16 for other bytes."""
    if is_digit(byte):
        return byte - 0x30
    return (byte | 32) - 0x57 if is_letter(byte) and byte | 32 <= 0x66 else 16


@njit
def _meant(code, codes):
    """Return the code point that a number means; -1 for nothing."""
    if code < codes.size:
        return codes[code]
    if code >= _BEYOND or (code >= 0xD800 and code <= 0xDFFF):
        return _REPLACEMENT
    return -1 if (code >= 0xFDD0 and code <= 0xFDEF) or code & 0xFFFE == 0xFFFE else code


@njit
def _named(page, begin, end, names, firsts):
    """Return the row of the longest name that is written at *begin*, and the place after it; or -1 and *begin*."""
    last = begin
    while last < end and last - begin < NAME and (is_letter(page[last]) or is_digit(page[last])):
        last += 1
    if last == begin:
        return -1, begin
    first = page[begin]
    if last < end and last - begin < NAME and page[last] == _SEMICOLON:
        low, high = firsts[first, 1], firsts[first + 1, 1]
        while low < high:
            middle = (low + high) >> 1
            order = _order(page, begin, last + 1, names[middle])
            if order == 0:
                return middle, last + 1
            if order < 0:
                low = middle + 1
            else:
                high = middle
    for row in range(firsts[first + 1, 0] - 1, firsts[first, 0] - 1, -1):  # longer ones first
        stop = begin
        while stop < last and names[row, stop - begin] == page[stop]:
            stop += 1
        if names[row, stop - begin] == 0:
            return row, stop
    return -1, begin


@njit
def _order(page, begin, end, name):
    """Return -1 if a name of the table precedes ``page[begin:end]``, 0 if it is equal, 1 if it follows."""
    for place in range(NAME):
        own = page[begin + place] if begin + place < end else 0
        if name[place] != own:
            return -1 if name[place] < own else 1
    return 0
