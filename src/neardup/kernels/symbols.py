"""The symbols of a text that are tokens: those that carry meaning and do not only structure prose.

A symbol is a character of kind 3 in the ``analysis`` table of ``neardup.text.unicode``: mathematical signs, currencies,
emoji and other pictures, and of ASCII ``! # $ % & * + - / < = > @ ^ | ~``. It counts, as a token of its own, except:

- a **ruler**: four or more of the same ASCII symbol in a row;
- a **marker**: ``# * + - > | /``, alone or in a row, or one geometric shape, before white space and at the beginning of
  a line: only these symbols and white space are between it and the line end before it, in fewer than ``REACH`` bytes;
- ``* - / | ! ~`` where prose writes them. ``_counts`` decides this by two characters on each side of the row of equal
  symbols: ``left`` and ``right`` are their classes.

Full-width forms are of the classes of ASCII, and their ``* - /`` are decided as those. The beginning and the end of a
text, or of the line or sentence that is a token, are blanks, and so are bytes that are not UTF-8, and U+FFFD. Invisible
characters are passed over, but not inside of ``://``.

A **picture**, a pictograph (U+2600 to U+27BF, U+1F000 to U+1FFFF) or another character that is shown as an emoji
(Emoji_Presentation), counts as two equal tokens: it replaces a phrase, and at the end of a short text it must have more
weight than one more word.

An **address** is one word: ``://`` directly after an ASCII letter, and all characters of addresses that follow (ASCII
letters and digits and ``-._~:/?#@!$&'*+,;=%``; at least one), without trailing ``.,;:!?'*``.
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
RULER = 4
NOTHING, TOKEN, UNKNOWN = 0, 1, 2
_UNLESS_FIRST = 3  # a token, unless it begins a line

# Classes of characters; those of other scripts are letters (foreign, or without spaces), units or operators (symbols),
# closing brackets, and quotation marks (other separators).
_ENCODED, _BLANK, _LETTER, _FOREIGN, _UNSPACED, _DIGIT, _EQUALS, _OPERATOR, _DASH, _OPENING, _CLOSING = range(11)
_BRACKET, _COLON, _COMMA, _POINT, _QUESTION, _QUOTE, _QUOTATION, _UNIT, _OTHER = range(11, 20)
# With the character beyond: blanks behind a digit or "=", or before a digit; units behind a digit; symbols before one.
_DIGIT_BLANK, _EQUALS_BLANK, _BLANK_DIGIT, _COUNTED, _NUMBER = range(20, 25)
_CLASSES = 25
_OPEN = {_BLANK, _DIGIT_BLANK, _EQUALS_BLANK, _BLANK_DIGIT}
_LETTERS = {_LETTER, _FOREIGN, _UNSPACED}
_NOT_ASCII = {_FOREIGN, _UNSPACED}
_ENDS_CLAUSE = {_CLOSING, _COLON, _COMMA, _POINT, _QUESTION, _QUOTE, _QUOTATION}
_ENDS_WORD = {*_ENDS_CLAUSE, *_LETTERS, _DIGIT, _COUNTED}
_BEFORE_NAME = {_EQUALS, _OPERATOR, _OPENING, _BRACKET, _COMMA, _EQUALS_BLANK}
_BEFORE_SIGN = {*_BEFORE_NAME, *_OPEN, _COLON, _QUESTION, _QUOTE, _QUOTATION, _UNIT, _UNSPACED}
_OF_TABLE = {_DASH, _COLON}
_BEFORE_RANGE = {*_NOT_ASCII, _DIGIT, _COUNTED}
_BEFORE_EXCLAMATION = {*_LETTERS, _DIGIT, _COUNTED, _QUESTION}
_NEGATED = {*_LETTERS, _OPENING}

_CODE = np.uint32
_EDGE = np.uint32(0x20)  # what is beyond the ends of a text
_WIDE = _CODE(0xFEE0)  # from a character of ASCII to its full-width form
_SLASH, _COLON_BYTE = 0x2F, 0x3A


def _counts(symbol: str, left: int, right: int, *, in_row: bool) -> bool:  # noqa: PLR0911 - one rule each
    """Return whether a symbol that is neither a marker nor in a ruler counts."""
    if right == _EQUALS:  # a *= 2, a != b
        return True
    open_left, open_right = left in _OPEN, right in _OPEN
    match symbol:
        case "*" if in_row and (left in _NOT_ASCII or right in _NOT_ASCII):
            return False  # scripts without spaces have none around emphasis, and Korean appends particles to it
        case "*" if open_left or open_right:  # 3 * 4, but not *emphasis* nor note*
            return open_left == open_right
        case "*":  # 3*4 and f(*args), but not *emphasis*, and not “*emphasis*”
            return (left in _ENDS_WORD and right in _ENDS_CLAUSE) == (left == _QUOTATION)
        case "|":  # x || y and a|b, but neither tables nor titles of pages
            return in_row or not (open_left or open_right or (left in _OF_TABLE and right in _OF_TABLE))
        case "/":  # 3 / 4 and 3/4, but neither and/or nor addresses
            return open_left == open_right and (open_left or _DIGIT in (left, right))
        case "~":  # ~x, but not 10~12
            return left not in _BEFORE_RANGE
        case "!":  # !ready and !(a or b), but neither Wow! nor ![an image]
            return not in_row and right in _NEGATED and left not in _BEFORE_EXCLAMATION
        case "-":
            return not in_row and _is_minus(left, right)
    return True


def _is_minus(left: int, right: int) -> bool:
    """Return whether a hyphen is a sign or an operator, and not a hyphen, a dash or a range as in 9-17 and 10%-15%."""
    if right in (_DIGIT, _NUMBER):  # -5, "-5", x:-5, -$5, 気温-5
        return left in _BEFORE_SIGN
    if right in _LETTERS:  # (-x), x = -y
        return left in _BEFORE_NAME
    return left == _DIGIT_BLANK and right == _BLANK_DIGIT


def _class_of_byte(byte: int) -> int:
    character = chr(byte)
    if byte >= 0x80:
        return _ENCODED
    named = {" \t\n\v\f\r": _BLANK, "=": _EQUALS, "&*+/<>^|~": _OPERATOR, "-": _DASH, "(": _OPENING, ")]}": _CLOSING}
    named |= {"[{": _BRACKET, ":;": _COLON, ",": _COMMA, ".": _POINT, "!?": _QUESTION, "\"'": _QUOTE, "$%": _UNIT}
    found = next((found for characters, found in named.items() if character in characters), _OTHER)
    return _LETTER if character.isalpha() else _DIGIT if character.isdigit() else found


def _beyond(near: dict[tuple[int, int], int]) -> np.ndarray:
    """Make a table: the class of a character by its own and that of the one beyond it."""
    table = np.repeat(np.arange(_CLASSES, dtype=np.uint8), _CLASSES).reshape(_CLASSES, _CLASSES)
    for classes, found in near.items():
        table[classes] = found
        table[classes[0], _ENCODED] = _ENCODED
    return table


_CLASS = np.array([_class_of_byte(byte) for byte in range(256)], np.uint8)
_LEFT = _beyond(
    {(_BLANK, _DIGIT): _DIGIT_BLANK, (_BLANK, _EQUALS): _EQUALS_BLANK}
    | {(unit, _DIGIT): _COUNTED for unit in (_UNIT, _QUOTE, _UNSPACED)}
)
_RIGHT = _beyond({(_BLANK, _DIGIT): _BLANK_DIGIT} | {(first, _DIGIT): _NUMBER for first in (_UNIT, _POINT, _OPERATOR)})

_MARKERS = np.array([chr(byte) in "#*+->|/" for byte in range(256)])
_SYMBOLS = np.array([byte in ASCII_SYMBOLS for byte in range(256)])
_RULED = "#*-/|!~"  # "+" and ">" are decided as "#"; all others are tokens, in the first row of verdicts
_ROWS = np.array([1 + _RULED.find("#" if chr(byte) in "+>" else chr(byte)) for byte in range(128)], np.uint8)
_VERDICTS = np.full((2, 1 + len(_RULED), _CLASSES, _CLASSES), TOKEN, np.uint8)  # of symbols alone, and in a row
for _row, _symbol in enumerate(_RULED, 1):
    for _in_row in (False, True):
        _counting = [
            [_counts(_symbol, left, right, in_row=_in_row) for right in range(_CLASSES)] for left in range(_CLASSES)
        ]
        _VERDICTS[int(_in_row), _row] = _counting
    if _MARKERS[ord(_symbol)]:
        _VERDICTS[:, _row, :, sorted(_OPEN)] *= _UNLESS_FIRST
_VERDICTS[:, :, _ENCODED], _VERDICTS[..., _ENCODED] = UNKNOWN, UNKNOWN

_IN_ADDRESS = np.array([_CLASS[byte] in {_LETTER, _DIGIT} or chr(byte) in "-._~:/?#@!$&'*+,;=%" for byte in range(256)])
_ENDS_SENTENCE = np.array([chr(byte) in ".,;:!?'*" for byte in range(256)])


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
    if byte == _SLASH and position > 0 and source[position - 1] == _COLON_BYTE:
        return False
    return row_end(source, position) - position >= RULER


@njit
def _before(source, position, index, table):
    """Return the visible code point before *position*, and where it begins; a blank at the beginning of the text."""
    while position > 0:
        if source[position - 1] < 0x80:
            return _CODE(source[position - 1]), position - 1
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
    while position < source.size:
        code, length = code_point(source, position)
        position += length
        if is_unreadable(code):
            return _EDGE, position
        if entry_of(index, table, code) & INVISIBLE == 0:
            return code, position
    return _EDGE, position


@njit
def _begins_line(source, position, index, table):
    """Return whether only markers and white space are between the beginning of the line and *position*."""
    least = position - REACH
    while position > 0:
        if position <= least:
            return False
        code, position = _before(source, position, index, table)
        if ends_line(code):
            return True
        if not (is_space(code) or (code < 0x80 and _MARKERS[code])):
            return False
    return True


@njit
def _is_operator(code):
    """Return whether a symbol that is not ASCII is an operator, a relation or an arrow: never a unit."""
    if code < 0x2190:
        return code == 0xB1 or code == 0xD7 or code == 0xF7
    return code <= 0x22FF or 0x27C0 <= code <= 0x27FF or 0x2900 <= code <= 0x2AFF


@njit
def _class_of(code, index, table):
    if 0xFF01 <= code <= 0xFF5E:
        code -= _WIDE
    if code < 0x80:
        return np.int64(_CLASS[code])
    if is_space(code):
        return _BLANK
    entry = entry_of(index, table, code)
    kind = kind_of(entry)
    if kind == SEPARATOR:
        return _CLOSING if 0x3009 <= code <= 0x301B and code & 1 == 1 else _QUOTATION  # brackets of CJK
    if entry & NUMBER != 0:
        return _DIGIT
    if kind == SYMBOL:
        return _OPERATOR if _is_operator(code) else _UNIT
    return _UNSPACED if kind == UNSPACED else _FOREIGN


@njit(forceinline=True)
def verdict_at(source, position, index, table):
    """Return whether the symbol at *position* is a token, or ``UNKNOWN``.

    Known are the symbols of ASCII that are not in a row, with two characters of ASCII on each side.
    """
    if position < 2 or position + 2 >= source.size or source[position] >= 0x80:
        return UNKNOWN
    symbol, before, behind = source[position], source[position - 1], source[position + 1]
    if before == symbol or behind == symbol:
        return UNKNOWN
    left = _LEFT[_CLASS[before], _CLASS[source[position - 2]]]
    right = _RIGHT[_CLASS[behind], _CLASS[source[position + 2]]]
    verdict = np.int64(_VERDICTS[0, _ROWS[symbol], left, right])
    if verdict == _UNLESS_FIRST:
        return NOTHING if _begins_line(source, position, index, table) else TOKEN
    return verdict


@njit
def counts(source, begin, end, index, table):
    """Return whether the symbol ``source[begin:end]`` of a text is a token."""
    code, _ = code_point(source, begin)
    symbol = code - _WIDE if code in (0xFF0A, 0xFF0D, 0xFF0F) else code
    before, first = _before(source, begin, index, table)
    behind, last = _behind(source, end, index, table)
    if symbol >= 0x80:
        shape = 0x25A0 <= code < 0x2600
        return not (shape and is_space(behind) and _begins_line(source, begin, index, table))
    length = 1
    while before == code and length < RULER:
        begin = first
        length += 1
        before, first = _before(source, first, index, table)
    while behind == code and length < RULER:
        length += 1
        behind, last = _behind(source, last, index, table)
    if length == RULER:
        return False
    beyond_left, _ = _before(source, first, index, table)
    beyond_right, _ = _behind(source, last, index, table)
    left = _LEFT[_class_of(before, index, table), _class_of(beyond_left, index, table)]
    right = _RIGHT[_class_of(behind, index, table), _class_of(beyond_right, index, table)]
    verdict = _VERDICTS[np.int64(length > 1), _ROWS[symbol], left, right]
    return verdict == TOKEN or (verdict == _UNLESS_FIRST and not _begins_line(source, begin, index, table))


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
    if (
        position < 2
        or position + 2 >= source.size
        or source[position - 1] != _COLON_BYTE
        or source[position + 1] != _SLASH
    ):
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
