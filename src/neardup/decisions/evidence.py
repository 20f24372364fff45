"""How much two documents have in common, measured on their feature sets."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup.kernels.sets import intersections, make_distinct
from neardup.model.arrays import Features, Flags, Positions, Words

Shares = npt.NDArray[np.float64]


class FeatureSets:
    """The features of all documents, made sets where somebody asks.

    Repeats are removed in place, document by document, the first time it matters: most documents
    are never compared with any other.
    """

    def __init__(self, features: Features) -> None:
        self.values: Words = features.values
        self.starts: Positions = features.offsets[:-1]
        self.sizes: Positions = np.diff(features.offsets)
        self._distinct: Flags = np.zeros(len(features), np.bool_)

    def ensure_distinct(self, documents: Positions) -> None:
        """Remove the repeats of these documents."""
        new = np.unique(documents[~self._distinct[documents]])
        make_distinct(self.values, self.starts, self.sizes, new)
        self._distinct[new] = True


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """Of pairs (A, B): ``|A & B|``, ``|A|`` and ``|B|``. A share with nothing to divide by is 0."""

    shared: Positions
    left: Positions
    right: Positions

    @property
    def resemblance(self) -> Shares:
        """``|A & B| / |A | B|``."""
        return _share(self.shared, self.left + self.right - self.shared)

    @property
    def left_in_right(self) -> Shares:
        """Containment of A in B, ``|A & B| / |A|``."""
        return _share(self.shared, self.left)

    @property
    def right_in_left(self) -> Shares:
        """Containment of B in A, ``|A & B| / |B|``."""
        return _share(self.shared, self.right)


def overlap(sets: FeatureSets, left: Positions, right: Positions) -> Overlap:
    """Measure the pairs ``(left[i], right[i])`` exactly."""
    sets.ensure_distinct(np.concatenate([left, right]))
    shared = np.empty(len(left), np.int64)
    intersections(sets.values, sets.starts, sets.sizes, left, right, shared)
    return Overlap(shared, sets.sizes[left], sets.sizes[right])


def _share(part: Positions, whole: Positions) -> Shares:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
