"""Decisions on candidates: which documents are dropped, and for which kept documents.

The rule: in rank order, best first, a document is dropped if it matches a kept document; its match is the best-ranked
such document. No document is dropped through a chain.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from neardup.decisions.evidence import SET_MEASURES, FeatureSets, count_shared
from neardup.kernels import sets as kernels
from neardup.kernels.thresholds import Thresholds
from neardup.model.arrays import Flags, Positions
from neardup.model.candidates import Candidates, Ranks
from neardup.model.engine import IN_TURN, Engine

UNKNOWN: Final = -1


class GivenMatches:
    """Pairs that match if *holds* is true for (asking ranks, candidate ranks); *compares*: whether to count them.

    The match of a dropped document is the best-ranked kept document or, with *closeness* of pairs, the closest.
    ``compared`` counts the compared pairs.
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
        return self._holds(block.pairs, block.candidates)

    def settle(self, block: Candidates, matched: Positions) -> None:
        """Drop documents of a block that match a kept document: set ``matched[rank]`` to that document."""
        holds = self._answers(block)
        kernels.first_given(block.asking, block.bounds, block.candidates, holds, matched)
        if self._closeness is not None:
            kept = np.flatnonzero(holds & (matched[block.candidates] < 0))
            asking, candidates = block.pairs[kept], block.candidates[kept]
            _match_closest(asking, candidates, self._closeness(asking, candidates), matched)

    def connect(self, block: Candidates, parents: Positions) -> None:
        """Join all matching pairs in a union-find forest."""
        kernels.connect_given(block.asking, block.bounds, block.candidates, self._answers(block), parents)


class ExactResemblance:
    """Pairs of feature sets whose exact measure is at least what their *thresholds* require.

    The *measure* is one of ``SET_MEASURES``: the resemblance, the overlap, or the containment of the worse document in
    the better one. Only pairs that can still decide something are compared: the better document has not been dropped,
    nor has the worse one. *sets* is by rank. The match of a dropped document is the best-ranked kept document, or the
    *closest*. ``common`` is the number of features that a decided document shares with its match, or ``UNKNOWN``.
    """

    def __init__(
        self,
        sets: FeatureSets,
        thresholds: Thresholds,
        *,
        measure: str = "resemblance",
        closest: bool = False,
        engine: Engine = IN_TURN,
    ) -> None:
        self._sets, self._thresholds, self._measure, self._closest = sets, thresholds, measure, closest
        self._rule, self._engine = (thresholds, SET_MEASURES[measure]), engine
        self.compared = 0
        self.common: Positions = np.full(len(sets.positions), UNKNOWN, np.int64)

    def settle(self, block: Candidates, matched: Positions) -> None:
        """Compare with the documents decided in earlier blocks, in parallel; then, in order, within the block."""
        if not len(block.candidates):
            return
        self._prepare(block)
        first = int(block.asking[0])

        parts = self._engine.parts(len(block.asking))
        against_settled = partial(self._first_matches, block, matched, matched, 0, first)
        self.compared += sum(self._engine.map(against_settled, parts))
        self.compared += self._first_matches(block, matched, matched, first, len(matched), slice(0, len(block.asking)))
        if self._closest:
            self._name_closest(block, matched)

    def find_first(self, block: Candidates, matched: Positions) -> None:
        """Set ``matched[rank]`` to the first candidate that matches a document of a block, dropped or not."""
        self._prepare(block)
        everything = 0, len(matched), slice(0, len(block.asking))
        self.compared += self._first_matches(block, np.full_like(matched, -1), matched, *everything)

    def _name_closest(self, block: Candidates, matched: Positions) -> None:
        sets, pairs = self._sets, block.pairs
        asked = (matched[pairs] >= 0) & (matched[block.candidates] < 0)
        asking, candidates = (side[asked].astype(np.int64) for side in (pairs, block.candidates))
        measures = sets.measured(self._measure, asking, candidates)
        self.compared += len(asking)
        holds = measures >= self._thresholds.of(asking, candidates, sets.smaller(asking, candidates))
        named = _match_closest(asking[holds], candidates[holds], measures[holds], matched)
        self.common[named] = count_shared(sets, named, matched[named])

    def connect(self, block: Candidates, parents: Positions) -> None:
        """Join all matching pairs."""
        self._prepare(block)
        pairs = block.asking, block.bounds, block.candidates
        self.compared += kernels.connect(*pairs, self._sets.arrays, *self._rule, parents)

    def _prepare(self, block: Candidates) -> None:
        asking = block.asking[np.diff(block.bounds) > 0]
        self._sets.make_all_distinct(np.concatenate([asking, block.candidates]), self._engine)

    def _first_matches(  # noqa: PLR0913, PLR0917 - as the kernel
        self, block: Candidates, removed: Positions, matched: Positions, lowest: int, highest: int, part: slice
    ) -> int:
        """Find first matches of a part of a block, among candidates from *lowest* to *highest*; count comparisons."""
        own = block.asking[part], block.bounds[part.start : part.stop + 1], block.candidates
        rest = removed, matched, self.common
        return int(kernels.first_matches(*own, lowest, highest, self._sets.arrays, *self._rule, *rest))


Matcher = GivenMatches | ExactResemblance  # verifies the candidates of one block


def _match_closest(asking: Any, candidates: Any, closeness: Any, matched: Positions) -> Any:
    """Let each asking document of matching pairs match its closest candidate; return the documents.

    Of equally close candidates, the best-ranked one is the match.
    """
    order = np.lexsort((candidates, -closeness, asking))
    firsts = order[np.diff(asking[order], prepend=-1) > 0]
    matched[asking[firsts]] = candidates[firsts]
    return asking[firsts]


def represented(parents: Positions) -> Positions:
    """Return the decisions of a union-find forest: in each tree, all but the best-ranked are dropped for it."""
    kernels.roots(parents)
    return np.where(parents == np.arange(len(parents)), -1, parents)
