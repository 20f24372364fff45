"""A scheme made stricter or looser, as its measure has it, without signing anything again."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from neardup.model.errors import ParameterError, require_share


def at_threshold(scheme: Any, threshold: float) -> Any:
    """Give the scheme whose signatures match from this estimate of its measure on.

    That is the threshold itself for ``MinHash`` and ``Sentences``; for ``SimHash`` the largest distance at which the
    estimated cosine reaches it, and for ``Trials`` the fewest that must agree for the estimated resemblance to.

    >>> from neardup import MinHash, SimHash, Trials
    >>> at_threshold(SimHash(), 0.9).distance, at_threshold(Trials(), 0.9).needed
    (9, 2)
    """
    return scheme.at_estimate(require_share("threshold", threshold))


@lru_cache(8)  # as every page of results asks for those of the same scheme
def steps_of(scheme: Any) -> Mapping[str, float]:
    """Name thresholds of a scheme from loose to strictest, of which the usual one is its own; none if it has no such.

    >>> from neardup import MinHash
    >>> dict(steps_of(MinHash(threshold=0.6)))
    {'loose': 0.4, 'usual': 0.6, 'strict': 0.8, 'strictest': 0.95}
    """
    usual = scheme.match_estimate
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
