"""Exact measures of what two texts have in common."""

from typing import Any

import numpy as np

from neardup.kernels.cosines import cosines, make_weighted
from neardup.kernels.sets import intersections, make_distinct
from neardup.model.arrays import Features
from neardup.model.errors import DataError, kind_of
from neardup.model.recipe import Hashing
from neardup.text.analysis import Analysis
from neardup.text.shingling import Shingling


def resemblance(  # noqa: PLR0913 - every one a keyword with a default
    a: str, b: str, *, shingle: int = 3, bag: bool = False, analysis: Analysis | None = None, seed: int = 1
) -> float:
    """Return ``|A & B| / |A | B|``, where A and B are the sets of shingles of two texts (Broder 1997).

    With *bag*, the n-th repeat of a shingle is a shingle of its own. The result is from 0 to 1; it is 0 if a text has
    no words. Shingles are identified by 64-bit hashes. Raises ``DataError`` unless both texts are strings.

    >>> a, b = "a rose is a rose is a rose", "a rose is a flower which is a rose"
    >>> [round(100 * resemblance(a, b, shingle=q), 2) for q in (1, 2, 3)]
    [60.0, 50.0, 42.86]
    >>> [round(100 * resemblance(a, b, shingle=q, bag=True), 2) for q in (1, 2, 3)]
    [70.0, 50.0, 30.0]
    """
    shared, left, right = _counts(a, b, shingle, bag, analysis, seed)
    return shared / (left + right - shared) if shared else 0.0


def containment(  # noqa: PLR0913 - the same
    a: str, b: str, *, shingle: int = 3, bag: bool = False, analysis: Analysis | None = None, seed: int = 1
) -> float:
    """Return the containment of *a* in *b*, ``|A & B| / |A|``; 0 if *a* has no words.

    Everything else is as in ``resemblance``.

    >>> containment("a rose is a rose", "so a rose is a rose is a rose", shingle=2)
    1.0
    """
    shared, left, _ = _counts(a, b, shingle, bag, analysis, seed)
    return shared / left if left else 0.0


def _counts(  # noqa: PLR0913, PLR0917 - the parameters of both measures
    a: str,
    b: str,
    shingle: int,
    bag: bool,  # noqa: FBT001 - passed on
    analysis: Analysis | None,
    seed: int,
) -> tuple[int, int, int]:
    require_texts(a, b)
    shingling = Shingling(
        analysis=Analysis() if analysis is None else analysis, size=shingle, bag=bag, hashing=Hashing(seed=seed)
    )
    return shared_counts(shingling.features([a, b]))


def require_texts(*texts: object) -> None:
    """Raise ``DataError`` unless all values are strings."""
    for text in texts:
        if not isinstance(text, str):
            raise DataError("a text to compare", f"must be a string, not {kind_of(text)}")


def shared_counts(features: Features) -> tuple[int, int, int]:
    """Return how many features two documents share, and how many each has, as sets; the features are overwritten."""
    sets = features.values, features.offsets[:-1], np.diff(features.offsets)
    both, shared = np.arange(2), np.empty(1, np.int64)
    make_distinct(sets, both, np.zeros(2, np.bool_))
    intersections(sets, both[:1], both[1:], shared)
    return int(shared[0]), int(sets[2][0]), int(sets[2][1])


def weighted_cosine(features: Features, table: tuple[Any, ...]) -> float:
    """Return the cosine of the weights of two documents' features, times their numbers; the features are overwritten.

    *table* has the weights, as ``neardup.kernels.weights`` takes them. The result is 0 if a document has no features.
    """
    sets = features.values, features.offsets[:-1], np.diff(features.offsets)
    both, weights, norms, share = np.arange(2), np.empty(len(features.values)), np.zeros(2), np.empty(1)
    make_weighted(sets, both, np.zeros(2, np.bool_), *table, weights, norms)
    cosines(sets, weights, norms, both[1:], both[:1], share)
    return float(share[0])
