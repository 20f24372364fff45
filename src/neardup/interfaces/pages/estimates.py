"""Audits and tunings as HTML pages: estimates with their intervals, and what to look at."""

from typing import Final

from neardup.evaluation.audit import Audit, Band
from neardup.evaluation.plans import Curve
from neardup.evaluation.tuning import Tuning
from neardup.interfaces.pages.drawing import BASE, FIFTHS, Frame, bar, document, path, text
from neardup.interfaces.pages.templates import render, safe
from neardup.interfaces.wording.estimates import (
    audit_lines,
    band_name,
    band_rows,
    estimate,
    missed_line,
    rule_rows,
    threshold_of,
    tuning_lines,
)
from neardup.interfaces.wording.excerpts import compared
from neardup.interfaces.wording.numbers import percentage

_SHOWN: Final = 1_600  # characters of a text, more or less
_CONTEXT: Final = 80  # characters of a shared passage that are shown at each end


def audit_page(audit: Audit) -> bytes:
    """Render an audit: UTF-8. The same audit gives the same bytes."""
    return render(
        "audit",
        audit=audit,
        lines=audit_lines(audit),
        tiles=(("recall", estimate(audit.recall)), ("precision", estimate(audit.precision))),
        rows=band_rows(audit),
        chart=safe(bands_svg(audit)) if audit.bands else None,
        missed=[
            (missed_line(one), *compared(one.text, one.partner_text, _CONTEXT, characters=_SHOWN))
            for one in audit.missed
        ],
    )


def bands_svg(audit: Audit) -> str:
    """Draw the recall of each band with its interval, and what the law predicts."""
    bands = audit.bands
    low = min([*(band.recall.low for band in bands), *(band.predicted or 1.0 for band in bands)])
    least = min(int(10 * low) / 10, 0.9)  # if all documents were drawn, every recall may be exactly 1
    frame = Frame((0, len(bands)), (least, 1.0))
    ticks = [least + (1 - least) * step / 5 for step in range(6)]
    measure = f"{audit.measure} of the closest kept document"
    parts = [*frame.axes(((), percentage, measure), (ticks, percentage, "recall"))]
    for number, band in enumerate(bands):
        parts += _bar(frame, number, band)
    return document("Recall by band", parts)


def _bar(frame: Frame, number: int, band: Band) -> list[str]:
    x, next_ = frame.x(number + 0.2), frame.x(number + 0.8)
    middle, value = (x + next_) / 2, band.recall.value or 0.0
    high, low = frame.y(band.recall.high), frame.y(band.recall.low)
    parts = [
        bar(x, frame.y(value), next_ - x, estimate(band.recall)),
        f'<line class="c1" stroke-width="2" x1="{middle:.1f}" y1="{high:.1f}" x2="{middle:.1f}" y2="{low:.1f}"/>',
        text(middle, BASE + 20, band_name(band), "middle"),
    ]
    if band.predicted is not None:
        y = frame.y(band.predicted)
        parts.append(f'<line class="c2" stroke-width="2" x1="{x:.1f}" y1="{y:.1f}" x2="{next_:.1f}" y2="{y:.1f}"/>')
    return parts


def tuning_page(tuning: Tuning, settings: str) -> bytes:
    """Render a tuning, with the text of the file of *settings*: UTF-8. The same tuning gives the same bytes."""
    return render(
        "tuning",
        tuning=tuning,
        settings=settings,
        lines=tuning_lines(tuning),
        rows=rule_rows(tuning),
        chart=safe(tuning_svg(tuning)),
    )


def tuning_svg(tuning: Tuning) -> str:
    """Draw precision against recall of the recommended rule, a point for each threshold; the chosen one is marked."""
    points = [*zip(tuning.recall, tuning.precision, tuning.thresholds, strict=True)][::-1]  # recall ascends
    curve = Curve(
        name=tuning.chosen.name,
        measure="recall",
        values=tuple(recall for recall, _, _ in points),
        probabilities=tuple(precision for _, precision, _ in points),
    )
    frame = Frame((0, 1), (0, 1))
    recall, precision, _ = min(points, key=lambda point: abs(point[2] - tuning.chosen.threshold))
    x, y, late = frame.x(recall), frame.y(precision), recall > 1 / 2
    label = threshold_of(tuning.chosen)
    parts = [
        *frame.axes((FIFTHS, percentage, "recall"), (FIFTHS, percentage, "precision")),
        path(curve, frame, 0, 1),
        f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="6"><title>{label}</title></circle>',
        text(x + (-10 if late else 10), y + 20, label, "end halo" if late else "start halo"),
    ]
    return document(tuning.chosen.name, parts)
