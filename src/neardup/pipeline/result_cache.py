"""What rules made of ranked hits, and a cache of it."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.decisions.collapse import Collapse
from neardup.model.arrays import Flags, Positions
from neardup.model.errors import require_whole
from neardup.pipeline.near_hits import NearHits

Shares = npt.NDArray[np.float64]

_NOBODY: Final = np.empty(0, np.bool_)
_NO_RANKS, _NO_SHARES = np.empty(0, np.int64), np.empty(0)
_LEAST: Final = 16  # hits, as which a set counts at least: its key and rules take memory, too


class Judged:
    """The *outcome* for hits by rank, by which of the rules asked they went, and what those looked at.

    *near* is the number of the rule of near duplicates, and *hits* what it asked, until that is forgotten; *scheme* is
    its scheme. *values* are those of the other rules, by number.
    """

    __slots__ = ("_measured", "_unsigned", "hits", "near", "outcome", "scheme", "values")

    def __init__(
        self, outcome: Collapse, near: int | None, hits: NearHits | None, values: Sequence[Sequence[Any] | None]
    ) -> None:
        self.outcome, self.near, self.hits, self.values = outcome, near, hits, values
        self.scheme = None if hits is None else hits.scheme
        self._unsigned: int | None = None
        self._measured: tuple[Positions, Shares, Flags | None] | None = None

    @property
    def unsigned(self) -> int:
        """How many hits have no signature."""
        if self._unsigned is None:
            present = _NOBODY if self.hits is None else self.hits.signatures.present
            self._unsigned = len(present) - int(np.count_nonzero(present))
        return self._unsigned

    @property
    def measured(self) -> tuple[Positions, Shares, Flags | None]:
        """The ranks of the hits that near duplicates hide, what each has in common with its match, and if verified.

        ``None`` stands for none that is verified.
        """
        if self._measured is None:
            self._measured = _NO_RANKS, _NO_SHARES, None
            if self.hits is not None:
                (ranks,) = (self.outcome.by == self.near).nonzero()
                self._measured = ranks, *self._measures(self.hits, ranks)
        return self._measured

    def _measures(self, hits: NearHits, ranks: Positions) -> tuple[Shares, Flags | None]:
        better = self.outcome.of[ranks]
        if hits.verified is None or hits.shares is None:
            return hits.scheme.estimate_pairs(hits.signatures, ranks, better), None
        verified, shares = hits.verified[ranks], hits.shares[ranks]
        guessed = ~verified
        if guessed.any():
            shares[guessed] = hits.scheme.estimate_pairs(hits.signatures, ranks[guessed], better[guessed])
        return shares, verified

    def settle(self) -> "Judged":
        """Look at the signatures for the last time, forget them, and hold the rest in little memory.

        A cache turns over all the memory that it has: the less that is, the more of it is near.
        """
        _ = self.unsigned
        ranks, shares, verified = self.measured
        self.hits, self.outcome = None, self.outcome.compact(len(self.values))
        self._measured = ranks.astype(self.outcome.table.dtype), shares, verified
        return self


class JudgedSets:
    """A cache of what became of sets of hits of an index; of at most *most* hits in all, the last used sets stay.

    A set of fewer than 16 hits counts as 16, because its key and rules take memory, too: so no number of small sets is
    too many.

    What was judged is found again by the ordered ids, the state of the index and the rules; ``hits`` and ``misses``
    count how often. Threads may share it.
    """

    def __init__(self, most: int = 100_000) -> None:
        self._most = require_whole("most", most, 0)
        self._judged: OrderedDict[Hashable, Judged] = OrderedDict()
        self._held = 0
        self._lock = Lock()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._judged)

    @property
    def held(self) -> int:
        """How many hits the sets have in all, as they count."""
        return self._held

    def judged(self, key: Hashable, judge: Callable[[], Judged]) -> Judged:
        """Return what became of a set; *judge* it if that is not known."""
        with self._lock:
            known = self._judged.get(key)
            if known is not None:
                self._judged.move_to_end(key)
                self.hits += 1
                return known
            self.misses += 1
        new = judge().settle()
        with self._lock:
            if key not in self._judged and _cost(new) <= self._most:
                self._judged[key] = new
                self._held += _cost(new)
            while self._held > self._most:
                _, old = self._judged.popitem(last=False)
                self._held -= _cost(old)
        return new


def _cost(judged: Judged) -> int:
    return max(judged.outcome.hits, _LEAST)
