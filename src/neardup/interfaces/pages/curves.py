"""Curves of probabilities."""

from collections.abc import Iterable, Sequence
from typing import Final

from neardup.evaluation.plans import Curve
from neardup.interfaces.escaping import shortened
from neardup.interfaces.pages.drawing import LEFT, RIGHT, TOP, WIDTH, Frame, colour, dashes, document, path, text
from neardup.interfaces.wording import percentage

_LINE: Final = 18  # of a legend
_LETTER: Final = 7.2  # width of one, about


def curve_svg(curves: Sequence[Curve], *, title: str, threshold: float | None = None) -> str:
    """Draw probabilities against the values of a measure, with a legend and a line at the threshold.

    The axis spans the values of the first curve, which ascend. Any text is shown, whatever its characters.
    """
    low, high = curves[0].values[0], curves[0].values[-1]
    names = [curve.name for curve in curves]
    top = TOP + _LINE * (1 + max(row for _, row, _ in _places(names)))
    frame = Frame((low, high), (0, 1), top=top)
    parts = [
        *frame.across([step / 10 * (high - low) + low for step in range(11)], percentage),
        *frame.up([step / 5 for step in range(6)], percentage),
        *frame.names(curves[0].measure, "probability"),
    ]
    parts += [path(curve, frame, number, len(curves)) for number, curve in enumerate(curves)]
    if threshold is not None and low <= threshold <= high:
        parts += frame.threshold(threshold)
    return document(title, [*parts, _legend(names)])


def _legend(names: Sequence[str]) -> str:
    parts = []
    for number, (x, row, name) in enumerate(_places(names)):
        y = TOP + 6 + _LINE * row
        looks = f'class="curve {colour(number)}"{dashes(number, len(names))}'
        parts.append(f'<line {looks} x1="{x:.1f}" y1="{y - 4}" x2="{x + 24:.1f}" y2="{y - 4}"/>')
        parts.append(text(x + 30, y, name, "start"))
    return "\n".join(parts)


def _places(names: Sequence[str]) -> Iterable[tuple[float, int, str]]:
    """Lay the legend's entries out in rows; a name that is too long is cut."""
    x, row = float(LEFT), 0
    for name in names:
        shown = shortened(name, 60)  # as fits
        width = 30 + _LETTER * len(shown) + 18
        if x > LEFT and x + width > WIDTH - RIGHT + 18:
            x, row = float(LEFT), row + 1
        yield x, row, shown
        x += width
