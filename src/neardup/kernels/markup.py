"""The shape of a page's markup: numbers that show whether it would cost a parser too much time or memory."""

from neardup.kernels.compile import kernel, njit
from neardup.kernels.tags import attribute, is_blank, is_letter, kind_of, name_end, opens, other_end, packed, raw_end

_GREATER, _SLASH, _SPACE = 0x3E, 0x2F, 0x20

# What an element does to the shape; ordinary elements are 0.
VOID, IMPLIED, FORMATTING, CHOICE, RAW = 1, 2, 3, 4, 5

# The numbers of a shape, by their places.
NESTING, OPEN, ATTRIBUTES, CHOICES, REOPENED, WALKED, TAGS, VALUES, SHOWN = 0, 1, 2, 3, 4, 5, 6, 7, 8
NUMBERS = 9


@njit(nogil=True)
def _tag_end(page, position):
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
            position = attribute(page, position)[3]
    return page.size, attributes, False


@kernel
def shape(page, names, kinds, found):
    """Measure a page (uint8, any encoding that keeps ASCII); *found* (int64[NUMBERS]) receives the numbers.

    ``NESTING``: the most elements that are open at once; ``OPEN``: the most formatting elements, which a parser opens
    again in every block; ``ATTRIBUTES``: the most in one tag; ``CHOICES``: the options of selections; ``REOPENED`` and
    ``WALKED``: the sums over all tags of the open formatting elements and of the open elements; ``TAGS``: the tags,
    comments and declarations; ``VALUES``: the attributes of all tags; ``SHOWN``: the bytes of text that are not white
    space.

    *names* (uint64, ascending, packed: see ``neardup.kernels.tags``) and *kinds* (int64) list the elements that are not
    ordinary. ``VOID`` and ``IMPLIED`` elements, which another start tag closes, are not counted as open. The content of
    ``RAW`` elements is not markup, and is not shown. The scan is that of ``neardup.kernels.visible_text``, and linear.
    """
    nesting = formatting = attributes_seen = choices = shown = deepest = most_open = reopened = walked = 0
    tags = values = 0
    position = 0
    size = page.size
    while position < size:
        if not opens(page, position):
            shown += page[position] > _SPACE
            position += 1
            continue
        tags += 1
        closing = page[position + 1] == _SLASH
        first = position + 1 + closing
        if not (first < size and is_letter(page[first])):
            position = other_end(page, position)
            continue
        end = name_end(page, first)
        name = packed(page, first, end)
        kind = kind_of(name, names, kinds)
        position, attributes, alone = _tag_end(page, end)
        attributes_seen = max(attributes_seen, attributes)
        values += attributes
        reopened += formatting
        walked += nesting
        if kind == CHOICE:
            choices += not closing
        elif kind == FORMATTING:
            formatting = max(0, formatting - 1) if closing else formatting + 1
            most_open = max(most_open, formatting)
        if kind == RAW and not closing:
            position = raw_end(page, position, name)
        elif kind == 0 or kind == FORMATTING:
            if closing:
                nesting = max(0, nesting - 1)
            elif kind == FORMATTING or not alone:
                nesting += 1
                deepest = max(deepest, nesting)
    found[NESTING], found[OPEN], found[ATTRIBUTES], found[CHOICES] = deepest, most_open, attributes_seen, choices
    found[REOPENED], found[WALKED], found[SHOWN] = reopened, walked, shown
    found[TAGS], found[VALUES] = tags, values
