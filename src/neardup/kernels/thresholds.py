"""The threshold of a pair of sets, which may depend on the pair."""

from typing import Any, NamedTuple

import numpy as np

from neardup.kernels.compile import kernel, njit

_ONE = np.uint64(1)
_NO_GROUPS = np.empty(0, np.uint64)
_NOTHING = np.zeros(2)


class Thresholds(NamedTuple):
    """The threshold of each pair of sets: the highest of those that apply to it.

    *base* applies to every pair. ``of_groups[g % 2]`` applies to two sets of one group *g*; 0 means that a set has no
    group, as all sets without *groups*. *of_short* applies if the smaller set has fewer than *short* values.
    """

    base: float
    groups: Any = _NO_GROUPS  # uint64[n]
    of_groups: Any = _NOTHING  # float64[2]
    short: int = 0
    of_short: float = 0.0

    @property
    def vary(self) -> bool:
        """Whether the threshold may depend on the pair."""
        return len(self.groups) > 0 or self.short > 0

    def at(self, sets: Any) -> "Thresholds":
        """Return the thresholds of some of the sets."""
        return self._replace(groups=self.groups[sets]) if len(self.groups) else self

    def of(self, left: Any, right: Any, smaller: Any) -> Any:
        """Return the threshold of each pair: float64[n]. *smaller* are the sizes of the smaller sets.

        ``None`` are unknown sizes: then no set is short.

        >>> two = np.array([4, 4, 7, 7, 0, 0], np.uint64)
        >>> pairs = np.array([0, 1, 3, 4]), np.array([1, 2, 2, 5])
        >>> Thresholds(0.6, two, np.array([0.8, 0.9])).of(*pairs, None).tolist()
        [0.8, 0.6, 0.9, 0.6]
        >>> Thresholds(0.6, short=50, of_short=0.7).of(*pairs, np.array([10, 49, 50, 90])).tolist()
        [0.7, 0.7, 0.6, 0.6]
        """
        found = np.full(len(left), self.base)
        if self.vary:
            known = self if smaller is not None else self._replace(short=0)
            of_pairs(left, right, left if smaller is None else smaller, known, found)
        return found


@njit
def required(one, other, smaller, thresholds):
    """Return the threshold of a pair of sets whose smaller set has *smaller* values."""
    least = thresholds.base
    groups = thresholds.groups
    if groups.size > 0 and groups[one] > 0 and groups[one] == groups[other]:
        least = max(least, thresholds.of_groups[groups[one] & _ONE])
    if smaller < thresholds.short:
        least = max(least, thresholds.of_short)
    return least


@kernel
def of_pairs(left, right, smaller, thresholds, found):
    """Write the threshold of each pair ``(left[i], right[i])`` whose smaller set has ``smaller[i]`` values."""
    for pair in range(left.size):
        found[pair] = required(left[pair], right[pair], smaller[pair], thresholds)
