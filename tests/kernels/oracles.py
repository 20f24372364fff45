"""The kernels' definitions in plain Python: code points, integers and lists."""

import itertools
import re
import unicodedata
from fractions import Fraction

MASK = 2**64 - 1
MULTIPLIER = 0x9E3779B97F4A7C15
SPREAD = 0xD6E8FEB86659FD93
EMPTY = 2**32 - 1


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


def words(text, *, fold_case=True):
    """Maximal runs of letters, marks and numbers; a character each in scripts without spaces."""
    found = [""]
    for letter in text:
        if unicodedata.category(letter)[0] not in "LMN":
            found.append("")
        elif is_unspaced(letter):
            found += [letter, ""]
        else:
            found[-1] += letter
    return [word.casefold() if fold_case else word for word in found if word]


def public_hash(token, seed):
    state = seed
    padded = token + bytes(8 - len(token) % 8)
    for start in range(0, len(padded), 8):
        state = (state ^ int.from_bytes(padded[start : start + 8], "little")) * MULTIPLIER % 2**64
        state ^= state >> 32
    return state


def siphash13(data, key0, key1):
    def turn(value, left):
        return (value << left | value >> (64 - left)) & MASK

    v = [
        key0 ^ 0x736F6D6570736575,
        key1 ^ 0x646F72616E646F6D,
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
    v[2] ^= 0xFF
    for _ in range(3):
        mix()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


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
SPACES = " \t\n\v\f\r\x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000"
CLOSING = "\"')\\]}\xbb\u2019\u201d\u203a\u300d\u300f\u3011\uff09"
STOPS_AT_ONCE = "\u3002\uff01\uff0e\uff1f\uff61\u0964\u0965\u061f\u06d4"


def lines(text):
    return re.split(LINE_ENDS, text)


def _holds_back(before, following, abbreviations, before_numbers):
    """Whether the word in front of a full stop, apostrophes included, keeps it from ending a sentence."""
    start = len(before)
    while start and (unicodedata.category(before[start - 1])[0] in "LMN" or before[start - 1] in "'\u2019"):
        start -= 1
    word = before[start:].lstrip("'\u2019")
    if len(word) == 1 and not word.isascii():
        return True
    plain = word.lower() if word.isascii() else ""
    initial = len(plain) == 1 and plain.isalpha()
    return initial or plain in abbreviations or (following in "0123456789" and plain in before_numbers)


def sentences(text, abbreviations, before_numbers):
    """Every white space is asked for itself whether a sentence ends before it."""
    edges = {0, len(text)}
    edges |= {found.end() for found in re.finditer(f"[{STOPS_AT_ONCE}][{CLOSING}{SPACES}]*", text)}
    for space in re.finditer(f"[{SPACES}]+(?=[^{SPACES}])", text):
        following = text[space.end()]
        breaks = re.findall("\r\n|[\n\r\u2028]|(\u2029)", space[0])
        stop = re.search(f"([.!?\u2026])[{CLOSING}]*$", text[: space.start()])
        if len(breaks) + breaks.count("\u2029") >= 2:
            edges.add(space.end())
        elif stop and not following.islower():
            before = text[: stop.start()]
            if stop[1] != "." or not _holds_back(before, following, abbreviations, before_numbers):
                edges.add(space.end())
    cuts = sorted(edges)
    return [text[begin:end] for begin, end in itertools.pairwise(cuts)]


def collapsed(number, keeps, matches):
    """Which hits go, best first: for each the one it matches, the rule's number, and the first of all it belongs with.

    ``matches(rule, better, hit)`` says whether two match. Whatever is not is -1.
    """
    of, by, kept, links = [-1] * number, [-1] * number, [], []
    groups = [{} for _ in keeps]  # of each rule: the group, a list, that each hit that stays is in
    for hit in range(number):
        mates = [next((better for better in kept if matches(rule, better, hit)), -1) for rule in range(len(keeps))]
        full = [r for r, mate in enumerate(mates) if mate >= 0 and len(groups[r][mate]) >= keeps[r]]
        if full:
            by[hit], of[hit] = full[0], mates[full[0]]
            links.append((of[hit], hit))
            continue
        for rule, mate in enumerate(mates):
            group = groups[rule][mate] if mate >= 0 else []
            group.append(hit)
            groups[rule][hit] = group
            if mate >= 0:
                links.append((mate, hit))
        kept.append(hit)
    heads, before = list(range(number)), None
    while heads != before:
        before = list(heads)
        for one, other in links:
            heads[one] = heads[other] = min(heads[one], heads[other])
    return of, by, heads


def different_documents(documents, least):
    """Give the positions of the documents that count: what ``count_once`` states, in sets."""
    counted, entries = [], {}
    for number, own in enumerate(documents):
        meetings = sorted(own)[:16]
        met = {other for value in meetings for other in entries.get(value, [])[:8]}
        resembling = [(Fraction(-len(own & documents[other]), len(own | documents[other])), other) for other in met]
        nearest = [documents[other] for share, other in sorted(resembling) if 2 * share <= -1][:4]
        if not own or (nearest and len(own - nearest[0]) < least):
            continue
        if len(nearest) > 1:
            shared = {value for one in nearest for value in one if sum(value in other for other in nearest) > 1}
            if 3 * len(shared - own) >= 2 * len(own.difference(*nearest)):
                continue
        counted.append(number)
        for value in meetings:
            entries.setdefault(value, []).append(number)
    return counted
