"""What an index answers about a document: whether it is new, and what it repeats."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, get_args


@dataclass(frozen=True, slots=True)
class New:
    """No admitted document has the same or nearly the same content."""

    name: ClassVar[str] = "new"
    representative: ClassVar[None] = None


@dataclass(frozen=True, slots=True)
class Empty:
    """There is nothing to compare: the document is empty, has no words, or lacks a field that is signed."""

    name: ClassVar[str] = "empty"
    representative: ClassVar[None] = None


@dataclass(frozen=True, slots=True)
class ExactDuplicate:
    """The same text, byte by byte, as document *of*, the first that was admitted with it.

    *representative* is that of *of*. If that was removed, it is chosen among the kept documents that this document
    itself matches, or ``None``. A verdict of ``Index.visit`` has ``None``, too, if no document of the cluster was
    passed on.
    """

    name: ClassVar[str] = "exact duplicate"
    of: str
    representative: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Nearly the same content as document *of*: the closest match, and the first admitted of equally close ones.

    Another text with equal features is a near duplicate of the first document that has these, by a value of 1, and has
    the representative of that document.

    *value* is the *measure* of the two documents: computed from the features of both texts if *verified*, otherwise the
    scheme's estimate. *representative* is the first admitted of the kept documents that this document itself matches,
    or the closest of them if the index was created with ``representative="closest"``. It is ``None`` if this document
    matches dropped documents only, because a chain of matches is not a reason to drop it. A verdict of ``Index.visit``
    has ``None``, too, if no document of the cluster was passed on.
    """

    name: ClassVar[str] = "near duplicate"
    of: str
    measure: str
    value: float
    verified: bool = False
    representative: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Known:
    """The address was admitted before, as document *of*; *changed* reports whether its content was different then.

    Texts with only white space count as equal content, unless the scheme signs them, as ``Checksum`` does.

    *representative* is that of *of*, which is *of* itself if it is kept. If the content has changed, it is the kept
    document that the new content repeats. It is ``None`` if there is no such document, and for a representative or
    changed content also if no document of the cluster was passed on (see ``Index.visit``).

    *resemblance* compares changed content with the version that was admitted last, and *contained* is the share of that
    version's features that the new content has, too: 1 if text was only added. Without texts in the index,
    *resemblance* is the scheme's estimate of its measure, and *contained* is ``None``. Both are ``None`` for equal
    content, and if one of the versions has no features.
    """

    name: ClassVar[str] = "known"
    of: str
    changed: bool = False
    representative: str | None = field(default=None, compare=False)
    resemblance: float | None = field(default=None, compare=False)
    contained: float | None = field(default=None, compare=False)


Verdict = New | Empty | ExactDuplicate | NearDuplicate | Known
_KINDS: Final[Mapping[str, Any]] = {kind.name: kind for kind in get_args(Verdict)}


def as_record(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as a record of plain values; the first field is its name."""
    return {"verdict": verdict.name, **{name: getattr(verdict, name) for name in verdict.__slots__}}


def from_record(record: Mapping[str, Any]) -> Verdict:
    """Return the verdict of a record; parts that are missing have their defaults, and others are ignored."""
    kind = _KINDS[record["verdict"]]
    verdict: Verdict = kind(**{part: record[part] for part in kind.__slots__ if part in record})
    return verdict
