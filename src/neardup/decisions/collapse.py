"""Which of ranked hits stay: a hit goes when it matches a better-ranked hit that stays."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from neardup.kernels.collapse import by_fingerprints
from neardup.model.arrays import Flags, Positions
from neardup.model.protocols import RankedRule

STAYS: Final = -1
_NO_RULE: Final = RankedRule(by_fingerprints, np.zeros((0, 1), np.uint64), np.zeros(1, np.int64))


class Collapse:
    """What became of hits, by rank: *of*, *by* and *heads* are those of ``neardup.kernels.collapse``."""

    def __init__(self, hits: int) -> None:
        self.of: Positions
        self.by: Positions
        self.heads: Positions
        self.of, self.by, self.heads = np.empty((3, hits), np.int64)

    def __len__(self) -> int:
        return len(self.of)

    @cached_property
    def kept(self) -> Positions:
        """The ranks of those that stay."""
        return np.flatnonzero(self.of == STAYS)

    @cached_property
    def hidden(self) -> Positions:
        """The ranks of those that go."""
        return np.flatnonzero(self.of != STAYS)

    @cached_property
    def groups(self) -> Positions:
        """The ranks of the first hits of all groups, best first."""
        return np.flatnonzero(self.heads == np.arange(len(self.heads)))

    @cached_property
    def members(self) -> list[Positions]:
        """The ranks of the hits of each group, best first."""
        order = np.argsort(self.heads, kind="stable")
        return np.split(order, np.searchsorted(self.heads[order], self.groups[1:])) if len(order) else []


def collapse(
    number: int,
    keeps: Sequence[int],
    codes: Sequence[Sequence[int] | None],
    ranked: RankedRule | None = None,
    present: Flags | None = None,
) -> Collapse:
    """Go through hits, best first, by rules in turn.

    Rule *r* keeps ``keeps[r]`` of a group. It goes by equal ``codes[r]``, integers from 0 and below *number*, or less
    than 0 for no group; or, where these are ``None``, in one rule at most, by *ranked*, of the hits that are *present*.
    """
    outcome = Collapse(number)
    near = next((rule for rule, own in enumerate(codes) if own is None), STAYS)
    equal = np.empty((len(keeps), number), np.int64)
    for rule, own in enumerate(codes):
        equal[rule] = STAYS if own is None else own
    kernel, rows, terms = ranked or _NO_RULE
    there = np.zeros(number, np.bool_) if present is None else present
    own_rows: Any = rows if rows.flags.carray else np.array(rows, order="C")  # kernels are compiled for such
    own_present = there if there.flags.carray else np.array(there)
    kernel(own_rows, terms, own_present, near, equal, np.array(keeps), outcome.of, outcome.by, outcome.heads)
    return outcome


def alone(number: int) -> Collapse:
    """Let every hit stay, each in a group of its own."""
    outcome = Collapse(number)
    outcome.of[:] = outcome.by[:] = STAYS
    outcome.heads[:] = np.arange(number)
    return outcome
