"""The result of applying rules to ranked hits, and a cache of it."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, Final

import numpy as np

from neardup.decisions.collapse import Collapse
from neardup.model.arrays import Flags, Positions, Values
from neardup.model.errors import require_whole
from neardup.pipeline.query.near_hits import NearHits

_NOTHING: Final = np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0, np.bool_)
Measured = tuple[Positions, Values, Values, Flags]  # see ``Judged.measured``
_LEAST: Final = 16  # the fewest hits that a set counts as: its key and rules take memory, too


class Judged:
    """The *outcome* of hits by rank, with the number of the rule that hides each, and what the rules compared.

    *hits* are what the rule of near duplicates compared, until that is discarded, and *scheme* is its scheme. *values*
    are those of the other rules, by number.
    """

    def __init__(self, outcome: Collapse, hits: NearHits | None, values: Sequence[Sequence[Any] | None]) -> None:
        self.outcome, self.hits, self.values = outcome, hits, values
        self.scheme = None if hits is None else hits.scheme

    @cached_property
    def unsigned(self) -> int:
        """The number of hits without a signature."""
        return 0 if self.hits is None else int(np.count_nonzero(~self.hits.signatures.present))

    @cached_property
    def measured(self) -> Measured:
        """The ranks of the hits that near duplicates hide, their measures, what these needed, and which are verified.

        What others needed has no meaning.
        """
        if self.hits is None:
            return _NOTHING
        hits, (ranks,) = self.hits, (self.outcome.by == self.values.index(None)).nonzero()
        better = self.outcome.of[ranks]
        if hits.found is None:
            shares = hits.scheme.estimate_pairs(hits.signatures, ranks, better)
            return ranks, shares, shares, np.zeros(len(ranks), np.bool_)
        shares, needed, verified = (column[ranks] for column in hits.found)
        guessed = ~verified
        if guessed.any():
            shares[guessed] = hits.scheme.estimate_pairs(hits.signatures, ranks[guessed], better[guessed])
        return ranks, shares, needed, verified

    def settle(self) -> "Judged":
        """Measure what is needed of the signatures, and discard them."""
        _ = self.unsigned, self.measured
        self.hits = None
        return self


class JudgedSets:
    """A cache of the results for sets of hits of an index: the last used sets, of at most *most* hits in total.

    A set of fewer than 16 hits counts as 16, because its key and rules take memory, too; so any number of small sets is
    bounded.

    Results are found by the ordered ids, the state of the index and the rules; ``hits`` and ``misses`` count lookups,
    ``held`` the hits in all sets. Threads may share a cache.
    """

    def __init__(self, most: int = 100_000) -> None:
        self._most = require_whole("most", most, 0)
        self._judged: OrderedDict[Hashable, Judged] = OrderedDict()
        self.held = 0
        self._lock = Lock()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._judged)

    def judged(self, key: Hashable, judge: Callable[[], Judged]) -> Judged:
        """Return the result for a set, from the cache or by calling *judge*."""
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
                self.held += _cost(new)
            while self.held > self._most:
                _, old = self._judged.popitem(last=False)
                self.held -= _cost(old)
        return new


def _cost(judged: Judged) -> int:
    return max(judged.outcome.hits, _LEAST)
