"""Intervals of shares: what a sample shows about all documents."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from math import lgamma
from typing import Final

import numpy as np

from neardup.evaluation.rulings import AsDict

CONFIDENCE: Final = 0.95
_LARGE: Final = 10_000_000  # from here on, the size of a population hardly matters
_TAIL: Final = (1 - CONFIDENCE) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Share(AsDict):
    """A share of all documents of a kind: *found* of *of* documents in the sample, with its interval of 95 %.

    *value* is ``found / of``, or ``None`` for an empty sample, whose interval is from 0 to 1.
    """

    found: int
    of: int
    value: float | None
    low: float
    high: float

    @property
    def width(self) -> float:
        """Half the interval: how far the share of all documents may be from *value*, more or less."""
        return (self.high - self.low) / 2


def share(found: int, of: int, population: int) -> Share:
    """Estimate a share in a *population* from a random sample without repeats: *found* of its *of* documents count.

    The interval has the numbers *K* of documents in the population for which neither at most nor at least *found* would
    be less likely than 2.5 %, by the hypergeometric distribution; the outcome itself counts half ("mid-P", Lancaster
    1961). So 95 % of such intervals hold the true share, more or less, also near 0 and 1, where it ends at 0 or 1 if
    all or none are found. A sample of everything has no doubt left.

    >>> one = share(19, 20, 1000)
    >>> round(one.low, 2), round(one.high, 2)
    (0.78, 1.0)
    """
    if of == 0:
        return Share(found=0, of=0, value=None, low=0.0, high=1.0)
    population = min(population, max(_LARGE, of))
    numbers = range(of - found, population - found + 1)  # of missing documents in the population

    def unlikely(number: int) -> float:
        return -_at_most(of - found, of, number, population)

    most = numbers[max(0, bisect_left(numbers, -_TAIL, key=unlikely) - 1)]
    least = numbers[min(len(numbers) - 1, bisect_right(numbers, _TAIL - 1, key=unlikely))]
    low, high = ((population - number) / population for number in (most, least))
    return Share(found=found, of=of, value=found / of, low=low, high=high)


def _at_most(missing: int, of: int, marked: int, population: int) -> float:
    """Return the probability that at most *missing* of *of* drawn documents are *marked*; equality counts half."""
    others = population - marked
    begin = max(0, of - others)
    if missing < begin:
        return 0.0
    drawn = np.arange(begin, min(missing, marked))
    ratios = np.log(marked - drawn) + np.log(of - drawn) - np.log(drawn + 1) - np.log(others - of + drawn + 1)
    first = _choices(marked, begin) + _choices(others, of - begin) - _choices(population, of)
    terms = np.exp(first + np.concatenate([[0.0], np.cumsum(ratios)]))
    exactly = terms[-1] if missing <= marked else 0.0
    return float(min(1.0, terms.sum() - exactly / 2))


def _choices(all_: int, chosen: int) -> float:
    return lgamma(all_ + 1) - lgamma(chosen + 1) - lgamma(all_ - chosen + 1)
