"""All partners of a sample of documents: exactly, without signatures."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.decisions.evidence import SET_MEASURES, FeatureSets, Shared
from neardup.kernels.partners import enter, partners
from neardup.kernels.sets import OVERLAP
from neardup.model.arrays import Features, Positions, Words, ragged

LONG = 8  # documents of the sample: more of them make a list long
_ROOM = 1 << 16  # pairs that are found at a time
_ROUNDING = 1e-9


class FoundPartners(NamedTuple):
    """Pairs of a document of the sample, *left*, and another one, *right*, with what they share."""

    left: Positions
    right: Positions
    common: Shared


class Partners:
    """The features of a sample, by which its partners among other documents are found.

    Partners share at least *least* by the *measure* (see ``SET_MEASURES``), which is that of a document of the sample
    as the asking one. The features must not be used by others: their repeats are removed.

    A document that must share *n* of its features shares one besides any ``n - 1`` of them. So as many features that
    much of the sample has are not looked up: they are counted only for documents that share another one.
    """

    def __init__(self, features: Features, least: float, *, measure: str = "resemblance") -> None:
        number = len(features.offsets) - 1
        sets = FeatureSets(features, np.arange(number))
        sets.make_distinct(np.arange(number))
        self._sizes, self._least, self._measure = sets.sizes, least, SET_MEASURES[measure]
        owners = np.repeat(np.arange(number), sets.sizes)
        distinct, self._of, counts = numbered(sets.values[ragged(sets.starts, sets.sizes)])
        self._owners_of = owners
        self._list(counts)
        self._table = table_of(distinct)
        self._met = np.zeros(len(distinct), np.bool_)

    def _list(self, counts: Positions) -> None:
        """List the documents that have a feature, and for each document those in no list."""
        of, owners = self._of, self._owners_of
        by_document = np.argsort(owners * len(counts) + of)  # the most common features of each document first
        begins = np.cumsum(self._sizes) - self._sizes
        place = np.empty(len(of), np.int64)
        place[by_document] = np.arange(len(of))
        place -= begins[owners]
        spare = np.ceil(self._least * self._sizes - _ROUNDING).astype(np.int64) - 1
        spare = np.where(self._measure == OVERLAP, 0, np.maximum(0, spare))
        unlisted = (place < spare[owners]) & (counts[of] > LONG)
        listed = np.flatnonzero(~unlisted)
        order = listed[np.argsort(of[listed] * len(self._sizes) + owners[listed])]
        rest = np.flatnonzero(unlisted)
        self._lists = (
            *(np.searchsorted(of[order], np.arange(len(counts) + 1)), owners[order]),
            *(np.searchsorted(owners[rest], np.arange(len(self._sizes) + 1)), of[rest]),
        )

    @property
    def met(self) -> npt.NDArray[np.float64]:
        """The share of the features of each document of the sample that was found among any documents so far."""
        found = np.bincount(self._owners_of, self._met[self._of], len(self._sizes))
        shares: npt.NDArray[np.float64] = found / np.maximum(1, self._sizes)
        return shares

    def among(self, features: Features) -> FoundPartners:
        """Return the partners among some documents, whose repeats are removed, too.

        Threads may call it in parallel for different documents.
        """
        number = len(features.offsets) - 1
        sets = FeatureSets(features, np.arange(number))
        sets.make_distinct(np.arange(number))
        rule = self._sizes, self._least, self._measure, self._met

        def find(first: int, *arrays: Positions) -> tuple[int, int]:
            following, found = partners(sets.arrays, first, self._table, self._lists, *rule, *arrays)
            return following, found

        left, right, shared = collected(find, number, len(self._sizes), np.int64)
        return FoundPartners(left, right, Shared(shared, self._sizes[left], sets.sizes[right]))


def numbered(values: Words) -> tuple[Words, Positions, Positions]:
    """Return distinct values, the most common ones first, the number of each value, and how often each occurs."""
    distinct, of, counts = np.unique(values, return_inverse=True, return_counts=True)
    by_count = np.argsort(-counts, kind="stable")
    numbers = np.empty(len(distinct), np.int64)
    numbers[by_count] = np.arange(len(distinct))
    return distinct[by_count], numbers[of], counts[by_count]


def table_of(values: Words) -> tuple[Any, ...]:
    """Return the table of distinct values, by their numbers, as ``neardup.kernels.partners`` takes it."""
    places = 1 << max(3, (2 * len(values)).bit_length())  # at most half of the table is filled
    table = np.zeros(places, np.uint64), np.full(places, -1, np.int32)
    enter(values, table)
    return table


def collected(find: Callable[..., tuple[int, int]], number: int, few: int, measure: Any) -> Sequence[Any]:
    """Return the documents of all pairs of *number* documents with *few* others, and the measure of each pair.

    *measure* is the type of the measures. *find* fills arrays from one document on, and returns the next document and
    the number of pairs.
    """
    arrays = [np.empty(_ROOM + few, kind) for kind in (np.int64, np.int64, measure)]
    parts = [[array[:0] for array in arrays]]
    first = 0
    while first < number:
        first, found = find(first, *arrays)
        parts.append([array[:found].copy() for array in arrays])
    return [np.concatenate(each) for each in zip(*parts, strict=True)]
