"""A tuning as one HTML page: the recommended rule, its curve with the chosen point, and the other rules."""

from typing import TYPE_CHECKING

from neardup.evaluation.plans import Curve
from neardup.interfaces.pages.curves import curve_svg
from neardup.interfaces.pages.templates import render, safe
from neardup.interfaces.tunings import rule_rows, tuning_lines

if TYPE_CHECKING:
    from neardup.evaluation.tuning import Tuning


def tuning_page(tuning: "Tuning", settings: str) -> bytes:
    """Render a tuning, with the text of the file of *settings*: UTF-8. The same tuning gives the same bytes."""
    return render(
        "tuning",
        tuning=tuning,
        settings=settings,
        lines=tuning_lines(tuning),
        rows=rule_rows(tuning),
        chart=safe(tuning_svg(tuning)),
    )


def tuning_svg(tuning: "Tuning") -> str:
    """Draw precision, recall and F1 of the recommended rule against its threshold, with a line at the chosen one."""
    measure = "threshold: share of equal bits" if "distance" in tuning.chosen.settings else "threshold"
    curves = [
        Curve(name=name, measure=measure, values=tuning.thresholds, probabilities=shares)
        for name, shares in (("precision", tuning.precision), ("recall", tuning.recall), ("F1", tuning.f1))
    ]
    return curve_svg(curves, title=tuning.chosen.name, threshold=tuning.chosen.threshold)
