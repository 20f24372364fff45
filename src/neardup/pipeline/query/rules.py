"""The rules by which ranked hits are collapsed, and how strict that of near duplicates is."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from neardup.model.errors import ParameterError, require, require_share, require_whole
from neardup.schemes.scheme import require_scheme


@dataclass(frozen=True, slots=True, kw_only=True)
class NearDuplicates:
    """A rule for near duplicates, by their signatures; of each group, the *keep* best hits are kept.

    *scheme* is by default that of the index, if there is one, otherwise ``MinHash()``. *text* is the field to sign if
    there are no signatures and no index.
    """

    scheme: Any = None
    text: str = "text"
    keep: int = 1

    def __post_init__(self) -> None:
        if self.scheme is not None:
            require_scheme(self.scheme, "ranked_rule")
        require(isinstance(self.text, str) and self.text != "", "text", self.text, "must be the name of a field")
        require_whole("keep", self.keep, 1)


@dataclass(frozen=True, slots=True)
class SameValue:
    """A rule for hits with the same value of a *field*; of each group, the *keep* best are kept.

    Values are strings or integers; whole floats below 2**53, as in a pandas column with missing values, are integers.
    *of* maps the value of the field to the value to compare, such as ``neardup.urls.host`` for an address. Hits without
    a value (``None`` or NaN), and those that *of* maps to one of these, are in no group.
    """

    field: str
    of: Callable[[Any], Any] | None = None
    keep: int = 1

    def __post_init__(self) -> None:
        require(isinstance(self.field, str) and self.field != "", "field", self.field, "must be the name of a field")
        holds = self.of is None or (callable(self.of) and isinstance(self.of, Hashable))  # caches need hashable rules
        require(holds, "of", self.of, "must be a function of a value")
        require_whole("keep", self.keep, 1)

    @property
    def name(self) -> str:
        """The name of the rule."""
        if self.of is None:
            return f"same {self.field}"
        return f"same {getattr(self.of, '__name__', 'value').replace('_', ' ')} of {self.field}"


Rule = NearDuplicates | SameValue


def at_threshold(scheme: Any, threshold: float, *, by_texts: bool = True) -> Any:
    """Return the scheme whose near duplicates have at least this measure: that of their texts, or of their signatures.

    That is the threshold itself for ``MinHash`` and ``Sentences``. For signatures of ``SimHash`` it is the largest
    distance whose estimated cosine reaches the threshold, and for ``Trials`` the fewest agreeing trials whose estimated
    resemblance reaches it. With *by_texts*, their texts need the threshold; their signatures need what the scheme
    requires, less below its own threshold, and more above its least estimate.

    >>> from neardup import MinHash, SimHash, Trials
    >>> at_threshold(SimHash(), 0.9, by_texts=False).distance, at_threshold(Trials(), 0.9, by_texts=False).needed
    (9, 2)
    >>> [(made.threshold, made.distance) for made in (at_threshold(SimHash(), share) for share in (0.7, 0.9, 0.99))]
    [(0.7, 16), (0.9, 3), (0.99, 2)]
    """
    signed = scheme.at_estimate(require_share("threshold", threshold))
    if not (by_texts and scheme.signatures_decide):
        return signed
    own = scheme.threshold <= threshold <= scheme.match_estimate
    return (scheme if own else signed).with_threshold(threshold)


@lru_cache(8)  # as every page of results asks for those of the same scheme
def steps_of(scheme: Any) -> Mapping[str, float]:
    """Name thresholds of a scheme from loose to strictest, with its own as the default; without a threshold, none.

    >>> from neardup import MinHash
    >>> dict(steps_of(MinHash(threshold=0.6)))
    {'loose': 0.4, 'default': 0.6, 'strict': 0.8, 'strictest': 0.95}
    """
    if scheme.match_estimate is None:
        return MappingProxyType({})
    default = float(scheme.threshold)
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
