"""What an index answers about a document: whether it is new, and what it repeats."""

from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class New:
    """No admitted document says the same, or nearly."""

    name: ClassVar[str] = "new"
    kept: ClassVar[None] = None


@dataclass(frozen=True, slots=True)
class Empty:
    """There is nothing to compare: the document is empty, has no words, or lacks a field that is signed."""

    name: ClassVar[str] = "empty"
    kept: ClassVar[None] = None


@dataclass(frozen=True, slots=True)
class ExactDuplicate:
    """The same text, byte by byte, as that of document *of*, the first that was admitted with it.

    *kept* is that one's representative. If that was removed, it is the representative among the kept documents that it
    matches itself, or ``None``.
    """

    name: ClassVar[str] = "exact duplicate"
    of: str
    kept: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Nearly the same as document *of*, the closest of those that match; of equally close ones the first admitted.

    *value* is the *measure* of the two, *verified* on the features of both texts, or else the scheme's estimate.
    *kept* is its representative: of the kept documents that it matches itself, the first admitted, or the closest if
    the index was made with ``representative="closest"``. Where there is none, only a document matches that
    another one stands for: dropping it would go through a chain.
    """

    name: ClassVar[str] = "near duplicate"
    of: str
    measure: str
    value: float
    verified: bool = False
    kept: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Known:
    """The address was admitted before, as document *of*; *changed* says whether its content was another one then.

    *kept* is the document that stands for it: *of* itself, if none other does. Of changed content it is the kept
    document that this repeats, and ``None`` where there is none.
    """

    name: ClassVar[str] = "known"
    of: str
    changed: bool = False
    kept: str | None = field(default=None, compare=False)


Verdict = New | Empty | ExactDuplicate | NearDuplicate | Known


def as_record(verdict: Verdict) -> dict[str, Any]:
    """Give a verdict as a record of plain values, beginning with its name."""
    parts = {name: getattr(verdict, name) for name in verdict.__slots__}
    return {"verdict": verdict.name, **parts}
