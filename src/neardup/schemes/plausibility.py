"""Plausible pairs: the pairs of documents worth an exact comparison, judged by their signatures alone."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from neardup.kernels import buckets
from neardup.kernels.thresholds import Thresholds
from neardup.model.arrays import AnyPositions, Flags, Positions, Signatures, Words

PairTest = Callable[[AnyPositions, AnyPositions], Flags]  # the two documents of each pair, to whether they pass

_TOGETHER = 256  # documents that are paired with all better documents at a time


def plausible_tests(scheme: Any, signatures: Signatures, *, by_estimate: bool = True) -> list[PairTest]:
    """Return the tests that a candidate pair must pass before its texts are compared, cheapest first.

    A pair fails if a filter of the scheme refuses it and, with *by_estimate*, if its estimate is far below the
    threshold: below the scheme's ``floor``, or not ``likely`` by a test of its own.
    """
    tests: list[PairTest] = []
    likely = getattr(scheme, "likely", None)
    if by_estimate and likely is not None:
        tests.append(partial(likely, signatures))
    if by_estimate and scheme.floor > 0:
        floor = scheme.floor
        shortened = getattr(scheme, "shortened", None)  # a ColumnScheme: the estimate is that of short rows
        rows = signatures if shortened is None else shortened(signatures)
        tests.append(lambda left, right: scheme.estimate_pairs(rows, left, right) >= floor)
    passes = getattr(scheme, "passes", None)  # a FilterScheme; checking the protocol takes many times as long
    if passes is not None:
        tests.append(partial(passes, signatures))
    return tests


def matching(
    scheme: Any, signatures: Signatures, thresholds: Thresholds, left: AnyPositions, right: AnyPositions
) -> Flags:
    """Return which pairs match by their signatures, and by their estimate if they need more than the base threshold."""
    holds: Flags = scheme.match_pairs(signatures, left, right)
    if thresholds.vary:
        least = thresholds._replace(base=0.0).of(left, right, None)
        asked = np.flatnonzero(holds & (least > 0))
        holds[asked] = scheme.estimate_pairs(signatures, left[asked], right[asked]) >= least[asked]
    return holds


def share_a_key(keys: Words, left: AnyPositions, right: AnyPositions, *, pooled: bool) -> Flags:
    """Return whether rows ``left[i]`` and ``right[i]`` share a key: in the same column, or with *pooled* in any."""
    shares = np.empty(len(left), np.bool_)
    buckets.share(keys, left, right, pooled, shares)
    return shares


def plausible_pairs(scheme: Any, signatures: Signatures) -> tuple[Positions, Positions]:
    """Return all plausible candidate pairs: the later document of each and the earlier one, both ascending.

    A candidate pair shares a key and has two signatures.
    """
    number = len(signatures)
    keys = scheme.keys(signatures)
    tests: list[PairTest] = [
        *plausible_tests(scheme, signatures),
        lambda left, right: share_a_key(keys, left, right, pooled=scheme.pooled),
        lambda left, right: signatures.present[left] & signatures.present[right],
    ]
    found = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for begin in range(0, number, _TOGETHER):
        left, right = _later_and_better(begin, min(begin + _TOGETHER, number))
        for test in tests:
            holds = test(left, right)
            left, right = left[holds], right[holds]
        found.append((left, right))
    lefts, rights = zip(*found, strict=True)
    return np.concatenate(lefts), np.concatenate(rights)


def _later_and_better(begin: int, end: int) -> tuple[Positions, Positions]:
    """Pair each document of a range with all documents before it."""
    if not begin:
        return _first_pairs(end)
    left, right = np.tril_indices(end - begin, begin - 1, end)
    return left + begin, right


@lru_cache(maxsize=16)  # of at most 0.5 MB
def _first_pairs(number: int) -> tuple[Positions, Positions]:
    return np.tril_indices(number, -1)
