"""Ranked hits in parts: later parts are only compared with those hits of earlier ones that stay."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from neardup.model.arrays import AnyPositions, Flags, Positions

PairTest = Callable[[AnyPositions, AnyPositions], Flags]  # the two documents of each pair, to whether they pass

LEAST: Final = float(np.finfo(np.float64).tiny)  # of the closeness of a match; 0 means that a pair does not match
_TOGETHER: Final = 256  # hits of a part
_TESTED: Final = 1 << 18  # pairs that are tested at a time


def pairs_of(hits: Positions, before: Positions, tests: Sequence[PairTest]) -> tuple[Positions, Positions]:
    """Return the pairs of *hits* with each other, and with those *before* them, that pass the *tests*.

    Of each pair, the later hit, and the better one; both ascend.
    """
    if not len(hits):
        return hits, hits
    others = np.concatenate([before, hits])
    step = max(_TESTED // len(others), 1)
    passed: list[tuple[Positions, Positions]] = []
    for first in range(0, len(hits), step):
        rows, columns = _places(min(step, len(hits) - first), len(before) + first)
        later, better = hits[first:][rows], others[columns]
        for test in tests:
            holds = test(later, better)
            later, better = later[holds], better[holds]
        passed.append((later, better))
    later, better = map(np.concatenate, zip(*passed, strict=True))
    return later, better


def _places(rows: int, before: int) -> tuple[Positions, Positions]:
    """Return the places of pairs: the first of some rows has this number of columns, and each next row one more."""
    return np.tril_indices(rows, before - 1, rows + before) if before else _first_places(rows)


_first_places = lru_cache(maxsize=16)(partial(np.tril_indices, k=-1))  # of at most 0.5 MB


def decided_in_parts(  # noqa: PLR0913, PLR0917 - the arguments of a kernel
    compared: Callable[[int, int, Positions], tuple[Any, ...]],
    terms: Positions,
    present: Flags,
    near: int,
    codes: Positions,
    keeps: Positions,
    table: Positions,
) -> tuple[int, int]:
    """Decide all hits as ``neardup.kernels.collapse.by_sets`` does, whose last arguments these are.

    *compared* returns its other arguments, from *pairs* to *rows*, for the bounds of a part and the hits before it that
    stay.
    """
    from neardup.kernels.collapse import OF, by_sets

    number = len(present)
    groups, staying, found = np.empty((3, len(keeps), number), np.int64), np.empty(0, np.int64), (0, 0)
    for begin in range(0, number, _TOGETHER):
        end = min(begin + _TOGETHER, number)
        own = compared(begin, end, staying)
        found = by_sets((begin, end, groups), *own, terms, present, near, codes, keeps, table)
        staying = np.flatnonzero(table[OF, :end] < 0)
    return found


def matched_in_parts(
    match_pairs: PairTest,
    number: int,
    closeness: Callable[[AnyPositions, AnyPositions], Any] | None = None,
    leaders: Positions | None = None,
) -> Callable[..., tuple[int, int]]:
    """Return the kernel of a rule for *number* ranked hits that compares their signatures by *match_pairs*.

    If a second term of the rule asks for the closest matches, these have the highest *closeness*. *leaders* are as in
    ``neardup.kernels.collapse.by_sets``; by default no hits are equal.
    """
    from neardup.kernels.collapse import GIVEN

    firsts = np.arange(number) if leaders is None else leaders
    no_sets = np.empty(0, np.uint64), np.zeros(number, np.int64), np.zeros(number, np.int64)
    unknown, nothing = np.zeros(number, np.bool_), (np.empty(number), np.empty(number), np.empty(number, np.bool_))

    def compared(begin: int, end: int, staying: Positions) -> tuple[Any, ...]:
        later, better = pairs_of(np.arange(begin, end), staying, [match_pairs])
        close = np.ones(len(better)) if closeness is None else np.maximum(closeness(later, better), LEAST)
        bounds = np.searchsorted(later, np.arange(begin, end + 1))
        pairs = bounds, close, np.zeros(len(better)), firsts[begin:end]
        return pairs, no_sets, unknown, GIVEN, nothing, better

    def kernel(_: Any, *rest: Any) -> tuple[int, int]:  # the pairs take the place of rows
        return decided_in_parts(compared, *rest)

    return kernel
