"""What a collapse of ranked hits answers: groups of those that stay, and what each hides."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit that stays: its *id*, its *rank* among all hits, from 0, and what was *given* of it."""

    id: Any
    rank: int
    given: Any


@dataclass(frozen=True, slots=True)
class HiddenHit:
    """A hit that goes because it matches *of*, a better-ranked hit that stays.

    *rule* is the name of the rule, and *measure* of what it looks at. *value* is what it found there, for equal values
    the value itself, and *threshold* what the value was held against, ``None`` for equal values.
    """

    id: Any
    rank: int
    given: Any
    of: Any
    rule: str
    measure: str
    value: Any
    threshold: float | None


@dataclass(frozen=True, slots=True)
class HitGroup:
    """Hits that belong together, best first: those *kept* and those *hidden*; it *hides* so many in all.

    The *id*, of 63 bits, is a digest of that of its first hit.
    """

    id: int
    kept: tuple[Hit, ...]
    hidden: tuple[HiddenHit, ...]
    hides: int
