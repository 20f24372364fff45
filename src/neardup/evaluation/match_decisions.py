"""The decision of ``dedup`` about two texts by a scheme, and the result of their signatures alone."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neardup.decisions.evidence import COSINE, distinct_sets, exact_measure
from neardup.evaluation.plain_results import AsDict
from neardup.kernels.segments import blank
from neardup.model.arrays import Features, Signatures, TextBatch
from neardup.schemes.plausibility import PlausiblePairs
from neardup.schemes.scheme import Scheme
from neardup.schemes.thresholds import thresholds_of
from neardup.text.columns import text_column, whole_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(AsDict):
    """The result of the signatures of two texts, which decides with ``verify="estimate"``.

    Texts without features have no signature: ``dedup`` drops them if they are equal byte by byte, with any *verify*.
    *rule* describes when they match; *value* is what the rule compares (*measure* is its name), and *threshold* the
    least value of a match. *detail* has further results by name. *value* is ``None`` if a text has no signature.
    """

    rule: str
    measure: str
    value: float | None
    threshold: float
    matches: bool
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchDecision(AsDict):
    """Whether two texts match by a scheme in ``dedup``, and why.

    *rule* describes when they match; *value* is the exact *measure* of both texts, *threshold* its least value for
    them. It is *verified* unless more than the texts was signed: then the signatures decide. *estimate* is the result
    of the signatures alone. *reason* explains why there is no value, or why texts do not match in spite of a sufficient
    value.
    """

    scheme: str
    matches: bool
    verified: bool
    rule: str
    measure: str
    value: float | None
    threshold: float
    estimate: Estimate
    reason: str | None = None

    def told_apart(self, written: str) -> str:
        """Return the *written* value, or the value with 12 digits if that reads as the threshold, but is below it."""
        misread = self.value is not None and self.value < self.threshold <= float(written)
        return f"{self.value:.12g}" if misread else written


def match_decision(scheme: Scheme, a: str, b: str, signatures: Signatures | None = None) -> MatchDecision:
    """Sign two texts, unless *signatures* are those of both, and decide as ``dedup`` does with ``verify="exact"``.

    *a* is the better-ranked one: by containment, *b* matches if enough of it is in *a*. Raises ``RecipeMismatch``.
    """
    signed = scheme.sign([a, b]) if signatures is None else signatures
    estimate = _estimate(scheme, signed)
    reason = _missing(scheme, signed)
    if scheme.columns:
        return _of_fields(scheme, [a, b], estimate, reason, verified=signatures is None)
    both = whole_batch(text_column([a, b]))
    value, smaller = _measured(scheme, scheme.shingling.batch_features(both))
    least = float(thresholds_of(scheme).of(*np.array([[0], [1], [smaller]]))[0])
    equal = reason is not None and a == b and not _is_blank(both)
    pairs, _ = PlausiblePairs(scheme, signed).of(np.arange(2), np.arange(0))
    plausible = reason is None and len(pairs) > 0
    enough = value >= least
    return MatchDecision(
        scheme=scheme.name,
        matches=equal or (plausible and enough),
        verified=True,
        rule=scheme.exact_rule,
        measure=scheme.rule,
        value=None if reason else value,
        threshold=least,
        estimate=estimate,
        reason=f"{reason}, but both are equal byte by byte"
        if equal
        else reason or (f"the signatures rule it out: {_read(estimate)}" if enough and not plausible else None),
    )


def _is_blank(texts: TextBatch) -> bool:
    """Return whether the first text has nothing but white space."""
    flags = np.empty(len(texts), np.bool_)
    blank(texts.data, texts.offsets, flags)
    return bool(flags[0])


def _measured(scheme: Any, features: Features) -> tuple[float, int]:
    """Return the exact measure of two documents, and the number of different features of the smaller one."""
    better, worse = np.array([0]), np.array([1])
    sets = distinct_sets(features, scheme.weight_table if scheme.rule == COSINE else None)
    return float(sets.measured(exact_measure(scheme.rule), worse, better)[0]), int(sets.smaller(worse, better)[0])


def _of_fields(
    scheme: Scheme, texts: list[str], estimate: Estimate, reason: str | None, *, verified: bool
) -> MatchDecision:
    """Compare fields byte by byte if nothing but their texts is known; otherwise their checksums decide."""
    matches, rule = estimate.matches, estimate.rule
    if verified:
        rule = scheme.exact_rule
        same = scheme.same_content(text_column(texts), np.array([0]), np.array([1]))
        matches = matches and bool(same[0])
    return MatchDecision(
        scheme=scheme.name,
        matches=matches,
        verified=verified,
        rule=rule,
        measure="equality",
        value=None if reason else float(matches),
        threshold=1.0,
        estimate=estimate,
        reason=reason,
    )


def _estimate(scheme: Any, signed: Signatures) -> Estimate:
    left, right = signed[1:], signed[:1]  # the better-ranked text comes first
    measure, value, threshold, detail = scheme.reading(left, right)
    missing = not signed.present.all()
    return Estimate(
        rule=scheme.signature_rule,
        measure=measure,
        value=None if missing else value,
        threshold=threshold,
        matches=bool(scheme.matches(left, right)[0]),
        detail={} if missing else detail,
    )


def _read(estimate: Estimate) -> str:
    if "second" in estimate.detail:
        parts = (Estimate(**estimate.detail[name]) for name in ("first", "second"))
        return " and ".join(_read(part) for part in parts if not part.matches)
    return f"{estimate.measure} {estimate.value:.4g}"


def _missing(scheme: Scheme, signed: Signatures) -> str | None:
    missing = [name for name, has in zip("AB", signed.present.tolist(), strict=True) if not has]
    if not missing:
        return None
    have = f"{' and '.join(missing)} {'has' if len(missing) == 1 else 'have'} no signature"
    if scheme.columns:
        return f"{have}: a required field is empty"
    shingling: Any = scheme.shingling
    other = "" if scheme.second_shingling is None else ", or nothing that the second scheme compares"
    return f"{have}: no {shingling.analysis.unit}s{other}" if hasattr(shingling, "size") else have
