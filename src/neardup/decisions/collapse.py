"""Collapsing ranked hits: a hit is hidden if it matches a better-ranked hit that is kept."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from neardup.kernels.collapse import BEGINS, BY, HEADS, MEMBERS, OF, RANKS, ROWS, by_fingerprints
from neardup.model.arrays import Flags, Positions
from neardup.model.ranked_rule import RankedRule

STAYS: Final = -1
_NO_CODES: Final = np.empty((1, 0), np.int64)
_NO_ROWS: Final = np.zeros((0, 0), np.uint64)
_NO_ROWS.flags.writeable = False  # as those of signatures
_NO_RULE: Final = RankedRule(by_fingerprints, _NO_ROWS, np.zeros(1, np.int64))


class Collapse(NamedTuple):
    """The result for hits by rank: *stay* of them are kept, in this many *groups*.

    The *table* is that of ``neardup.kernels.collapse``.
    """

    table: Positions
    stay: int
    groups: int

    @property
    def hits(self) -> int:
        """The number of hits."""
        return int(self.table.shape[1])

    @property
    def kept(self) -> list[int]:
        """The ranks of the kept hits, best first."""
        ranks: list[int] = self.table[RANKS, : self.stay].tolist()
        return ranks

    @property
    def hidden(self) -> list[int]:
        """The ranks of the hidden hits, best first."""
        ranks: list[int] = self.table[RANKS, self.stay :].tolist()
        return ranks

    @property
    def of(self) -> Positions:
        """By rank: the rank of the hit that a hidden hit matches; ``STAYS`` for a kept hit."""
        return np.asarray(self.table[OF])

    @property
    def by(self) -> Positions:
        """By rank: the number of the rule that hides a hit; ``STAYS`` for a kept hit."""
        return np.asarray(self.table[BY])

    def matched(self) -> tuple[list[int], list[int]]:
        """Return *of* and *by* as lists."""
        return self.table[OF].tolist(), self.table[BY].tolist()

    def members(self, groups: Iterable[int]) -> list[list[int]]:
        """Return the ranks of the hits of some groups, best first; the best group is number 0."""
        ranks, begins = self.table[MEMBERS].tolist(), [*self.table[BEGINS, : self.groups].tolist(), self.hits]
        return [ranks[begins[group] : begins[group + 1]] for group in groups]

    def firsts(self, number: int) -> list[int]:
        """Return the ranks of the first hits of this *number* of the best groups."""
        ranks: list[int] = self.table[MEMBERS][self.table[BEGINS, :number]].tolist()
        return ranks


def collapse(
    number: int,
    keeps: Sequence[int],
    codes: Sequence[Positions | None],
    ranked: RankedRule | None = None,
    present: Flags | None = None,
) -> Collapse:
    """Apply rules in turn to hits, best first.

    Rule *r* keeps ``keeps[r]`` hits of a group. Hits match by equal ``codes[r]``, integers from 0 and below *number*,
    or less than 0 for no group. If the codes are ``None``, in at most one rule, they match by *ranked*, for the hits
    that are *present*.
    """
    table = np.empty((ROWS, number), np.int64)
    near = STAYS
    for rule, own in enumerate(codes):
        near = rule if own is None else near
    if len(codes) == 1:  # the usual case; the kernel reads no codes of the other rule
        equal = _NO_CODES if codes[0] is None else codes[0].reshape(1, number)
    else:
        equal = np.empty((len(codes), number), np.int64)
        for rule, own in enumerate(codes):
            equal[rule] = STAYS if own is None else own
    kernel, rows, terms = ranked or _NO_RULE
    if present is None:
        present = _none_present(number)
    elif not (rows.flags.c_contiguous and present.flags.carray):  # kernels are compiled for contiguous arrays
        rows, present = np.array(rows, order="C"), np.array(present, order="C")
        rows.flags.writeable = False  # as those of signatures
    stay, groups = kernel(rows, terms, present, near, equal, _as_array(*keeps), table)
    return Collapse(table, stay, groups)


@lru_cache(maxsize=64)
def _as_array(*keeps: int) -> Positions:
    return np.array(keeps)


@lru_cache(maxsize=8)
def _none_present(number: int) -> Flags:
    return np.zeros(number, np.bool_)


def alone(number: int) -> Collapse:
    """Return the result in which every hit is kept, in a group of its own."""
    table = np.empty((ROWS, number), np.int64)
    table[OF] = table[BY] = STAYS
    table[HEADS:] = np.arange(number)
    return Collapse(table, number, number)
