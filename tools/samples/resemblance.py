"""What "near-duplicate" means here, in plain Python and on its own: nothing is imported from the package.

A word is a maximal run of letters, marks and numbers of the text after NFC and case folding; every character of
Han, Kana and Thai is a word by itself. Two texts match if they are equal and not empty, or if the sets of their
runs of three words have a resemblance of at least 0.6. A text of fewer words has one run, all of them.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

SIZE = 3
THRESHOLD = 0.6
UNSPACED = (
    (0x0E00, 0x0E7F),  # Thai
    (0x3005, 0x3007),  # Han iteration mark and zero
    (0x3040, 0x30FF),  # Kana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # Kana of half width
    (0x20000, 0x3FFFF),
)


def words(text: str) -> Iterator[str]:
    run = ""
    for character in unicodedata.normalize("NFC", text).casefold():
        if unicodedata.category(character)[0] not in "LMN":
            alone, run_goes_on = False, False
        else:
            alone = any(low <= ord(character) <= high for low, high in UNSPACED)
            run_goes_on = not alone
        if run_goes_on:
            run += character
            continue
        if run:
            yield run
            run = ""
        if alone:
            yield character
    if run:
        yield run


def shingles(text: str | None) -> frozenset[tuple[str, ...]]:
    found = list(words(text or ""))
    if 0 < len(found) < SIZE:
        return frozenset([tuple(found)])
    return frozenset(zip(*(found[start:] for start in range(SIZE)), strict=False))


def resemblance(left: frozenset[tuple[str, ...]], right: frozenset[tuple[str, ...]]) -> float:
    """Give ``|A & B| / |A | B|``; two empty sets have nothing in common."""
    return len(left & right) / (len(left | right) or 1)


def matches(left: str | None, right: str | None) -> bool:
    if not left or not right:
        return False
    return left == right or resemblance(shingles(left), shingles(right)) >= THRESHOLD


def alike(texts: Mapping[str, str | None], least: float) -> dict[tuple[str, str], float]:
    """Find every pair with a resemblance of at least *least* > 0, by counting what each two have in common."""
    sets = {name: shingles(text) for name, text in texts.items()}
    holders: dict[tuple[str, ...], list[str]] = {}
    for name, features in sets.items():
        for shingle in features:
            holders.setdefault(shingle, []).append(name)
    shared: Counter[tuple[str, str]] = Counter()
    for those in holders.values():
        shared.update(_pairs(those))
    found = {}
    for (left, right), count in shared.items():
        value = count / (len(sets[left]) + len(sets[right]) - count)
        if value >= least:
            found[left, right] = value
    return found


def _pairs(those: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, left in enumerate(those):
        for right in those[place + 1 :]:
            yield left, right
