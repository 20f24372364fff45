"""English stems: Snowball's stemmer for English ("Porter2"), exactly as PyStemmer 3.1.0 computes them.

PyStemmer makes a Python object of each word and of each stem, which takes far longer than stemming. This matters where
words are new all along, such as codes and identifiers: such texts were signed 15 times as slowly as without stems.

A word is UTF-8. Its vowels are ``aeiouy``, but a ``y`` at its beginning or after a vowel is a consonant, written ``Y``
while the word is stemmed. All other characters are consonants. The region R1 begins behind the first consonant after a
vowel, R2 behind the first consonant after a vowel in R1; without one, a region is empty. A step looks for the longest
of its suffixes, and changes nothing if the condition of this suffix is not met.
"""

import numpy as np

from neardup.kernels.compile import kernel, njit, trailing_zeros, word_at
from neardup.kernels.tokens import zero_bytes

VERSION = "3.1.0"  # of PyStemmer
LEAD = 8  # zero bytes before the first stem: suffixes are compared in the last 8 bytes of a word

# Lists of suffixes and their replacements. Numba would compile a helper again for each number that is a Python int
_LISTED = np.arange(10)
_EXCEPTIONS, _POSSESSIVE, _STEP_1A, _STEP_1B, _BEFORE_EED, _BEFORE_ING, _ENDING, _STEP_2, _STEP_3, _STEP_4 = _LISTED
_INVARIANT = "sky=sky news=news howe=howe atlas=atlas cosmos=cosmos bias=bias andes=andes"
_NOUNS = (
    "tional=tion enci=ence anci=ance izer=ize ization=ize ational=ate ation=ate ator=ate fulness=ful ousness=ous "
    "iveness=ive biliti=ble ogist=og ogi=og "
)
_LISTS = (
    "skis=ski skies=sky idly=idl gently=gentl ugly=ugli early=earli only=onli singly=singl " + _INVARIANT,
    "'= 's= 's'=",
    "sses=ss ied=i ies=i s= us=us ss=ss",
    "eed=ee eedly=ee ed= edly= ing= ingly=",
    "proc= exc= succ=",
    "inn= out= cann= herr= earr= even=",
    "at=ate bl=ble iz=ize bb=b dd=d ff=f gg=g mm=m nn=n pp=p rr=r tt=t",
    _NOUNS + "abli=able alism=al aliti=al alli=al entli=ent ousli=ous iviti=ive bli=ble fulli=ful lessli=less li=",
    "tional=tion ational=ate alize=al icate=ic iciti=ic ical=ic ful= ness= ative=",
    "al= ance= ence= er= ic= able= ible= ant= ement= ment= ent= ism= ate= iti= ous= ive= ize= ion=",
)
_PREFIXES = ("gener", "commun", "arsen", "past", "univers", "later", "emerg", "organ", "inter")  # R1 begins behind them

# Kinds of bytes, one bit each
_VOWEL, _AEO, _WXY, _VALID_LI, _L, _S_OR_T, _CONTINUES = (np.uint8(1 << bit) for bit in range(7))
_KINDS = np.zeros(256, np.uint8)
for _bit, _letters in enumerate((b"aeiouy", b"aeo", b"wxY", b"cdeghkmnrt", b"l", b"st", range(0x80, 0xC0))):
    _KINDS[list(_letters)] |= np.uint8(1 << _bit)
_AFTER = {"li": _VALID_LI, "ogi": _L, "ion": _S_OR_T}  # suffixes that count only after these letters
_APOSTROPHE, _COLON, _E, _I, _Y, _CONSONANT_Y = (np.uint8(ord(letter)) for letter in "':eiyY")
_EIGHT_CONSONANTS_Y, _EIGHT_YS, _EIGHT_COLONS = (
    np.uint64(int.from_bytes(letter * 8, "little")) for letter in (b"Y", b"y", b":")
)


def _packed(part):
    return int.from_bytes(part.encode(), "little")


# List, suffix and replacement; within a list by the last letter of the suffix, then the longest first
_ENTRIES = [(number, *pair.split("=")) for number, listed in enumerate(_LISTS) for pair in listed.split()]
_ENTRIES.sort(key=lambda entry: (entry[0], ord(entry[1][-1]) & 31, -len(entry[1])))
_ENTRIES.insert(0, (0, "", ""))  # no suffix
_NUMBERS = {entry[:2]: number for number, entry in enumerate(_ENTRIES)}
_SUFFIXES, _REPLACEMENTS = (np.array([_packed(entry[part]) for entry in _ENTRIES], np.uint64) for part in (1, 2))
_LENGTHS, _REPLACED = (np.array([len(entry[part]) for entry in _ENTRIES], np.int64) for part in (1, 2))
_CONDITIONS = np.array([_AFTER.get(suffix, 0) for _, suffix, _ in _ENTRIES], np.uint8)
_PLACES = [32 * number + (ord(suffix[-1:] or "\0") & 31) for number, suffix, _ in _ENTRIES]
_BOUNDS = np.searchsorted(_PLACES, np.arange(32 * len(_LISTS) + 1)).astype(np.int64)  # the entries of a last letter
# Which lists have a suffix with these last two letters, one bit each: most words end in no suffix of most lists
_ENDINGS = np.zeros(1 << 10, np.uint16)
for _number, _suffix, _ in _ENTRIES[1:]:
    _before = ord(_suffix[-2]) & 31 if len(_suffix) > 1 else np.arange(32)
    _ENDINGS[32 * (ord(_suffix[-1]) & 31) + _before] |= np.uint16(1 << _number)
_S, _IED, _IES = (_NUMBERS[_STEP_1A, suffix] for suffix in ("s", "ied", "ies"))
_EED, _EEDLY, _ING = (_NUMBERS[_STEP_1B, suffix] for suffix in ("eed", "eedly", "ing"))
_ATIVE, _PAST = _NUMBERS[_STEP_3, "ative"], np.uint64(_packed("past"))

# The prefix with each first letter; no two have the same one
_PREFIX_LENGTHS, _PREFIX_WORDS, _PREFIX_MASKS = np.zeros(32, np.int64), np.ones(32, np.uint64), np.zeros(32, np.uint64)
for _prefix in _PREFIXES:
    _letter = ord(_prefix[0]) & 31
    _PREFIX_LENGTHS[_letter], _PREFIX_WORDS[_letter] = len(_prefix), _packed(_prefix)
    _PREFIX_MASKS[_letter] = (1 << 8 * len(_prefix)) - 1

# Words that a step may change, by their last byte and the byte before it
_CHANGING = np.zeros((256, 256), np.bool_)
for _number, _suffix, _ in _ENTRIES[1:]:
    if len(_suffix) > 1 and _number not in {_BEFORE_EED, _BEFORE_ING, _ENDING}:
        _CHANGING[ord(_suffix[-1]), ord(_suffix[-2])] = True
_CHANGING[list(b"'sye")] = True
_CHANGING[ord("y"), list(b"aeiou")] = False
_CHANGING[ord("l"), ord("l")] = True


@njit(forceinline=True)
def _is(kind, byte):
    return _KINDS[byte] & kind != 0


@njit(forceinline=True)
def _end(words, begin):
    """Return the place of the zero that ends a word."""
    zeros = zero_bytes(word_at(words, begin))
    while zeros == 0:
        begin += 8
        zeros = zero_bytes(word_at(words, begin))
    return begin + np.int64(trailing_zeros(zeros) >> np.uint64(3))


@njit(forceinline=True)
def _longest(listed, word, end):
    """Return the entry of the longest suffix in a list that the word has, or 0."""
    ending = np.int64(word[end - 1] & 31) << 5 | np.int64(word[end - 2] & 31)
    if _ENDINGS[ending] >> listed & 1 == 0:
        return 0
    tail = word_at(word, end - 8)
    place = 32 * listed + np.int64(word[end - 1] & 31)
    for entry in range(_BOUNDS[place], _BOUNDS[place + 1]):
        if tail >> np.uint64(64 - 8 * _LENGTHS[entry]) == _SUFFIXES[entry]:
            return entry
    return 0


@njit(forceinline=True)
def _is_one_of(listed, word, begin, end):
    """Return the entry that is the whole word, or 0."""
    entry = _longest(listed, word, end)
    return entry if _LENGTHS[entry] == end - begin else 0


@njit(forceinline=True)
def _replace(word, end, entry):
    """Replace a suffix; return the end."""
    begin = end - _LENGTHS[entry]
    for place in range(_REPLACED[entry]):
        word[begin + place] = np.uint8(_REPLACEMENTS[entry] >> np.uint64(8 * place))
    return begin + _REPLACED[entry]


@njit(forceinline=True)
def _last(word, end):
    """Return where the last character before *end* begins."""
    place = end - 1
    while _is(_CONTINUES, word[place]):
        place -= 1
    return place


@njit(forceinline=True)
def _has(eight, words, begin, end):
    """Return whether a byte from *begin* to *end* is the byte of *eight*; up to 7 bytes behind *end* count, too."""
    found = np.uint64(0)
    for place in range(begin, end, 8):
        found |= zero_bytes(word_at(words, place) ^ eight)
    return found != 0


@njit(forceinline=True)
def _has_vowel(word, begin, end):
    for place in range(begin, end):
        if _is(_VOWEL, word[place]):
            return True
    return False


@njit(forceinline=True)
def _is_short(word, begin, end):
    """Return whether the last syllable is short, or *past*.

    A short syllable is a vowel between two consonants, and the second is not w, x or Y; or a vowel that begins the
    word, and a consonant.
    """
    last = _last(word, end)
    if _is(_VOWEL, word[last - 1]) and not _is(_VOWEL, word[last]):
        return last - 1 == begin or not (_is(_WXY, word[last]) or _is(_VOWEL, word[last - 2]))
    return word_at(word, end - 8) >> np.uint64(32) == _PAST


@njit(forceinline=True)
def _mark_consonants(word, begin, end):
    """Write *Y* for each y that is a consonant; return whether there is one."""
    if not _has(_EIGHT_YS, word, begin, end):
        return False
    found = False
    for place in range(begin, end):
        if word[place] == _Y and (place == begin or _is(_VOWEL, word[place - 1])):
            word[place] = _CONSONANT_Y
            found = True
    return found


@njit(forceinline=True)
def _region(word, begin, end):
    """Return where the region behind the first consonant after a vowel begins; *end* if it is empty."""
    while begin < end and not _is(_VOWEL, word[begin]):
        begin += 1
    while begin < end and _is(_VOWEL, word[begin]):
        begin += 1
    begin += 1
    while begin < end and _is(_CONTINUES, word[begin]):
        begin += 1
    return min(begin, end)


@njit(forceinline=True)
def _mark_regions(word, begin, end):
    """Return where R1 and R2 begin."""
    letter = word[begin] & 31
    prefixed = word_at(word, begin) & _PREFIX_MASKS[letter] == _PREFIX_WORDS[letter]
    first = begin + _PREFIX_LENGTHS[letter] if prefixed else _region(word, begin, end)
    return first, _region(word, first, end)


@njit(forceinline=True)
def _step_1a(word, begin, end):
    """Remove possessive and plural endings."""
    end -= _LENGTHS[_longest(_POSSESSIVE, word, end)]
    entry = _longest(_STEP_1A, word, end)
    stem = end - _LENGTHS[entry]
    if entry == _S and not _has_vowel(word, begin, stem - 1):
        return end
    if (entry == _IED or entry == _IES) and (stem == begin or _last(word, stem) == begin):  # ties becomes tie
        return end - 1
    return _replace(word, end, entry)


@njit(forceinline=True)
def _mend(word, begin, end, first):
    """Add *e* to a stem, or remove a double letter; return the end."""
    entry = _longest(_ENDING, word, end)
    if entry:
        kept = end - 2 == begin + 1 and word[end - 1] == word[end - 2] and _is(_AEO, word[begin])  # add, egg, off
        return end if kept else _replace(word, end, entry)
    if end == first and _is_short(word, begin, end):
        word[end] = _E
        return end + 1
    return end


@njit(forceinline=True)
def _step_1b(word, begin, end, first):
    """Remove *ed* and *ing*."""
    entry = _longest(_STEP_1B, word, end)
    stem = end - _LENGTHS[entry]
    if entry == _EED or entry == _EEDLY:
        kept = stem < first or _is_one_of(_BEFORE_EED, word, begin, stem)
        return end if kept else _replace(word, end, entry)
    if entry == _ING:
        if word[stem - 1] == _Y and _last(word, stem - 1) == begin and not _is(_VOWEL, word[begin]):
            word[stem - 1], word[stem] = _I, _E  # dying becomes die
            return stem + 1
        if _is_one_of(_BEFORE_ING, word, begin, stem):
            return end
    if entry == 0 or not _has_vowel(word, begin, stem):
        return end
    return _mend(word, begin, stem, first)


@njit(forceinline=True)
def _step_1c(word, begin, end):
    """Write *i* for a final y behind a consonant that is not the beginning."""
    last = word[end - 1]
    behind_consonant = (last == _Y or last == _CONSONANT_Y) and end - 2 > begin and not _is(_VOWEL, word[end - 2])
    if behind_consonant and _last(word, end - 1) > begin:
        word[end - 1] = _I


@njit(forceinline=True)
def _step_2_to_4(listed, word, end, first, second):
    """Replace a suffix in R1, or remove it in R2."""
    entry = _longest(listed, word, end)
    stem = end - _LENGTHS[entry]
    region = second if listed == _STEP_4 or entry == _ATIVE else first
    condition = _CONDITIONS[entry]
    if entry == 0 or stem < region or (condition and not _is(condition, word[stem - 1])):
        return end
    return _replace(word, end, entry)


@njit(forceinline=True)
def _step_5(word, begin, end, first, second):
    """Remove a final *e*, or a second *l*."""
    stem = end - 1
    if word[stem] == _E:
        return stem if stem >= second or (stem >= first and not _is_short(word, begin, stem)) else end
    return stem if stem >= second and _is(_L, word[stem]) and _is(_L, word[stem - 1]) else end


@njit(forceinline=True)
def _stem(word, begin, end):
    """Replace a word by its stem; return the end."""
    exception = _is_one_of(_EXCEPTIONS, word, begin, end)
    if exception:
        return _replace(word, end, exception)
    last = _last(word, end)
    if last == begin or _last(word, last) == begin:  # two characters at most
        return end
    if word[begin] == _APOSTROPHE:
        word[begin] = 0
        begin += 1
    marked = _mark_consonants(word, begin, end)
    first, second = _mark_regions(word, begin, end)
    whole, end = end, _step_1a(word, begin, end)
    if end == begin:
        word[begin - 1] = _APOSTROPHE
        return whole
    end = _step_1b(word, begin, end, first)
    _step_1c(word, begin, end)
    end = _step_2_to_4(_STEP_2, word, end, first, second)
    end = _step_2_to_4(_STEP_3, word, end, first, second)
    end = _step_2_to_4(_STEP_4, word, end, first, second)
    end = _step_5(word, begin, end, first, second)
    if marked:
        for place in range(begin, end):
            if word[place] == _CONSONANT_Y:
                word[place] = _Y
    return end


@kernel
def stem(words, size):
    """Replace, in place, words by their stems; addresses, which have a colon, and words without a stem are not changed.

    Zero-ended words follow each other in ``words[LEAD:size]``. ``LEAD`` zero bytes precede them, and there is room for
    8 bytes behind them. In the place of removed letters there are zero bytes.
    """
    begin = np.int64(LEAD)
    while begin < size:
        end = _end(words, begin)
        is_address = False
        if _has(_EIGHT_COLONS, words, begin, end):  # or perhaps the next word has one
            for place in range(begin, end):
                is_address |= words[place] == _COLON
        if not is_address:
            words[_stem(words, begin, end) : end] = 0
        begin = end + 1


@kernel
def may_change(folded, starts, chosen):
    """Write the positions of the words that may differ from their stems to the end of *chosen*; return their number.

    The words begin at *starts*, and there are only zero bytes between them.
    """
    if starts.size == 0:
        return 0
    end = _end(folded, starts[starts.size - 1])
    count, marked = 0, _has(_EIGHT_CONSONANTS_Y, folded, starts[0], end)
    for position in range(starts.size - 1, -1, -1):
        begin = starts[position]
        while folded[end - 1] == 0:
            end -= 1
        changes = _CHANGING[folded[end - 1], folded[max(begin, end - 2)]]
        chosen[starts.size - 1 - count] = position
        count += np.int64(changes or folded[begin] == _APOSTROPHE or marked)
        end = begin - 1
    return count
