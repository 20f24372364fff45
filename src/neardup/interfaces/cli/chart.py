"""Charts of curves in characters."""

from collections.abc import Sequence
from typing import Final

_MARKS: Final = "*+o"  # of the curves, which differ without colours
_LABEL: Final = 6  # columns
LEAST_WIDTH: Final = 24


def draw(values: Sequence[float], curves: Sequence[Sequence[float]], *, width: int, height: int) -> list[str]:
    r"""Draw probabilities (0 to 1) against ascending values, in lines of at most *width* characters.

    Curves are interpolated linearly. If several curves share one place, the first is shown. Widths below 24 characters
    count as 24.

    >>> print("\n".join(draw([0, 0.5, 1], [[0, 0, 1]], width=24, height=3)))
    100 % |              ***
     50 % |           ***
      0 % |***********
          +-----------------
           0 %         100 %
    """
    import numpy as np

    columns, rows = max(width, LEAST_WIDTH) - _LABEL - 1, max(height, 2)
    marks = [[" "] * columns for _ in range(rows)]
    places = np.linspace(values[0], values[-1], columns)
    for number, curve in reversed(list(enumerate(curves))):
        heights = ((1 - np.interp(places, values, curve)) * (rows - 1)).round().astype(int).tolist()
        last = heights[0]
        for column, row in enumerate(heights):
            step = 1 if row > last else -1
            begin = row if abs(row - last) <= 1 else last + step  # a steep curve has no gaps
            for place in range(begin, row + step, step):
                marks[place][column] = _MARKS[number % len(_MARKS)]
            last = row
    labels = {0: "100 %", rows // 2: "50 %" if rows % 2 else "", rows - 1: "0 %"}
    lines = [f"{labels.get(row, ''):>{_LABEL - 1}} |{''.join(shown)}".rstrip() for row, shown in enumerate(marks)]
    low, high = (f"{100 * value:g} %" for value in (values[0], values[-1]))
    axis = " " * _LABEL + "+" + "-" * columns
    return [*lines, axis, " " * (_LABEL + 1) + low + high.rjust(columns - len(low))]


def legend(names: Sequence[str]) -> str:
    """Return which curve is drawn in which way."""
    return "   ".join(f"{_MARKS[number % len(_MARKS)]} {name}" for number, name in enumerate(names))
