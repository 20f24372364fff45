"""A scheme made stricter or looser, as its measure has it, without signing anything again."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from neardup.model.errors import ParameterError, require_share


def at_threshold(scheme: Any, threshold: float) -> Any:
    """Return the scheme whose signatures match from this estimate of its measure on.

    That is the threshold itself for ``MinHash`` and ``Sentences``; for ``SimHash`` the largest distance at which the
    estimated cosine reaches it, and for ``Trials`` the fewest that must agree for the estimated resemblance to.

    >>> from neardup import MinHash, SimHash, Trials
    >>> at_threshold(SimHash(), 0.9).distance, at_threshold(Trials(), 0.9).needed
    (9, 2)
    """
    return scheme.at_estimate(require_share("threshold", threshold))


@lru_cache(8)  # as every page of results asks for those of the same scheme
def steps_of(scheme: Any) -> Mapping[str, float]:
    """Name thresholds of a scheme from loose to strictest, with its own as the default; without a threshold, none.

    >>> from neardup import MinHash
    >>> dict(steps_of(MinHash(threshold=0.6)))
    {'loose': 0.4, 'default': 0.6, 'strict': 0.8, 'strictest': 0.95}
    """
    default = scheme.match_estimate
    if default is None:
        return MappingProxyType({})
    apart = 1 - default
    loose = max(default - 2 * apart, default * 2 / 3)
    steps = {"loose": loose, "default": default, "strict": default + apart / 2, "strictest": default + apart * 7 / 8}
    rounded = {name: round(step, 4) for name, step in steps.items()}
    return MappingProxyType(
        {
            name: step
            for name, step in rounded.items()
            if name == "default" or _differs(scheme, step, rounded["default"])
        }
    )


def _differs(scheme: Any, step: float, default: float) -> bool:
    """Return whether a step is different from the default, and possible."""
    try:
        at_threshold(scheme, step)
    except ParameterError:
        return False
    return step != default
