"""What rules made of ranked hits, and a cache of it."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, Final

import numpy as np

from neardup.decisions.collapse import Collapse
from neardup.model.arrays import Signatures
from neardup.model.errors import require_whole
from neardup.model.protocols import Scheme

_LEAST: Final = 16  # hits, of which what is known takes as much as the rest of a set: key, rules and outcome


class Judged:
    """The *outcome* for hits by rank, by which of the rules asked they went, and what those looked at.

    *near* is the number of the rule of near duplicates, by *scheme* and *signatures*, until these are forgotten;
    *values* are those of the other rules, by number.
    """

    def __init__(
        self,
        outcome: Collapse,
        near: int | None,
        scheme: Scheme | None,
        signatures: Signatures | None,
        values: Sequence[Sequence[Any] | None],
    ) -> None:
        self.outcome, self.near, self.scheme, self.values = outcome, near, scheme, values
        self.signatures = signatures

    @cached_property
    def unsigned(self) -> int:
        """How many hits have no signature."""
        signatures = self.signatures
        return 0 if signatures is None else len(signatures.present) - int(np.count_nonzero(signatures.present))

    @cached_property
    def estimates(self) -> dict[int, float]:
        """What near duplicates have in common with the hits that they match, by rank."""
        if self.signatures is None or self.scheme is None:
            return {}
        of, by = self.outcome.of, self.outcome.by
        (ranks,) = (by == self.near).nonzero()
        found = self.scheme.estimate_pairs(self.signatures, ranks, of[ranks])
        return dict(zip(ranks.tolist(), found.tolist(), strict=True))

    def settle(self) -> "Judged":
        """Look at the signatures for the last time, and forget them."""
        _ = self.unsigned, self.estimates
        self.signatures = None
        return self


class JudgedSets:
    """A cache of what became of sets of hits of an index; of at most *most* hits in all, the last used sets stay.

    A set of fewer than 16 hits counts as 16, because it takes as much memory: so no number of small sets is too many.

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
        """Give what became of a set; *judge* it if that is not known."""
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
