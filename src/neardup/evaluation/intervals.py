"""Intervals of shares: what a sample shows about all documents."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from math import lgamma
from typing import Final

import numpy as np

from neardup.evaluation.plain_results import AsDict

CONFIDENCE: Final = 0.95
_LARGE: Final = 10_000_000  # from here on, the size of a population hardly matters
_TAIL: Final = (1 - CONFIDENCE) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated(AsDict):
    """A share with its interval of 95 %, from *low* to *high*; *value* is ``None`` if nothing is known of it."""

    value: float | None
    low: float
    high: float

    @property
    def width(self) -> float:
        """Half the width of the interval. Near 0 and 1, *value* is not in the middle, and nearly all is on one side."""
        return (self.high - self.low) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Share(Estimated):
    """A share of all documents of a kind, by *found* of *of* documents in the sample.

    *value* is ``found / of``, or ``None`` for an empty sample, whose interval is from 0 to 1.
    """

    found: int
    of: int


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
    return _share(found, of, population, population)


def share_of_kind(found: int, of: int, drawn: int, population: int) -> Share:
    """Estimate a share of the documents of one kind, whose number in the *population* is not known.

    A random sample of *drawn* documents has *of* documents of the kind, and *found* of these count. The number
    of documents of the kind is an estimate of ``share``, a range. The interval covers those of ``share`` for all
    numbers in this range, except for rounding to whole documents.

    >>> one = share_of_kind(19, 20, 800, 1000)
    >>> round(one.low, 2), round(one.high, 2)
    (0.86, 0.97)
    """
    whole = share(of, drawn, population)
    return _share(found, of, max(of, round(whole.low * population)), round(whole.high * population))


def _share(found: int, of: int, fewest: int, most: int) -> Share:
    """Return a share of *fewest* to *most* documents, with the union of the intervals for each of these numbers."""
    if of == 0:
        return Share(found=0, of=0, value=None, low=0.0, high=1.0)
    most = min(most, max(_LARGE, of))
    totals = range(min(fewest, most), most + 1)
    (least, total), (lacking, whole) = _least(found, of, totals), _least(of - found, of, totals)
    return Share(found=found, of=of, value=found / of, low=least / total, high=(whole - lacking) / whole)


def _least(found: int, of: int, totals: range) -> tuple[int, int]:
    """Return the least share of documents that count that is not unlikely: their number, and that of all documents.

    All documents are one of the *totals*. The more they are, the smaller is this share, but for steps of one document.
    So it is that of the last total; or of the first one with as many missing documents; or of the last one with one
    document less that counts. For some totals between, steps of both numbers may be smaller by less than one document.
    """
    missing, most = of - found, totals[-1]
    numbers = range(missing, most - found + 1)  # of missing documents in the population

    def likely(lacking: int, total: int) -> float:
        return _at_most(missing, of, lacking, total)

    lacking = numbers[max(0, bisect_left(numbers, -_TAIL, key=lambda number: -likely(number, most)) - 1)]
    first = totals[min(len(totals) - 1, bisect_right(totals, _TAIL, key=lambda total: likely(lacking, total)))]
    fewer = max(found, most - lacking - 1)
    last = bisect_left(totals, -_TAIL, key=lambda total: -likely(max(0, total - fewer), total))
    ends = [(first - lacking, first), *([(fewer, totals[last - 1])] if last else [])]
    return min(ends, key=lambda end: end[0] / end[1])


@np.errstate(under="ignore")  # chances too small for a float are 0
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
