"""All partners of a sample of documents: exactly, without signatures."""

import secrets
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.decisions.evidence import SET_MEASURES, FeatureSets, Shared
from neardup.kernels.partners import enter, partners
from neardup.kernels.sets import OVERLAP
from neardup.model.arrays import Features, Positions

_ROOM = 1 << 16  # pairs that are found at a time
_LONG = 8  # documents of the sample: more of them make a list long
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
        at = np.arange(len(owners)) - np.repeat(np.cumsum(sets.sizes) - sets.sizes, sets.sizes)
        distinct, of, counts = np.unique(
            sets.values[np.repeat(sets.starts, sets.sizes) + at], return_inverse=True, return_counts=True
        )
        by_count = np.argsort(-counts, kind="stable")  # the most common ones have the first numbers
        numbers = np.empty(len(distinct), np.int64)
        numbers[by_count] = np.arange(len(distinct))
        self._of, self._owners_of = numbers[of], owners
        self._index(counts[by_count])
        bits = max(3, (2 * len(distinct)).bit_length())  # at most half of the table is filled
        self._hash = np.uint64(secrets.randbits(64) | 1), np.uint64(64 - bits)
        self._keys, self._numbers = np.zeros(1 << bits, np.uint64), np.full(1 << bits, -1, np.int32)
        self._met = np.zeros(len(distinct), np.bool_)
        enter(distinct[by_count], *self._hash, self._keys, self._numbers)

    def _index(self, counts: Positions) -> None:
        """List the documents that have a feature, and for each document those in no list."""
        of, owners = self._of, self._owners_of
        by_document = np.argsort(owners * len(counts) + of)  # the most common features of each document first
        begins = np.cumsum(self._sizes) - self._sizes
        place = np.empty(len(of), np.int64)
        place[by_document] = np.arange(len(of))
        place -= begins[owners]
        spare = np.ceil(self._least * self._sizes - _ROUNDING).astype(np.int64) - 1
        spare = np.where(self._measure == OVERLAP, 0, np.maximum(0, spare))
        unlisted = (place < spare[owners]) & (counts[of] > _LONG)
        listed = np.flatnonzero(~unlisted)
        order = listed[np.argsort(of[listed] * len(self._sizes) + owners[listed])]
        self._owners = owners[order]
        self._begins = np.searchsorted(of[order], np.arange(len(counts) + 1))
        rest = np.flatnonzero(unlisted)
        self._rest = of[rest]
        self._rest_begins = np.searchsorted(owners[rest], np.arange(len(self._sizes) + 1))

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
        room = _ROOM + len(self._sizes)
        arrays = [np.empty(room, np.int64) for _ in range(3)]
        parts = [[array[:0] for array in arrays]]
        first = 0
        while first < number:
            first, found = partners(
                *(sets.values, sets.starts, sets.sizes, first),
                *(*self._hash, self._keys, self._numbers, self._begins, self._owners, self._rest_begins, self._rest),
                *(self._sizes, self._least, self._measure, self._met, *arrays),
            )
            parts.append([array[:found].copy() for array in arrays])
        left, right, shared = (np.concatenate(each) for each in zip(*parts, strict=True))
        return FoundPartners(left, right, Shared(shared, self._sizes[left], sets.sizes[right]))
