"""What a document repeats of those that were admitted before, and which of them stands for it.

The rule: a document is kept unless it matches a kept document itself. Nothing stands for another through a chain.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.model.arrays import Positions

NONE = -1


class Matches(NamedTuple):
    """Row ``rows[i]`` matches the document with ordinal ``ordinals[i]`` by ``values[i]``, the greater the closer."""

    rows: Positions
    ordinals: Positions
    values: npt.NDArray[np.float64]


class Standing(NamedTuple):
    """By row: which of its matches is the closest, which the closest kept (``NONE``: none), and its keeper."""

    closest: list[int]
    closest_kept: list[int]
    keepers: list[int]


def stand(own: list[int], exact: list[int], matches: Matches, keepers: dict[int, int]) -> Standing:
    """Say what each row repeats, in turn.

    *own* are the ordinals of the rows, or ``NONE`` where they are not admitted; *exact* those of the first documents
    with the same content, or ``NONE``. *keepers* gives for every ordinal among the matches and the exact ones that of
    the document that stands for it, ``NONE`` if it was removed; the rows' own are added as they are decided, so that
    later rows may stand behind earlier ones. Of equally close matches the first admitted counts.
    """
    order = np.lexsort((matches.ordinals, -matches.values, matches.rows))
    bounds = np.searchsorted(matches.rows[order], np.arange(len(own) + 1)).tolist()
    ordinals, places = matches.ordinals[order].tolist(), order.tolist()
    closest, closest_kept, standing = [], [], []
    for row, (ordinal, same) in enumerate(zip(own, exact, strict=True)):
        begin, end = bounds[row], bounds[row + 1]
        kept = next((at for at in range(begin, end) if keepers[ordinals[at]] == ordinals[at]), NONE)
        closest.append(places[begin] if begin < end else NONE)
        closest_kept.append(places[kept] if kept != NONE else NONE)
        keeper = keepers[same] if same != NONE else NONE
        if keeper == NONE and kept != NONE:
            keeper = ordinals[kept]
        keeper = ordinal if keeper == NONE else keeper
        standing.append(keeper)
        if ordinal != NONE:
            keepers[ordinal] = keeper
    return Standing(closest, closest_kept, standing)
