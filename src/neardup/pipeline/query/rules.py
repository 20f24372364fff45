"""The rules by which ranked hits are collapsed."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from neardup.model.errors import require, require_whole
from neardup.model.protocols import require_scheme


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

    Values are strings or integers. *of* maps the value of the field to the value to compare, such as
    ``neardup.urls.host`` for an address. Hits without a value (``None``), and those that *of* maps to ``None``, are in
    no group.
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
