"""Plausible pairs: the pairs of documents worth an exact comparison, judged by their signatures alone."""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from neardup.kernels import buckets
from neardup.kernels.thresholds import Thresholds
from neardup.model.arrays import AnyPositions, Flags, Positions, Signatures, Words

PairTest = Callable[[AnyPositions, AnyPositions], Flags]  # the two documents of each pair, to whether they pass

_TOGETHER = 256  # documents of a part, which are paired with each other
_TESTED = 1 << 18  # pairs that are tested at a time


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


class PlausiblePairs:
    """The plausible pairs of documents, the better one of each entered: part by part, the best documents first.

    A plausible pair shares a key, has two signatures, and passes ``plausible_tests``.
    """

    def __init__(self, scheme: Any, signatures: Signatures) -> None:
        self._signatures, self._pooled = signatures, scheme.pooled
        self._keys: Words = scheme.keys(signatures)
        self._tests: list[PairTest] = [
            *plausible_tests(scheme, signatures),
            lambda left, right: share_a_key(self._keys, left, right, pooled=self._pooled),
            lambda left, right: signatures.present[left] & signatures.present[right],
        ]
        self._latest: Positions | None = None  # the chains of ``neardup.kernels.buckets``, if there are several parts
        self._links: Positions

    def parts(self) -> Iterator[tuple[int, int]]:
        """Yield the parts to pass to ``of``, as bounds, in order."""
        number = len(self._signatures)
        for begin in range(0, number, _TOGETHER):
            yield begin, min(begin + _TOGETHER, number)

    def of(self, begin: int, end: int) -> tuple[Positions, Positions]:
        """Return the pairs of a part: the later document of each, and the better one, both ascending.

        The better ones are those of the part, and the entered ones before it.
        """
        left, right = self._passed(*_first_pairs(end - begin), begin)
        if self._latest is None:
            return left, right
        asking = begin + np.flatnonzero(self._signatures.present[begin:end])
        better, bounds = buckets.linked(self._keys, asking, self._pooled, self._latest, self._links)
        later = np.repeat(asking, np.diff(bounds))
        parts = [
            self._passed(later[at : at + _TESTED], better[at : at + _TESTED]) for at in range(0, len(later), _TESTED)
        ]
        left, right = (np.concatenate(own) for own in zip(*parts, (left, right), strict=True))
        order = np.argsort(left, kind="stable")
        return left[order], right[order]

    def enter(self, documents: Positions) -> None:
        """Enter documents of the last part, so that they are paired with those of later parts."""
        if self._latest is None:
            places = 2 << (self._keys.size - 1).bit_length()
            self._latest, self._links = np.full(places, -1, np.int64), np.empty(self._keys.size, np.int64)
        signed = documents[self._signatures.present[documents]]
        buckets.link(self._keys, signed, self._pooled, self._latest, self._links)

    def _passed(self, left: Positions, right: Positions, offset: int = 0) -> tuple[Positions, Positions]:
        if offset:
            left, right = left + offset, right + offset
        for test in self._tests:
            holds = test(left, right)
            left, right = left[holds], right[holds]
        return left, right


@lru_cache(maxsize=16)  # of at most 0.5 MB
def _first_pairs(number: int) -> tuple[Positions, Positions]:
    return np.tril_indices(number, -1)
