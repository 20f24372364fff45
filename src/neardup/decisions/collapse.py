"""Which of ranked hits stay: a hit goes when it matches a better-ranked hit that stays."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from neardup.kernels.collapse import by_fingerprints
from neardup.model.arrays import Flags, Positions
from neardup.model.protocols import RankedRule

STAYS: Final = -1
_NO_CODES: Final = np.empty((1, 0), np.int64)
_NO_RULE: Final = RankedRule(by_fingerprints, np.zeros((0, 1), np.uint64), np.zeros(1, np.int64))


class Collapse:
    """What became of hits, by rank: *of*, *by* and *heads* are those of ``neardup.kernels.collapse``."""

    def __init__(self, hits: int) -> None:
        self.of, self.by, self.heads = np.empty(hits, np.int64), np.empty(hits, np.int64), np.empty(hits, np.int64)

    def __len__(self) -> int:
        return len(self.of)

    @cached_property
    def kept(self) -> list[int]:
        """The ranks of those that stay."""
        ranks: list[int] = (self.of == STAYS).nonzero()[0].tolist()
        return ranks

    @cached_property
    def hidden(self) -> list[int]:
        """The ranks of those that go."""
        ranks: list[int] = (self.of != STAYS).nonzero()[0].tolist()
        return ranks

    @cached_property
    def mates(self) -> list[int]:
        """The arrays' *of* as a list, which Python reads faster."""
        ranks: list[int] = self.of.tolist()
        return ranks

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """The ranks of the hits of each group, best first, by the rank of its first; the best group first."""
        gathered: dict[int, list[int]] = {}
        for rank, head in enumerate(self.heads.tolist()):
            if head == rank:
                gathered[rank] = [rank]
            else:
                gathered[head].append(rank)
        return gathered


def collapse(
    number: int,
    keeps: Sequence[int],
    codes: Sequence[Positions | None],
    ranked: RankedRule | None = None,
    present: Flags | None = None,
) -> Collapse:
    """Go through hits, best first, by rules in turn.

    Rule *r* keeps ``keeps[r]`` of a group. It goes by equal ``codes[r]``, integers from 0 and below *number*, or less
    than 0 for no group; or, where these are ``None``, in one rule at most, by *ranked*, of the hits that are *present*.
    """
    outcome = Collapse(number)
    near = next((rule for rule, own in enumerate(codes) if own is None), STAYS)
    equal = _NO_CODES
    if len(keeps) > 1 or near == STAYS:  # the kernel looks at no codes of the other rule
        equal = np.empty((len(keeps), number), np.int64)
        for rule, own in enumerate(codes):
            equal[rule] = STAYS if own is None else own
    kernel, rows, terms = ranked or _NO_RULE
    there = np.zeros(number, np.bool_) if present is None else present
    own_rows: Any = rows if rows.flags.carray else np.array(rows, order="C")  # kernels are compiled for such
    own_present = there if there.flags.carray else np.array(there)
    kernel(own_rows, terms, own_present, near, equal, _as_array(*keeps), outcome.of, outcome.by, outcome.heads)
    return outcome


@lru_cache(maxsize=64)
def _as_array(*keeps: int) -> Positions:
    return np.array(keeps)


def alone(number: int) -> Collapse:
    """Let every hit stay, each in a group of its own."""
    outcome = Collapse(number)
    outcome.of[:] = outcome.by[:] = STAYS
    outcome.heads[:] = np.arange(number)
    return outcome
