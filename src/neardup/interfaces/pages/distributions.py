"""How many there are of each resemblance and of each size."""

from collections.abc import Sequence
from math import ceil, floor, log10

from neardup.evaluation.plans import Curve
from neardup.interfaces.pages.drawing import RIGHT, TOP, WIDTH, Frame, bar, document, path, text
from neardup.interfaces.wording import percentage


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
    parts = [
        *frame.across([*edges[:-1:step], high], percentage),
        *frame.up(ticks, lambda value: f"{value:,.0f}"),
        *frame.names("resemblance", "near duplicates"),
    ]
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
    parts = [
        *frame.across(range(wide + 1), lambda power: f"{10 ** int(power):,}"),
        *frame.up(range(tall + 1), lambda power: f"{10 ** int(power):,}"),
        *frame.names("documents in a cluster", "clusters"),
    ]
    for size, count in sorted(zip(sizes, counts, strict=True)):
        label = f"<title>{size:,}: {count:,}</title>"
        x, y = frame.x(log10(size)), frame.y(log10(count))
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4">{label}</circle>')
    return document(title, parts)


def _round_ticks(most: int) -> list[int]:
    """Give about five whole, round steps from 0 to at least *most*."""
    power = 10 ** max(0, floor(log10(most / 5))) if most > 5 else 1  # noqa: PLR2004 - five steps
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step * 5 >= most)
    return list(range(0, step * max(1, -(-most // step)) + 1, step))
