"""Sites: pages of one host that match from a higher resemblance than other documents.

A site is a number: that of a host without a template, which is even, or that of the thin pages of a host, which is odd.
Documents that belong to no site have 0.
"""

from hashlib import blake2b
from typing import Any, Final

import numpy as np

from neardup.model.arrays import AnyPositions, Features, Positions, Words

THIN: Final = 12  # words that a page has besides its host's template, below which it is thin: ten shingles of three
STRICTER: Final = np.array([0.8, 0.9])  # the threshold of two pages of one site: an even one, and an odd one
NO_SITES: Final = np.empty(0, np.uint64)
RULE: Final = {"thin": THIN, "stricter": STRICTER.tolist()}


def site(host: str, *, thin: bool) -> int:
    """Return the number of a host's thin pages, or of all pages of a host without a template.

    >>> site("a.example", thin=False) ^ site("a.example", thin=True)
    1
    """
    hashed = int.from_bytes(blake2b(host.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    return (hashed | 2) & ~1 | thin


def required(sites: Words, left: AnyPositions, right: AnyPositions, threshold: float) -> Any:
    """Return the least measure at which the documents of each pair match: float64[n].

    >>> required(np.array([2, 2, 3, 3, 0, 0], np.uint64), np.array([0, 1, 3, 4]), np.array([1, 2, 2, 5]), 0.6).tolist()
    [0.8, 0.6, 0.9, 0.6]
    """
    found = np.full(len(left), threshold)
    if len(sites):
        own = sites[left]
        same = (own == sites[right]) & (own > 0)
        found[same] = np.maximum(threshold, STRICTER[own[same].astype(np.int64) & 1])
    return found


def separate(features: Features, sites: Words, documents: Positions) -> None:
    """Change the features of those of some documents that are thin, in place, so that only their site has them, too."""
    for document in documents[sites[documents] & np.uint64(1) > 0].tolist():
        features.values[features.offsets[document] : features.offsets[document + 1]] ^= sites[document]
