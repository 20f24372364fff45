"""The laws that the schemes' rules follow."""

from math import ceil, lgamma

import numpy as np
import numpy.typing as npt

Chances = npt.NDArray[np.float64]


def is_share(value: object) -> bool:
    """Say whether a parameter is a number above 0 and at most 1."""
    number = isinstance(value, int | float | np.floating) and not isinstance(value, bool)
    return number and bool(0 < value <= 1)  # type: ignore[operator]  # a number by now


def least_count(whole: int, threshold: float) -> int:
    """Find the smallest count whose share of *whole* reaches the threshold, in floating point as ``matches`` has it."""
    count = max(0, ceil(threshold * whole) - 1)
    while count / whole < threshold:
        count += 1
    return count


def binomial_tail(trials: int, needed: int, chance: Chances) -> Chances:
    """``P[Binomial(trials, chance) >= needed]``, one number a chance."""
    return np.asarray(np.minimum(binomial_terms(trials, needed, chance).sum(axis=1), 1.0))


def binomial_terms(trials: int, first: int, chance: Chances) -> Chances:
    """``P[Binomial(trials, chance) == k]`` for k from *first* to *trials*, by logarithms; one row a chance."""
    counts = np.arange(first, trials + 1)
    ways = np.array([lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1) for k in counts])
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = np.where(counts == 0, 0.0, counts * np.log(chance)[:, None])
        misses = np.where(trials - counts == 0, 0.0, (trials - counts) * np.log1p(-chance)[:, None])
    return np.asarray(np.exp(ways + hits + misses))
