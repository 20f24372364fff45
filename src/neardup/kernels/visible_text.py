"""The visible text of a page: first pieces of text and the marks between them, then paragraphs.

A mark is a byte that UTF-8 does not have. ``BLOCK_END`` separates paragraphs, and ``LINE_END`` lines. ``VERBATIM``
precedes text whose white space is kept. The text of a link is between ``LINK_BEGIN`` and ``LINK_END``.
"""

import numpy as np

from neardup.kernels import characters
from neardup.kernels.characters import code_point, entry_of, is_space
from neardup.kernels.compile import kernel, njit
from neardup.kernels.references import put
from neardup.kernels.tags import (
    attribute,
    is_blank,
    is_letter,
    kind_of,
    name_end,
    opens,
    other_end,
    packed,
    packed_name,
    raw_end,
    same_name,
)

BLOCK_END, LINE_END, VERBATIM, LINK_BEGIN, LINK_END = 0xFF, 0xFE, 0xFD, 0xFC, 0xFB

# What an element does, one bit each. Those that are never hidden are listed, and so are all that may be in a head.
BLOCK, CELL, LINE, PRE = 1, 2, 4, 8
HTML, IN_HEAD, ROOT, LINK, META, TITLE = 16, 32, 64, 128, 256, 512  # HTML: also in a FOREIGN element, which it ends
RAW, KEPT, TEMPLATE, SHOWN, ANCHOR, BASE = 1024, 2048, 4096, 8192, 16384, 32768
FOREIGN, LITERAL, LAST = 65536, 131072, 262144  # not HTML; its references are text; it never ends
INTEGRATION = 524288  # in a FOREIGN element, its content is HTML

# The numbers that are found, by their places.
SIZE, TITLE_BEGIN, TITLE_END, TAGS = 0, 1, 2, 3
NUMBERS = 4

_GREATER, _SLASH, _LINE_FEED, _SPACE, _COLON, _SEMICOLON, _BANG, _STAR = 0x3E, 0x2F, 0x0A, 0x20, 0x3A, 0x3B, 0x21, 0x2A
_HIDDEN, _STYLE = np.uint64(packed_name("hidden")), np.uint64(packed_name("style"))
_HREF = np.uint64(packed_name("href"))
_DISPLAY, _NONE = np.uint64(packed_name("display")), np.uint64(packed_name("none"))
_FOREIGN, _OBJECT = np.uint64(packed_name("foreign")), np.uint64(packed_name("object"))
_LETTERS = 7, 13  # of "foreign" and "foreignObject"
_MOST_POINTS = 64  # integration points that are open at once: elements of SVG and MathML with HTML in them


@kernel
def pieces(page, names, kinds, references, firsts, codes, links, tags, out, found):
    """Find the text of a page (valid UTF-8) in source order; ``neardup.web_pages.visible_text`` defines it.

    *out* (uint8) receives pieces and marks, at most ``references.GROWTH`` times the bytes of the page. *found*
    (int64[NUMBERS]): ``SIZE``: the bytes of *out*; ``TITLE_BEGIN`` and ``TITLE_END``: where the content of the first
    title is, or -1; ``TAGS``: the rows of *tags*. A row of *tags* (int64[:, 3]) is a ``ROOT``, or a ``LINK``,
    ``META`` or ``BASE`` of the head: its kind, and where its attributes begin and end; only the first that there is
    room for are listed. With *links* (a bool), links are marked: a tag ``a`` ends a link, and with the attribute
    ``href`` it begins one.

    *names* (uint64, ascending, packed: see ``neardup.kernels.tags``) and *kinds* (int64) list the elements that are not
    ordinary. *references*, *firsts* and *codes* are those of ``neardup.kernels.references``. The time is linear.
    """
    count = position = verbatim = np.int64(0)  # for a plain 0 helpers would be compiled again
    listed = 0
    title_begin = title_end = -1
    head_is_over = False
    depth = foreign = 0  # elements open with the name of the one that is hidden, and those without HTML
    outer = np.empty(_MOST_POINTS, np.int64)  # the latter outside of each integration point
    points = 0
    hidden_begin = hidden_end = 0  # this name
    hidden_from = 0  # the bytes of out before it
    while position < page.size:
        begin = position
        while position < page.size and not opens(page, position):
            position += 1
        head_is_over = head_is_over or not (depth or _is_blank(page, begin, position))
        if begin < position:
            count = _put_piece(page, begin, position, verbatim, references, firsts, codes, out, count)
        if position == page.size:
            break
        closing = page[position + 1] == _SLASH
        begin = position + 1 + closing
        if not (begin < page.size and is_letter(page[begin])):
            position = other_end(page, position)
            continue
        end = name_end(page, begin)
        position, slash, hidden, style, style_end, href = _tag_end(page, end)
        if position < 0:  # the tag never ends
            break
        name = packed(page, begin, end)
        kind = kind_of(name, names, kinds)
        if closing:
            head_is_over = head_is_over or (kind & ROOT != 0 and not depth)
            count = _put_mark(kind & ~CELL, out, count)
            if links and kind & ANCHOR:
                out[count] = LINK_END
                count += 1
            foreign -= kind & FOREIGN != 0 and foreign > 0
            foreign = 0 if kind & BLOCK else foreign  # as one that never ends
            if points and _is_integration_point(page, begin, end, kind):
                points -= 1
                foreign = outer[points]
            if kind & PRE and verbatim:  # the number of these elements that are open
                verbatim -= 1
            if depth and same_name(page, begin, end, hidden_begin, hidden_end):
                depth -= 1
                if not depth:
                    count = _put_mark(kind & BLOCK, out, hidden_from)
            continue
        alone = slash and (kind & FOREIGN != 0 or (foreign > 0 and kind & HTML == 0))  # it is empty
        head_is_over = head_is_over or (kind & (ROOT | IN_HEAD) == 0 and not depth)  # a template may be in the head
        of_head = kind & (LINK | META | BASE) != 0 and not head_is_over and not depth
        if (kind & ROOT or of_head) and listed < tags.shape[0]:
            tags[listed, 0], tags[listed, 1], tags[listed, 2] = kind & (ROOT | LINK | META | BASE), end, position - 1
            listed += 1
        if depth:
            depth += not alone and same_name(page, begin, end, hidden_begin, hidden_end)
        elif not alone and not kind & SHOWN:
            if not hidden and style >= 0:
                style_end = put(page, style, style_end, references, firsts, codes, out, count)
                hidden = _displays_nothing(out, count, style_end)
            if hidden or kind & TEMPLATE:
                depth, hidden_begin, hidden_end, hidden_from = 1, begin, end, count
        count = _put_mark(kind, out, count)
        if alone:
            continue
        if links and kind & ANCHOR:
            out[count] = LINK_BEGIN if href else LINK_END
            count += 1
        verbatim += kind & PRE != 0
        foreign = 0 if kind & (BLOCK | HTML) else foreign + (kind & FOREIGN != 0)
        if foreign and points < outer.size and _is_integration_point(page, begin, end, kind):
            outer[points], foreign = foreign, 0
            points += 1
        if kind & RAW:
            begin = position
            position = page.size if kind & LAST else raw_end(page, begin, name)
            if kind & TITLE and title_begin < 0 and not depth and not foreign:
                title_begin, title_end = begin, position
            if kind & LITERAL:
                count = _put_literal(page, begin, position, out, count)
            elif kind & KEPT and begin < position:
                count = _put_piece(page, begin, position, verbatim, references, firsts, codes, out, count)
    found[SIZE], found[TITLE_BEGIN], found[TITLE_END], found[TAGS] = count, title_begin, title_end, listed


@kernel
def drop_links(marked, lines, index, table):
    """Remove, in place, all link marks and, with *lines*, lines whose words are all in links; return the bytes left.

    *index* and *table* are those of ``analysis`` in ``neardup.text.unicode``. Lines without words stay.
    """
    size = 0
    linked = False
    position = np.int64(0)
    while position < marked.size:
        first = size
        in_link = elsewhere = False
        while position < marked.size and marked[position] < LINE_END:
            byte = marked[position]
            if byte == LINK_BEGIN or byte == LINK_END:
                linked = byte == LINK_BEGIN
                position += 1
                continue
            width = 1
            if lines and byte != VERBATIM and not (in_link if linked else elsewhere):
                code, width = code_point(marked, position)
                kind = characters.kind_of(entry_of(index, table, code))
                word = kind == characters.WORD or kind == characters.UNSPACED
                in_link = in_link or (linked and word)
                elsewhere = elsewhere or (word and not linked)
            for place in range(position, position + width):
                marked[size] = marked[place]
                size += 1
            position += width
        if in_link and not elsewhere:
            size = first
        if position < marked.size:
            marked[size] = marked[position]
            size += 1
            position += 1
    return size


@kernel
def paragraphs(marked, out):
    """Write the paragraphs of pieces and marks to *out* (uint8), and return the number of bytes.

    Paragraphs that are not empty are separated by two line feeds, which is at most half more bytes. In a paragraph
    without ``VERBATIM``, white space (that of Unicode) becomes one space inside of lines, and is removed at their ends;
    empty lines become one, and are removed at the ends. In a paragraph with ``VERBATIM``, only line feeds before it and
    white space behind it are removed.
    """
    size = begin = np.int64(0)  # for a plain 0 helpers would be compiled again
    while begin < marked.size:
        end = begin
        verbatim = False
        while end < marked.size and marked[end] != BLOCK_END:
            verbatim = verbatim or marked[end] == VERBATIM
            end += 1
        first = size + 2 if size else 0
        last = _put_verbatim(marked, begin, end, out, first) if verbatim else _put_lines(marked, begin, end, out, first)
        if last > first:
            if size:
                out[size] = out[size + 1] = _LINE_FEED
            size = last
        begin = end + 1
    return size


@njit
def _tag_end(page, position):
    """Return the place after a tag whose attributes begin at *position*, or -1 if it never ends, and what it has.

    That is: whether it ends with "/>", whether it has the attribute ``hidden``, where the value of the first ``style``
    begins and ends, or -1, and whether it has the attribute ``href``.
    """
    slash = hidden = href = False
    style = style_end = -1
    while position < page.size:
        byte = page[position]
        if byte == _GREATER:
            return position + 1, slash, hidden, style, style_end, href
        slash = byte == _SLASH
        if slash or is_blank(byte):
            position += 1
            continue
        end, value, value_end, after = attribute(page, position)
        if end - position >= 4 and end - position <= 6:
            name = packed(page, position, end)
            hidden = hidden or name == _HIDDEN
            href = href or name == _HREF
            if name == _STYLE and style < 0:
                style, style_end = value, value_end
        position = after
    return -1, False, False, -1, -1, False


@njit
def _is_integration_point(page, begin, end, kind):
    """Return whether an element of this *kind* has HTML in it: by its kind, or foreignObject by its name."""
    if kind & INTEGRATION:
        return True
    middle = begin + _LETTERS[0]
    whole = end - begin == _LETTERS[1]
    return whole and packed(page, begin, middle) == _FOREIGN and packed(page, middle, end) == _OBJECT


@njit
def _displays_nothing(style, begin, end):
    """Return whether the last ``display`` of a style is ``none``; white space and comments are removed, in place."""
    size = begin
    position = begin
    while position < end:
        byte = style[position]
        if byte == _SLASH and position + 1 < end and style[position + 1] == _STAR:
            position += 3
            while position < end and not (style[position] == _SLASH and style[position - 1] == _STAR):
                position += 1
        elif not is_blank(byte):
            style[size] = byte
            size += 1
        position += 1
    nothing = False
    while begin < size:
        colon = end = stop = -1
        place = begin
        while place < size and style[place] != _SEMICOLON:
            if colon < 0 and style[place] == _COLON:
                colon = place
            if stop < 0 and colon >= 0 and style[place] == _BANG:
                stop = place
            place += 1
        end = place if stop < 0 else stop
        if colon >= 0 and packed(style, begin, colon) == _DISPLAY:
            nothing = packed(style, colon + 1, end) == _NONE
        begin = place + 1
    return nothing


@njit
def _put_piece(page, begin, end, verbatim, references, firsts, codes, out, count):
    if verbatim:
        out[count] = VERBATIM
        count += 1
    return put(page, begin, end, references, firsts, codes, out, count)


@njit
def _put_literal(page, begin, end, out, count):
    """Append text without references, whose white space is kept."""
    out[count] = VERBATIM
    count += 1
    for place in range(begin, end):
        out[count] = page[place]
        count += page[place] != 0
    return count


@njit
def _put_mark(kind, out, count):
    if kind & (BLOCK | LINE | CELL):
        out[count] = BLOCK_END if kind & BLOCK else LINE_END if kind & LINE else _SPACE
        count += 1
    return count


@njit
def _is_blank(page, begin, end):
    while begin < end and is_blank(page[begin]):
        begin += 1
    return begin == end


@njit
def _space_at(page, position):
    """Return the bytes of the white space at *position*; 0 if it is something else."""
    first = page[position]
    if first < 0x80:
        return np.int64(first == _SPACE or (first >= 0x09 and first <= 0x0D))
    if first < 0xC2 or first > 0xE3:  # no white space begins so
        return 0
    code, width = code_point(page, position)
    return width if is_space(code) else 0


@njit
def _put_lines(marked, position, end, out, first):
    """Append the lines of a paragraph to the *first* bytes of *out*; return the new number of bytes."""
    count = first
    lines = 0
    space = False
    while position < end:
        byte = marked[position]
        if byte == LINE_END:
            lines += 1
            position += 1
            continue
        width = _space_at(marked, position)
        if width:
            space = True
            position += width
            continue
        if count > first:
            for _ in range(min(lines, 2)):
                out[count] = _LINE_FEED
                count += 1
            if space and not lines:
                out[count] = _SPACE
                count += 1
        lines = 0
        space = False
        out[count] = byte
        count += 1
        position += 1
        while position < end and marked[position] > _SPACE and marked[position] < 0x80:  # the rest of most words
            out[count] = marked[position]
            count += 1
            position += 1
    return count


@njit
def _put_verbatim(marked, position, end, out, first):
    count = last = first
    while position < end:
        byte = marked[position]
        width = _space_at(marked, position)
        if byte == LINE_END or byte == _LINE_FEED:
            if count > first:
                out[count] = _LINE_FEED
                count += 1
        elif byte != VERBATIM:
            for place in range(position, position + max(width, 1)):
                out[count] = marked[place]
                count += 1
            if not width:
                last = count
        position += max(width, 1)
    return last
