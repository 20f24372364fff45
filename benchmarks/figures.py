"""A question's answer: one table, printed and written for the documentation; `--small` ones are only printed."""

import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SMALL: Final = "--small" in sys.argv  # tries a script with few documents, where it has many
PAGES: Final = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"
TIMES: Final = "\N{MULTIPLICATION SIGN}"
HEADINGS: Final = ("figure", "measured", "ratio", "to reach", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of a table. Without a target there is nothing to reach or to miss.

    >>> Figure(name="import", value=0.25, unit="s", at_most=0.2).verdict
    'missed'
    """

    name: str
    value: float
    unit: str
    ratio: float | None = None  # ours to theirs, of what the page says
    at_least: float | None = None  # the target: of the ratio where there is one, else of the value
    at_most: float | None = None

    @property
    def judged(self) -> float:
        """The number that the target is about."""
        return self.value if self.ratio is None else self.ratio

    @property
    def verdict(self) -> str:
        """`reached`, `missed`, or nothing where nothing was to be reached."""
        if self.at_least is None and self.at_most is None:
            return ""
        enough = self.at_least is None or self.judged >= self.at_least
        return "reached" if enough and (self.at_most is None or self.judged <= self.at_most) else "missed"

    @property
    def cells(self) -> tuple[str, ...]:
        """The figure as a row of the table."""
        unit = self.unit if self.ratio is None else TIMES
        target = "" if self.at_least is None else f"≥ {self.at_least:g} {unit}".rstrip()
        target += " " * (target != "" and self.at_most is not None)
        target += "" if self.at_most is None else f"≤ {self.at_most:g} {unit}".rstrip()
        ratio = "" if self.ratio is None else f"{rounded(self.ratio)} {TIMES}"
        return self.name, f"{rounded(self.value)} {self.unit}".strip(), ratio, target, self.verdict


def rounded(value: float) -> str:
    """Write three significant digits, and all digits of what is larger or counted.

    >>> rounded(0.12345), rounded(54.21), rounded(99.98), rounded(146880.0), rounded(7)
    ('0.123', '54.2', '100', '146,880', '7')
    """
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".")


def publish(question: str, title: str, method: str, figures: list[Figure]) -> None:
    """Print the figures, one a line, and write them to `docs/benchmarks/QUESTION.md`."""
    publish_table(question, title, method, [HEADINGS, *(figure.cells for figure in figures)])


def publish_table(question: str, title: str, method: str, rows: list[tuple[str, ...]]) -> None:
    """Print a table, its headings first, and write it to `docs/benchmarks/QUESTION.md`.

    The first column and those without a heading are words, the others numbers.
    """
    words = [place == 0 or not heading for place, heading in enumerate(rows[0])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(f"\n{title}\n")
    for row in rows:
        cells = zip(row, widths, words, strict=True)
        print("  ".join(cell.ljust(width) if word else cell.rjust(width) for cell, width, word in cells).rstrip())
    if SMALL:
        return
    PAGES.mkdir(parents=True, exist_ok=True)
    lines = [rows[0], tuple("---" if word else "---:" for word in words), *rows[1:]]
    (PAGES / f"{question}.md").write_text(page(question, title, method, lines), encoding="utf-8")


def page(question: str, title: str, method: str, lines: list[tuple[str, ...]]) -> str:
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return (
        f"# {title}\n\n{method.strip()}\n\n{table}\n\n"
        f"`python benchmarks/{question}.py` on {processor()}, Python {platform.python_version()}.\n"
    )


def processor() -> str:
    model = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return model[1] if model else platform.processor()
