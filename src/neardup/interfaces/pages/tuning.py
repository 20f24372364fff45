"""A tuning as one HTML page: the recommended rule, its curve with the chosen point, and the other rules."""

from neardup.evaluation.plans import Curve
from neardup.evaluation.tuning import Tuning
from neardup.interfaces.pages.drawing import FIFTHS, Frame, document, path, text
from neardup.interfaces.pages.templates import render, safe
from neardup.interfaces.wording.numbers import percentage
from neardup.interfaces.wording.tunings import rule_rows, threshold_of, tuning_lines


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
