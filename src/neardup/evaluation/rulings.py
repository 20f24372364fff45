"""What a scheme's own rule says of two texts, in words and numbers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from neardup.model.arrays import Signatures
from neardup.model.protocols import FieldScheme, Scheme, require_scheme
from neardup.schemes.combined import Combined


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """One scheme's answer about two texts.

    *rule* says in words when it matches; *value* is what the rule looks at (*measure* names it) and
    *threshold* what it is held against. *detail* has what else the signatures tell, by name. Where a text
    has no signature, *value* is ``None``, nothing matches, and *reason* says why.
    """

    scheme: str
    rule: str
    measure: str
    value: float | None
    threshold: float
    matches: bool
    detail: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Give the ruling as plain values."""
        return {
            "scheme": self.scheme,
            "rule": self.rule,
            "measure": self.measure,
            "value": self.value,
            "threshold": self.threshold,
            "matches": self.matches,
            "detail": self.detail,
            "reason": self.reason,
        }


def ruling(scheme: Scheme, a: str, b: str, signatures: Signatures | None = None) -> Ruling:
    """Sign two texts, unless *signatures* are those of both, and ask the scheme's rule about them.

    Raises ``ParameterError`` for what is no scheme, and ``RecipeMismatch``.
    """
    require_scheme(scheme)
    if isinstance(scheme, Combined):
        return _of_both(scheme, a, b, signatures)
    signatures = scheme.sign([a, b]) if signatures is None else signatures
    read = _READINGS.get(scheme.name, _read_estimate)
    reading = read(scheme, signatures[:1], signatures[1:])
    present = signatures.present.tolist()
    reason = (
        None if all(present) else _reason(scheme, [name for name, has in zip("ab", present, strict=True) if not has])
    )
    return Ruling(
        scheme=scheme.name,
        rule=reading.rule,
        measure=reading.measure,
        value=None if reason else reading.value,
        threshold=reading.threshold,
        matches=bool(scheme.matches(signatures[:1], signatures[1:])[0]),
        detail={} if reason else reading.detail,
        reason=reason,
    )


def _of_both(scheme: Combined, a: str, b: str, signatures: Signatures | None) -> Ruling:
    """Ask each of two schemes; the value is how many of their rules match."""
    own = (None, None) if signatures is None else scheme.parts(signatures)
    parts = {"first": ruling(scheme.first, a, b, own[0]), "second": ruling(scheme.second, a, b, own[1])}
    first, second = parts.values()
    reason = first.reason or second.reason
    return Ruling(
        scheme=scheme.name,
        rule=f"{first.rule}; and {second.rule}",
        measure="rules that match",
        value=None if reason else float(first.matches + second.matches),
        threshold=2.0,
        matches=first.matches and second.matches,
        detail={} if reason else {name: part.as_dict() for name, part in parts.items()},
        reason=reason,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """How a scheme's rule reads, and what it looked at."""

    rule: str
    measure: str
    value: float
    threshold: float
    detail: dict[str, Any] = field(default_factory=dict)


def _read_estimate(scheme: Any, left: Signatures, right: Signatures) -> _Reading:
    return _Reading(
        rule=f"estimated {scheme.measure}{_of_shingles(scheme)} at least {scheme.threshold:g}",
        measure=f"estimated {scheme.measure}",
        value=float(scheme.estimate(left, right)[0]),
        threshold=float(scheme.threshold),
    )


def _read_checksum(scheme: Any, left: Signatures, right: Signatures) -> _Reading:
    return _Reading(
        rule=f"equal checksums of {' and '.join(map(_field_in_words, scheme.fields))}",
        measure="equality",
        value=float(scheme.estimate(left, right)[0]),
        threshold=1.0,
        detail={"checksums": [f"{int(sums.rows[0, 0]):016x}" for sums in (left, right)]},
    )


def _read_trials(scheme: Any, left: Signatures, right: Signatures) -> _Reading:
    agreeing = int((left.rows[0] == right.rows[0]).sum())
    return _Reading(
        rule=f"at least {scheme.needed} of {scheme.trials} trials of {_shingles(scheme)} agree",
        measure="agreeing trials",
        value=float(agreeing),
        threshold=float(scheme.needed),
        detail={
            "agreeing": agreeing,
            "trials": int(scheme.trials),
            f"estimated {scheme.measure}": float(scheme.estimate(left, right)[0]),
        },
    )


def _read_simhash(scheme: Any, left: Signatures, right: Signatures) -> _Reading:
    distance = int(scheme.distances(left, right)[0])
    return _Reading(
        rule=f"Hamming distance at most {scheme.distance} of {scheme.bits} bits",
        measure="Hamming distance",
        value=float(distance),
        threshold=float(scheme.distance),
        detail={"distance": distance, "bits": int(scheme.bits), "cosine": float(scheme.estimate(left, right)[0])},
    )


def _read_sentences(scheme: Any, left: Signatures, right: Signatures) -> _Reading:
    relative = " relative to the smaller set" if scheme.relative_to == "smaller" else ""
    return _Reading(
        rule=f"estimated {scheme.measure} of sets of sentences{relative} at least {scheme.threshold:g}",
        measure=f"estimated {scheme.measure}",
        value=float(scheme.estimate(left, right)[0]),
        threshold=float(scheme.threshold),
        detail={"relative_to": str(scheme.relative_to)},
    )


# A scheme that says more than an estimate has a reading of its own here.
_READINGS: dict[str, Callable[[Any, Signatures, Signatures], _Reading]] = {
    "checksum": _read_checksum,
    "sentences": _read_sentences,
    "simhash": _read_simhash,
    "trials": _read_trials,
}


def _of_shingles(scheme: Any) -> str:
    shingling = scheme.shingling
    return f" of {'bags' if shingling.bag else 'sets'} of {_shingles(scheme)}" if hasattr(shingling, "size") else ""


def _shingles(scheme: Any) -> str:
    return f"{scheme.shingling.size}-{scheme.shingling.analysis.unit} shingles"


def _field_in_words(part: Any) -> str:
    return f"{part.name}" if part.limit is None else f"the first {part.limit:,} bytes of {part.name}"


def _reason(scheme: Any, missing: list[str]) -> str:
    have = f"{' and '.join(missing)} {'has' if len(missing) == 1 else 'have'} no signature"
    if isinstance(scheme, FieldScheme):
        return f"{have}: a required field is empty"
    shingling = scheme.shingling
    if not hasattr(shingling, "size"):
        return have
    return f"{have}: no {shingling.analysis.unit}s"
