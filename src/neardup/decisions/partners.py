"""All partners of a sample of documents: exactly, without signatures."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from neardup.decisions.evidence import SET_MEASURES, Shared, distinct_sets
from neardup.kernels.partners import enter, partners
from neardup.kernels.sets import OVERLAP
from neardup.model.arrays import ROUNDING, Features, Flags, Positions, Values, Words, inverse, ragged

LONG = 8  # documents of the sample: more of them make a list long
_ROOM = 1 << 16  # pairs that are found at a time


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
        number, sets = len(features), distinct_sets(features)
        self._sizes, self._least, self._measure = sets.sizes, least, SET_MEASURES[measure]
        owners = np.repeat(np.arange(number), sets.sizes)
        distinct, of, counts = numbered(sets.values[ragged(sets.starts, sets.sizes)])
        of = of[np.argsort(owners * len(distinct) + of)]  # the most common features of each document first
        places = np.arange(len(of)) - np.repeat(np.cumsum(sets.sizes) - sets.sizes, sets.sizes)
        spare = np.maximum(0, np.ceil(least * sets.sizes - ROUNDING).astype(np.int64) - 1)
        unlisted = (places < spare[owners]) & (counts[of] > LONG) & (self._measure != OVERLAP)
        listed, begins, rest, rest_begins = lists_of(of, owners, unlisted, len(distinct), number)
        self._lists = begins, owners[listed], rest_begins, of[rest]
        self._of, self._owners_of = of, owners
        self._table = table_of(distinct)
        self._met = np.zeros(len(distinct), np.bool_)

    @property
    def met(self) -> Values:
        """The share of the features of each document of the sample that was found among any documents so far."""
        found = np.bincount(self._owners_of, self._met[self._of], len(self._sizes))
        return np.asarray(found / np.maximum(1, self._sizes))

    def among(self, features: Features) -> FoundPartners:
        """Return the partners among some documents, whose repeats are removed, too.

        Threads may call it in parallel for different documents.
        """
        sets = distinct_sets(features)
        left, right, shared = collected(self._finding(sets), len(features), len(self._sizes), np.int64)
        return FoundPartners(left, right, Shared(shared, self._sizes[left], sets.sizes[right]))

    def steps(self, features: Features) -> Iterator[FoundPartners]:
        """Yield what ``among`` returns, some documents at a time, so that all pairs need not fit into memory."""
        sets = distinct_sets(features)
        for left, right, shared in in_steps(self._finding(sets), len(features), len(self._sizes), np.int64):
            yield FoundPartners(left, right, Shared(shared, self._sizes[left], sets.sizes[right]))

    def _finding(self, sets: Any) -> Callable[..., tuple[int, int]]:
        rule = self._sizes, self._least, self._measure, self._met

        def find(first: int, *arrays: Positions) -> Any:
            return partners(sets.arrays, first, self._table, self._lists, *rule, *arrays)

        return find


def numbered(values: Words) -> tuple[Words, Positions, Positions]:
    """Return distinct values, the most common ones first, the number of each value, and how often each occurs."""
    distinct, of, counts = np.unique(values, return_inverse=True, return_counts=True)
    by_count = np.argsort(-counts, kind="stable")
    return distinct[by_count], inverse(by_count)[of], counts[by_count]


def lists_of(
    numbers: Positions, owners: Positions, unlisted: Flags, distinct: int, few: int
) -> tuple[Positions, Positions, Positions, Positions]:
    """Return the places of values by number, and where each number begins; and the same of *unlisted* ones by owner.

    The values of a *few* documents, their *owners*, have *distinct* numbers. Owners ascend.
    """
    listed, rest = np.flatnonzero(~unlisted), np.flatnonzero(unlisted)
    listed = listed[np.argsort(numbers[listed], kind="stable")]
    begins = np.searchsorted(numbers[listed], np.arange(distinct + 1))
    return listed, begins, rest, np.searchsorted(owners[rest], np.arange(few + 1))


def table_of(values: Words) -> tuple[Any, ...]:
    """Return the table of distinct values, by their numbers, as ``neardup.kernels.partners`` takes it."""
    places = 1 << max(3, (2 * len(values)).bit_length())  # at most half of the table is filled
    table = np.zeros(places, np.uint64), np.full(places, -1, np.int32)
    enter(values, table)
    return table


def collected(find: Callable[..., tuple[int, int]], number: int, few: int, measure: Any) -> Sequence[Any]:
    """Return the documents of all pairs of *number* documents with *few* others, and the measure of each pair.

    The parameters are those of ``in_steps``.
    """
    nothing = [np.empty(0, kind) for kind in (np.int64, np.int64, measure)]
    return [np.concatenate(each) for each in zip(nothing, *in_steps(find, number, few, measure), strict=True)]


def in_steps(find: Callable[..., tuple[int, int]], number: int, few: int, measure: Any) -> Iterator[Sequence[Any]]:
    """Yield what ``collected`` returns, some documents at a time: all pairs of a document are in one step.

    *measure* is the type of the measures. *find* fills arrays from one document on, and returns the next document and
    the number of pairs.
    """
    arrays = [np.empty(_ROOM + few, kind) for kind in (np.int64, np.int64, measure)]
    first = 0
    while first < number:
        first, found = find(first, *arrays)
        yield [array[:found].copy() for array in arrays]
