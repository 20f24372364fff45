"""The symbols of a text that are tokens: those that carry meaning and do not only structure prose.

A symbol is a character of kind 3 in the ``analysis`` table of ``neardup.text.unicode``: mathematical signs, currencies,
emoji and other pictures, of ASCII ``! # $ % & * + - / < = > @ ^ | ~``, and the full-width forms of all of these but
``! | ~``; those of ``* - /`` are decided as these are. It counts, as a token of its own, except:

- a **marker**: ``# * + - > | /``, alone or in a row, or one geometric shape, at the beginning of a line and before
  white space: bullets, headings, quotations. Only ``# * + - > | /`` and white space are between it and the line end
  before it, in fewer than ``REACH`` bytes;
- a **ruler**: four or more of the same ASCII symbol in a row;
- ``*`` of emphasis or a footnote: with white space on one side only; or without any, either behind a separator that is
  not ASCII and closes no bracket, or before one or ``. , ; : ! ? ) ] } " '`` and behind a letter, a digit or such a
  character; but not before the point of a number, nor before ``"`` or ``'`` that a letter or digit follows, except for
  ``'`` behind a letter; and ``**`` next to a letter that is not ASCII: emphasis in scripts without spaces, or of a part
  of a word;
- ``|`` alone, with white space on any side, or between two of ``- :``: tables, and titles of pages;
- ``/``, unless white space is on both sides, or on neither side and a digit on one: not *and/or* and not addresses;
- ``-``, unless it is a minus: a sign (a digit, or ``$``, a point or a symbol that is not ASCII before one, follows
  directly, and before it is white space, an opening bracket, an operator, a quotation mark or another separator that is
  not ASCII and closes no bracket, or a unit, unless a number is before that; or a letter follows directly, and one of
  ``( [ { = ^ * / < > + ,`` or ``=`` and a blank is before it), or an operator (a blank on each side, and a digit beyond
  each). Units are one of ``% $ " '``, or up to three letters of scripts without spaces and symbols that are not ASCII
  and no operators: ``9-17``, ``10%-15%``, and the same with such letters, are ranges;
- ``~`` behind a digit or a letter that is not ASCII: ranges;
- ``!``, unless it negates: a letter or opening bracket follows directly and neither a letter, a digit nor a ``!`` or
  ``?`` is directly before it.

Directly before ``=`` each of ``* / | - !`` counts (``*=``, ``!=``), unless it is a ruler.

A **picture**, a pictograph (U+2600 to U+27BF, U+1F000 to U+1FFFF) or another character that is shown as an emoji
(Emoji_Presentation), counts as two equal tokens: it replaces a phrase, and at the end of a short text it must have more
weight than one more word.

An **address** is one word: ``://`` directly after an ASCII letter, and all characters of addresses that follow (ASCII
letters and digits and ``-._~:/?#@!$&'*+,;=%``; at least one), without trailing ``.,;:!?'*``.

The beginning and the end of a text, or of the line or sentence that is a token, count as white space, and so do bytes
that are not UTF-8, and U+FFFD. Invisible characters are ignored, but not inside of ``://``.
"""

import numpy as np

from neardup.kernels.characters import (
    INVISIBLE,
    NUMBER,
    SEPARATOR,
    SYMBOL,
    UNSPACED,
    code_point,
    code_point_before,
    ends_line,
    entry_of,
    is_space,
    is_unreadable,
    kind_of,
)
from neardup.kernels.compile import ASCII_SYMBOLS, njit

REACH = 32  # bytes
UNIT = 3  # letters
RULER = 4

_SYMBOLS = np.array([byte in ASCII_SYMBOLS for byte in range(256)])
_MARKERS = np.array([chr(byte) in "#*+->|/" for byte in range(256)])
_BEFORE_SIGN = np.array([chr(byte) in "([{<=>+*/^|~:,;&!" for byte in range(256)])
_UNITS = np.array([chr(byte) in "%$\"'" for byte in range(256)])
_BEFORE_VARIABLE = np.array([chr(byte) in "([{=^*/<>+," for byte in range(256)])
_IN_ADDRESS = np.array(
    [byte < 0x80 and (chr(byte).isalnum() or chr(byte) in "-._~:/?#@!$&'*+,;=%") for byte in range(256)]
)
_ENDS_SENTENCE = np.array([chr(byte) in ".,;:!?'*" for byte in range(256)])
_CLOSES = np.array([chr(byte) in ",;:!?)]}\"'" for byte in range(256)])
_VISIBLE = np.array([0x20 <= byte < 0x7F or chr(byte) in "\t\n\r" for byte in range(256)])
_CONTINUES = np.array([chr(byte) in "#*+->|/ \t" for byte in range(256)])  # a line that may begin with markers
_CODE = np.uint32
_EDGE = np.uint32(0x20)  # what is beyond the ends of a text
_EXCLAMATION, _QUOTE, _DOLLAR, _APOSTROPHE, _BRACKET, _ASTERISK, _MINUS = 0x21, 0x22, 0x24, 0x27, 0x28, 0x2A, 0x2D
_WIDE = _CODE(0xFEE0)  # from a character of ASCII to its full-width form
_POINT, _SLASH, _COLON, _EQUALS, _QUESTION, _PIPE, _TILDE = 0x2E, 0x2F, 0x3A, 0x3D, 0x3F, 0x7C, 0x7E


@njit
def is_ascii_symbol(byte):
    """Return whether a byte is one of ``ASCII_SYMBOLS``."""
    return _SYMBOLS[byte]


@njit
def row_end(source, position):
    """Return the end of the row of equal bytes from *position* on."""
    end = position + 1
    while end < source.size and source[end] == source[position]:
        end += 1
    return end


@njit(forceinline=True)
def begins_ruler(source, position):
    """Return whether the row of a symbol of ASCII from *position* on is part of a ruler, and begins no address."""
    byte = source[position]
    if byte >= 0x80 or position + RULER > source.size or source[position + 1] != byte:
        return False
    if byte == _SLASH and position > 0 and source[position - 1] == _COLON:
        return False
    return row_end(source, position) - position >= RULER


@njit
def _before(source, position, index, table):
    """Return the visible code point before *position*, and where it begins; a blank at the beginning of the text."""
    if position > 0 and _VISIBLE[source[position - 1]]:
        return _CODE(source[position - 1]), position - 1
    return _visible_before(source, position, index, table)


@njit
def _visible_before(source, position, index, table):
    while position > 0:
        code, length = code_point_before(source, position)
        position -= length
        if is_unreadable(code):
            return _EDGE, position
        if entry_of(index, table, code) & INVISIBLE == 0:
            return code, position
    return _EDGE, position


@njit
def _behind(source, position, index, table):
    """Return the visible code point at or after *position*, and where it ends; a blank at the end of the text."""
    if position < source.size and _VISIBLE[source[position]]:
        return _CODE(source[position]), position + 1
    return _visible_behind(source, position, index, table)


@njit
def _visible_behind(source, position, index, table):
    while position < source.size:
        code, length = code_point(source, position)
        position += length
        if is_unreadable(code):
            return _EDGE, position
        if entry_of(index, table, code) & INVISIBLE == 0:
            return code, position
    return _EDGE, position


@njit
def _row(source, begin, end, index, table):
    """Find the row of equal symbols of ASCII around the one at ``begin .. end``, at most ``RULER`` - 1 on each side."""
    byte, first, last = source[begin], begin, end
    while first > 0 and begin - first < RULER - 1 and source[first - 1] == byte:
        first -= 1
    while last < source.size and last - end < RULER - 1 and source[last] == byte:
        last += 1
    if first > 0 and last < source.size and _VISIBLE[source[first - 1]] and _VISIBLE[source[last]]:
        return first, last, last - first
    return _visible_row(source, begin, end, index, table)


@njit
def _visible_row(source, begin, end, index, table):
    """Find the row as ``_row`` does, but with invisible characters between the symbols."""
    code, _ = code_point(source, begin)
    length = 1
    for _ in range(RULER - 1):
        other, place = _before(source, begin, index, table)
        if other != code:
            break
        begin = place
        length += 1
    for _ in range(RULER - 1):
        other, place = _behind(source, end, index, table)
        if other != code:
            break
        end = place
        length += 1
    return begin, end, length


@njit
def _begins_line(source, position, index, table):
    """Return whether only markers and white space are between the beginning of the line and *position*."""
    least = position - REACH
    while position > 0:
        if position <= least:
            return False
        if _CONTINUES[source[position - 1]]:
            position -= 1
            continue
        code, position = _before(source, position, index, table)
        if ends_line(code):
            return True
        if not (is_space(code) or (code < 0x80 and _MARKERS[code])):
            return False
    return True


@njit
def _is_digit(entry):
    return kind_of(entry) != SEPARATOR and entry & NUMBER != 0


@njit
def _is_letter(entry):
    kind = kind_of(entry)
    return kind != SEPARATOR and kind != SYMBOL and entry & NUMBER == 0


@njit
def _is_letter_abroad(code, entry):
    return code >= 0x80 and _is_letter(entry)


@njit
def _precedes_number(code, entry):
    """Return whether a code point that is not a digit may be the first one of a number: a currency, a point, a root."""
    return code == _DOLLAR or code == _POINT or (code >= 0x80 and kind_of(entry) == SYMBOL)


@njit
def _separates(code, entry):
    """Return whether a code point is white space, or a separator that is not ASCII: a quotation mark, a dash."""
    return is_space(code) or (code >= 0x80 and kind_of(entry) == SEPARATOR)


@njit
def _closes_bracket(code):
    """Return whether a code point is a closing bracket of CJK."""
    return code in (0xFF09, 0xFF3D, 0xFF5D) or (0x3009 <= code <= 0x301B and code & 1 == 1)


@njit
def _is_blank(code):
    return is_space(code) and not ends_line(code)


@njit
def _ends_word(code, entry):
    if code >= 0x80:
        return kind_of(entry) != SYMBOL
    return code == _POINT or _CLOSES[code] or _is_letter(entry) or _is_digit(entry)


@njit
def _second_before(source, position, index, table):
    """Return the visible code point before the one before *position*, and its entry."""
    code, _ = _before(source, _before(source, position, index, table)[1], index, table)
    return code, entry_of(index, table, code)


@njit
def _second_behind(source, position, index, table):
    """Return the entry of the visible code point behind the one at *position*."""
    code, _ = _behind(source, _behind(source, position, index, table)[1], index, table)
    return entry_of(index, table, code)


@njit
def _is_emphasis(source, end, length, before, behind, index, table):
    near, after = entry_of(index, table, before), entry_of(index, table, behind)
    if length > 1 and (_is_letter_abroad(before, near) or _is_letter_abroad(behind, after)):
        return True
    if is_space(before) or is_space(behind):
        return is_space(before) != is_space(behind)
    closes = _separates(behind, after) or (behind < 0x80 and _CLOSES[behind])
    if behind == _POINT or behind == _QUOTE or behind == _APOSTROPHE:
        following = _second_behind(source, end, index, table)
        closes = not _is_digit(following)
        if behind != _POINT:
            own = behind == _APOSTROPHE and _is_letter(near)
            closes = own or (closes and not _is_letter(following))
    opens = _separates(before, near) and not _closes_bracket(before)
    return opens != (closes and _ends_word(before, near))


@njit
def _is_operator(code):
    """Return whether a code point that is not ASCII is an operator, a relation or an arrow: never a unit."""
    if code < 0x2190:
        return code == 0xB1 or code == 0xD7 or code == 0xF7
    if code < 0xFF00:
        return code <= 0x22FF or 0x27C0 <= code <= 0x27FF or 0x2900 <= code <= 0x2AFF
    return code == _WIDE + _ASTERISK or code == 0xFF0B or code == _WIDE + _SLASH or 0xFF1C <= code <= 0xFF1E


@njit
def _is_unit(source, position, index, table):
    """Return whether a unit, or what may be one, ends at *position*, and no number is before it."""
    code, place = _before(source, position, index, table)
    if code < 0x80:
        before, _ = _before(source, place, index, table)
        return _UNITS[code] and not _is_digit(entry_of(index, table, before))
    for length in range(UNIT + 1):
        entry = entry_of(index, table, code)
        if _is_digit(entry):
            return False
        kind = kind_of(entry)
        if code < 0x80 or (kind != UNSPACED and kind != SYMBOL) or _is_operator(code):
            return length > 0
        code, place = _before(source, place, index, table)
    return True


@njit
def _is_minus(source, begin, end, before, behind, index, table):  # noqa: PLR0911 - one rule each
    near, after = entry_of(index, table, before), entry_of(index, table, behind)
    if _is_digit(after) or _precedes_number(behind, after):
        if not (_is_digit(after) or _is_digit(_second_behind(source, end, index, table))):
            return False
        if is_space(before) or (before < 0x80 and _BEFORE_SIGN[before]) or _is_operator(before):
            return True
        if before >= 0x80 and kind_of(near) == SEPARATOR:
            return not _closes_bracket(before)
        return _is_unit(source, begin, index, table)
    if _is_letter(after):
        if _is_blank(before):
            return _second_before(source, begin, index, table)[0] == _EQUALS
        return before < 0x80 and _BEFORE_VARIABLE[before]
    if not (_is_blank(before) and _is_blank(behind)):
        return False
    left = _second_before(source, begin, index, table)[1]
    return _is_digit(left) and _is_digit(_second_behind(source, end, index, table))


@njit
def counts(source, begin, end, index, table):  # noqa: PLR0911 - one rule each
    """Return whether the symbol ``source[begin:end]`` of a text is a token."""
    code, _ = code_point(source, begin)
    wide = code == _WIDE + _ASTERISK or code == _WIDE + _MINUS or code == _WIDE + _SLASH
    if code >= 0x80 and not wide:
        if not 0x25A0 <= code < 0x2600:
            return True
        behind, _ = _behind(source, end, index, table)
        return not (is_space(behind) and _begins_line(source, begin, index, table))
    length = 1
    before = behind = _CODE(code)
    if begin > 0 and end < source.size and _VISIBLE[source[begin - 1]] and _VISIBLE[source[end]]:
        before, behind = _CODE(source[begin - 1]), _CODE(source[end])
    if before == code or behind == code:  # a row, or a neighbour that must be decoded
        if wide:
            begin, end, length = _visible_row(source, begin, end, index, table)
        else:
            begin, end, length = _row(source, begin, end, index, table)
        if length >= RULER:
            return False
        before, _ = _before(source, begin, index, table)
        behind, _ = _behind(source, end, index, table)
    if wide:
        code -= _WIDE
    open_before, open_behind = is_space(before), is_space(behind)
    if open_behind and _MARKERS[code] and _begins_line(source, begin, index, table):
        return False
    if behind == _EQUALS:
        return True
    if code == _ASTERISK:
        return not _is_emphasis(source, end, length, before, behind, index, table)
    if code == _PIPE:
        of_table = (before == _MINUS or before == _COLON) and (behind == _MINUS or behind == _COLON)
        return length > 1 or not (open_before or open_behind or of_table)
    if code == _MINUS:
        return length == 1 and _is_minus(source, begin, end, before, behind, index, table)
    near, after = entry_of(index, table, before), entry_of(index, table, behind)
    if code == _SLASH:
        digit = _is_digit(near) or _is_digit(after)
        return (open_before and open_behind) or (digit and not open_before and not open_behind)
    if code == _TILDE:
        return not (_is_digit(near) or _is_letter_abroad(before, near))
    if code == _EXCLAMATION:
        follows = _is_letter(after) or behind == _BRACKET
        leads = _is_letter(near) or _is_digit(near) or before == _QUESTION
        return length == 1 and follows and not leads
    return True


@njit
def is_picture(code):
    """Return whether a symbol counts as two tokens."""
    if 0x2600 <= code < 0x27C0 or 0x1F000 <= code < 0x20000:
        return True
    if code < 0x231A or code > 0x2B55:
        return False
    return (
        code <= 0x231B
        or 0x23E9 <= code <= 0x23EC
        or code in (0x23F0, 0x23F3, 0x25FD, 0x25FE, 0x2B1B, 0x2B1C, 0x2B50, 0x2B55)
    )


@njit
def address_end(source, position, index, table):
    """Return the end of the address whose first slash is at *position*; *position* if there is no address."""
    if position < 2 or position + 2 >= source.size or source[position - 1] != _COLON or source[position + 1] != _SLASH:
        return position
    if not 0x61 <= (source[position - 2] | 0x20) <= 0x7A:
        return position
    end = position
    place = position + 2
    while place < source.size:
        byte = source[place]
        if byte >= 0x80:
            code, length = code_point(source, place)
            if entry_of(index, table, code) & INVISIBLE == 0:
                break
            place += length
            continue
        if not _IN_ADDRESS[byte]:
            break
        place += 1
        if not (_ENDS_SENTENCE[byte] or (end == position and byte == _SLASH)):
            end = place
    return end
