"""How an index is laid out. Changing it rebuilds the index, never the signatures."""

from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb, log1p
from typing import Any, Final, Self

import numpy as np

from neardup.model.arrays import Positions, Words, shares
from neardup.model.errors import ParameterError, require, require_share, require_whole

MOST_BITS: Final = 512
MOST_TABLES: Final = 1024
FEW_TABLES: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Banding:
    """A sketch cut into bands of equal or nearly equal size; documents that share a whole band are candidates.

    Every minimum is in exactly one band. With *permutations* = bands * rows, two sketches share a band with probability
    ``1 - (1 - r**rows)**bands``, where *r* is their resemblance. Otherwise some bands have one row more, and the
    probability is ``1 - product(1 - r**rows_i)``.

    >>> round(float(Banding(permutations=112, bands=14).meeting_probability(0.8)), 3)
    0.924
    """

    permutations: int
    bands: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "permutations", require_whole("permutations", self.permutations, 1))
        object.__setattr__(self, "bands", require_whole("bands", self.bands, 1, self.permutations))

    @property
    def edges(self) -> Positions:
        """Band *b* contains the minima ``edges[b]`` up to ``edges[b + 1]``."""
        return np.arange(self.bands + 1, dtype=np.int64) * self.permutations // self.bands

    def meeting_probability(self, resemblance: Any) -> Any:
        """Return the probability that two documents of this resemblance (a number or an array) become candidates."""
        return bands_law(resemblance, self.permutations, self.bands)

    @np.errstate(under="ignore")  # chances too small for a float are 0
    def key_probability(self, resemblance: Any) -> Any:
        """Return the probability that a band of two documents of this resemblance is equal, the mean of all bands."""
        share = shares(resemblance)
        return np.mean(share[..., None] ** np.diff(self.edges), axis=-1)

    @classmethod
    def choose(cls, *, permutations: int, threshold: float, recall: float) -> Self:
        """Return the fewest bands with which at least *recall* of the pairs at *threshold* become candidates.

        Fewer bands are longer, so fewer unrelated documents become candidates. Raises ``ParameterError`` if even bands
        of one minimum do not reach the recall.

        >>> Banding.choose(permutations=128, threshold=0.8, recall=0.999)
        Banding(permutations=128, bands=22)
        """
        permutations = require_whole("permutations", permutations, 1)
        threshold = require_share("threshold", threshold)
        recall = require_share("recall", recall, below_one=True)
        met = bands_law(threshold, permutations, np.arange(1, permutations + 1))
        enough = np.flatnonzero(met >= recall)
        if not enough.size:
            bound = log1p(-recall) / log1p(-max(threshold, 1e-9))  # as many bands of one minimum reach it
            least = -(-ceil(bound) // 8) * 8
            rule = f"must be at least {least:,} for a recall of {recall} at threshold {threshold}"
            raise ParameterError("permutations", permutations, f"{rule}; it reaches {met.max():.4f}")
        return cls(permutations=permutations, bands=int(enough[0]) + 1)


@np.errstate(under="ignore")  # chances too small for a float are 0
def bands_law(resemblance: Any, permutations: int, bands: Any) -> Any:
    """Return the probability that two sketches share a whole band (Broder); see ``Banding``.

    b bands cut p minima into s = p // b rows each, and one more in e = p % b of them. The probability is ``1 - (1 -
    r**s)**(b - e) * (1 - r**(s + 1))**e``. *resemblance* and *bands* may be arrays that broadcast.
    """
    share = shares(resemblance)
    rows, longer = np.divmod(permutations, bands)
    with np.errstate(divide="ignore"):
        misses = np.log1p(-(share**rows)) * (bands - longer)
        more = np.where(longer > 0, np.log1p(-(share ** (rows + 1))) * np.maximum(longer, 1), 0.0)
    return -np.expm1(misses + more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """A fingerprint of *bits* bits cut into contiguous blocks of equal or nearly equal size.

    Two fingerprints that differ in at most *distance* bits differ in at most *distance* blocks, so they agree in the
    other ``blocks - distance``. A table for each choice of that many blocks, C(blocks, distance) tables, misses no such
    pair (Manku, Jain, Das Sarma 2007). Fingerprints that agree in all blocks of a table are candidates. More blocks
    give more and wider tables, so fewer unrelated candidates per table.

    >>> layout = Blocks(bits=64, distance=3, blocks=6)
    >>> len(layout.tables), sorted(set(layout.widths))
    (20, [31, 32, 33])
    """

    bits: int
    distance: int
    blocks: int

    def __post_init__(self) -> None:
        for name, whole in zip(("bits", "distance"), require_fingerprint(self.bits, self.distance), strict=True):
            object.__setattr__(self, name, whole)
        rule = f"must be an integer above the distance, {self.distance}, and at most the number of bits, {self.bits}"
        object.__setattr__(self, "blocks", require_whole("blocks", self.blocks, 1))
        require(self.distance < self.blocks <= self.bits, "blocks", self.blocks, rule)
        rule = f"must result in at most {MOST_TABLES:,} tables, one for every {self.distance} of them; use fewer"
        require(comb(self.blocks, self.distance) <= MOST_TABLES, "blocks", self.blocks, rule)

    @property
    def edges(self) -> Positions:
        """Block *b* contains the bits ``edges[b]`` up to ``edges[b + 1]``."""
        return np.arange(self.blocks + 1, dtype=np.int64) * self.bits // self.blocks

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The blocks of each table, in lexicographic order."""
        return tuple(combinations(range(self.blocks), self.blocks - self.distance))

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of bits that each table compares."""
        sizes = np.diff(self.edges).tolist()
        return tuple(sum(sizes[block] for block in table) for table in self.tables)

    @property
    def masks(self) -> Words:
        """The bits that each table compares, uint64[tables, bits / 64]: bit *i* is ``i % 64`` of word ``i // 64``."""
        edges = self.edges.tolist()
        wholes = [sum((1 << edges[b + 1]) - (1 << edges[b]) for b in table) for table in self.tables]
        words = [[whole >> low & (1 << 64) - 1 for low in range(0, self.bits, 64)] for whole in wholes]
        return np.array(words, np.uint64)

    @np.errstate(under="ignore")  # chances too small for a float are 0
    def meeting_probability(self, agreement: Any) -> Any:
        """Return the probability that two fingerprints share a table if bits agree independently with this probability.

        It is the probability that at most *distance* blocks differ, where block *b* agrees with probability
        ``agreement**size_b``. *agreement* is a number or an array.
        """
        share = shares(agreement, "agreement")
        differing = np.zeros((*share.shape, self.distance + 1))  # column d: the probability of d differing blocks
        differing[..., 0] = 1.0
        for size in np.diff(self.edges).tolist():
            equal = share[..., None] ** size
            moved = differing[..., :-1] * (1.0 - equal)
            differing *= equal
            differing[..., 1:] += moved
        return np.minimum(differing.sum(axis=-1), 1.0)

    @np.errstate(under="ignore")  # chances too small for a float are 0
    def key_probability(self, agreement: Any) -> Any:
        """Return the probability that two fingerprints agree in all blocks of a table, the mean of all tables."""
        share = shares(agreement, "agreement")
        return np.mean(share[..., None] ** np.array(self.widths), axis=-1)

    @classmethod
    def choose(cls, *, bits: int, distance: int) -> Self:
        """Return three blocks more than *distance* if that makes at most 120 tables, otherwise one more.

        >>> Blocks.choose(bits=64, distance=3)
        Blocks(bits=64, distance=3, blocks=6)
        >>> Blocks.choose(bits=64, distance=8)
        Blocks(bits=64, distance=8, blocks=9)
        """
        bits, distance = require_fingerprint(bits, distance)
        spare = 3 if distance + 3 <= bits and comb(distance + 3, 3) <= FEW_TABLES else 1
        return cls(bits=bits, distance=distance, blocks=distance + spare)


def require_fingerprint(bits: int, distance: int) -> tuple[int, int]:
    """Return the bits of a fingerprint and the distance of a rule; ``ParameterError`` if they are out of range."""
    bits = require_whole("bits", bits, 64, MOST_BITS, step=64)
    return bits, require_whole("distance", distance, 0, bits - 1)
