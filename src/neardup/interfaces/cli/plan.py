"""Recommend parameters for a recall or a collection size, or show the probability of a match by resemblance."""

import argparse
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from neardup.interfaces.cli.options import chosen, refuse
from neardup.interfaces.cli.terminal import print_json, resolve_outputs
from neardup.interfaces.cli.usage import add_usage
from neardup.interfaces.wording.numbers import any_of
from neardup.model.errors import require

if TYPE_CHECKING:
    from neardup.evaluation.plans import Plan, Recommendation

_WIDEST: Final = 100
_ROWS: Final = 13
_MARKS: Final = "*+o"  # of the curves, which differ without colours
_LABEL: Final = 6  # columns
LEAST_WIDTH: Final = 24
_SHARES: Final = {
    "threshold": "with --recall: the resemblance at which pairs must be found; without it: the minimum resemblance of"
    " a match (minhash, fracminhash, sentences). For simhash: a cosine",
    "recall": "recommend parameters of minhash, trials and simhash that find this share of the pairs at the threshold",
    "false_rate": "with --recall: at most this share of the pairs with the resemblance of --apart become candidates",
    "apart": "with --recall: the resemblance of pairs that are not near duplicates (default: half the threshold)",
    "background": "with --recall or --documents: the resemblance of unrelated documents (default: 0.05)",
}
_WITH_FINGERPRINTS: Final = {"distance": "; 0 to 7 with --fingerprints"}
_OF_TABLES: Final = ("memory", "measure")

_USAGE: Final = """
--documents N: the number of documents, such as 40e6. Without --recall: whether the buckets of the scheme
  (default: minhash) have room for a collection of this size, and better parameters
[tables for fingerprints]
--fingerprints N: compare the designs of an index of N 64-bit fingerprints: a number such as 20M, 8e9 or 2^34
--memory SIZE: leave out the designs that need more, such as 14GB; for more than 2^30 fingerprints, the memory of a
  machine: they are divided among several
--measure: measure the costs of lookups on this machine, and predict times by them
[outputs]
--svg PATH: draw the curves into a file
--force: replace a file that exists
--json: print everything as JSON
"""
EXAMPLE = "Example: neardup plan --threshold 0.8 --recall 0.99 --documents 30000000"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    from neardup.schemes.registry import kinds

    schemes = "|".join(kind.name for kind in kinds())
    searched = any_of([kind.name for kind in kinds() if kind.searched_numbers])
    about = f"the scheme whose curve is drawn; with --recall, the only scheme to search: {searched}"
    numbers = "".join(f"--{name} N: {meaning}\n" for name, meaning in _numbers().items())
    shares = "".join(f"--{name.replace('_', '-')} X: {meaning}\n" for name, meaning in _SHARES.items())
    scheme = f"--scheme {schemes}: {about}\n[parameters of the scheme whose curve is drawn]\n{numbers}"
    add_usage(parser, f"{scheme}[requirements]\n{shares}{_USAGE}")


def run(arguments: argparse.Namespace) -> int:
    """Plan, draw, print."""
    from neardup.evaluation.plans import plan

    given = vars(arguments)
    if "fingerprints" in given:
        return _plan_tables(arguments)
    for name in _OF_TABLES:
        require(given.get(name, False) is False, name, None, "requires --fingerprints")
    resolve_outputs(arguments, "svg")
    path = given.get("svg")
    require(path is not None or not arguments.force, "force", None, "requires --svg")
    made = plan(**chosen(arguments, " ".join([*_numbers(), *_SHARES, "documents scheme"])))
    if path is not None:
        from neardup.interfaces.pages.drawing import curve_svg
        from neardup.sources.output import DRAWINGS, write_file

        drawing = curve_svg(made.curves, title=_title(made), threshold=made.threshold)
        write_file(path, drawing.encode(), DRAWINGS, force=arguments.force)
    if arguments.json:
        print_json(made.as_dict())
    else:
        _show(made)
    return 0


def _numbers() -> dict[str, str]:
    """Return the parameters by which schemes can be planned, without shares, and what each means."""
    from neardup.schemes.registry import kinds

    numbers: dict[str, str] = {}
    for kind in kinds():
        for option in kind.options:
            if option.name in kind.plan_numbers and option.name not in _SHARES:
                about = f"{kind.name}: {option.about} (default: {option.default})"
                about += _WITH_FINGERPRINTS.get(option.name, "")
                numbers[option.name] = "; ".join(filter(None, (numbers.get(option.name), about)))
    return numbers


def _plan_tables(arguments: argparse.Namespace) -> int:
    import neardup

    given = vars(arguments)
    others = [name for name in _numbers() if name != "distance"]
    refuse(given, (*others, *_SHARES, "documents", "scheme", "svg", "force"), "cannot be used with --fingerprints")
    costs = neardup.hamming.measured_costs() if arguments.measure else None
    made = neardup.hamming.plan_tables(arguments.fingerprints, costs=costs, **chosen(arguments, "distance memory"))
    if arguments.json:
        print_json(made.as_dict())
    else:
        print(made)
    return 0


def _title(made: "Plan") -> str:
    if not made.recommendations:
        return made.heading
    best = made.recommendations[0]
    numbers = {**best.parameters, **best.layout}
    return f"{best.scheme}: {', '.join(f'{name} {value:g}' for name, value in numbers.items())}"


def _show(made: "Plan") -> None:
    print(made)
    if made.smaller is not None:
        print(f"\nUse these parameters:  {_command(made.smaller)}")
    if made.answer:
        print("\nAnother resemblance of unrelated documents: --background")
    elif made.recommendations:
        print("\nThese recalls hold for --verify exact, the default; with --verify estimate fewer pairs are found.")
        print(f"Use the first:  {_command(made.recommendations[0])}")
        print("To list the parameters of the others, add --json.")
    elif not made.is_classic:
        curves: list[Any] = [curve.probabilities for curve in made.curves]
        width = min(_WIDEST, shutil.get_terminal_size().columns)
        lines = draw(made.curves[0].values, curves, width=width, height=_ROWS)
        print("", *lines, "", legend([curve.name for curve in made.curves]), sep="\n")


def _command(found: "Recommendation") -> str:
    options = (f"--{name.replace('_', '-')} {value}" for name, value in found.parameters.items())
    return f"neardup dedup FILE --out KEPT --scheme {found.scheme} {' '.join(options)}"


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
