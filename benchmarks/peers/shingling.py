"""Word 5-grams for libraries that sign what Python has cut up for them.

A document of fewer words than five has no shingle.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

SIZE: Final = 5
BATCH: Final = 1_000  # documents; few enough to stay in the processor's cache
MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
WORDS: Final = re.compile(r"[^\W_]+")

Split = Callable[[str], list[str]]


def blanks(text: str) -> list[str]:
    """Split at white space and change nothing: the fastest there is in Python."""
    return text.split()


def lower_blanks(text: str) -> list[str]:
    """Lower-case, then split at white space."""
    return text.lower().split()


def words(text: str) -> list[str]:
    """Case-folded runs of letters and digits: what the truth is made of."""
    return WORDS.findall(text.casefold())


SPLITS: Final[dict[str, Split]] = {"blanks": blanks, "lower_blanks": lower_blanks, "words": words}


def batches(column) -> Iterator[list[str]]:
    for start in range(0, len(column), BATCH):
        yield column.slice(start, BATCH).to_pylist()


def strings(text: str, split: Split) -> Iterator[str]:
    """Yield the shingles as strings, as the libraries' own examples do."""
    tokens = split(text)
    return map(" ".join, zip(tokens, tokens[1:], tokens[2:], tokens[3:], tokens[4:], strict=False))


def hashes(texts: list[str], split: Split) -> tuple[np.ndarray, np.ndarray]:
    """Return the shingle hashes of a batch and their offsets, both uint64.

    Python hashes each word; NumPy combines five of them by a polynomial modulo
    2**64. The quickest way to feed a library that takes hashes.
    """
    documents = [combined(np.fromiter(map(hash, split(text)), np.int64).view(np.uint64)) for text in texts]
    offsets = np.zeros(len(documents) + 1, np.uint64)
    np.cumsum([len(document) for document in documents], out=offsets[1:])
    return np.concatenate(documents), offsets


def combined(tokens: np.ndarray) -> np.ndarray:
    shingles = max(len(tokens) - SIZE + 1, 0)
    result = tokens[:shingles].copy()
    for place in range(1, SIZE):
        result *= MULTIPLIER
        result += tokens[place : place + shingles]
    return result
