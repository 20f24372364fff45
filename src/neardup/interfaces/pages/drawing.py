"""Charts as SVG: self-contained, readable in light and dark, fit for a file or inside a page."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from math import ceil, floor, log10
from typing import Final

from neardup.evaluation.plans import Curve
from neardup.interfaces.escaping import printable, shortened
from neardup.interfaces.wording.numbers import percentage

WIDTH: Final = 720
HEIGHT: Final = 420
LEFT: Final = 84
RIGHT: Final = 24
TOP: Final = 44
BOTTOM: Final = 56
BASE: Final = HEIGHT - BOTTOM  # of the horizontal axis
FIFTHS: Final = [step / 5 for step in range(6)]  # ticks

# The classes c0 to c5 in chart.css, which differ in light and dark and for most colour-blind eyes; more curves differ
# by their dashes.
_COLOURS: Final = 6
_DASHES: Final = ("", "7 4", "2 3")

Scale = Callable[[float], float]
Axis = tuple[Iterable[float], Callable[[float], str], str]  # its ticks, their labels, and its name
_LINE: Final = 18  # of a legend
_LETTER: Final = 7.2  # width of one, about


class Frame:
    """The two axes, with the values at their ends: where a value lies, and what is written at them."""

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        top: int = TOP,
        right: int = WIDTH - RIGHT,
        inset: int = 0,
    ) -> None:
        self.x, self.y = _linear(*x, LEFT + inset, right), _linear(*y, BASE - inset, top)
        self.top, self.right = top, right

    def axes(self, across: Axis, up: Axis) -> Iterable[str]:
        """Rule, label and name both axes."""
        ticks, label, name = across
        for tick in ticks:
            x = self.x(tick)
            yield f'<line class="grid" x1="{x:.1f}" y1="{self.top}" x2="{x:.1f}" y2="{BASE}"/>'
            yield text(x, BASE + 20, label(tick), "middle")
        ticks, label, upright = up
        for tick in ticks:
            y = self.y(tick)
            yield f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{self.right}" y2="{y:.1f}"/>'
            yield text(LEFT - 8, y + 4, label(tick), "end")
        yield text((LEFT + self.right) / 2, HEIGHT - 12, name, "middle name")
        y = (self.top + BASE) / 2
        turned = f'transform="rotate(-90 16 {y:.1f})"'
        yield f'<text class="middle name" x="16" y="{y:.1f}" {turned}>{printed(upright)}</text>'

    def threshold(self, value: float) -> Iterable[str]:
        """Mark the threshold by a line and its value, towards the middle."""
        x = self.x(value)
        yield f'<line class="threshold" x1="{x:.1f}" y1="{self.top}" x2="{x:.1f}" y2="{BASE}"/>'
        late = x > (LEFT + self.right) / 2
        label = f"threshold {percentage(value)}"
        yield text(x + (-6 if late else 6), self.top + 14, label, "end halo" if late else "start halo")


def bar(x: float, y: float, width: float, label: str) -> str:
    """Draw a bar from the horizontal axis up to *y*."""
    size = f'width="{width:.1f}" height="{BASE - y:.1f}"'
    return f'<rect class="bar" x="{x:.1f}" y="{y:.1f}" {size}><title>{label}</title></rect>'


def printed(text: str) -> str:
    r"""Return a text for XML: printable, and escaped.

    >>> printed("a<b & c" + chr(0))
    'a&lt;b &amp; c\\x00'
    """
    return escape(printable(text))


def document(title: str, parts: Iterable[str]) -> str:
    """Return a chart of its parts; its title is also the one for screen readers."""
    name = printed(title)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="neardup-chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{name}" font-family="system-ui, sans-serif" font-size="13">'
    )
    return "\n".join([head, f"<title>{name}</title>", _style(), text(LEFT, 22, title, "title"), *parts, "</svg>", ""])


@cache
def _style() -> str:
    """Return rules that hold inside these charts only, as a page has more than one."""
    rules = files("neardup.interfaces.pages").joinpath("templates", "chart.css").read_text("utf-8")
    return f"<style>{rules.replace(chr(10), '')}</style>"


def path(curve: Curve, frame: Frame, number: int, total: int) -> str:
    """Draw curve *number* of *total*."""
    points = zip(curve.values, curve.probabilities, strict=True)
    line = "L".join(f"{frame.x(value):.1f} {frame.y(probability):.1f}" for value, probability in points)
    return f'<path {_looks(number, total)} d="M{line}"><title>{printed(curve.name)}</title></path>'


def _looks(number: int, total: int) -> str:
    """Return the attributes of curve *number* of *total*: its colour and its dashes, as one may lie on another.

    Few curves differ in their dashes, too; of many, those of one colour.
    """
    dashes = _DASHES[(number if total <= len(_DASHES) else number // _COLOURS) % len(_DASHES)]
    return f'class="curve c{number % _COLOURS}"' + (f' stroke-dasharray="{dashes}"' if dashes else "")


def text(x: float, y: float, text: str, style: str) -> str:
    """Write a text, escaped, in the classes of *style*."""
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{printed(text)}</text>'


def _linear(low: float, high: float, begin: float, end: float) -> Scale:
    """Map *low* to *begin* and *high* to *end*, and the rest in proportion."""
    return lambda value: begin + (end - begin) * (value - low) / (high - low)


def curve_svg(curves: Sequence[Curve], *, title: str, threshold: float | None = None) -> str:
    """Draw probabilities against the values of a measure, with a legend and a line at the threshold.

    The axis spans the values of the first curve, which ascend. Texts may have any characters.
    """
    low, high = curves[0].values[0], curves[0].values[-1]
    names = [curve.name for curve in curves]
    top = TOP + _LINE * (1 + max(row for _, row, _ in _places(names)))
    frame = Frame((low, high), (0, 1), top=top)
    across: Axis = ([step / 10 * (high - low) + low for step in range(11)], percentage, curves[0].measure)
    parts = [*frame.axes(across, (FIFTHS, percentage, "probability"))]
    parts += [path(curve, frame, number, len(curves)) for number, curve in enumerate(curves)]
    if threshold is not None and low <= threshold <= high:
        parts += frame.threshold(threshold)
    return document(title, [*parts, _legend(names)])


def _legend(names: Sequence[str]) -> str:
    parts = []
    for number, (x, row, name) in enumerate(_places(names)):
        y = TOP + 6 + _LINE * row
        looks = _looks(number, len(names))
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


def histogram_svg(
    counts: Sequence[int],
    edges: Sequence[float],
    *,
    title: str,
    threshold: float | None = None,
    curve: Curve | None = None,
) -> str:
    """Draw how many near duplicates there are from each edge to the next, with the threshold and a curve.

    There is one edge more than counts; edges ascend. The axis of the curve, on the right, is from 0 to 100 %.
    """
    low, high = edges[0], edges[-1]
    ticks = _round_ticks(max(counts))
    right = WIDTH - RIGHT - (40 if curve else 0)
    frame = Frame((low, high), (0, ticks[-1]), right=right)
    step = ceil(len(counts) / 10)
    across: Axis = ([*edges[:-1:step], high], percentage, "resemblance")
    parts = [*frame.axes(across, (ticks, lambda value: f"{value:,.0f}", "near duplicates"))]
    for count, begin, end in zip(counts, edges, edges[1:], strict=False):
        if count:
            x, y = frame.x(begin), frame.y(count)
            label = f"{percentage(begin)} to {percentage(end)}: {count:,}"
            parts.append(bar(x + 0.5, y, max(frame.x(end) - x - 1, 1), label))
    if curve is not None:
        over = Frame((low, high), (0, 1), right=right)
        parts.append(path(curve, over, 1, 1))
        parts += [text(right + 6, over.y(share) + 4, percentage(share), "start c1t") for share in (0, 0.5, 1)]
        parts.append(text(right, TOP - 12, f"probability: {curve.name}", "end c1t"))
    if threshold is not None:
        parts += frame.threshold(threshold)
    return document(title, parts)


def loglog_svg(sizes: Sequence[int], counts: Sequence[int], *, title: str) -> str:
    """Draw how many clusters there are of each size, both axes by powers of ten."""
    wide, tall = (max(1, ceil(log10(max(values)))) for values in (sizes, counts))
    frame = Frame((0, wide), (0, tall), inset=8)

    def number(power: float) -> str:
        return f"{10 ** int(power):,}"

    parts = [*frame.axes((range(wide + 1), number, "documents in a cluster"), (range(tall + 1), number, "clusters"))]
    for size, count in sorted(zip(sizes, counts, strict=True)):
        label = f"<title>{size:,}: {count:,}</title>"
        x, y = frame.x(log10(size)), frame.y(log10(count))
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4">{label}</circle>')
    return document(title, parts)


def _round_ticks(most: int) -> list[int]:
    """Return about five whole, round steps from 0 to at least *most*."""
    power = 10 ** floor(log10(most / 5)) if most > 5 else 1  # noqa: PLR2004 - five steps
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step * 5 >= most)
    return list(range(0, step * max(1, -(-most // step)) + 1, step))
