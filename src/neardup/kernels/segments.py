"""Documents cut into lines or sentences, as byte ranges of their UTF-8 text, and documents without some lines."""

import numpy as np

from neardup.kernels.ascending import first_from
from neardup.kernels.characters import (
    INVISIBLE,
    NUMBER,
    SEPARATOR,
    SYMBOL,
    WORD,
    code_point,
    ends_line,
    entry_of,
    is_space,
    is_unreadable,
    kind_of,
    letters_of,
)
from neardup.kernels.compile import kernel, njit

_FULL_STOP, _ELLIPSIS, _WIDE_STOP = 0x2E, 0x2026, 0xFF0E
_PLAIN = np.array([byte == 0x20 or (byte < 0x80 and chr(byte).isalnum()) for byte in range(256)])


@njit
def _closes(code):
    """Quotes and brackets that may stand between a full stop and the space after it."""
    return code in (0x22, 0x27, 0x29, 0x5D, 0x7D, 0xBB, 0x2019, 0x201D, 0x203A, 0x300D, 0x300F, 0x3011, 0xFF09)


@njit
def _may_close(code):
    """Return whether a code point closes, or is a quote that closes in some languages and opens in others."""
    return _closes(code) or code in (0xAB, 0x2018, 0x201C, 0x2039)


@njit
def _ends_at_once(code):
    """Full stops of scripts without a space after them, from Armenian to CJK; U+037E, composed, is a semicolon."""
    if code < 0x0589:
        return False
    if code >= 0x3000:
        return code in (0x3002, 0xFF01, _WIDE_STOP, 0xFF1F, 0xFF61)
    return code in (0x0589, 0x061F, 0x06D4, 0x0964, 0x0965, 0x0F0D, 0x0F0E, 0x104B, 0x1362, 0x1367, 0x17D4, 0x17D5)


@njit
def _add_letter(word, letters, byte):
    """Pack one more ASCII letter, lower-case, or digit."""
    if letters < 8:
        low = np.uint64(byte) | np.uint64(0x20) if byte >= 0x41 else np.uint64(byte)
        word |= low << np.uint64(8 * letters)
    return word


@njit
def _among(packed, words):
    for word in words:
        if word == packed:
            return True
    return False


@njit
def _stops(code):
    return code == 0x21 or code == 0x2E or code == 0x3F or code == 0x2026


@njit
def _may_follow(code):
    """White space, or punctuation that may follow a word of a sentence."""
    return is_space(code) or is_unreadable(code) or code in (0x21, 0x22, 0x27, 0x29, 0x2C, 0x3B, 0x3F, 0x2019, 0x201D)


@njit
def _begins_sentence(source, position, index, table, endings):
    """Return whether the word at *position*, directly after a full stop, begins a sentence and not a part of a name."""
    word = np.uint64(0)
    letters = 0
    while position < source.size:
        code, length = code_point(source, position)
        entry = entry_of(index, table, code)
        if entry & INVISIBLE == 0:
            if kind_of(entry) != WORD or entry & NUMBER != 0:
                if not _may_follow(code):
                    return False
                break
            word = _add_letter(word, letters, code) if code < 0x80 else word | np.uint64(0xFF)
            letters += letters_of(code)
        position += length
    return letters >= 2 and not _among(word, endings)


@kernel
def lines(data, offsets, cuts, parts):
    """Cut every document at its line ends: LF, VT, FF, CR, NEL, U+2028, U+2029.

    Document *d* is ``data[offsets[d]:offsets[d + 1]]``; its lines that are not empty are
    ``data[cuts[s]:cuts[s + 1]]`` for *s* in ``parts[d] .. parts[d + 1] - 1``, line end included.
    Returns the number of lines.
    """
    count = 0
    cuts[0] = offsets[0]
    for document in range(offsets.size - 1):
        parts[document] = count
        end = offsets[document + 1]
        source = data[:end]
        position = offsets[document]
        while position < end:
            code, length = code_point(source, position)
            position += length
            if ends_line(code) and position > cuts[count] + length:
                count += 1
                cuts[count] = position
        if end > cuts[count]:
            count += 1
            cuts[count] = end
    parts[offsets.size - 1] = count
    return count


@kernel
def sentences(data, offsets, index, table, abbreviations, before_numbers, endings, cuts, parts):
    """Cut every document into sentences; arrays as in ``lines``.

    A sentence ends

    - at ``.``, ``!``, ``?`` or an ellipsis, and any closing quotes or brackets, if white space follows, unless a
      full stop ends one of the *abbreviations*, one of the words *before_numbers* with a digit after it, or a
      single letter (``J. Smith``, ``e.g.``, ``U.S.``; an apostrophe belongs to its word, so not ``don't.``; a syllable
      of Hangul has several letters);
    - at ``.``, ``!`` or ``?``, and any closing quotes or brackets, between two words without white space, as where
      tags were removed, if both have at least two letters (in the first one, digits count as letters), the first is not
      an abbreviation, the second not one of the *endings* of names (``example.com``), and after the second is white
      space, an apostrophe, a closing quote or bracket or one of ``,;!?``;
    - at a full stop of a script that writes no space after it (``。``), closing brackets included, but not at the point
      of a full-width number;
    - at an empty line. A single line break is a space.

    Upper and lower case are the same. Invisible code points are skipped. The three lists hold
    lower-case ASCII words of at most 8 letters, the first letter in the lowest byte.
    """
    count = 0
    cuts[0] = offsets[0]
    for document in range(offsets.size - 1):
        parts[document] = count
        end = offsets[document + 1]
        source = data[:end]
        position = offsets[document]
        word = np.uint64(0)  # the ASCII word in front, packed
        letters = 0  # its length, in code points of any script
        number = False  # whether its last one is a number
        stop = np.uint32(0)  # the full stop that waits for what comes next
        stopped_word = np.uint64(0)
        stopped_letters = 0
        spaced = False
        breaks = 0
        at_once = False
        decimal = False  # whether a full-width point is behind a number
        while position < end:
            begin = position
            if stop == 0 and breaks == 0 and not at_once and _PLAIN[source[position]]:
                # Nothing can end here: find where the plain words and spaces end, and pack only the last word.
                while position < end and _PLAIN[source[position]]:
                    if source[position] == 0x20:
                        begin = position + 1
                        letters = 0
                        word = np.uint64(0)
                    position += 1
                spaced = begin == position
                for place in range(begin, position):
                    word = _add_letter(word, letters, source[place])
                    letters += 1
                number = 0x30 <= source[position - 1] <= 0x39
                continue
            code, length = code_point(source, position)
            position += length
            entry = entry_of(index, table, code)
            if entry & INVISIBLE:
                continue
            kind = kind_of(entry)
            if is_unreadable(code):  # it separates as a blank does
                code = np.uint32(0x20)
            if is_space(code):
                spaced = True
                decimal = False
                if (
                    code == 0x0A
                    or code == 0x2028
                    or (code == 0x0D and not (position < end and source[position] == 0x0A))
                ):
                    breaks += 1
                elif code == 0x2029:
                    breaks += 2
                letters = 0
                word = np.uint64(0)
                continue
            if at_once and decimal and entry & NUMBER != 0:
                at_once = False
            decimal = False
            cut = breaks >= 2 or (at_once and not _closes(code))
            if stop != 0 and not cut and (spaced or kind == WORD):
                digit = 0x30 <= code <= 0x39
                cut = not (
                    stop == _FULL_STOP
                    and (
                        stopped_letters == 1
                        or _among(stopped_word, abbreviations)
                        or (digit and _among(stopped_word, before_numbers))
                    )
                )
                if cut and not spaced:
                    cut = stopped_letters > 1 and stop != _ELLIPSIS
                    cut = cut and _begins_sentence(source, begin, index, table, endings)
            if cut and begin > cuts[count]:
                count += 1
                cuts[count] = begin
                at_once = False
            if spaced or cut or not _may_close(code):
                stop = np.uint32(0)
            spaced = False
            breaks = 0
            if _stops(code):
                stop = code
                stopped_word = word
                stopped_letters = letters
                if letters == 1 and number:
                    stopped_letters = 0  # a digit is neither an initial nor a name
            elif _ends_at_once(code):
                at_once = True
                decimal = code == _WIDE_STOP and letters != 0 and number
            if kind != SEPARATOR and kind != SYMBOL:
                number = entry & NUMBER != 0
                if code < 0x80:
                    word = _add_letter(word, letters, code)
                else:
                    word |= np.uint64(0xFF)  # not ASCII: no abbreviation
                letters += letters_of(code)
            elif letters != 0 and (code == 0x27 or code == 0x2019):
                number = False
                word |= np.uint64(0xFF)  # the t of don't is not an initial
                letters += 1
            else:
                letters = 0
                word = np.uint64(0)
        if end > cuts[count]:
            count += 1
            cuts[count] = end
    parts[offsets.size - 1] = count
    return count


@kernel
def blank(data, offsets, flags):
    """Flag the documents that contain only white space; only the beginning of others is read."""
    for document in range(offsets.size - 1):
        source = data[offsets[document] : offsets[document + 1]]
        position = np.int64(0)
        while position < source.size:
            code, length = code_point(source, position)
            if not (is_space(code) or code == 0x200B or 0x1C <= code <= 0x1F):
                break
            position += length
        flags[document] = position >= source.size


@kernel
def listed_lines(parts, hashes, words, lists, terms, begins, flags):
    """Flag the lines, cut as by ``lines``, that the list of their document has; lines without words never.

    Line *s* has the hash ``hashes[s]`` (uint64) of its ``words[s]`` words. Document *d* uses the list number
    ``lists[d]``, or none if that is negative. List *l* is ``terms[begins[l]:begins[l + 1]]`` (uint64), ascending.
    """
    for document in range(parts.size - 1):
        number = lists[document]
        first = begins[number] if number >= 0 else 0
        last = begins[number + 1] if number >= 0 else 0
        for line in range(parts[document], parts[document + 1]):
            low = first_from(terms, first, last, hashes[line])
            flags[line] = words[line] > 0 and low < last and terms[low] == hashes[line]


@kernel
def copy_other_lines(data, cuts, parts, flags, out, bounds):
    """Copy every document without its flagged lines: document *d* becomes ``out[bounds[d]:bounds[d + 1]]``."""
    count = 0
    for document in range(parts.size - 1):
        bounds[document] = count
        for line in range(parts[document], parts[document + 1]):
            if not flags[line]:
                for position in range(cuts[line], cuts[line + 1]):
                    out[count] = data[position]
                    count += 1
    bounds[parts.size - 1] = count
