"""Whether a symbol of ASCII is a token, from its neighbours alone: the rules of ``neardup.kernels.symbols`` as a table.

Most symbols are between visible characters of ASCII, and the classes of these decide. The others are *unknown*: those
in a row, those that need more of the line, and all characters outside ASCII.
"""

import numpy as np

from neardup.kernels.compile import ASCII_SYMBOLS, njit

NOTHING, TOKEN, UNKNOWN = 0, 1, 2

# Classes of characters. Only before a symbol, a blank is of another class if the character before it is known.
_HIDDEN, _BLANK, _LINE, _LETTER, _DIGIT, _EQUALS, _MARKER, _BRACKET, _COLON, _QUESTION, _POINT, _CLOSING = range(12)
_QUOTE, _OTHER = 12, 13
_LINE_BLANK, _WORD_BLANK, _NUMBER_BLANK = range(14, 17)  # after a line end; a digit or "="; anything else but a marker
_CLASSES = 17
_OPEN = {_BLANK, _LINE, _LINE_BLANK, _WORD_BLANK, _NUMBER_BLANK}
_RULER = 4
_SLASH, _ADDRESS = ord("/"), ord(":")


def _class_of(byte: int) -> int:
    character = chr(byte)
    named = {" \t": _BLANK, "\n\r": _LINE, "=": _EQUALS, "#*+->|/": _MARKER, "(": _BRACKET, ":": _COLON, "?": _QUESTION}
    for characters, found in (named | {".$": _POINT, ",;!)]}": _CLOSING, "\"'": _QUOTE}).items():
        if character in characters:
            return found
    if byte >= 0x80 or not character.isprintable():
        return _HIDDEN
    return _LETTER if character.isalpha() else _DIGIT if character.isdigit() else _OTHER


def _verdict(symbol: str, before: int, behind: int) -> int:  # noqa: PLR0911 - one rule each
    """Decide a symbol that is not in a row, by the classes of its neighbours."""
    if _HIDDEN in {before, behind} or (symbol == "/" and before == _COLON):
        return UNKNOWN
    open_before, open_behind = before in _OPEN, behind in _OPEN
    if open_behind and symbol in "#*+->|/":
        if before in {_LINE, _LINE_BLANK}:
            return NOTHING
        decided = symbol == "|" or (symbol == "-" and behind == _LINE) or (symbol in "*/-" and before == _MARKER)
        if before in {_BLANK, _MARKER}:  # it depends on the line, unless it is nothing anyway
            return NOTHING if decided else UNKNOWN
    if behind == _EQUALS:
        return TOKEN
    match symbol:
        case "*" if open_before or open_behind:
            return TOKEN if open_before == open_behind else NOTHING
        case "*" if before == _POINT or behind in {_POINT, _QUOTE}:
            return UNKNOWN
        case "*":
            ends_word = before in {_LETTER, _DIGIT, _CLOSING, _QUOTE, _COLON, _QUESTION}
            return NOTHING if ends_word and behind in {_CLOSING, _COLON, _QUESTION} else TOKEN
        case "|" if {before, behind} <= {_MARKER, _COLON}:
            return UNKNOWN
        case "|":
            return NOTHING if open_before or open_behind else TOKEN
        case "/" if open_before or open_behind:
            return TOKEN if open_before == open_behind else NOTHING
        case "/":
            return TOKEN if _DIGIT in {before, behind} else NOTHING
        case "!":
            leads = before in {_LETTER, _DIGIT, _QUESTION}
            return TOKEN if behind in {_LETTER, _BRACKET} and not leads else NOTHING
        case "~" if before == _DIGIT:
            return NOTHING
        case "-":
            return _minus(before, behind)
    return TOKEN


def _minus(before: int, behind: int) -> int:
    if before in {_LETTER, _DIGIT}:
        return UNKNOWN if behind == _POINT else NOTHING
    if behind == _DIGIT:
        return TOKEN if before in _OPEN else UNKNOWN
    if behind in {_LETTER, _BLANK}:
        return NOTHING if before in {_LINE, _LINE_BLANK, _WORD_BLANK} else UNKNOWN
    return UNKNOWN if behind == _POINT else NOTHING


_CLASS = np.array([_class_of(byte) for byte in range(256)], np.uint8)
_BEFORE_BLANK = np.full(_CLASSES, _WORD_BLANK, np.uint8)  # the class of a blank, by that of the character before it
_BEFORE_BLANK[[_HIDDEN, _BLANK, _MARKER]] = _BLANK
_BEFORE_BLANK[_LINE] = _LINE_BLANK
_BEFORE_BLANK[[_DIGIT, _EQUALS]] = _NUMBER_BLANK

_ROWS = np.zeros(256, np.uint16)  # of symbols in the table of verdicts; the first one is that of all other bytes
_VERDICTS = np.full((1 + len(ASCII_SYMBOLS)) * _CLASSES * _CLASSES, UNKNOWN, np.uint8)
for _row, _symbol in enumerate(sorted(ASCII_SYMBOLS), 1):
    _ROWS[_symbol] = _row * _CLASSES * _CLASSES
    for _pair in range(_CLASSES * _CLASSES):
        _VERDICTS[_ROWS[_symbol] + _pair] = _verdict(chr(_symbol), *divmod(_pair, _CLASSES))


@njit(forceinline=True)
def verdict_at(source, position):
    """Return whether the byte at *position* is a token, is not a token, or is unknown."""
    if position < 2 or position + 1 >= source.size or source[position] >= 0x80:
        return UNKNOWN
    byte, before, behind = source[position], source[position - 1], source[position + 1]
    if before == byte or behind == byte:
        return _verdict_in_row(source, position)
    left = _CLASS[before]
    if left == _BLANK:
        left = _BEFORE_BLANK[_CLASS[source[position - 2]]]
    return np.int64(_VERDICTS[_ROWS[byte] + np.int64(left) * _CLASSES + np.int64(_CLASS[behind])])


@njit
def _verdict_in_row(source, position):
    """Recognise rulers: at least four times the same symbol of ASCII, unless it begins an address."""
    byte = source[position]
    if byte == _SLASH and source[position - 1] == _ADDRESS:
        return UNKNOWN
    begin, end = position, position + 1
    while begin > 0 and end - begin < _RULER and source[begin - 1] == byte:
        begin -= 1
    while end < source.size and end - begin < _RULER and source[end] == byte:
        end += 1
    return NOTHING if end - begin >= _RULER else UNKNOWN
