"""The laws of the schemes: probabilities of a match by resemblance."""

from collections.abc import Callable
from functools import lru_cache
from math import ceil, lgamma
from typing import Any, Final

import numpy as np

from neardup.model.arrays import Values, shares

_CELLS: Final = 1 << 20  # elements of a table of chances by terms


@lru_cache(maxsize=1024)
def least_count(whole: int, threshold: float) -> int:
    """Return the smallest count whose share of *whole* reaches the threshold, with the rounding of ``matches``."""
    count = max(0, ceil(threshold * whole) - 1)
    while count / whole < threshold:
        count += 1
    return count


def binomial_tail(trials: int, needed: int, chance: Values) -> Values:
    """``P[Binomial(trials, chance) >= needed]``, one number per chance."""
    return np.asarray(np.minimum(binomial_terms(trials, needed, chance).sum(axis=1), 1.0))


def binomial_terms(trials: int, first: int, chance: Values) -> Values:
    """``P[Binomial(trials, chance) == k]`` for k from *first* to *trials*, by logarithms; one row per chance."""
    counts = np.arange(first, trials + 1)
    ways = np.array([lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1) for k in counts])
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        hits = np.where(counts == 0, 0.0, counts * np.log(chance)[:, None])
        misses = np.where(trials - counts == 0, 0.0, (trials - counts) * np.log1p(-chance)[:, None])
        return np.asarray(np.exp(ways + hits + misses))


def sample_law(share: Any, size: int, threshold: float) -> Any:
    """``P[Binomial(size, share) >= threshold * size]``: a sampled share reaches the threshold.

    The law of ``MinHash`` (*share* is the resemblance, *size* the number of minima) and of ``Sentences``. *share* is a
    number from 0 to 1 or an array, and so is the result.

    >>> float(sample_law(0.5, 2, 0.75))  # both of two
    0.25
    """
    return _each(shares(share), lambda chance: binomial_tail(size, least_count(size, threshold), chance), size)


def smallest_law(resemblance: Any, size: int) -> Any:
    """``1 - 2 * sum(C(size - 1 + j, j) * q**(size + j) for j < size)``, q = (1 - resemblance) / 2: any value shared.

    Two documents each have their *size* smallest values. In ascending order, each value is in both with the probability
    of their resemblance, otherwise in one of them, each with probability q. No value is shared if one document has
    *size* values before the first common one; the other then has *j*. The law is for documents of equal length with
    many more values than *size*; documents of different length share a value less often.

    >>> float(smallest_law(0.5, 1))  # the smallest of all is in both
    0.5
    """
    counts = np.arange(size)
    ways = np.array([lgamma(size + j) - lgamma(j + 1) - lgamma(size) for j in counts])

    def law(chance: Values) -> Values:
        with np.errstate(divide="ignore"):
            alone = np.log((1.0 - chance) / 2.0)[:, None]
        return np.asarray(np.clip(1.0 - 2.0 * np.exp(ways + (size + counts) * alone).sum(axis=1), 0.0, 1.0))

    return _each(shares(resemblance), law, size)


@np.errstate(under="ignore")  # chances too small for a float are 0
def trials_law(resemblance: Any, hashes: Any, trials: int, needed: int) -> Any:
    """``P[Binomial(trials, resemblance**hashes) >= needed]``: enough trials agree, each in all of its minima.

    This is the rule of enterprise search engines. With *needed* = 2 it is ``1 - ((1-q)**n + n*q*(1-q)**(n-1))``, where
    q = resemblance**hashes and n = trials. *resemblance* and *hashes* may be arrays that broadcast.

    >>> round(100 * float(trials_law(0.8, 14, 6, 2)), 2)  # the table once published prints 3.0
    2.58
    """
    return _each(shares(resemblance) ** np.asarray(hashes), lambda chance: binomial_tail(trials, needed, chance))


def bands_and_sample_law(resemblance: Any, permutations: int, bands: int, threshold: float) -> Any:
    """Return the probability that two sketches share a whole band *and* enough equal minima for the threshold.

    The two events are strongly dependent, so the probability is computed exactly. The number of equal minima in a band,
    excluding the case of a whole equal band, follows the binomial law without its last term. Bands are independent, so
    the sum over bands is a convolution. Its tail from the least count is the probability of reaching the threshold
    without sharing a band. It is computed by Fourier transforms, with an error of about 1e-12, and rounded accordingly.

    >>> float(bands_and_sample_law(0.5, 2, 1, 0.5))  # one band of both
    0.25
    """
    rows, longer = divmod(permutations, bands)
    least = least_count(permutations, threshold)

    def apart(size: int, times: int, chance: float) -> Any:
        terms = binomial_terms(size, 0, np.array([chance]))[0]
        terms[-1] = 0.0
        return np.fft.rfft(terms, permutations + 1) ** times

    def law(chance: Values) -> Values:
        tail = binomial_tail(permutations, least, chance)
        for place, one in enumerate(chance.tolist()):
            spectrum = apart(rows, bands - longer, one) * (apart(rows + 1, longer, one) if longer else 1.0)
            tail[place] -= np.fft.irfft(spectrum, permutations + 1)[least:].sum()
        return np.asarray(np.clip(tail.round(12), 0.0, 1.0) + 0.0)  # no -0.0

    return _each(shares(resemblance), law, permutations)


def bit_agreement(cosine: Any) -> Any:
    """``1 - arccos(cosine) / pi``: a bit of two SimHash fingerprints is equal (Charikar 2002).

    >>> round(float(bit_agreement(0.5)), 4)
    0.6667
    """
    return 1.0 - np.arccos(np.clip(cosine, -1.0, 1.0)) / np.pi


def hamming_law(cosine: Any, bits: int, distance: int) -> Any:
    """``P[Binomial(bits, arccos(cosine) / pi) <= distance]``: two fingerprints differ in few enough bits.

    >>> round(float(hamming_law(0.0, 2, 1)), 12)  # each bit differs with probability 1/2
    0.75
    """
    return _each(bit_agreement(cosine), lambda chance: binomial_tail(bits, bits - distance, chance), bits)


@np.errstate(under="ignore")  # chances too small for a float are 0
def _each(chance: Any, law: Callable[[Values], Values], terms: int = 1) -> Any:
    """Apply a law of flat arrays to a number or an array of any shape, in parts that take little memory."""
    chances = np.asarray(chance, np.float64)
    flat = chances.reshape(-1)
    step = max(1, _CELLS // terms)
    parts = [law(flat[begin : begin + step]) for begin in range(0, len(flat), step)]
    return np.concatenate([np.empty(0), *parts]).reshape(chances.shape)[()]
