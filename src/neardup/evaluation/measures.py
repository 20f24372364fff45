"""Exact measures of what two texts have in common."""

from typing import Any

import numpy as np

from neardup.decisions.evidence import Shared, distinct_sets, shared_by
from neardup.model.arrays import Features
from neardup.model.errors import DataError, kind_of
from neardup.model.recipe import Hashing
from neardup.text.analysis import Analysis
from neardup.text.shingling import Shingling


def resemblance(  # noqa: PLR0913 - every one a keyword with a default
    a: str, b: str, *, shingle: int = 3, bag: bool = False, analysis: Analysis | None = None, seed: int = 1
) -> float:
    """Return ``|A & B| / |A | B|``, the Jaccard similarity of the sets of shingles of two texts (Broder 1997).

    With *bag*, the n-th repeat of a shingle is a shingle of its own. The result is from 0 to 1; it is 0 if a text has
    no words. Shingles are identified by 64-bit hashes. Raises ``DataError`` unless both texts are strings.

    >>> a, b = "a rose is a rose is a rose", "a rose is a flower which is a rose"
    >>> [round(100 * resemblance(a, b, shingle=q), 2) for q in (1, 2, 3)]
    [60.0, 50.0, 42.86]
    >>> [round(100 * resemblance(a, b, shingle=q, bag=True), 2) for q in (1, 2, 3)]
    [70.0, 50.0, 30.0]
    """
    return float(_in_common(a, b, analysis, size=shingle, bag=bag, hashing=Hashing(seed=seed)).resemblance[0])


def containment(  # noqa: PLR0913 - the same
    a: str, b: str, *, shingle: int = 3, bag: bool = False, analysis: Analysis | None = None, seed: int = 1
) -> float:
    """Return the containment of *a* in *b*, ``|A & B| / |A|``; 0 if *a* has no words.

    Everything else is as in ``resemblance``.

    >>> containment("a rose is a rose", "so a rose is a rose is a rose", shingle=2)
    1.0
    """
    return float(_in_common(a, b, analysis, size=shingle, bag=bag, hashing=Hashing(seed=seed)).left_in_right[0])


def _in_common(a: str, b: str, analysis: Analysis | None, **parameters: Any) -> Shared:
    require_texts(a, b)
    shingling = Shingling(analysis=Analysis() if analysis is None else analysis, **parameters)
    return in_common(shingling.features([a, b]))


def require_texts(*texts: object) -> None:
    """Raise ``DataError`` unless all values are strings."""
    for text in texts:
        if not isinstance(text, str):
            raise DataError("a text to compare", f"must be a string, not {kind_of(text)}")


def in_common(features: Features) -> Shared:
    """Return what two documents with these features have in common, as sets; the features are overwritten."""
    return shared_by(distinct_sets(features), np.array([0]), np.array([1]))
