"""Plausible pairs: the pairs of documents worth an exact comparison, judged by their signatures alone."""

from functools import cached_property, partial
from typing import Any

import numpy as np

from neardup.kernels import buckets
from neardup.kernels.thresholds import Thresholds
from neardup.model.arrays import AnyPositions, Flags, Positions, Signatures, Words
from neardup.schemes.ranked_parts import PairTest, pairs_of


def plausible_tests(scheme: Any, signatures: Signatures, *, by_estimate: bool = True) -> list[PairTest]:
    """Return the tests that a candidate pair must pass before its texts are compared, cheapest first.

    A pair fails if a filter of the scheme refuses it and, with *by_estimate*, if its estimate is far below the
    threshold: below the scheme's ``floor``, or not ``likely`` by a test of its own.
    """
    tests: list[PairTest] = []
    if by_estimate and scheme.likely is not None:
        tests.append(partial(scheme.likely, signatures))
    if by_estimate and scheme.floor > 0:
        floor = scheme.floor
        rows = signatures if scheme.shortened is None else scheme.shortened(signatures)
        tests.append(lambda left, right: scheme.estimate_pairs(rows, left, right) >= floor)
    if scheme.passes is not None:
        tests.append(partial(scheme.passes, signatures))
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


def share_a_key(scheme: Any, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
    """Return whether documents ``left[i]`` and ``right[i]`` of one set of signatures share a key of their scheme."""
    return _shared(scheme, scheme.keys(signatures), left, right)


def _shared(scheme: Any, keys: Words, left: AnyPositions, right: AnyPositions) -> Flags:
    shares = np.empty(len(left), np.bool_)
    buckets.share(keys, left, right, scheme.position_independent, shares)
    return shares


class PlausiblePairs:
    """The plausible pairs of documents: they share a key, have two signatures, and pass ``plausible_tests``."""

    def __init__(self, scheme: Any, signatures: Signatures) -> None:
        present = signatures.present
        self._keys: Words = scheme.keys(signatures)
        self._tests: list[PairTest] = [
            *plausible_tests(scheme, signatures),
            partial(_shared, scheme, self._keys),
            lambda left, right: present[left] & present[right],
        ]

    def of(self, documents: Positions, before: Positions) -> tuple[Positions, Positions]:
        """Return the plausible pairs of *documents* with each other, and with those *before* them; see ``pairs_of``."""
        if len(before):  # the pairs of few documents are tested sooner
            documents, before = (some[self._met[some]] for some in (documents, before))
        return pairs_of(documents, before, self._tests)

    @cached_property
    def _met(self) -> Flags:
        """Which documents have a key that others have, in any column."""
        own = self._keys != self._keys[:, :1]  # a row with fewer keys repeats its first key
        own[:, 0] = True
        rows, keys = own.nonzero()[0], self._keys[own]
        order = np.argsort(keys)
        (equal,) = np.nonzero(keys[order[1:]] == keys[order[:-1]])
        met = np.zeros(len(own), np.bool_)
        met[rows[order[equal]]] = met[rows[order[equal + 1]]] = True
        return met
