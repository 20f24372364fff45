"""Tags, attributes and comments in the bytes of a page, as the tokenizer of the HTML standard reads them."""

import numpy as np

from neardup.kernels.ascending import first_from
from neardup.kernels.compile import njit

_LESS, _GREATER, _SLASH, _BANG, _QUESTION, _EQUALS = 0x3C, 0x3E, 0x2F, 0x21, 0x3F, 0x3D
_DASH, _QUOTE, _APOSTROPHE = 0x2D, 0x22, 0x27
_BITS = 6  # of each letter or digit of a packed name
_LONGEST = 10  # letters and digits of a packed name


def packed_name(name: str) -> int:
    """Return the number of a name of one to ten lower-case letters and digits, as ``packed`` does."""
    number = 0
    for place, letter in enumerate(name):
        number |= (ord(letter) & 31 if letter.isalpha() else ord(letter) - 0x30 + 27) << (_BITS * place)
    return number


_SCRIPT = np.uint64(packed_name("script"))
_SCRIPT_LETTERS = 6


@njit
def is_letter(byte):
    """Return whether a byte is an ASCII letter."""
    return byte | 32 >= 0x61 and byte | 32 <= 0x7A


@njit
def is_digit(byte):
    """Return whether a byte is an ASCII digit."""
    return byte >= 0x30 and byte <= 0x39


@njit
def is_blank(byte):
    """Return whether a byte is white space between attributes."""
    return byte == 0x20 or (byte >= 0x09 and byte <= 0x0D and byte != 0x0B)


@njit
def opens(page, position):
    """Return whether a tag, a comment or a declaration begins at *position*; otherwise, there is text."""
    if page[position] != _LESS or position + 1 == page.size:
        return False
    byte = page[position + 1]
    return is_letter(byte) or byte == _SLASH or byte == _BANG or byte == _QUESTION


@njit
def _ends_name(byte):
    """Return whether the name of a tag ends before a byte."""
    return byte == _GREATER or byte == _SLASH or is_blank(byte)


@njit
def name_end(page, position):
    """Return where the name of a tag ends."""
    while position < page.size and not _ends_name(page[position]):
        position += 1
    return position


@njit
def same_name(page, begin, end, other, other_end):
    """Return whether two names are equal, upper and lower case alike."""
    if end - begin != other_end - other:
        return False
    for place in range(end - begin):
        one, two = page[begin + place], page[other + place]
        if one != two and not (is_letter(one) and one | 32 == two | 32):
            return False
    return True


@njit
def packed(page, begin, end):
    """Return a name as a number; upper and lower case are equal. Any other than of one to ten letters and digits is 0.

    Letters are 1 to 26, digits 27 to 36, in 6 bits each, the first one lowest.
    """
    name = np.uint64(0)
    if end - begin > _LONGEST:
        return name
    for position in range(end - 1, begin - 1, -1):
        byte = page[position]
        if is_letter(byte):
            place = byte & 31
        elif is_digit(byte):
            place = byte - 0x30 + 27
        else:
            return np.uint64(0)
        name = (name << np.uint64(_BITS)) | np.uint64(place)
    return name


@njit
def kind_of(name, names, kinds):
    """Return the kind of a packed name: ``kinds[k]`` if it is ``names[k]`` (uint64, ascending), or 0."""
    first = first_from(names, 0, names.size, name)
    return kinds[first] if first < names.size and names[first] == name else 0


@njit
def attribute(page, position):
    """Return where the name of an attribute ends, where its value begins and ends, and the place after it.

    It begins at *position*, with a byte that is not white space, "/" or ">". A leading "=" belongs to the name. Without
    a value all places are the end of the name. A quotation mark that is never closed opens no value.
    """
    end = position + 1
    while end < page.size:
        byte = page[end]
        if byte == _EQUALS or byte == _GREATER or byte == _SLASH or is_blank(byte):
            break
        end += 1
    begin = end
    while begin < page.size and is_blank(page[begin]):
        begin += 1
    if begin == page.size or page[begin] != _EQUALS:
        return end, end, end, end
    begin += 1
    while begin < page.size and is_blank(page[begin]):
        begin += 1
    if begin == page.size:
        return end, end, end, end
    quote = page[begin]
    if quote == _QUOTE or quote == _APOSTROPHE:
        begin += 1
        last = begin
        while last < page.size and page[last] != quote:
            last += 1
        if last == page.size:
            return end, end, end, end
        return end, begin, last, last + 1
    last = begin
    while last < page.size and page[last] != _GREATER and not is_blank(page[last]):
        last += 1
    return end, begin, last, last


@njit
def raw_end(page, position, name):
    """Return where the end tag of an element with this packed *name* begins, whose content is not markup."""
    if name == _SCRIPT:
        return _script_end(page, position)
    while position + 1 < page.size:
        if page[position] == _LESS and page[position + 1] == _SLASH:
            end = name_end(page, position + 2)
            if end < page.size and packed(page, position + 2, end) == name:
                return position
        position += 1
    return page.size


@njit
def _script_end(page, position):
    """Return where the end tag of a script begins.

    After "<!--", the script is in a comment up to "-->". A tag ``script`` in it opens an inner script, whose end tag
    does not end the outer one.
    """
    comment = inner = False
    while position + 1 < page.size:
        byte, following = page[position], page[position + 1]
        if byte == _LESS and following == _BANG and not comment:
            if position + 3 < page.size and page[position + 2] == _DASH and page[position + 3] == _DASH:
                comment = True
                position += 1  # its dashes may be those of "-->"
        elif byte == _LESS and (comment or following == _SLASH):
            closing = following == _SLASH
            begin = position + 1 + closing
            end = begin + _SCRIPT_LETTERS
            if end < page.size and packed(page, begin, end) == _SCRIPT and _ends_name(page[end]):
                if closing and not inner:
                    return position
                inner = not closing
        elif byte == _DASH and following == _DASH and position + 2 < page.size and page[position + 2] == _GREATER:
            comment = inner = False
        position += 1
    return page.size


@njit
def other_end(page, position):
    """Return the place after a comment or declaration that begins at *position*, or an end tag without a name."""
    comment = position + 3 < page.size and page[position + 1] == _BANG
    if not (comment and page[position + 2] == _DASH and page[position + 3] == _DASH):
        while position < page.size and page[position] != _GREATER:
            position += 1
        return min(position + 1, page.size)
    position += 4
    if position < page.size and page[position] == _GREATER:
        return position + 1
    if position + 1 < page.size and page[position] == _DASH and page[position + 1] == _GREATER:
        return position + 2
    while position + 2 < page.size:
        if page[position] == _DASH and page[position + 1] == _DASH:
            if page[position + 2] == _GREATER:
                return position + 3
            if position + 3 < page.size and page[position + 2] == _BANG and page[position + 3] == _GREATER:
                return position + 4
        position += 1
    return page.size
