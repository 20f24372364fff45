"""Candidates to decisions: who is dropped, and for whom.

The rule: go through the documents from the best rank to the worst; a document is dropped when it matches
a document that is kept, for the best-ranked such one. Nothing is dropped through a chain.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from neardup.decisions.evidence import FeatureSets
from neardup.kernels import sets as kernels
from neardup.model.arrays import Flags, Positions

Ranks = npt.NDArray[np.int32]

UNKNOWN: Final = -1


class Candidates(Protocol):
    """What an index proposes: ``asking[i]`` has ``candidates[bounds[i]:bounds[i + 1]]``, ascending."""

    @property
    def asking(self) -> Ranks:
        """The documents that ask, best rank first."""
        ...

    @property
    def bounds(self) -> Positions:
        """Where each one's candidates begin and end."""
        ...

    @property
    def candidates(self) -> Ranks:
        """All candidates."""
        ...


class Matcher(Protocol):
    """Verifies candidates of one block; ``compared`` counts the pairs it looked at."""

    compared: int

    def settle(self, block: Candidates, matched: Positions) -> None:
        """Drop who matches a kept document: set ``matched[rank]`` to the best such one."""
        ...

    def connect(self, block: Candidates, parents: Positions) -> None:
        """Join all matching pairs in a union-find forest."""
        ...


class GivenMatches:
    """Pairs of which *holds* (asking ranks, candidate ranks) tells whether they match; *compares* says if it looks.

    A dropped document's match is the best-ranked that is kept; with *closeness* of pairs, the closest that is kept.
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
        """Take each asking document's first match that stays."""
        holds = self._answers(block)
        kernels.first_given(block.asking, block.bounds, block.candidates, holds, matched)
        if self._closeness is not None:
            kept = np.flatnonzero(holds & (matched[block.candidates] < 0))
            asking, candidates = np.repeat(block.asking, np.diff(block.bounds))[kept], block.candidates[kept]
            order = np.lexsort((candidates, -self._closeness(asking, candidates), asking))
            firsts = order[np.diff(asking[order], prepend=-1) > 0]
            matched[asking[firsts]] = candidates[firsts]

    def connect(self, block: Candidates, parents: Positions) -> None:
        """Join what matches."""
        kernels.connect_given(block.asking, block.bounds, block.candidates, self._answers(block), parents)


class ExactResemblance:
    """Pairs whose feature sets resemble each other by the threshold at least.

    With *of_smaller* it is their overlap that counts, ``|A & B| / min(|A|, |B|)``, instead of the resemblance.
    Only pairs that can still decide something are compared: the better document is kept so far, the
    worse one not dropped yet. *sets* is by rank. *parts* cuts a number of documents among the
    threads and *map* runs a function on each part. A dropped document's match is the best-ranked that is kept, or the
    *closest*. ``common`` is the number of features that a settled
    document shares with its match, or ``UNKNOWN``.
    """

    def __init__(  # noqa: PLR0913 - every one a keyword with a default
        self,
        sets: FeatureSets,
        threshold: float,
        *,
        of_smaller: bool = False,
        closest: bool = False,
        parts: Callable[[int], list[slice]] = lambda number: [slice(0, number)] if number else [],
        map: Callable[[Callable[[slice], Any], Iterable[slice]], Iterable[Any]] = map,  # noqa: A002 - what it is
    ) -> None:
        self._sets, self._threshold, self._of_smaller, self._closest = sets, threshold, of_smaller, closest
        self._parts, self._map = parts, map
        self.compared = 0
        self.common: Positions = np.full(len(sets.positions), UNKNOWN, np.int64)

    def settle(self, block: Candidates, matched: Positions) -> None:
        """Compare with the documents settled in earlier blocks, side by side; then, in order, within the block."""
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
        """Join what matches."""
        self._prepare(block)
        sets = self._sets
        self.compared += kernels.connect(
            block.asking,
            block.bounds,
            block.candidates,
            sets.values,
            sets.starts,
            sets.sizes,
            self._threshold,
            self._of_smaller,
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
            self._threshold,
            self._of_smaller,
            matched,
            self.common,
        )
        return int(compared)


def represented(parents: Positions) -> Positions:
    """Turn a union-find forest into decisions: everybody but the best-ranked is dropped for that one."""
    kernels.roots(parents)
    return np.where(parents == np.arange(len(parents)), -1, parents)
