"""Components of candidate pairs, placed into blocks that fit into memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.model.arrays import Flags, Positions

Ranks = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """The blocks of documents: ``blocks`` is int32[n], -1 for documents without candidates.

    The last blocks contain one component each that is larger than the limit; there are ``large`` of them, ``number``
    blocks in all.
    """

    blocks: Ranks
    number: int
    large: int


def place(roots: npt.NDArray[np.integer[Any]], involved: Flags, sizes: Positions, limit: int) -> Placed:
    """Place whole components into blocks of at most twice *limit*, larger components into blocks of their own.

    ``roots[d]`` is the first document of the component of document *d*; only *involved* documents are placed.
    *sizes* is int64[n]. Components are placed in the order of their roots. No documents need no blocks.
    """
    members = np.flatnonzero(involved)
    blocks = np.full(len(roots), -1, np.int32)
    if not len(members):
        return Placed(blocks, 0, 0)
    firsts, of = np.unique(roots[members], return_inverse=True)
    totals = np.bincount(of, weights=sizes[members]).astype(np.int64)
    large = totals > limit
    small = np.where(large, 0, totals)
    filled = (np.cumsum(small) - small) // max(limit, 1)
    _, filled = np.unique(filled, return_inverse=True)  # without gaps
    ordinary = int(filled[~large].max(initial=-1)) + 1
    numbers = np.empty(len(firsts), np.int32)
    numbers[~large] = filled[~large]
    numbers[large] = ordinary + np.arange(int(large.sum()))
    blocks[members] = numbers[of]
    return Placed(blocks, ordinary + int(large.sum()), int(large.sum()))
