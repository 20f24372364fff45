"""The shape of a page's markup: numbers that show whether it would cost a parser too much time or memory.

The open elements that are counted are those that the tree construction of the HTML standard has, and more: an end tag
closes only the element of its name, and nothing that is open in it. For if a parser has closed that before, it ignores
the end tag, and what is open in the element stays open.
"""

import numpy as np

from neardup.kernels.compile import kernel, last_word, njit, word_at
from neardup.kernels.tags import (
    attribute,
    is_blank,
    is_letter,
    kind_of,
    name_end,
    opens,
    other_end,
    packed,
    raw_end,
    same_name,
)

_GREATER, _SLASH, _SPACE, _SQUARE, _SQUARE_END = 0x3E, 0x2F, 0x20, 0x5B, 0x5D

# What an element does to the shape: bits, 0 for other elements.
VOID = 1  # it has no content
CELL = 2  # a part of a table or the frame of a page: it is open only with another element
FORMATTING = 4  # a parser opens it again in every block
CHOICE = 8  # an option, which closes the last one
RAW = 16  # its content is not markup
SPECIAL = 32  # it stops the search for what an end tag of another element closes
BLOCK = 64  # only SCOPE stops the search for what its own end tag closes
SCOPE = 128  # it stops all of these searches
LIGHT = 256  # special, but it does not stop the search for the last item
ITEM = 512  # an item of a list, which closes the last one
TERM = 1024  # an item of a list of descriptions, which closes the last one
PARAGRAPH = 2048
ENDS_PARAGRAPH = 4096
FOREIGN = 8192  # svg and math: their content is not HTML
HTML = 1 << 14  # in foreign content, it ends that
INTEGRATION = 1 << 15  # its content is HTML, though it is foreign
LASTING = 1 << 16  # its end tag closes it only if nothing else is open in it
OPAQUE = 1 << 17  # in it, other elements may have no meaning
MERGED = 1 << 18  # the attributes of all its tags are those of one element
MARKER = 1 << 19  # a cell: formatting elements from before it cannot be closed in it
LIST = 1 << 20  # it stops the search for the item that an end tag closes
SINGLE = 1 << 21  # a formatting element that closes the last one of its name

KEPT = 1 << 22  # its content is text, and markup in it is text, too

_INSIDE = 1 << 23  # of an open element: it is foreign, and so is its content

# The numbers of a shape, by their places.
NESTING, OPEN, ATTRIBUTES, CHOICES, REOPENED, WALKED, TAGS, VALUES, COMPARED, SHOWN, NAMES, SOUGHT = range(12)
NUMBERS = 12

DEEPEST = 1024  # open elements
MOST_OPEN = 64  # formatting elements
MOST_TAGS = 250_000
MOST_WALKED = 15_000_000  # open elements, over all tags
MOST_VALUES = 500_000  # attributes of all tags
MOST_NAMES = 16384  # different names of elements and attributes
PLACES = 2 * MOST_NAMES  # of the table of their hashes: a power of two
_CLONES = 7  # special elements in a formatting element that a parser closes for certain
_ALIKE = 3  # formatting elements that a parser keeps of those with the same name and attributes

# Tables of the open elements, and of the formatting elements that are not closed: their columns.
_NAME, _PLACE, _KIND = 0, 1, 2  # of an open element: the number of its name, where that is, and what it does
_WITHIN, _CELLS = 1, 2  # of a formatting element: its place among the open ones, and the cells before it
_DEPTH, _LISTED, _ROOTS, _OPAQUES, _PARAGRAPHS, _CELL = range(6)  # how many there are
_COUNTS = 6

_WORD = 8  # bytes that are hashed at a time
_ODD = np.uint64(0x9E3779B97F4A7C15)
_SIGN = np.uint64(1 << 63)


@njit
def _hash(page, begin, end):
    """Return a hash of a name as it is written, which is not 0."""
    known = np.uint64(end - begin)
    while begin < end:
        if begin + _WORD <= page.size:
            word = word_at(page, begin)
            if end - begin < _WORD:
                word &= (np.uint64(1) << np.uint64(8 * (end - begin))) - np.uint64(1)
        else:
            word = last_word(page, begin, end)
        known = (known ^ word) * _ODD
        known ^= known >> np.uint64(32)
        begin += _WORD
    return known | np.uint64(1)


@njit
def _number_of(page, begin, end):
    """Return a number below 0 for a name that is not packed; upper and lower case are equal."""
    known = np.uint64(end - begin)
    for position in range(begin, end):
        byte = page[position]
        known = (known ^ np.uint64(byte | 32 if is_letter(byte) else byte)) * _ODD
        known ^= known >> np.uint64(32)
    return np.int64(known | _SIGN)


@njit
def _note(known, table, sought):
    """Add the hash of a name to the table of those that were read, and the name to the numbers *sought*."""
    place = np.int64(known >> np.uint64(32)) & (PLACES - 1)
    while table[place] != 0 and table[place] != known:
        place = (place + 1) & (PLACES - 1)
    if table[place] == 0 and sought[0] <= MOST_NAMES:
        table[place] = known
        sought[0] += 1
    sought[1] += sought[0]


@njit
def _tag_end(page, position, table, sought):
    """Return the place after a tag whose attributes begin at *position*, their number, and whether it closes itself."""
    attributes = 0
    slash = False
    while position < page.size:
        byte = page[position]
        if byte == _GREATER:
            return position + 1, attributes, slash
        if byte == _SLASH or is_blank(byte):
            slash = byte == _SLASH
            position += 1
        else:
            slash = False
            attributes += 1
            begin = position
            end, _, _, position = attribute(page, begin)
            if table.size:
                _note(_hash(page, begin, end), table, sought)
    return page.size, attributes, False


@njit
def _move_up(rows, row):
    """Copy a row over the one before it."""
    for column in range(rows.shape[1]):
        rows[row - 1, column] = rows[row, column]


@njit
def _close(elements, formatting, counts, place):
    """Close an element; those in it stay open, and may not be foreign any more."""
    kind = elements[place, _KIND]
    counts[_ROOTS] -= kind & FOREIGN > 0
    counts[_OPAQUES] -= kind & OPAQUE > 0
    counts[_PARAGRAPHS] -= kind & PARAGRAPH > 0
    for inner in range(place + 1, counts[_DEPTH]):
        _move_up(elements, inner)
        elements[inner - 1, _KIND] &= ~_INSIDE
    counts[_DEPTH] -= 1
    for number in range(counts[_LISTED]):
        formatting[number, _WITHIN] -= formatting[number, _WITHIN] > place


@njit
def _leave_foreign(elements, counts):
    """Note that the foreign content that was read last may have ended."""
    place = counts[_DEPTH] - 1
    while place >= 0 and elements[place, _KIND] & _INSIDE:
        elements[place, _KIND] &= ~_INSIDE
        place -= 1


@njit
def _innermost(page, elements, depth, name, place, barriers):
    """Return the number of the last open element with a name, unless one of the *barriers* is open in it; or -1."""
    for number in range(depth - 1, -1, -1):
        if elements[number, _NAME] == name:
            other = elements[number, _PLACE]
            if name > 0 or same_name(page, other, name_end(page, other), place, name_end(page, place)):
                return number
        if elements[number, _KIND] & barriers:
            return -1
    return -1


@njit
def _last_of(elements, depth, wanted, barriers, passed):
    """Return the number of the last open element of a *wanted* kind, unless a barrier is open in it; or -1."""
    for number in range(depth - 1, -1, -1):
        kind = elements[number, _KIND]
        if kind & wanted:
            return number
        if kind & barriers and not kind & passed:
            return -1
    return -1


@njit
def _make_way(elements, formatting, counts, kind):
    """Close what the start tag of an element of this kind closes, outside of foreign content."""
    last = -1
    if kind & (ITEM | TERM):
        last = _last_of(elements, counts[_DEPTH], kind & (ITEM | TERM), SPECIAL, LIGHT)
    elif kind & CHOICE and counts[_DEPTH] > 0 and elements[counts[_DEPTH] - 1, _KIND] & CHOICE:
        last = counts[_DEPTH] - 1
    if last >= 0:
        _close(elements, formatting, counts, last)
    if kind & ENDS_PARAGRAPH and counts[_PARAGRAPHS] > 0:
        last = _last_of(elements, counts[_DEPTH], PARAGRAPH, SCOPE, 0)
        if last >= 0:
            _close(elements, formatting, counts, last)


@njit
def _end_formatting(elements, formatting, counts, name):
    """Close the last formatting element with a name, if a parser does so for certain; return whether there is one."""
    last, alike = -1, 0
    for number in range(counts[_LISTED]):
        if formatting[number, _NAME] == name:
            last, alike = number, alike + 1
    if last < 0:
        return False
    within = formatting[last, _WITHIN]
    blocks = 0
    for place in range(within + 1, counts[_DEPTH]):
        if elements[place, _KIND] & SCOPE:
            return True
        blocks += elements[place, _KIND] & SPECIAL > 0
    certain = blocks == 0 or (blocks <= _CLONES and alike <= _ALIKE)
    if certain and formatting[last, _CELLS] == counts[_CELL]:
        _close(elements, formatting, counts, within)
        for number in range(last, counts[_LISTED] - 1):
            _move_up(formatting, number + 1)
        counts[_LISTED] -= 1
    return True


@njit
def _start(elements, formatting, counts, name, place, kind, alone):
    """Open an element if its start tag does so; return whether its content is not markup."""
    if kind & HTML:
        _leave_foreign(elements, counts)
    depth = counts[_DEPTH]
    inside = depth > 0 and elements[depth - 1, _KIND] & _INSIDE > 0
    if alone and (inside or kind & FOREIGN):
        return False
    foreign = counts[_ROOTS] > 0
    if kind & (VOID | CELL) and (not foreign or kind & HTML):
        counts[_CELL] += kind & MARKER > 0
        return False
    if not foreign:
        if kind & RAW and counts[_OPAQUES] == 0:
            return True
        _make_way(elements, formatting, counts, kind)
        if kind & SINGLE:
            _end_formatting(elements, formatting, counts, name)
        depth = counts[_DEPTH]
    if counts[_OPAQUES] == 0 and (kind & FOREIGN or (inside and name > 0 and not kind & (FORMATTING | INTEGRATION))):
        kind |= _INSIDE
    if kind & RAW:
        kind |= SCOPE
    elements[depth, _NAME], elements[depth, _PLACE], elements[depth, _KIND] = name, place, kind
    counts[_ROOTS] += kind & FOREIGN > 0
    counts[_OPAQUES] += kind & OPAQUE > 0
    counts[_PARAGRAPHS] += kind & PARAGRAPH > 0
    counts[_DEPTH] += 1
    if kind & FORMATTING:
        number = counts[_LISTED]
        formatting[number, _NAME], formatting[number, _WITHIN] = name, depth
        formatting[number, _CELLS] = counts[_CELL]
        counts[_LISTED] += 1
    return False


@njit
def _end(page, elements, formatting, counts, name, place, kind):
    """Close what an end tag closes for certain."""
    depth = counts[_DEPTH]
    last = elements[depth - 1, _NAME] if depth > 0 else np.int64(0)
    top = last == name or (last < 0 and name < 0)  # names that are not packed count as equal
    if not top:
        _leave_foreign(elements, counts)
    if kind & FORMATTING and _end_formatting(elements, formatting, counts, name):
        return
    barriers = SPECIAL
    if kind & BLOCK:
        barriers = SCOPE | LIST if kind & ITEM else SCOPE
    number = _innermost(page, elements, depth, name, place, barriers)
    lasting = kind & (LASTING | VOID | CELL) > 0  # parsers can ignore start tags of the last two
    if number == depth - 1 or (number >= 0 and not lasting):
        _close(elements, formatting, counts, number)


@kernel
def shape(page, names, kinds, table, found):
    """Measure a page (uint8, any encoding that keeps ASCII); *found* (int64[NUMBERS]) receives the numbers.

    ``NESTING``: the most elements that are open at once; ``OPEN``: the most formatting elements that are not closed;
    ``ATTRIBUTES``: the most of one element; ``CHOICES``: the options of selections; ``REOPENED`` and ``WALKED``: the
    sums over all tags of the formatting elements that are not closed, and of the open elements; ``TAGS``: the tags,
    comments and declarations; ``VALUES``: the attributes of all tags; ``COMPARED``: the sum over all tags of their
    attributes times those of their element, with which a parser compares them; ``SHOWN``: the bytes of text that are
    not white space, or more. With a *table* (uint64[PLACES], zeros; or of no places) also ``NAMES``: the different
    names of elements and attributes, as they are written; and ``SOUGHT``: the sum over all names in tags of the
    different names up to there, which a parser may search. The scan ends where ``DEEPEST``, ``MOST_OPEN``,
    ``MOST_TAGS``, ``MOST_WALKED``, ``MOST_VALUES`` or ``MOST_NAMES`` is exceeded.

    *names* (uint64, ascending, packed: see ``neardup.kernels.tags``) and *kinds* (int64) list the elements that are not
    ordinary. The content of ``RAW`` elements is not shown, unless they are ``KEPT``. The scan is that of
    ``neardup.kernels.visible_text``; its time is linear in the bytes and in ``WALKED``.
    """
    elements = np.empty((DEEPEST + 1, 3), np.int64)
    formatting = np.empty((MOST_OPEN + 1, 3), np.int64)
    counts = np.zeros(_COUNTS, np.int64)
    sought = np.zeros(2, np.int64)
    shown = attributes_seen = merged = choices = deepest = most_open = reopened = walked = tags = values = compared = 0
    position = literal = different = 0
    size = page.size
    while position < size and deepest <= DEEPEST and most_open <= MOST_OPEN and different <= MOST_NAMES:
        if tags > MOST_TAGS or values > MOST_VALUES or walked > MOST_WALKED:
            break
        if not opens(page, position):
            shown += page[position] > _SPACE
            position += 1
            continue
        tags += 1
        closing = page[position + 1] == _SLASH
        first = position + 1 + closing
        if not (first < size and is_letter(page[first])):
            if counts[_ROOTS] > 0 and position >= literal and first + 1 < size and page[first + 1] == _SQUARE:
                literal = _literal_end(page, first)
            position = other_end(page, position)
            continue
        end = name_end(page, first)
        packed_name = packed(page, first, end)
        name = np.int64(packed_name) if packed_name > 0 else _number_of(page, first, end)
        kind = kind_of(packed_name, names, kinds)
        if table.size:
            _note(_hash(page, first, end), table, sought)
        position, attributes, alone = _tag_end(page, end, table, sought)
        if table.size:
            different = sought[0]
        together = attributes
        if kind & MERGED and not closing:
            merged += attributes
            together = merged
        attributes_seen = max(attributes_seen, together)
        values += attributes
        compared += attributes * together
        reopened += counts[_LISTED]
        walked += counts[_DEPTH]
        choices += kind & CHOICE > 0 and not closing
        if not closing:
            begin, end = position, size
            if _start(elements, formatting, counts, name, first, kind, alone):
                position = end = raw_end(page, begin, packed_name)
            if kind & KEPT:
                shown += end - begin
            deepest = max(deepest, counts[_DEPTH])
            most_open = max(most_open, counts[_LISTED])
        elif position > literal and counts[_DEPTH] > 0:
            _end(page, elements, formatting, counts, name, first, kind)
    found[NESTING], found[OPEN], found[ATTRIBUTES], found[CHOICES] = deepest, most_open, attributes_seen, choices
    found[REOPENED], found[WALKED], found[SHOWN] = reopened, walked, shown
    found[TAGS], found[VALUES], found[COMPARED] = tags, values, compared
    found[NAMES], found[SOUGHT] = sought


@njit
def _literal_end(page, position):
    """Return where "]]>" ends, from a place on: in foreign content, ``<![CDATA[`` opens text up to there."""
    while position + 2 < page.size:
        if page[position] == _SQUARE_END and page[position + 1] == _SQUARE_END and page[position + 2] == _GREATER:
            return position + 3
        position += 1
    return page.size
