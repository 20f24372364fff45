"""Which pairs to label next: over the whole range of resemblance, and more where the answers leave a doubt."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.model.arrays import Values
from neardup.model.labels import LabelledPair

FLOOR: Final = 0.2  # the least resemblance of pairs that are looked for
CONTAINED: Final = 0.5  # the least overlap of the smaller document in pairs below the floor that are looked for
MOST: Final = 3  # labels of pairs with a practically known answer

_EVEN: Final = 0.1  # how densely pairs are drawn where there is no doubt; at most doubt it is this plus 0.5
_KNOWN: Final = 0.05
_CENTRES: Final = np.linspace(0, 1.2, 61)  # of the resemblance from which on most pairs are the same
_STEEPNESS: Final = np.array([4.0, 8.0, 16.0, 32.0])
_PRIOR: Final = 0.3  # how far from the threshold the centre is expected
_MISTAKES: Final = 0.02  # of each answer
_HALF: Final = {"same": 1.0, "different": 0.0, "unsure": 0.5}


class LabelBand(NamedTuple):
    """A band of pairs: those with a resemblance from *low* to less than *high*.

    Below the floor there are two bands: *contained* pairs, where half of the smaller document or more is in the other
    one, and all other pairs. Pairs of equal features are a band, too.
    """

    low: float
    high: float
    contained: bool = False

    @property
    def known(self) -> bool:
        """Whether the answer is practically known."""
        return self.low == 1 or (self.high <= FLOOR and not self.contained)


_EDGES: Final = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
BANDS: Final = (
    LabelBand(0.0, FLOOR),
    LabelBand(0.0, FLOOR, contained=True),
    *(LabelBand(low, high) for low, high in pairwise(_EDGES)),
    LabelBand(1.0, np.inf),
)


def bands_of(resemblance: Values, overlap: Values) -> npt.NDArray[np.int64]:
    """Return the numbers of the bands of pairs with this resemblance, and this overlap of the smaller document."""
    bands = np.searchsorted(_EDGES, resemblance, side="right") + 1
    return np.where(resemblance >= FLOOR, bands, np.where(overlap >= CONTAINED, 1, 0)).astype(np.int64)


@np.errstate(under="ignore")  # chances too small for a float are 0
def likely_same(answers: Sequence[LabelledPair], resemblance: Values, threshold: float) -> Values:
    """Return the probability that a pair of each *resemblance* is the same, by the answers so far.

    The probability rises with the resemblance as a logistic curve does; the answers decide where and how fast. Without
    answers, it is expected to rise near *threshold*. A pair with the answer "unsure" counts half for each side.

    >>> likely_same([], np.array([0.1, 0.6, 1.0]), 0.6).round(1).tolist()
    [0.1, 0.5, 0.9]
    """
    known = [one for one in answers if one.resemblance is not None]
    places = np.array([one.resemblance for one in known], np.float64)
    same = np.array([_HALF[one.label] for one in known], np.float64)
    curves = _curves(places)
    logarithm = (same * np.log(curves) + (1 - same) * np.log(1 - curves)).sum(axis=2)
    logarithm = logarithm - ((_CENTRES[:, None] - threshold) / _PRIOR) ** 2 / 2
    weights = np.exp(logarithm - logarithm.max())
    return np.asarray(np.einsum("ck,ckn->n", weights / weights.sum(), _curves(resemblance)))


def next_band(
    answers: Sequence[LabelledPair], drawn: Sequence[int], left: Sequence[bool], threshold: float
) -> int | None:
    """Return the band from which to draw the next pair; ``None`` if no pair is left.

    *drawn* is how many pairs of each band have been drawn, *left* whether there are more. Bands get labels in
    proportion to the doubt in them (Webster's divisors), so that even those without doubt get some; those whose answer
    is practically known, three at most.
    """
    middles = np.array([min((band.low + band.high) / 2, 1.0) for band in BANDS])
    likely = likely_same(answers, middles, threshold)
    density = _EVEN + 2 * likely * (1 - likely)
    density[1] = 2 * _EVEN  # resemblance does not decide it
    density[[band.known for band in BANDS]] = _KNOWN
    urgency = density / (2 * np.array(drawn) + 1)
    for number, band in enumerate(BANDS):
        if not left[number] or (band.known and drawn[number] >= MOST):
            urgency[number] = 0.0
    best = int(np.argmax(urgency))
    return best if urgency[best] else None


def _curves(resemblance: Values) -> Values:
    """Return the probabilities at each resemblance, for every centre and steepness."""
    exponent = _STEEPNESS[None, :, None] * (resemblance[None, None, :] - _CENTRES[:, None, None])
    return np.asarray(_MISTAKES + (1 - 2 * _MISTAKES) / (1 + np.exp(-exponent)))
