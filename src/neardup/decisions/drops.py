"""Decisions on candidates: which documents are dropped, and for which kept documents.

The rule: in rank order, best first, a document is dropped if it matches a kept document; its match is the best-ranked
such document. No document is dropped through a chain.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from neardup.decisions.evidence import SET_MEASURES, FeatureSets
from neardup.kernels import sets as kernels
from neardup.kernels.thresholds import Thresholds
from neardup.model.arrays import Flags, Positions
from neardup.model.candidates import Candidates, Ranks

UNKNOWN: Final = -1


class Matcher(Protocol):
    """Verifies the candidates of one block; ``compared`` counts the compared pairs."""

    compared: int

    def settle(self, block: Candidates, matched: Positions) -> None:
        """Drop documents that match a kept document: set ``matched[rank]`` to the best such document."""

    def connect(self, block: Candidates, parents: Positions) -> None:
        """Join all matching pairs in a union-find forest."""


class GivenMatches:
    """Pairs that match if *holds* is true for (asking ranks, candidate ranks); *compares*: whether to count them.

    The match of a dropped document is the best-ranked kept document or, with *closeness* of pairs, the closest.
    """

    def __init__(
        self,
        holds: Callable[[Ranks, Ranks], Flags],
        *,
        compares: bool = True,
        closeness: Callable[[Ranks, Ranks], Any] | None = None,
    ) -> None:
        self._holds, self._compares, self._closeness = holds, compares, closeness
        self.compared = 0

    def _answers(self, block: Candidates) -> Flags:
        self.compared += len(block.candidates) if self._compares else 0
        return self._holds(np.repeat(block.asking, np.diff(block.bounds)), block.candidates)

    def settle(self, block: Candidates, matched: Positions) -> None:
        """Set the first kept match of each asking document."""
        holds = self._answers(block)
        kernels.first_given(block.asking, block.bounds, block.candidates, holds, matched)
        if self._closeness is not None:
            kept = np.flatnonzero(holds & (matched[block.candidates] < 0))
            asking, candidates = np.repeat(block.asking, np.diff(block.bounds))[kept], block.candidates[kept]
            order = np.lexsort((candidates, -self._closeness(asking, candidates), asking))
            firsts = order[np.diff(asking[order], prepend=-1) > 0]
            matched[asking[firsts]] = candidates[firsts]

    def connect(self, block: Candidates, parents: Positions) -> None:
        """Join all matching pairs."""
        kernels.connect_given(block.asking, block.bounds, block.candidates, self._answers(block), parents)


class ExactResemblance:
    """Pairs of feature sets whose exact measure is at least what their *thresholds* require.

    The *measure* is one of ``SET_MEASURES``: the resemblance, the overlap,
    or the containment of the worse document in the better one. Only pairs that can still decide something are
    compared: the better document has not been dropped, nor has the worse one. *sets* is by rank. *parts* cuts a number
    of documents among the threads, and *map* runs a function on each part. The match of a dropped document is the
    best-ranked kept document, or the *closest*. ``common`` is the number of features that a decided document shares
    with its match, or ``UNKNOWN``.
    """

    def __init__(  # noqa: PLR0913 - every one a keyword with a default
        self,
        sets: FeatureSets,
        thresholds: Thresholds,
        *,
        measure: str = "resemblance",
        closest: bool = False,
        parts: Callable[[int], list[slice]] = lambda number: [slice(0, number)] if number else [],
        map: Callable[[Callable[[slice], Any], Iterable[slice]], Iterable[Any]] = map,  # noqa: A002 - what it is
    ) -> None:
        self._sets, self._rule, self._closest = sets, (thresholds, SET_MEASURES[measure]), closest
        self._parts, self._map = parts, map
        self.compared = 0
        self.common: Positions = np.full(len(sets.positions), UNKNOWN, np.int64)

    def settle(self, block: Candidates, matched: Positions) -> None:
        """Compare with the documents decided in earlier blocks, in parallel; then, in order, within the block."""
        if not len(block.candidates):
            return
        self._prepare(block)
        first = int(block.asking[0])

        def against_settled(part: slice) -> int:
            return self._first_matches(block, part, (0, first), matched)

        self.compared += sum(self._map(against_settled, self._parts(len(block.asking))))
        self.compared += self._first_matches(block, slice(0, len(block.asking)), (first, len(matched)), matched)
        if self._closest:
            kernel = partial(self._measured, kernels.closest_matches, block, matched)
            self.compared += sum(self._map(kernel, self._parts(len(block.asking))))

    def connect(self, block: Candidates, parents: Positions) -> None:
        """Join all matching pairs."""
        self._prepare(block)
        sets = self._sets
        self.compared += kernels.connect(
            block.asking,
            block.bounds,
            block.candidates,
            sets.values,
            sets.starts,
            sets.sizes,
            *self._rule,
            parents,
        )

    def _prepare(self, block: Candidates) -> None:
        asking = block.asking[np.diff(block.bounds) > 0]
        documents = self._sets.repeating(np.concatenate([asking, block.candidates]))
        for _ in self._map(lambda part: self._sets.make_distinct(documents[part]), self._parts(len(documents))):
            pass

    def _first_matches(self, block: Candidates, part: slice, span: tuple[int, int], matched: Positions) -> int:
        return self._measured(kernels.first_matches, block, matched, part, span)

    def _measured(
        self, kernel: Any, block: Candidates, matched: Positions, part: slice, span: tuple[int, int] | tuple[()] = ()
    ) -> int:
        """Call a kernel that finds matches for a part of a block; return the number of comparisons."""
        sets = self._sets
        compared: Any = kernel(
            block.asking[part],
            block.bounds[part.start : part.stop + 1],
            block.candidates,
            *span,
            sets.values,
            sets.starts,
            sets.sizes,
            *self._rule,
            matched,
            self.common,
        )
        return int(compared)


def represented(parents: Positions) -> Positions:
    """Return the decisions of a union-find forest: in each tree, all but the best-ranked are dropped for it."""
    kernels.roots(parents)
    return np.where(parents == np.arange(len(parents)), -1, parents)
