"""All partners of a sample of documents: exactly, without signatures."""

import secrets
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.decisions.evidence import SET_MEASURES, FeatureSets, Shared
from neardup.kernels.partners import enter, partners
from neardup.model.arrays import Features, Positions

_ROOM = 1 << 16  # pairs that are found at a time


class Found(NamedTuple):
    """Pairs of a document of the sample, *left*, and another one, *right*, with what they share."""

    left: Positions
    right: Positions
    common: Shared


class Partners:
    """The features of a sample, by which its partners among other documents are found.

    The features must not be used by others: their repeats are removed. The *measure* (see ``SET_MEASURES``) is that of
    a document of the sample as the asking one.
    """

    def __init__(self, features: Features, *, measure: str = "resemblance") -> None:
        number = len(features.offsets) - 1
        sets = FeatureSets(features, np.arange(number))
        sets.make_distinct(np.arange(number))
        self._sizes, self._measure = sets.sizes, SET_MEASURES[measure]
        owners = np.repeat(np.arange(number), sets.sizes)
        at = np.arange(len(owners)) - np.repeat(np.cumsum(sets.sizes) - sets.sizes, sets.sizes)
        values = sets.values[np.repeat(sets.starts, sets.sizes) + at]
        order = np.argsort(values, kind="stable")
        distinct, begins = np.unique(values[order], return_index=True)
        self._owners, self._begins = owners[order], np.append(begins, len(owners))
        bits = max(3, (2 * len(distinct)).bit_length())  # at most half of the table is filled
        self._hash = np.uint64(secrets.randbits(64) | 1), np.uint64(64 - bits)
        self._keys, self._numbers = np.zeros(1 << bits, np.uint64), np.full(1 << bits, -1, np.int64)
        self._met = np.zeros(len(distinct), np.bool_)
        enter(distinct, *self._hash, self._keys, self._numbers)

    @property
    def met(self) -> npt.NDArray[np.float64]:
        """The share of the features of each document of the sample that was found among any documents so far."""
        counts = np.diff(self._begins)
        found = np.bincount(self._owners, np.repeat(self._met, counts), len(self._sizes))
        shares: npt.NDArray[np.float64] = found / np.maximum(1, self._sizes)
        return shares

    def among(self, features: Features, least: float) -> Found:
        """Return the partners among some documents: pairs that share at least *least*; repeats are removed there, too.

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
                *(*self._hash, self._keys, self._numbers, self._begins, self._owners),
                *(self._sizes, least, self._measure, self._met, *arrays),
            )
            parts.append([array[:found].copy() for array in arrays])
        left, right, shared = (np.concatenate(each) for each in zip(*parts, strict=True))
        return Found(left, right, Shared(shared, self._sizes[left], sets.sizes[right]))
