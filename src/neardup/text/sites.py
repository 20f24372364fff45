"""Sites: pages of one host that match from a higher resemblance than other documents.

A site is a number, of some pages of one host. Its lowest bit chooses the threshold that two of its pages need (see
``STRICTER``); the next bit is set if they match no other documents. Documents that belong to no site have 0.
"""

from hashlib import blake2b
from typing import Final

import numpy as np

from neardup.model.arrays import Features, Positions, Words

THIN: Final = 12  # words that a page has besides its host's template, below which it is thin: ten shingles of three
STRICTER: Final = np.array([0.8, 0.9])  # the thresholds of two pages of an even site, and of an odd one
NO_SITES: Final = np.empty(0, np.uint64)
RULE: Final = {"thin": THIN, "stricter": STRICTER.tolist()}


def site(host: str, *, thin: bool, whole: bool = False) -> int:
    """Return the number of a host's *thin* pages, or of those of a host without a template.

    Of these, the pages whose *whole* visible text counts, because they have hardly any main text, have a site of their
    own.

    >>> [site("a.example", **which) & 3 for which in ({"thin": True}, {"thin": False}, {"thin": False, "whole": True})]
    [3, 0, 1]
    """
    hashed = int.from_bytes(blake2b(host.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    return (hashed | 4) & ~3 | (3 if thin else whole)


def separate(features: Features, sites: Words, documents: Positions) -> None:
    """Change the features of the thin pages among some documents, in place: only pages of one site share them then.

    Without *sites*, no page is thin.
    """
    for document in documents[sites[documents] & np.uint64(2) > 0].tolist() if len(sites) else ():
        features.values[features.offsets[document] : features.offsets[document + 1]] ^= sites[document]
