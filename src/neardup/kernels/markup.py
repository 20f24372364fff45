"""The shape of a page's markup: numbers that show whether it would cost a parser too much time or memory."""

import numpy as np

from neardup.kernels.compile import kernel, njit

_BYTE = np.uint8
_LESS, _GREATER, _SLASH, _BANG, _QUESTION, _EQUALS = 0x3C, 0x3E, 0x2F, 0x21, 0x3F, 0x3D
_DASH, _QUOTE, _APOSTROPHE, _SPACE = 0x2D, 0x22, 0x27, 0x20
_PACKED = 8  # bytes; no listed name is longer

# What an element does to the shape; ordinary elements are 0.
VOID, IMPLIED, FORMATTING, CHOICE, RAW = 1, 2, 3, 4, 5

# The numbers of a shape, by their places.
NESTING, OPEN, ATTRIBUTES, CHOICES, REOPENED, WALKED, TAGS, VALUES, SHOWN = 0, 1, 2, 3, 4, 5, 6, 7, 8
NUMBERS = 9


@njit(nogil=True)
def _is_letter(byte):
    return _BYTE((byte | _BYTE(32)) - _BYTE(97)) < _BYTE(26)


@njit(nogil=True)
def _is_space(byte):
    return byte == 0x20 or (byte >= 0x09 and byte <= 0x0D and byte != 0x0B)


@njit(nogil=True)
def _name_at(page, position):
    """Return a name in lower case, its first letter in the lowest byte, or 0 if it is long; and the place after it."""
    name = np.uint64(0)
    begin = position
    while position < page.size:
        byte = page[position]
        if _is_space(byte) or byte == _SLASH or byte == _GREATER:
            break
        place = position - begin
        if place < _PACKED:
            lower = byte | _BYTE(32) if _is_letter(byte) else byte
            name |= np.uint64(lower) << np.uint64(8 * place)
        position += 1
    if position - begin > _PACKED:
        name = np.uint64(0)
    return name, position


@njit(nogil=True)
def _kind_of(name, names, kinds):
    first, last = 0, names.size
    while first < last:
        middle = (first + last) >> 1
        if names[middle] < name:
            first = middle + 1
        else:
            last = middle
    return kinds[first] if first < names.size and names[first] == name else 0


@njit(nogil=True)
def _tag_end(page, position):
    """Return the place after a tag whose attributes begin at *position*, their number, and whether it closes itself."""
    attributes = 0
    slash = False
    while position < page.size:
        byte = page[position]
        if byte == _GREATER:
            return position + 1, attributes, slash
        if byte == _SLASH or _is_space(byte):
            slash = byte == _SLASH
            position += 1
            continue
        slash = False
        attributes += 1
        position += 1  # a leading "=" belongs to the name
        while position < page.size:
            byte = page[position]
            if byte == _EQUALS or byte == _SLASH or byte == _GREATER or _is_space(byte):
                break
            position += 1
        place = position
        while place < page.size and _is_space(page[place]):
            place += 1
        if place == page.size or page[place] != _EQUALS:
            continue
        position = place + 1
        while position < page.size and _is_space(page[position]):
            position += 1
        if position == page.size:
            break
        quote = page[position]
        if quote == _QUOTE or quote == _APOSTROPHE:
            position += 1
            while position < page.size and page[position] != quote:
                position += 1
            position += 1
        else:
            while position < page.size and page[position] != _GREATER and not _is_space(page[position]):
                position += 1
    return page.size, attributes, False


@njit(nogil=True)
def _raw_end(page, position, name):
    """Return the place of the end tag of an element whose content is not markup."""
    while position + 1 < page.size:
        if page[position] == _LESS and page[position + 1] == _SLASH:
            found, end = _name_at(page, position + 2)
            if found == name and end < page.size:
                return position
        position += 1
    return page.size


@njit(nogil=True)
def _comment_end(page, position):
    """Return the place after a comment whose content begins at *position*."""
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


@kernel
def shape(page, names, kinds, found):
    """Measure a page (uint8, any encoding that keeps ASCII); *found* (int64[NUMBERS]) receives the numbers.

    ``NESTING``: the most elements that are open at once; ``OPEN``: the most formatting elements, which a parser opens
    again in every block; ``ATTRIBUTES``: the most in one tag; ``CHOICES``: the options of selections; ``REOPENED`` and
    ``WALKED``: the sums over all tags of the open formatting elements and of the open elements; ``TAGS``: the tags,
    comments and declarations; ``VALUES``: the attributes of all tags; ``SHOWN``: the bytes of text that are not white
    space.

    *names* (uint64, ascending, the first letter in the lowest byte) and *kinds* (int64) list the elements that are not
    ordinary. ``VOID`` and ``IMPLIED`` elements, which another start tag closes, are not counted as open. The content of
    ``RAW`` elements is not markup, and is not shown. The scan is that of ``neardup.text.html``, and linear.
    """
    nesting = formatting = attributes_seen = choices = shown = deepest = most_open = reopened = walked = 0
    tags = values = 0
    position = 0
    size = page.size
    while position < size:
        byte = page[position]
        if byte != _LESS:
            shown += byte > _SPACE
            position += 1
            continue
        following = page[position + 1] if position + 1 < size else _BYTE(0)
        closing = following == _SLASH
        first = position + 1 + closing
        if first < size and _is_letter(page[first]):
            name, end = _name_at(page, first)
            kind = _kind_of(name, names, kinds)
            position, attributes, alone = _tag_end(page, end)
            attributes_seen = max(attributes_seen, attributes)
            values += attributes
            tags += 1
            reopened += formatting
            walked += nesting
            if kind == CHOICE:
                choices += not closing
            elif kind == FORMATTING:
                formatting = max(0, formatting - 1) if closing else formatting + 1
                most_open = max(most_open, formatting)
            if kind == RAW and not closing:
                position = _raw_end(page, position, name)
            elif kind == 0 or kind == FORMATTING:
                if closing:
                    nesting = max(0, nesting - 1)
                elif kind == FORMATTING or not alone:
                    nesting += 1
                    deepest = max(deepest, nesting)
        elif following == _BANG and position + 3 < size and page[position + 2] == _DASH and page[position + 3] == _DASH:
            position = _comment_end(page, position + 4)
            tags += 1
        elif closing or following == _BANG or following == _QUESTION:  # a declaration, or a bogus comment
            position += 2
            while position < size and page[position] != _GREATER:
                position += 1
            position += 1
            tags += 1
        else:
            shown += 1
            position += 1
    found[NESTING], found[OPEN], found[ATTRIBUTES], found[CHOICES] = deepest, most_open, attributes_seen, choices
    found[REOPENED], found[WALKED], found[SHOWN] = reopened, walked, shown
    found[TAGS], found[VALUES] = tags, values
