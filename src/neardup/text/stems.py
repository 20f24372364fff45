"""Snowball stems, the only module that imports PyStemmer."""

from functools import cache

import numpy as np

from neardup.kernels import english_stems
from neardup.kernels import vocabulary as table
from neardup.kernels.folding import PADDING
from neardup.model.arrays import Bytes, Positions
from neardup.text.scratch import scratch


@cache
def stem_languages() -> tuple[str, ...]:
    """Return the names of the languages that have a Snowball stemmer."""
    import Stemmer

    return tuple(sorted(Stemmer.algorithms()))


@cache
def stemmer_version() -> str:
    """Return the release of the stemmers."""
    import Stemmer

    return str(Stemmer.version())


def has_kernel(language: str | None) -> bool:
    """Return whether a kernel computes the stems of the installed release; its version is part of recipes."""
    return language == "english" and stemmer_version() == english_stems.VERSION


def may_change(folded: Bytes, starts: Positions, language: str) -> Positions:
    """Return which of the zero-ended words at *starts* may differ from their stems."""
    if not has_kernel(language):
        return np.arange(len(starts))
    chosen: Positions = scratch("chosen", len(starts), np.int64)
    return chosen[len(starts) - english_stems.may_change(folded, starts, chosen) :]


def stems(folded: Bytes, starts: Positions, language: str) -> tuple[Bytes, Positions]:
    """Stem the zero-ended words at *starts* of *folded*; addresses and words with an empty stem are not changed.

    The stems are in the form of folded text: separated by zero bytes, with the bounds of one document.
    """
    words: Bytes = scratch("stems", english_stems.LEAD + len(folded) + PADDING, np.uint8)
    words[: english_stems.LEAD] = 0
    size = english_stems.LEAD + table.gather(folded, starts, words[english_stems.LEAD :])
    if has_kernel(language):
        english_stems.stem(words, size)
        return words, np.array([english_stems.LEAD, size], np.int64)
    listed = words[english_stems.LEAD : size - 1].tobytes().split(b"\0")
    import Stemmer

    stemmer = Stemmer.Stemmer(language, 0)  # the stemmer's own cache halves the speed, and most words are stemmed once
    stemmed = zip(stemmer.stemWords(listed), listed, strict=True)
    return zero_ended([word if b":" in word else stem or word for stem, word in stemmed])


def zero_ended(words: list[bytes]) -> tuple[Bytes, Positions]:
    """Return words in the form of folded text."""
    folded = np.frombuffer(bytearray(b"\0".join([*words, bytes(PADDING)])), np.uint8)
    return folded, np.array([0, len(folded) - PADDING], np.int64)
