"""All documents whose cosine with a few others is high enough: exactly, without signatures."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from neardup.decisions.evidence import WeightedSets, count_shared
from neardup.decisions.pairs import JoinedPairs
from neardup.decisions.partners import LONG, collected, lists_of, numbered, table_of
from neardup.kernels.weighted_partners import spared, weighted_partners
from neardup.model.arrays import Positions, Values, Words, ragged
from neardup.model.engine import IN_TURN, Engine


class MeasuredPairs(NamedTuple):
    """Pairs of one of a few documents, *left*, and another one, *right*, by their numbers.

    *values* are their measures, such as cosines, and *smaller* the numbers of features of the smaller documents.
    """

    left: Positions
    right: Positions
    values: Values
    smaller: Positions


class WeightedPartners:
    """A few *documents* of some weighted sets, by which those are found whose cosine with one is at least *least*.

    A document shares a feature with its partners besides any that have less than ``least ** 2`` of its squared weights.
    So its features that are the most common among the few are not looked up: they only count for documents that share
    another one.
    """

    def __init__(self, sets: WeightedSets, documents: Positions, least: float) -> None:
        sets.make_distinct(documents)
        sizes, self._least, self._norms = sets.sizes[documents], least, sets.norms[documents]
        self._sizes = sizes
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        owners = np.repeat(np.arange(len(documents)), sizes)
        places = ragged(sets.starts[documents], sizes)
        distinct, of, counts = numbered(sets.values[places])
        order = np.argsort(owners * len(distinct) + of)
        numbers, weights = of[order], sets.weights[places[order]]
        unlisted = np.zeros(len(owners), np.bool_)
        spared(numbers, weights, bounds, self._norms, counts, LONG, least, unlisted)
        listed, begins, rest, rest_begins = lists_of(numbers, owners, unlisted, len(distinct), len(documents))
        self._lists = begins, owners[listed], weights[listed], rest_begins, numbers[rest], weights[rest]
        self._table = table_of(distinct)

    def among(self, sets: WeightedSets, documents: Positions) -> MeasuredPairs:
        """Return the partners among some *documents* of weighted sets; right are the numbers of these.

        Threads may call it in parallel, of the same sets only if these are distinct already.
        """
        sets.make_distinct(documents)
        own, rule = (sets.arrays, sets.weights, sets.norms, documents), (self._norms, self._least)

        def find(first: int, *arrays: Any) -> Any:
            return weighted_partners(*own, first, self._table, self._lists, *rule, *arrays)

        left, right, values = collected(find, len(documents), len(self._norms), np.float64)
        return MeasuredPairs(left, right, values, np.minimum(self._sizes[left], sets.sizes[documents[right]]))


class CosineJoin:
    """Documents whose pairs are found: those with a cosine of at least *threshold*.

    *sides*, if given, are 0 and 1, the collections of the documents; then only pairs of two collections count.
    """

    def __init__(
        self, sets: WeightedSets, threshold: float, *, sides: Words | None = None, engine: Engine = IN_TURN
    ) -> None:
        self._sets, self._threshold, self._sides = sets, threshold, sides
        sets.make_all_distinct(np.arange(len(sets.sizes)), engine)
        self.sizes = sets.sizes

    def __len__(self) -> int:
        return len(self.sizes)

    def pairs(self, part: slice) -> Iterator[JoinedPairs]:
        """Yield the pairs of a part of the documents with later ones or, if there are sides, of those of side 0.

        Threads may take different parts at a time. Every part looks at all other documents, so few parts are faster.
        """
        few, others = np.arange(part.start, part.stop), np.arange(part.start, len(self))
        if self._sides is not None:
            few, others = few[self._sides[few] == 0], np.flatnonzero(self._sides)
        if len(few) == 0:
            return
        found = WeightedPartners(self._sets, few, self._threshold).among(self._sets, others)
        one, other = few[found.left], others[found.right]
        left, right = np.minimum(one, other), np.maximum(one, other)
        if self._sides is None:
            new = one < other
            left, right = left[new], right[new]
        yield JoinedPairs(left, right, count_shared(self._sets, left, right), len(one))
