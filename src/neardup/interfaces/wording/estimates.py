"""Audits and tunings in words."""

from collections.abc import Sequence
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Final

from neardup.interfaces.escaping import shortened
from neardup.interfaces.wording.numbers import decimals, percentage
from neardup.interfaces.wording.runs import threshold_words
from neardup.model.errors import counted

if TYPE_CHECKING:
    from neardup.evaluation.audit import Audit, Band, Missed
    from neardup.evaluation.intervals import Estimated
    from neardup.evaluation.tuning import TunedRule, Tuning

INTERVALS: Final = "in parentheses: intervals with a confidence of 95 %"

_NAME: Final = 60  # characters of an id
_LISTED: Final = 10
_REASONS: Final = {
    "no shared key": "their signatures share no key, so they were not candidates",
    "oversized bucket": "too many documents share their keys",
    "signature": "their signatures differ too much for a comparison of the texts",
    "unexplained": "a run with these options compares them; check that the options are those of the run",
}
LEAST: Final = 20  # labels, below which they show little
WIDE: Final = 0.15  # half the width from which on an interval is unreliable (Parker et al. 2017, for health statistics)
_RULES: Final = 8


def estimate(found: "Estimated", digits: int | None = None) -> str:
    """Return a share with its interval, if it has one: ``98.5 % (97.9 % to 99 %)``; *digits* are those of shares."""
    if found.value is None:
        return "unknown"
    value, low, high = (
        percentage(share if digits is None else round(share, digits)) for share in (found.value, found.low, found.high)
    )
    return value if found.low == found.high else f"{value} ({low} to {high})"


def audit_lines(audit: "Audit") -> list[str]:
    """Describe what an audit found."""
    recall = audit.recall
    lines = [f"{audit.sample:,} of {counted(audit.documents, 'document')} drawn and compared with all kept documents"]
    earlier = "dropped for documents of earlier runs, which are not in the inputs; they are left out of the figures"
    for number, what, rule in (
        (audit.rejected, "record", "rejected, in no figure; neardup dedup lists them"),
        (audit.without_text, "document", "without text, which match nothing"),
        (audit.quoted_lines, "record", "with line ends inside quotation marks"),
        (audit.known, "document", earlier),
    ):
        if number:
            lines.append(f"{counted(number, what)} {rule}")
    if recall.value is None:
        lines.append("recall unknown: no document of the sample is a duplicate")
    else:
        lines.append(f"recall {estimate(recall)}: {recall.found:,} of {counted(recall.of, 'duplicate')} dropped")
    if audit.predicted is not None:
        lines.append(f"expected by the law of {audit.scheme}: {percentage(audit.predicted)}")
    if audit.precision.value is not None:
        matched = (
            f"{audit.precision.found:,} of {counted(audit.precision.of, 'dropped document')} match a kept document"
        )
        rule = f"{audit.measure} at least {threshold_words(audit)}"
        lines.append(f"precision {estimate(audit.precision)}: {matched}, {rule}")
    for reason, found in audit.reasons.items():
        lines.append(f"missed {estimate(found)} of the duplicates: {_REASONS[reason]}")
    if audit.below.value:
        rule = f"of the kept documents have a better-ranked kept document with a {audit.measure} at most 0.1 below it"
        lines.append(f"just below the threshold: {estimate(audit.below)} {rule}")
    if recall.value is not None and recall.low < recall.high:
        lines.append(INTERVALS)
    if audit.needed is not None:
        needed = counted(audit.needed, "document")
        lines.append(f"for an interval of the requested width, about {needed} must be drawn")
    return lines


def band_rows(audit: "Audit") -> list[tuple[str, ...]]:
    """Return the recall by the measure of the closest kept document, with a head; nothing without duplicates."""
    rows: list[tuple[str, ...]] = [
        (audit.measure, "duplicates", "dropped", "recall", "" if audit.predicted is None else "expected")
    ]
    for band in audit.bands:
        law = "" if band.predicted is None else percentage(band.predicted)
        rows.append((band_name(band), f"{band.recall.of:,}", f"{band.recall.found:,}", estimate(band.recall), law))
    return rows if audit.bands else []


def band_name(band: "Band") -> str:
    """Return the values of a band."""
    return "1" if band.low == 1 else f"{band.low:g} to {band.high:g}"


def table_lines(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a table as aligned lines, after an empty one."""
    from neardup.evaluation.plans import aligned

    return ["", *aligned(rows)] if rows else []


def missed_lines(audit: "Audit") -> list[str]:
    """Name the closest missed documents of the sample."""
    if not audit.missed:
        return []
    number = audit.recall.of - audit.recall.found
    order = ", the closest ones first" if number > 1 else ""
    if number > _LISTED:
        order = f"; the {_LISTED} closest ones"
    lines = ["", f"{counted(number, 'missed document')}{order}:"]
    return [*lines, *(f"  {missed_line(one)}" for one in audit.missed[:_LISTED])]


def missed_line(one: "Missed") -> str:
    """Describe a missed document."""
    names = f"{shortened(one.id, _NAME)} is kept next to {shortened(one.partner, _NAME)}"
    return f"{decimals(one.value)} {names}: {_REASONS[one.reason]}"


_estimate: Final = partial(estimate, digits=3)


def tuning_lines(tuning: "Tuning") -> list[str]:
    """Describe what the labels show."""
    chosen, pairs = tuning.chosen, counted(tuning.labels, "labelled pair")
    unsure = f"; {counted(tuning.unsure, 'unsure one')} left out" if tuning.unsure else ""
    lines = [f"{pairs}, {tuning.same:,} of them the same{unsure}"]
    if not tuning.reaches:
        lines.append(f"on other labels, no rule is expected to reach {tuning.goal}; the nearest is:")
    expected = tuning.expected
    lines += [
        f"{chosen.name}, {threshold_of(chosen)}",
        f"F1 {_estimate(expected.f1)}, expected on other labels",
        f"precision {_estimate(expected.precision)}: the share of the dropped pairs that are the same",
        f"recall {_estimate(expected.recall)}: the share of the pairs that are the same that are dropped",
        "this is the default rule: no other rule is expected to be better on other labels"
        if tuning.keeps_default
        else f"the default rule, with threshold {tuning.default.threshold:g}: F1 {_estimate(tuning.default.shares.f1)}",
    ]
    if chosen.settings.get("measure") == "overlap":
        lines.append("if a part of a document is first, this rule keeps the part: --keep longest keeps the document")
    lines.append(INTERVALS)
    if tuning.reaches and not tuning.certain:
        lines.append(f"the labels do not yet prove {tuning.goal}: its interval begins below that")
    if tuning.indiscriminate:
        lines.append(
            f"of random pairs without a label, {percentage(round(chosen.unlabelled, 3))} match by this rule, and many"
            " by every other one: it may drop unrelated documents, so label more pairs"
        )
    if tuning.labels < LEAST:
        lines.append(f"fewer than {LEAST} labels show little: label more pairs")
    goal = tuning.goal.partition(">=")[0].strip()
    part, interval = goal.replace("f1", "F1"), getattr(expected, goal)
    if interval.width > WIDE:
        number = ceil(tuning.labels * (interval.width / WIDE) ** 2)
        lines.append(f"the interval of {part} is too wide to be of use: label at least {number:,} pairs in all")
    elif tuning.needed > tuning.labels:
        lines.append(f"about {tuning.needed:,} labels would narrow the interval of {part} to 2 % on each side")
    return lines


def rule_rows(tuning: "Tuning") -> list[tuple[str, ...]]:
    """Return the best rules and the default one, with a head."""
    rows: list[tuple[str, ...]] = [("rule", "from", "F1", "precision", "recall")]
    others = [rule for rule in tuning.rules if rule is not tuning.default]
    rows += [_row(rule, rule.name) for rule in others[:_RULES]]
    return [*rows, _row(tuning.default, f"{tuning.default.name}, by default")]


def _row(rule: "TunedRule", name: str) -> tuple[str, ...]:
    parts = (_estimate(part) for part in (rule.shares.f1, rule.shares.precision, rule.shares.recall))
    return name, threshold_of(rule), *parts


def threshold_of(rule: "TunedRule") -> str:
    """Return the threshold, or the distance of fingerprints instead of one."""
    if rule.settings.get("verify") == "estimate":
        return f"distance {rule.settings['distance']}"
    words, short = f"threshold {rule.threshold:g}", rule.settings.get("short")
    return words if short is None else f"{words}, or {rule.settings['short_threshold']:g} below {short:,} shingles"
