"""The decisions on admitted documents: what each repeats, and which document is its representative.

The rule: a document that equals one admitted before has the representative of the first such document, its leader.
Any other is dropped if it matches a kept document, and the first of these (or the closest) is its representative.
Otherwise it is kept, and is its own representative. No document is dropped through a chain.
"""

from typing import Final, NamedTuple

import numpy as np

from neardup.model.arrays import Positions, Values
from neardup.model.policy import Representative

NONE = -1


class Matches(NamedTuple):
    """Row ``rows[i]`` matches document ``documents[i]`` by ``values[i]``: the greater, the closer."""

    rows: Positions
    documents: Positions
    values: Values


NO_MATCHES: Final = Matches(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


class Decisions(NamedTuple):
    """By row: its closest match, as a number of ``Matches`` or ``NONE``, and its representative.

    A kept row is its own representative; a row that is not admitted and matches no kept document has ``NONE``.
    """

    closest: list[int]
    representatives: list[int]


def decide(
    own: list[int],
    leaders: list[int],
    matches: Matches,
    representatives: dict[int, int],
    representative: Representative,
) -> Decisions:
    """Decide row by row what each document repeats. Documents are numbered in the order of admission.

    *own* are the rows' numbers, or ``NONE`` for rows that are not admitted; *leaders* those of the leaders of their
    equals, or ``NONE``. *representatives* maps every document among the matches and the leaders to its representative;
    the rows' own are added as they are decided, so that later rows may have earlier ones as representatives. The first
    admitted is the best-ranked *representative*, and wins among equally close matches.
    """
    order = np.lexsort((matches.documents, -matches.values, matches.rows))
    bounds = np.searchsorted(matches.rows[order], np.arange(len(own) + 1)).tolist()
    documents, numbers = matches.documents[order].tolist(), order.tolist()
    closest, chosen = [], []
    for row, (itself, same) in enumerate(zip(own, leaders, strict=True)):
        begin, end = bounds[row], bounds[row + 1]
        closest.append(numbers[begin] if begin < end else NONE)
        if same == NONE:
            kept = [match for match in documents[begin:end] if representatives[match] == match] or [itself]
            chosen.append(kept[0] if representative == "closest" else min(kept))
        else:
            chosen.append(representatives[same])
        if itself != NONE:
            representatives[itself] = chosen[-1]
    return Decisions(closest, chosen)
