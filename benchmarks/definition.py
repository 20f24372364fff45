"""Resemblance by its definition, in plain Python: what every other figure is held against.

A word is a maximal run of letters, marks and numbers, in NFC and case-folded; in
scripts without spaces each character is one. Written here once more, from the
Unicode database of Python, so that nothing of the library judges itself.
"""

import re
import sys
import unicodedata
from functools import cache
from itertools import groupby
from typing import Final

SHINGLE: Final = 5
UNSPACED: Final = (
    "CJK UNIFIED",
    "CJK COMPATIBILITY IDEOGRAPH",
    "HIRAGANA",
    "KATAKANA",
    "THAI",
    "LAO",
    "KHMER",
    "MYANMAR",
)


def words(text: str) -> list[str]:
    """Return the words of a text, in order.

    >>> words("Straße_no. 5: 東京 by night")
    ['strasse', 'no', '5', '東', '京', 'by', 'night']
    """
    return word_pattern().findall(unicodedata.normalize("NFC", text).casefold())


def shingles(text: str) -> set[tuple[str, ...]]:
    found = words(text)
    return set(zip(*(found[start:] for start in range(SHINGLE)), strict=False))


def resemblance(left: set, right: set) -> float:
    """Return the share of common elements; two empty sets have nothing in common."""
    union = len(left | right)
    return len(left & right) / union if union else 0.0


@cache
def word_pattern() -> re.Pattern[str]:
    spaced, unspaced = [], []
    for kind, run in groupby(range(sys.maxunicode + 1), kind_of):
        if kind is not None:
            codes = list(run)
            (unspaced if kind else spaced).append(f"{chr(codes[0])}-{chr(codes[-1])}")
    return re.compile(f"[{''.join(unspaced)}]|[{''.join(spaced)}]+")


def kind_of(code: int) -> bool | None:
    """Say whether a word character is a word by itself; None for a separator."""
    character = chr(code)
    if unicodedata.category(character)[0] not in "LMN":
        return None
    return unicodedata.name(character, "").startswith(UNSPACED)
