"""The rules by which ranked hits are collapsed."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from neardup.model.errors import require, require_whole
from neardup.model.protocols import require_scheme


@dataclass(frozen=True, slots=True, kw_only=True)
class NearDuplicates:
    """Hits that a scheme calls the same, by their signatures; of a group the *keep* best stay.

    *scheme* is that of the index where one is asked, else ``MinHash()`` by default. *text* is the field that is signed
    if neither signatures nor an index are given.
    """

    scheme: Any = None
    text: str = "text"
    keep: int = 1

    def __post_init__(self) -> None:
        if self.scheme is not None:
            require_scheme(self.scheme, "ranked_rule")
        require(isinstance(self.text, str) and self.text != "", "text", self.text, "must be a field's name")
        require_whole("keep", self.keep, 1)


@dataclass(frozen=True, slots=True)
class SameValue:
    """Hits of which a field says the same, a string or an integer; of a group the *keep* best stay.

    *of* makes the value of what the field holds, such as ``neardup.urls.host`` of an address. A hit without a value
    (``None``), or one of which *of* makes ``None``, is in no group.
    """

    field: str
    of: Callable[[Any], Any] | None = None
    keep: int = 1

    def __post_init__(self) -> None:
        require(isinstance(self.field, str) and self.field != "", "field", self.field, "must be a field's name")
        holds = self.of is None or (callable(self.of) and isinstance(self.of, Hashable))  # as caches ask of rules
        require(holds, "of", self.of, "must be a function of a value")
        require_whole("keep", self.keep, 1)

    @property
    def name(self) -> str:
        """What the rule is called."""
        if self.of is None:
            return f"same {self.field}"
        return f"same {getattr(self.of, '__name__', 'value').replace('_', ' ')} of {self.field}"


Rule = NearDuplicates | SameValue
