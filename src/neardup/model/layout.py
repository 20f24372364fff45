"""How an index is laid out. Changing it rebuilds the index, never the signatures."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from neardup.model.arrays import Positions
from neardup.model.errors import ParameterError, require


@dataclass(frozen=True, slots=True, kw_only=True)
class Banding:
    """A sketch cut into bands as equal as can be; sharing a whole band makes a candidate.

    Every minimum is in exactly one band. With *permutations* = bands * rows, two sketches share a
    band with probability ``1 - (1 - r**rows)**bands``, where *r* is their resemblance; otherwise some
    bands have one row more than the others, and the law is ``1 - product(1 - r**rows_i)``.

    >>> round(Banding(permutations=112, bands=14).meeting_probability(0.8), 3)
    0.924
    """

    permutations: int
    bands: int

    def __post_init__(self) -> None:
        require(self.permutations >= 1, "permutations", self.permutations, "must be at least 1")
        rule = f"must be from 1 to the number of permutations, {self.permutations}"
        require(1 <= self.bands <= self.permutations, "bands", self.bands, rule)

    @property
    def edges(self) -> Positions:
        """Band *b* holds the minima ``edges[b]`` up to ``edges[b + 1]``."""
        return np.arange(self.bands + 1, dtype=np.int64) * self.permutations // self.bands

    def meeting_probability(self, resemblance: float) -> float:
        """Tell how likely two documents of this resemblance become candidates."""
        return float(1.0 - np.prod(1.0 - float(resemblance) ** np.diff(self.edges)))

    @classmethod
    def choose(cls, *, permutations: int, threshold: float, recall: float) -> Self:
        """Take the fewest bands that let at least *recall* of the pairs at *threshold* meet.

        Fewer bands mean longer ones, so fewer strangers among the candidates.

        >>> Banding.choose(permutations=128, threshold=0.8, recall=0.999)
        Banding(permutations=128, bands=22)
        """
        for bands in range(1, permutations + 1):
            layout = cls(permutations=permutations, bands=bands)
            if layout.meeting_probability(threshold) >= recall:
                return layout
        reached = cls(permutations=permutations, bands=permutations).meeting_probability(threshold)
        rule = f"must be greater: at threshold {threshold} it reaches a recall of {reached:.4f}, and {recall} is wanted"
        raise ParameterError("permutations", permutations, rule)
