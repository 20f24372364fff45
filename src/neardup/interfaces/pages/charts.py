"""Charts as inline SVG: coloured by the page's style, legible at the width of a phone."""

from collections.abc import Callable
from math import ceil, log10
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.model.arrays import Positions

Law = Callable[[Any], Any]

_WIDTH: Final = 420
_HEIGHT: Final = 240
_LEFT: Final = 46
_RIGHT: Final = 392
_TOP: Final = 16
_BOTTOM: Final = 196
_STEPS: Final = 100  # of the curve
_TENTHS: Final = 5  # ticks from 0 to 1


def histogram_svg(counts: Positions, edges: npt.NDArray[np.float64], threshold: float, law: Law | None = None) -> str:
    """Draw how often a share from 0 to 1 lies between ``edges[i]`` and ``edges[i + 1]``.

    The *threshold* is a dashed line. *law* gives, for an array of shares, chances from 0 to 1; it is drawn as
    a curve with its scale on the right.
    """
    most = max(int(counts.max(initial=0)), 1)
    bars = "".join(
        f'<rect class="bar" x="{_across(begin):.1f}" y="{_up(count / most):.1f}" '
        f'width="{_across(end) - _across(begin) - 0.5:.1f}" height="{_BOTTOM - _up(count / most):.1f}">'
        f"<title>{begin:.2f} to {end:.2f}: {count:,}</title></rect>\n"
        for begin, end, count in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        if count
    )
    ticks = "".join(
        f'<text x="{_across(part / _TENTHS):.1f}" y="{_BOTTOM + 15}" text-anchor="middle">{part / _TENTHS:g}</text>\n'
        for part in range(_TENTHS + 1)
    )
    heights = _height(0, "0") + _height(1, _brief(most))
    line = (
        f'<line class="threshold" x1="{_across(threshold):.1f}" y1="{_TOP - 4}" x2="{_across(threshold):.1f}" '
        f'y2="{_BOTTOM}"/>\n<text class="threshold" x="{_across(threshold) - 4:.1f}" y="{_TOP + 5}" text-anchor="end">'
        f"threshold {threshold:g}</text>\n"
    )
    label = f"Histogram of resemblance from 0 to 1; the threshold is {threshold:g}"
    return _drawn(label, "resemblance", bars, ticks, heights, _curve(law) if law else "", line)


def loglog_svg(sizes: Positions, counts: Positions) -> str:
    """Draw how many clusters (``counts[i]``) have ``sizes[i]`` documents, at least one size, both axes logarithmic."""
    widest, highest = (max(1, ceil(log10(max(int(numbers.max()), 2)))) for numbers in (sizes, counts))
    points = "".join(
        f'<circle class="point" cx="{_across(log10(size) / widest):.1f}" cy="{_up(log10(count) / highest):.1f}" r="3">'
        f"<title>{count:,} of {size:,} documents</title></circle>\n"
        for size, count in zip(sizes.tolist(), counts.tolist(), strict=True)
    )
    ticks = "".join(
        f'<text x="{_across(power / widest):.1f}" y="{_BOTTOM + 15}" text-anchor="middle">{_brief(10**power)}</text>\n'
        for power in range(widest + 1)
    )
    heights = "".join(_height(power / highest, _brief(10**power)) for power in range(highest + 1))
    label = "Number of clusters by their number of documents, both axes logarithmic"
    return _drawn(label, "documents in a cluster", ticks, heights, points)


def _drawn(label: str, below: str, *parts: str) -> str:
    axes = f'<path class="axis" d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}"/>\n'
    name = f'<text x="{(_LEFT + _RIGHT) / 2}" y="{_HEIGHT - 8}" text-anchor="middle">{below}</text>\n'
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">\n{"".join(parts)}{axes}{name}</svg>'


def _curve(law: Law) -> str:
    shares = np.linspace(0.0, 1.0, _STEPS + 1)
    chances = np.clip(np.nan_to_num(np.asarray(law(shares), np.float64)), 0.0, 1.0)
    points = " ".join(f"{_across(x):.1f},{_up(y):.1f}" for x, y in zip(shares.tolist(), chances.tolist(), strict=True))
    scale = "".join(
        f'<text class="law" x="{_RIGHT + 4}" y="{_up(chance) + 4:.1f}">{chance:.0%}</text>\n' for chance in (0.0, 1.0)
    )
    return f'<polyline class="law" points="{points}"/>\n{scale}'


def _height(share: float, label: str) -> str:
    y = _up(share)
    line = f'<line class="rule" x1="{_LEFT}" y1="{y:.1f}" x2="{_RIGHT}" y2="{y:.1f}"/>\n' if share else ""
    return f'{line}<text x="{_LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{label}</text>\n'


def _across(share: float) -> float:
    return _LEFT + share * (_RIGHT - _LEFT)


def _up(share: float) -> float:
    return _BOTTOM - share * (_BOTTOM - _TOP)


def _brief(number: int) -> str:
    """Give a number in at most a few letters.

    >>> [_brief(number) for number in (7, 1_000, 1_234, 12_345, 1_000_000)]
    ['7', '1k', '1,234', '12.3k', '1M']
    """
    for unit, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= 10 * unit or number == unit:
            return f"{number / unit:.3g}{letter}"
    return f"{number:,}"
