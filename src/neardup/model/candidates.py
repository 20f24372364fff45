"""The canonical candidate rule: which documents are compared. It depends on the documents alone.

Every document that leads a group of equal documents has K keys of 64 bits. The *bucket* of column *k* and key *x*
contains all leaders with that key in that column, by rank. The candidates of a leader in a bucket are its first
``ROOM`` members that rank better than the leader, kept or not.

A bucket of more than ``ROOM`` members is *oversized*. It is also divided by the chained keys ``chained(x, y)`` of its
members, where *y* is a member's key in column *k + 1*, or in the first column after the last one. If one of these parts
is oversized, it is divided again, by the keys of column *k + 2* (``DEPTH``). Candidates in these buckets are
defined in the same way, and the candidates of a leader are those in all its buckets. The work is linear in the number
of documents.

Position-independent keys count in any column: each key has one bucket, which is not divided.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from neardup.model.arrays import Flags, Positions, Words

Ranks = npt.NDArray[np.int32]

ROOM: Final = 64
DEPTH: Final = 2

_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = np.uint64(0xD6E8FEB86659FD93)


def chained(keys: Words, further: Words) -> Words:
    """Return ``((x * 0x9E3779B97F4A7C15) ^ y) * 0xD6E8FEB86659FD93 mod 2**64`` of each key *x* and further key *y*."""
    return np.asarray(((keys * _SPREAD) ^ further) * _MIX)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Candidates of a block: ``asking[i]`` has ``candidates[bounds[i]:bounds[i + 1]]``, better ranks, ascending."""

    asking: Ranks
    bounds: Positions
    candidates: Ranks

    @property
    def pairs(self) -> Ranks:
        """The asking rank of each candidate."""
        return np.repeat(self.asking, np.diff(self.bounds))

    def where(self, holds: Flags) -> "Candidates":
        """Keep the candidates that *holds* marks."""
        kept = np.flatnonzero(holds)
        return Candidates(self.asking, np.searchsorted(kept, self.bounds), self.candidates[kept])


def joined(parts: Sequence[Candidates]) -> Candidates:
    """Return several proposals, at least one, as one."""
    bounds: Positions = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part.bounds) for part in parts]))])
    asking, candidates = (np.concatenate([getattr(part, name) for part in parts]) for name in ("asking", "candidates"))
    return Candidates(asking, bounds, candidates)
