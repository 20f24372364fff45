"""Charts of curves in characters: braille dots, or ASCII if a terminal does not support them."""

from collections.abc import Sequence
from typing import Final

_DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # the dots of a braille cell, by row and column
_PATTERNS: Final = ("1", "110", "10")  # which dots of a curve are drawn: curves differ without colours
_MARKS: Final = "*+o"
_LABEL: Final = 6  # columns
LEAST_WIDTH: Final = 24


def draw(
    values: Sequence[float], curves: Sequence[Sequence[float]], *, width: int, height: int, braille: bool
) -> list[str]:
    r"""Draw probabilities (0 to 1) against ascending values, in lines of at most *width* characters.

    Curves are interpolated linearly. If several curves share one ASCII cell, the first is shown. Widths below 24
    characters count as 24.

    >>> print("\n".join(draw([0, 0.5, 1], [[0, 0, 1]], width=24, height=3, braille=False)))
    100 % |              ***
     50 % |           ***
      0 % |***********
          +-----------------
           0 %         100 %
    """
    import numpy as np

    columns, rows = max(width, LEAST_WIDTH) - _LABEL - 1, max(height, 2)
    across, down = (2, 4) if braille else (1, 1)
    cells = [[0] * columns for _ in range(rows)]
    marks = [[" "] * columns for _ in range(rows)]
    for number, curve in reversed(list(enumerate(curves))):
        pattern = _PATTERNS[number % len(_PATTERNS)] if braille else "1"
        last = None
        shares = np.interp(np.linspace(values[0], values[-1], columns * across), values, curve)
        for column, row in enumerate(((1 - shares) * (rows * down - 1)).round().astype(int).tolist()):
            step = 1 if last is None or row > last else -1
            begin = row if last is None or abs(row - last) <= 1 else last + step
            for dot in range(begin, row + step, step):
                if pattern[(column + dot if number else column) % len(pattern)] == "1":
                    cells[dot // down][column // across] |= _DOTS[dot % 4][column % 2] if braille else 1
                    marks[dot // down][column // across] = _MARKS[number % len(_MARKS)]
            last = row
    lines = []
    for place, row_cells in enumerate(cells):
        label = {0: "100 %", rows // 2: "50 %" if rows % 2 else "", rows - 1: "0 %"}.get(place, "")
        shown = "".join(chr(0x2800 + cell) if cell else " " for cell in row_cells) if braille else "".join(marks[place])
        lines.append(f"{label:>{_LABEL - 1}} {'│' if braille else '|'}{shown}".rstrip())
    low, high = (f"{100 * value:g} %" for value in (values[0], values[-1]))
    lines.append(" " * _LABEL + ("└" + "─" * columns if braille else "+" + "-" * columns))
    return [*lines, " " * (_LABEL + 1) + low + high.rjust(columns - len(low))]


def legend(names: Sequence[str], *, braille: bool) -> str:
    """Return which curve is drawn in which way."""
    if not braille:
        return "   ".join(f"{_MARKS[number % len(_MARKS)]} {name}" for number, name in enumerate(names))
    lines = ("⠒⠒⠒", "⠒⠂⠒", "⠂⠂⠂")
    return "   ".join(f"{lines[number % len(lines)]} {name}" for number, name in enumerate(names))
