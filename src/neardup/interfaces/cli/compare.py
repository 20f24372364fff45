"""Compare two texts: every measure, the match decision of each scheme, and shared passages."""

import argparse
from typing import TYPE_CHECKING

from neardup.interfaces.cli.options import VIEW, raw_argument
from neardup.interfaces.cli.scheme_options import SCHEME, describes_scheme, scheme_of
from neardup.interfaces.cli.terminal import complain, console, print_json, resolve_outputs, show_side_by_side
from neardup.interfaces.cli.warm import say_if_cold
from neardup.interfaces.escaping import printable
from neardup.interfaces.wording.match_decisions import (
    decided_of,
    estimate_of,
    excerpts_of,
    names_of,
    passages_of,
    value_of,
)
from neardup.interfaces.wording.numbers import decimals
from neardup.model.errors import InputRefused, counted, require
from neardup.sources.formats import STDIN

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from neardup.evaluation.comparison import Comparison, Measure
    from neardup.schemes.scheme import Scheme
    from neardup.sources.document import NamedText

_MOST = 64 << 20  # bytes of a text; comparing two needs about thirty times as much memory
_CONTEXT, _ON_A_PAGE = 80, 2_000  # shown characters at each end of a shared passage
_PIECES = 120  # pieces of a text on the terminal; a page has all

USAGE = f"""
a TEXT_A: a file of text or HTML (see --text-view; also .gz .zst .bz2 .xz), - for standard input, or, with --strings,
  the text itself. By containment, it counts as the better-ranked text: TEXT_B matches if enough of it is in TEXT_A
b TEXT_B: the text to compare it with, given in the same way
--strings: take both arguments as texts, not as files
--json: print everything as JSON, spans as character offsets
--html PATH: write the comparison as a page, too; - is standard output
--force: replace a page that exists
{VIEW}
{SCHEME}
"""
EXAMPLE = "Example: neardup compare draft.txt published.html --html difference.html"


def run(arguments: argparse.Namespace) -> int:
    """Compare and show; return 1 if bytes of a file had to be replaced."""
    given = vars(arguments)
    resolve_outputs(arguments, "html")
    from neardup.sources.output import PAGES, check_file, write_file

    html = given.get("html")
    require(html is not None or not arguments.force, "force", None, "requires --html")
    if html is not None:
        check_file(html, PAGES, [] if arguments.strings else [arguments.a, arguments.b], force=arguments.force)
    one, other = _texts(arguments)
    from neardup.evaluation.comparison import compare, default_schemes
    from neardup.evaluation.passages import is_compiled

    schemes: list[Scheme] = [*default_schemes()]
    if describes_scheme(arguments) or "key_file" in given:
        chosen = scheme_of(arguments)
        schemes = [chosen, *(scheme for scheme in schemes if scheme != chosen)]
    say_if_cold(is_compiled)
    found = compare(one.text, other.text, schemes)
    if html is not None:
        page = page_of(found, one, other)
        write_file(html, page, PAGES, force=arguments.force)
    if arguments.json:
        print_json({"a": _about(one), "b": _about(other), **found.as_dict()})
    else:
        _show(console(), one, other, found)
    for source in dict.fromkeys((one, other)):
        if source.replaced:
            complain(f"{source.name}: it is not valid UTF-8 in {counted(source.replaced, 'place')}, read as �")
    return 1 if one.replaced or other.replaced else 0


def _texts(arguments: argparse.Namespace) -> "tuple[NamedText, NamedText]":
    """Return the texts that the arguments are or, without ``--strings``, name."""
    from neardup.sources.document import named_text, read_document
    from neardup.text.extraction import Extraction

    a, b, view = arguments.a, arguments.b, vars(arguments).get("text_view")
    if arguments.strings:
        require(view is None, "text_view", view, "cannot be used with --strings")
        return named_text("A", raw_argument(a)), named_text("B", raw_argument(b))
    if a == b == STDIN:
        raise InputRefused(STDIN, "only one of the two texts can be read from standard input")
    extraction = Extraction(view=view or "auto")
    return read_document(a, _MOST, extraction), read_document(b, _MOST, extraction)


def _about(source: "NamedText") -> dict[str, str | int]:
    return {"name": printable(source.name), "characters": len(source.text), "replaced": source.replaced}


def page_of(found: "Comparison", one: "NamedText", other: "NamedText") -> bytes:
    """Render a comparison as a page that needs nothing else; names and texts are escaped."""
    from neardup.interfaces.pages.templates import render

    shown = excerpts_of(found, one.text, other.text, _ON_A_PAGE)
    sides = list(zip((one.name, other.name), shown, strict=True))
    return render("compared", found=found, names=names_of(found), sides=sides)


def _show(screen: "Console", one: "NamedText", other: "NamedText", found: "Comparison") -> None:
    screen.print(_schemes(found))
    screen.print(_measures(found.measures))
    screen.print(passages_of(found), markup=False)
    a, b = (side if name == side else f"{side}: {name}" for side, name in (("A", one.name), ("B", other.name)))
    shown = excerpts_of(found, one.text, other.text, _CONTEXT, most=_PIECES)
    show_side_by_side(screen, (a, b), shown, more="--html PATH shows all")


def _schemes(found: "Comparison") -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE)
    for heading in ("scheme", "dedup decides", "because"):
        table.add_column(heading, overflow="fold")
    for name, decision in zip(names_of(found), found.schemes, strict=True):
        decided = Text(decided_of(decision), "bold green" if decision.matches else "bold")
        signatures = f"signatures alone: {estimate_of(decision.estimate)}"
        reasons = (value_of(decision), signatures, f"rule: {decision.rule}")
        table.add_row(Text(name), decided, Text("\n".join(map(printable, reasons))))
    return table


def _measures(measures: "tuple[Measure, ...]") -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    for heading in ("words", "as", "resemblance", "A in B", "B in A"):
        table.add_column(heading, justify="right", overflow="fold")
    for one in measures:
        numbers = (decimals(part, 4) for part in (one.resemblance, one.a_in_b, one.b_in_a))
        table.add_row(str(one.shingle), "bags" if one.bag else "sets", *numbers)
    return table
