"""A scheme made stricter or looser, as its measure has it, without signing anything again."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from math import acos, ceil, cos, pi
from types import MappingProxyType
from typing import Any, Final

from neardup.model.errors import ParameterError, require
from neardup.schemes.combined import Combined
from neardup.schemes.minhash import MinHash
from neardup.schemes.sentences import Sentences
from neardup.schemes.simhash import SimHash
from neardup.schemes.trials import Trials

_ROUNDING: Final = 1e-9


def takes_threshold(scheme: Any) -> bool:
    """Tell whether there is more or less strict with a scheme's rule."""
    return isinstance(scheme, MinHash | Sentences | SimHash | Trials)


def threshold_of(scheme: Any) -> float | None:
    """Give the estimate from which signatures match, if it is that which decides.

    >>> round(threshold_of(SimHash()), 3), round(threshold_of(Trials()), 3), threshold_of(MinHash())
    (0.989, 0.925, 0.6)
    """
    if isinstance(scheme, SimHash):
        return max(0.0, cos(pi * scheme.distance / scheme.bits))
    if isinstance(scheme, Trials):
        return float((scheme.needed / scheme.trials) ** (1 / scheme.hashes))
    return float(scheme.threshold) if takes_threshold(scheme) else None


def least_estimate(scheme: Any) -> float:
    """Give what the estimate of a match is at least; of ``Combined``, whose estimate is the first scheme's, that one's.

    >>> round(least_estimate(SimHash(threshold=0.5)), 3), least_estimate(MinHash())
    (0.989, 0.6)
    """
    estimating = scheme.first if isinstance(scheme, Combined) else scheme
    least = threshold_of(estimating)
    return float(estimating.threshold) if least is None else least


def at_threshold(scheme: Any, threshold: float) -> Any:
    """Give the scheme whose signatures match from this estimate of its measure on.

    That is the threshold itself for ``MinHash`` and ``Sentences``; for ``SimHash`` the largest distance at which the
    estimated cosine reaches it, and for ``Trials`` the fewest that must agree for the estimated resemblance to.

    >>> at_threshold(SimHash(), 0.9).distance, at_threshold(Trials(), 0.9).needed
    (9, 2)
    """
    holds = isinstance(threshold, int | float) and not isinstance(threshold, bool) and 0 < threshold <= 1
    require(holds, "threshold", threshold, "must be above 0 and at most 1")
    if isinstance(scheme, SimHash):
        distance = int(acos(threshold) * scheme.bits / pi + _ROUNDING)
        return replace(scheme, distance=distance, blocks=None)
    if isinstance(scheme, Trials):
        return replace(scheme, needed=max(1, ceil(scheme.trials * threshold**scheme.hashes - _ROUNDING)))
    if not takes_threshold(scheme):
        raise ParameterError("threshold", threshold, f"does not go with the scheme {scheme.name}")
    try:
        return scheme.with_threshold(threshold)
    except ParameterError as error:  # a layout that nobody asks here would not do
        raise ParameterError("threshold", threshold, f"is too low for this {scheme.name}") from error


@lru_cache(8)  # as every page of results asks for those of the same scheme
def steps_of(scheme: Any) -> Mapping[str, float]:
    """Name thresholds of a scheme from loose to strictest, of which the usual one is its own; none if it has no such.

    >>> dict(steps_of(MinHash(threshold=0.6)))
    {'loose': 0.4, 'usual': 0.6, 'strict': 0.8, 'strictest': 0.95}
    """
    usual = threshold_of(scheme)
    if usual is None:
        return MappingProxyType({})
    apart = 1 - usual
    loose = max(usual - 2 * apart, usual * 2 / 3)
    steps = {"loose": loose, "usual": usual, "strict": usual + apart / 2, "strictest": usual + apart * 7 / 8}
    rounded = {name: round(step, 4) for name, step in steps.items()}
    return MappingProxyType(
        {name: step for name, step in rounded.items() if name == "usual" or _differs(scheme, step, rounded["usual"])}
    )


def _differs(scheme: Any, step: float, usual: float) -> bool:
    """Tell whether a step is another one than the usual, and can be had."""
    try:
        at_threshold(scheme, step)
    except ParameterError:
        return False
    return step != usual
