"""The kernels' definitions in plain Python: code points, integers and lists."""

import itertools
import re
import unicodedata
from fractions import Fraction

MASK = 2**64 - 1
MULTIPLIER = 0x9E3779B97F4A7C15
SPREAD = 0xD6E8FEB86659FD93
EMPTY = 2**32 - 1


def read_only(array):
    """Return a view as the library gives it to kernels: for another type they would be compiled again."""
    view = array.view()
    view.flags.writeable = False
    return view


# How the names of the characters of Han, Kana, Thai, Lao, Khmer and Myanmar begin.
UNSPACED = (
    "CJK ",
    "COMBINING KATAKANA",
    "HALFWIDTH KATAKANA",
    "HANGZHOU",
    "HENTAIGANA",
    "HIRAGANA",
    "IDEOGRAPHIC",
    "KATAKANA",
    "KHMER ",
    "LAO ",
    "MASU",
    "MYANMAR ",
    "OLD CHINESE",
    "THAI ",
    "VERTICAL IDEOGRAPHIC",
    "VERTICAL KANA",
)


def is_unspaced(letter):
    name = unicodedata.name(letter, "")
    return name.startswith(UNSPACED) and not name.startswith("IDEOGRAPHIC TALLY")


# Default_Ignorable_Code_Point of Unicode 14.0, and tatweel.
INVISIBLE = re.compile(
    "[\u0640\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
EMOJI = "⌚⌛⏩⏪⏫⏬⏰⏳◽◾⬛⬜⭐⭕"  # with the property Emoji_Presentation
WHITE = set(" \t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {chr(code) for code in range(0x2000, 0x200B)}
NO_SYMBOLS = "\xa9\xae\u2120\u2122\uff5c\uff5e\ufffc\ufffd" + "".join(map(chr, range(0x2500, 0x25A0)))


APOSTROPHES = "\u02bb\u02bc"


def is_word(letter):
    return unicodedata.category(letter)[0] in "LMN" and letter not in APOSTROPHES


def is_digit(letter):
    return unicodedata.category(letter)[0] == "N"


def is_symbol(letter):
    if letter in "!#$%&*+-/<=>@^|~\u2030\u2031\u066a\uff03\uff05\uff06\uff0a\uff0d\uff0f\uff20\uff3e":
        return True
    return unicodedata.category(letter) in {"Sm", "Sc", "So"} and letter not in NO_SYMBOLS


WIDE = {"\uff0a": "*", "\uff0d": "-", "\uff0f": "/"}


def begins_line(visible, place):
    """Only markers and white space are before the *place*, of (character, byte) pairs, within 32 bytes."""
    at = least = visible[place][1]
    least -= 32
    for letter, begin in reversed(visible[:place]):
        if at <= least:
            return False
        if re.fullmatch(LINE_ENDS, letter):
            return True
        if letter not in WHITE and letter not in "#*+->|/":
            return False
        at = begin
    return True


OPERATORS = re.compile("[\xb1\xd7\xf7\u2190-\u22ff\u27c0-\u27ff\u2900-\u2aff]")
CLOSING_BRACKETS = re.compile("[\u3009\u300b\u300d\u300f\u3011\u3015\u3017\u3019\u301b]")


def is_picture_or_unit(letter):
    return letter in "$%" or (not letter.isascii() and is_symbol(letter) and not OPERATORS.match(letter))


def is_operator(letter):
    return letter in "&*+/<>^|~" or bool(OPERATORS.match(letter))


def is_quotation(letter):
    """Return whether a letter is a separator that is not ASCII, and neither white space nor a closing bracket."""
    other = letter.isascii() or letter in WHITE or is_word(letter) or is_symbol(letter)
    return not (other or CLOSING_BRACKETS.match(letter))


def is_minus(before, beyond, behind, after):
    """Return whether a hyphen between four characters, in the order of *beyond* to *after*, is a minus."""
    in_script = is_unspaced(before) and is_word(before) and not is_digit(before)
    leads = behind == "." or is_picture_or_unit(behind) or is_operator(behind)
    if is_digit(behind) or (leads and is_digit(after)):
        if before in "\"'" or is_picture_or_unit(before) or in_script:
            return not is_digit(beyond)
        return before in WHITE or before in "=([{:,;!?" or is_operator(before) or is_quotation(before)
    if is_word(behind):
        return before in "=([{," or is_operator(before) or (before in WHITE and beyond == "=")
    return before in WHITE and behind in WHITE and is_digit(beyond) and is_digit(after)


def symbol_counts(visible, place):  # noqa: C901, PLR0911, PLR0912 - one rule each
    """The rules of ``neardup.kernels.symbols``, on the visible characters of a text."""
    letters = [" ", " ", *(letter for letter, _ in visible), " ", " "]
    place += 2
    symbol = letters[place]
    if ord(symbol) >= 0x80 and symbol not in WIDE:
        shape = 0x25A0 <= ord(symbol) < 0x2600
        return not (shape and letters[place + 1] in WHITE and begins_line(visible, place - 2))
    first = last = place
    while letters[first - 1] == symbol:
        first -= 1
    while letters[last + 1] == symbol:
        last += 1
    near = (letters[place] for place in (first - 2, first - 1, last + 1, last + 2))
    beyond, before, behind, after = (chr(ord(one) - 0xFEE0) if "\uff01" <= one <= "\uff5e" else one for one in near)
    length = last - first + 1
    edges = (before in WHITE) + (behind in WHITE)
    if length >= 4 or (WIDE.get(symbol, symbol) in "#*+->|/" and behind in WHITE and begins_line(visible, first - 2)):
        return False
    if behind == "=":
        return True
    abroad = [not one.isascii() and is_word(one) and not is_digit(one) for one in (before, behind)]
    counted = is_digit(beyond) and (
        before in "\"'" or is_picture_or_unit(before) or (is_unspaced(before) and is_word(before))
    )
    match WIDE.get(symbol, symbol):
        case "*":
            if length > 1 and (abroad[1] or (abroad[0] and not counted)):
                return False
            if edges:
                return edges == 2
            ends_word = is_word(before) or counted or before in ".,;:!?)]}\"'" or CLOSING_BRACKETS.match(before)
            closes = behind in ",;:!?)]}\"'" or is_quotation(behind) or bool(CLOSING_BRACKETS.match(behind))
            closes = closes or (behind == "." and not is_digit(after))
            return is_quotation(before) == (closes and bool(ends_word or is_quotation(before)))
        case "|":
            return length > 1 or (edges == 0 and not (before in "-:;" and behind in "-:;"))
        case "/":
            return edges == 2 or (edges == 0 and (is_digit(before) or is_digit(behind)))
        case "~":
            return not (is_digit(before) or abroad[0] or counted)
        case "!":
            negates = (is_word(behind) and not is_digit(behind)) or behind == "("
            return length == 1 and negates and not (is_word(before) or counted or before in "!?")
        case "-":
            return length == 1 and is_minus(before, beyond, behind, after)
    return True


def address(visible, place):
    """The rest of an address from its first slash on, or nothing."""
    letters = [letter for letter, _ in visible]
    if not re.fullmatch("[A-Za-z]://", "".join(letters[max(place - 2, 0) : place + 2])):
        return ""
    if visible[place + 1][1] - visible[place - 2][1] > 3:  # something invisible is between them
        return ""
    rest = re.match(r"[A-Za-z0-9._~:/?#@!$&'*+,;=%-]*", "".join(letters[place:]))[0].rstrip(".,;:!?'*")
    return rest if rest.strip("/.,;:!?'*") else ""


def words(text, *, fold_case=True, symbols=True):
    """Maximal runs of letters, marks and numbers; a character each in scripts without spaces; and symbols."""
    places = itertools.accumulate((len(letter.encode("utf-8", "surrogatepass")) for letter in text), initial=0)
    readable = text.replace("\ufffd", " ")  # and bytes that are not UTF-8
    visible = [pair for pair in zip(readable, places, strict=False) if not INVISIBLE.match(pair[0])]
    letters = [letter for letter, _ in visible]
    found = [""]
    place = 0
    while place < len(letters):
        letter = letters[place]
        place += 1
        if symbols and letter == "/" and (rest := address(visible, place - 1)):
            found[-2] += ":" + rest
            found.append("")
            place += len(rest) - 1
        elif is_word(letter):
            if is_unspaced(letter):
                found += [letter, ""]
            else:
                found[-1] += letter
        elif symbols and is_symbol(letter) and symbol_counts(visible, place - 1):
            picture = 0x2600 <= ord(letter) < 0x27C0 or 0x1F000 <= ord(letter) < 0x20000 or letter in EMOJI
            found += [re.sub("[\u2212\uff0d]", "-", letter)] * (1 + picture) + [""]
        else:
            found.append("")
    return ["".join(map(case_folded, word)) if fold_case else word for word in found if word]


def case_folded(letter):
    """The full case folding; letters that it takes apart are folded as what they are in upper case."""
    folded = letter.casefold()
    if len(folded) == 1:
        return folded
    folded = "".join(map(str.casefold, unicodedata.normalize("NFC", letter.upper())))
    return folded.strip(APOSTROPHES)


def public_hash(token, seed):
    state = seed
    padded = token + bytes(8 - len(token) % 8)
    for start in range(0, len(padded), 8):
        state = (state ^ int.from_bytes(padded[start : start + 8], "little")) * MULTIPLIER % 2**64
        state ^= state >> 32
    return state


def siphash13(data, key0, key1, *, wide=False):
    """SipHash-1-3 of bytes; *wide*: the two halves of its 128 bits."""

    def turn(value, left):
        return (value << left | value >> (64 - left)) & MASK

    v = [
        key0 ^ 0x736F6D6570736575,
        key1 ^ 0x646F72616E646F6D ^ (0xEE if wide else 0),
        key0 ^ 0x6C7967656E657261,
        key1 ^ 0x7465646279746573,
    ]

    def mix():
        v[0] = (v[0] + v[1]) & MASK
        v[1] = turn(v[1], 13) ^ v[0]
        v[0] = turn(v[0], 32)
        v[2] = (v[2] + v[3]) & MASK
        v[3] = turn(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & MASK
        v[3] = turn(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & MASK
        v[1] = turn(v[1], 17) ^ v[2]
        v[2] = turn(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for start in range(0, len(padded), 8):
        word = int.from_bytes(padded[start : start + 8], "little")
        v[3] ^= word
        mix()
        v[0] ^= word
    v[2] ^= 0xEE if wide else 0xFF
    halves = []
    for _ in range(1 + wide):
        for _ in range(3):
            mix()
        halves.append(v[0] ^ v[1] ^ v[2] ^ v[3])
        v[1] ^= 0xDD
    return (*halves,) if wide else halves[0]


def mix(value):
    value ^= value >> 33
    value = value * 0xFF51AFD7ED558CCD % 2**64
    value ^= value >> 33
    value = value * 0xC4CEB9FE1A85EC53 % 2**64
    return value ^ value >> 33


def sequence_hash(tokens):
    total = sum(token * SPREAD ** (len(tokens) - 1 - place) for place, token in enumerate(tokens))
    return mix(total % 2**64)


def shingles(tokens, size):
    if 0 < len(tokens) < size:
        return [sequence_hash([size - len(tokens), *tokens])]
    return [sequence_hash(tokens[start : start + size]) for start in range(len(tokens) - size + 1)]


def labelled(values):
    seen = {}
    bag = []
    for value in values:
        repeat = seen.get(value, -1) + 1
        seen[value] = repeat
        bag.append(mix((value + repeat * SPREAD) % 2**64) if repeat else value)
    return bag


def sketch(values, multipliers, addends):
    """Fast Similarity Sketching, from its definition: rounds until each bin has met a value."""
    bins = len(multipliers) // 2
    row = [None] * bins
    for turn, (multiplier, addend) in enumerate(zip(multipliers, addends, strict=True)):
        fresh = {}
        for value in values:
            hashed = (multiplier * value + addend) % 2**64
            place = (hashed >> 32) * bins >> 32 if turn < bins else turn - bins
            minimum = min(hashed % 2**32, EMPTY - 1)
            fresh[place] = min(fresh.get(place, EMPTY), minimum)
        row = [fresh.get(place) if old is None else old for place, old in enumerate(row)]
    return [EMPTY if minimum is None else minimum for minimum in row]


def fingerprint(values, weights, words):
    """SimHash from its definition: the weights of each bit summed one by one; a tie gives 0."""
    row = []
    for place in range(words):
        hashes = [value if place == 0 else mix((value + place * SPREAD) % 2**64) for value in values]
        sums = [
            sum(weight for hashed, weight in zip(hashes, weights, strict=True) if hashed >> bit & 1)
            for bit in range(64)
        ]
        row.append(sum(1 << bit for bit, total in enumerate(sums) if 2 * total > sum(weights)))
    return row


LINE_ENDS = "\r\n|[\n\v\f\r\x85\u2028\u2029]"
SPACES = " \t\n\v\f\r\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
CLOSING = "\"')\\]}\xbb\u2019\u201d\u203a\u300d\u300f\u3011\uff09"
MAY_CLOSE = CLOSING + "\xab\u2018\u201c\u2039"
STOPS_AT_ONCE = "\u3002\uff01\uff0e\uff1f\uff61\u0964\u0965\u061f\u06d4\u0589\u0f0d\u0f0e\u104b\u1362\u1367\u17d4\u17d5"


def lines(text):
    return re.split(LINE_ENDS, text)


def letters_of(word):
    """How many letters a word has: a syllable of Hangul or Ethiopic is two."""
    return sum(1 + ("\uac00" <= letter <= "\ud7a3" or "\u1200" <= letter <= "\u135a") for letter in word)


def _word_before(text):
    start = len(text)
    while start and (is_word(text[start - 1]) or text[start - 1] in "'\u2019"):
        start -= 1
    return text[start:].lstrip("'\u2019")


def _holds_back(before, following, abbreviations, before_numbers):
    """Return whether the word in front of a full stop, apostrophes included, keeps it from ending a sentence."""
    word = _word_before(before)
    if len(word) == 1 and not word.isascii():
        return not is_digit(word) and letters_of(word) == 1
    plain = word.lower() if word.isascii() else ""
    initial = len(plain) == 1 and plain.isalpha()
    return initial or plain in abbreviations or (following in "0123456789" and plain in before_numbers)


def _begins_sentence(text, endings):
    size = 0
    while size < len(text) and is_word(text[size]) and not is_digit(text[size]) and not is_unspaced(text[size]):
        size += 1
    behind = text[size : size + 1]
    return (
        letters_of(text[:size]) >= 2
        and text[:size].lower() not in endings
        and (behind in WHITE or behind in ",;!?'\"\u2019\u201d)")
    )


def sentences(text, abbreviations, before_numbers, endings):
    """Every white space, and every word directly behind a full stop, is asked for itself."""
    places = [place for place, letter in enumerate(text) if not INVISIBLE.match(letter)] + [len(text)]
    whole, text = text, "".join(text[place] for place in places[:-1]).replace("\ufffd", " ")
    edges = set()
    for found in re.finditer(f"[{STOPS_AT_ONCE}][{CLOSING}{SPACES}]*", text):
        around = text[: found.start()][-1:], text[found.start() + 1 :][:1]
        if found[0][0] != "\uff0e" or not all(one and is_digit(one) for one in around):
            edges.add(found.end())
    for space in re.finditer(f"[{SPACES}]+(?=[^{SPACES}])", text):
        following = text[space.end()]
        breaks = re.findall("\r\n|[\n\r\u2028]|(\u2029)", space[0])
        stop = re.search(f"([.!?\u2026])[{MAY_CLOSE}]*$", text[: space.start()])
        if len(breaks) + breaks.count("\u2029") >= 2:
            edges.add(space.end())
        elif stop:
            before = text[: stop.start()]
            if stop[1] != "." or not _holds_back(before, following, abbreviations, before_numbers):
                edges.add(space.end())
    for stop in re.finditer(f"([.!?])[{MAY_CLOSE}]*", text):
        word = _word_before(text[: stop.start()])
        held = stop[1] == "." and _holds_back(text[: stop.start()], " ", abbreviations, before_numbers)
        if letters_of(word) >= 2 and not held and _begins_sentence(text[stop.end() :], endings):
            edges.add(stop.end())
    cuts = sorted({0, len(whole), *(places[edge] for edge in edges)})
    return [whole[begin:end] for begin, end in itertools.pairwise(cuts)]


def sketch_overlap(one, other, columns, of_smaller):
    """The share of common numbers of two bottom-k sketches: of those of the smaller one, or the least of both."""
    if not one or not other:
        return 0.0
    if of_smaller:
        return len({*one} & {*other}) / min(len(one), len(other))
    union = sorted({*one, *other})[:columns]
    return len({*one} & {*other} & {*union}) / len(union)


def collapsed(number, keeps, matches, closeness=None, leaders=None):
    """Which hits go, best first: for each the one it matches, the rule's number, and the first of all it belongs with.

    ``matches(rule, better, hit)`` says whether two match. Whatever is not is -1. With ``closeness(rule, better, hit)``,
    that is the closest of all it matches, up to ``leaders[hit]``, the first equal hit, if that matches one of them.
    """
    of, by, kept, links = [-1] * number, [-1] * number, [], []
    groups = [{} for _ in keeps]  # of each rule: the group, a list, that each hit that stays is in
    for hit in range(number):
        matched = [next((better for better in kept if matches(rule, better, hit)), -1) for rule in range(len(keeps))]
        full = [r for r, better_hit in enumerate(matched) if better_hit >= 0 and len(groups[r][better_hit]) >= keeps[r]]
        if full:
            rule, first = by[hit], of[hit] = full[0], matched[full[0]]
            if closeness is not None:
                last = leaders[hit] if leaders[hit] >= first else hit
                found = [better for better in kept if better <= last and matches(rule, better, hit)]
                of[hit] = max(found, key=lambda better: (closeness(rule, better, hit), -better))
            links.append((of[hit], hit))
            continue
        for rule, better_hit in enumerate(matched):
            group = groups[rule][better_hit] if better_hit >= 0 else []
            group.append(hit)
            groups[rule][hit] = group
            if better_hit >= 0:
                links.append((better_hit, hit))
        kept.append(hit)
    heads, before = list(range(number)), None
    while heads != before:
        before = list(heads)
        for one, other in links:
            heads[one] = heads[other] = min(heads[one], heads[other])
    return of, by, heads


def different_documents(documents, least):
    """Return the positions of the documents that count: what ``count_once`` states, in sets."""
    counted, entries = [], {}
    for number, own in enumerate(documents):
        meetings = sorted(own)[:16]
        met = {other for value in meetings for other in entries.get(value, [])[:8]}
        resembling = [(Fraction(-len(own & documents[other]), len(own | documents[other])), other) for other in met]
        nearest = [documents[other] for share, other in sorted(resembling) if 2 * share <= -1][:4]
        if not own or (nearest and len(own - nearest[0]) < least):
            continue
        if len(nearest) > 1:
            every = set.intersection(*nearest)
            if 3 * len(every - own) >= len(own.difference(*nearest)):
                continue
        counted.append(number)
        for value in meetings:
            entries.setdefault(value, []).append(number)
    return counted


SCRIPT = re.compile(
    r"(?P<opened><!(?=--))|(?P<closed>-->)|(?P<begin><script(?=[ \t\n\f\r/>]))|(?P<end></script(?=[ \t\n\f\r/>]))",
    re.IGNORECASE | re.ASCII,
)


def raw_end(page, at, name):
    """Return where the end tag of an element begins whose content is not markup, from a place on."""
    if name == "script":
        return script_end(page, at)
    end = re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.IGNORECASE | re.ASCII).search(page, at)
    return end.start() if end else len(page)


def script_end(page, at):
    """Return where the end tag of a script begins, by the states of the standard's tokenizer."""
    state = "script"
    for found in SCRIPT.finditer(page, at):
        kind = found.lastgroup
        if kind == "end" and state != "inner":
            return found.start()
        if kind == "opened" and state == "script":
            state = "comment"
        elif kind == "closed":
            state = "script"
        elif kind in {"begin", "end"} and state != "script":
            state = "inner" if kind == "begin" else "comment"
    return len(page)
