"""Which of ranked hits stay: a hit goes when it matches a better-ranked hit that stays."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.kernels.collapse import BEGINS, BY, HEADS, MEMBERS, OF, RANKS, ROWS, by_pairs
from neardup.model.arrays import Flags, Positions
from neardup.model.protocols import RankedRule

STAYS: Final = -1
_NO_CODES: Final = np.empty((1, 0), np.int64)
_NO_RULE: Final = RankedRule(by_pairs, np.zeros((0, 0), np.bool_), np.zeros(1, np.int64))


class Collapse:
    """What became of *hits* hits, of which *stay* stay, in so many *groups*, by rank.

    The *table* is that of ``neardup.kernels.collapse``.
    """

    __slots__ = ("groups", "hits", "stay", "table")

    def __init__(self, table: npt.NDArray[np.signedinteger[Any]], stay: int, groups: int) -> None:
        self.table, self.stay, self.groups = table, stay, groups
        self.hits: int = table.shape[1]

    def compact(self, rules: int) -> "Collapse":
        """Return the same with the smallest integers that hold ranks and numbers of so many *rules*."""
        return Collapse(self.table.astype(_smallest(max(self.hits, rules))), self.stay, self.groups)

    @property
    def kept(self) -> list[int]:
        """The ranks of those that stay, best first."""
        ranks: list[int] = self.table[RANKS, : self.stay].tolist()
        return ranks

    @property
    def hidden(self) -> list[int]:
        """The ranks of those that go, best first."""
        ranks: list[int] = self.table[RANKS, self.stay :].tolist()
        return ranks

    @property
    def of(self) -> Positions:
        """The rank of the hit that one matches that goes, by rank; ``STAYS`` for one that stays."""
        return np.asarray(self.table[OF], np.int64)

    @property
    def by(self) -> Positions:
        """The number of the rule by which a hit goes, by rank; ``STAYS`` for one that stays."""
        return np.asarray(self.table[BY], np.int64)

    def matched(self) -> tuple[list[int], list[int]]:
        """Return *of* and *by* as lists."""
        return self.table[OF].tolist(), self.table[BY].tolist()

    @property
    def heads(self) -> Positions:
        """The rank of the first hit of its group, by rank."""
        return np.asarray(self.table[HEADS], np.int64)

    def members(self, groups: Iterable[int]) -> list[list[int]]:
        """Return the ranks of the hits of some groups, best first; the best group is number 0."""
        ranks, begins = self.table[MEMBERS].tolist(), [*self.table[BEGINS, : self.groups].tolist(), self.hits]
        return [ranks[begins[group] : begins[group + 1]] for group in groups]

    def firsts(self, number: int) -> list[int]:
        """Return the rank of the first hit of each of the best groups, so many of them."""
        ranks: list[int] = self.table[MEMBERS][self.table[BEGINS, :number]].tolist()
        return ranks


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
    table = np.empty((ROWS, number), np.int64)
    near = STAYS
    for rule, own in enumerate(codes):
        near = rule if own is None else near
    if len(codes) == 1:  # as mostly; the kernel looks at no codes of the other rule
        equal = _NO_CODES if codes[0] is None else codes[0].reshape(1, number)
    else:
        equal = np.empty((len(codes), number), np.int64)
        for rule, own in enumerate(codes):
            equal[rule] = STAYS if own is None else own
    kernel, rows, terms = ranked or _NO_RULE
    if present is None:
        present = _nobody(number)
    elif not (rows.flags.carray and present.flags.carray):  # kernels are compiled for arrays that lie as usual
        rows, present = np.array(rows, order="C"), np.array(present, order="C")
    stay, groups = kernel(rows, terms, present, near, equal, _as_array(*keeps), table)
    return Collapse(table, stay, groups)


@lru_cache(maxsize=64)
def _as_array(*keeps: int) -> Positions:
    return np.array(keeps)


@lru_cache(maxsize=8)
def _nobody(number: int) -> Flags:
    return np.zeros(number, np.bool_)


@lru_cache(maxsize=64)
def _smallest(most: int) -> np.dtype[Any]:
    """Return the smallest integers that hold -1 and so much."""
    return np.min_scalar_type(-most - 1)


def alone(number: int) -> Collapse:
    """Let every hit stay, each in a group of its own."""
    table = np.empty((ROWS, number), np.int64)
    table[OF] = table[BY] = STAYS
    table[HEADS:] = np.arange(number)
    return Collapse(table, number, number)
