"""Audits in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from neardup.interfaces.escaping import shortened
from neardup.interfaces.wording.numbers import decimals, percentage
from neardup.interfaces.wording.runs import threshold_words
from neardup.model.errors import counted

if TYPE_CHECKING:
    from neardup.evaluation.audit import Audit, Band, Missed
    from neardup.evaluation.intervals import Estimated

INTERVALS: Final = "in parentheses: intervals with a confidence of 95 %"

_NAME: Final = 60  # characters of an id
_LISTED: Final = 10
_REASONS: Final = {
    "no shared key": "their signatures share no key, so they were not candidates",
    "oversized bucket": "too many documents share their keys",
    "signature": "their signatures differ too much for a comparison of the texts",
    "unexplained": "a run with these options compares them; check that the options are those of the run",
}


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
        rule = f"of the dropped documents have a kept document with a {audit.measure} of at least"
        lines.append(f"precision {estimate(audit.precision)} {rule} {threshold_words(audit)}")
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
