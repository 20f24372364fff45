"""Find documents of an index by their words, without repeats."""

import argparse
import json
from typing import TYPE_CHECKING

from neardup.interfaces.cli.amounts import number, whole
from neardup.interfaces.cli.folders import add_index_argument, opened
from neardup.interfaces.cli.terminal import console
from neardup.interfaces.cli.warm import say_if_cold
from neardup.interfaces.escaping import printable
from neardup.interfaces.wording import decimals
from neardup.model.errors import counted

if TYPE_CHECKING:
    from rich.text import Text

    from neardup.model.answers import Answer, AnswerGroup, FoundHit, Marked, Repeat

_HIDDEN = argparse.SUPPRESS
_INDENT = "   "
_MATCH = "bold yellow"

EXAMPLE = "Example: neardup search seen 'storm \"over the harbour\" fish*'"
INTERRUPTED = "interrupted"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_index_argument(parser)
    parser.add_argument(
        "query",
        nargs="+",
        metavar="QUERY",
        help='words that a document must all contain; "words in double quotes" are a phrase; word* matches any ending',
    )
    shown = parser.add_argument_group("what is shown")
    shown.add_argument("--all", action="store_true", help="show the repeats that a result hides below it, and why")
    shown.add_argument("--sort", choices=("score", "newest"), default="score", help="best matches first, or newest")
    shown.add_argument(
        "--site", metavar="HOST", default=_HIDDEN, help="only documents of this host, with or without www."
    )
    shown.add_argument("--page", type=whole, metavar="N", default=1, help="which page")
    shown.add_argument("--size", type=whole, metavar="N", default=10, help="results of a page")
    shown.add_argument("--json", action="store_true", help="print everything as JSON")
    hiding = parser.add_argument_group("what is hidden")
    hiding.add_argument(
        "--collapse",
        choices=("near", "exact", "site", "off"),
        default="near",
        help="hide near duplicates, equal texts, results of the same site, or nothing",
    )
    hiding.add_argument(
        "--threshold",
        type=number,
        metavar="T",
        default=_HIDDEN,
        help="least estimate of a near duplicate (default: that of the index's scheme)",
    )
    hiding.add_argument(
        "--verify",
        choices=("exact", "estimate"),
        default=_HIDDEN,
        help="what decides about near duplicates: their texts, all of them, or the estimate of their signatures"
        " (default: the texts, unless there are too many)",
    )
    hiding.add_argument("--keep", type=whole, metavar="N", default=1, help="the number of results shown per group")
    hiding.add_argument(
        "--include", type=whole, metavar="GROUP", default=_HIDDEN, help="show the members of a group only"
    )
    hiding.add_argument("--top", type=whole, metavar="N", default=100, help="how many of the best hits are examined")
    parser.add_argument("--seconds", type=number, metavar="S", default=2.0, help="the time limit, in seconds")


def run(arguments: argparse.Namespace) -> int:
    """Search and show the results; return 0 even without a result."""
    say_if_cold()
    from msgspec import to_builtins

    from neardup.model.answers import as_record
    from neardup.pipeline.search import Search

    given = vars(arguments)
    names = ("page", "size", "collapse", "threshold", "keep", "include", "top", "seconds", "verify", "sort", "site")
    with opened(arguments, "r") as index, Search.open(index) as search:
        answer = search.answer(" ".join(arguments.query), **{name: given[name] for name in names if name in given})
    if arguments.json:
        print(json.dumps(to_builtins(as_record(answer))))
        return 0
    _show(answer, repeats=arguments.all)
    return 0


def _show(answer: "Answer", *, repeats: bool) -> None:
    from rich.text import Text

    first = (answer.page - 1) * answer.size + 1
    for place, group in enumerate(answer.results, first):
        _show_group(place, group, answer.collapse, repeats=repeats or answer.include is not None)
    for line in _totals(answer):
        _print(Text(printable(line)))


def _totals(answer: "Answer") -> list[str]:
    if not answer.total:
        return [
            f"Nothing found for: {answer.query}",
            "A document must have every word. Fewer words, or a * after the beginning of a word, find more."
            if any(letter.isalnum() for letter in answer.query)
            else "Only words and numbers are searched: signs and emoji are not.",
        ]
    if answer.include is not None:
        return [] if answer.results else [f"There is no group {answer.include} on page {answer.page} of this query."]
    shown = answer.examined - answer.hidden
    hidden = counted(answer.hidden, "repeat")
    if answer.collapse == "site":
        hidden = f"{answer.hidden:,} more from the same sites"
    said = f"{counted(shown, 'result')}, {hidden} hidden"
    if answer.total > answer.examined:
        said += f", of the best {answer.examined:,} of {answer.total:,} documents"
    if answer.pages > 1 and answer.results:
        said += f"; page {answer.page:,} of {answer.pages:,}"
    lines = [said]
    if not answer.results:
        lines.append(f"There is no page {answer.page:,}: the last one is {answer.pages:,}.")
    elif answer.page < answer.pages:
        lines.append(f"--page {answer.page + 1} shows the next ones.")
    return lines


def _show_group(number: int, group: "AnswerGroup", collapse: str, *, repeats: bool) -> None:
    from rich.text import Text

    for hit, snippet in group.shown:
        title = _marked(snippet.title, "bold") if hit.title else Text(printable(hit.id), "bold")
        _print(Text.assemble(f"{number}. ", title))
        _print(_address(hit), 1)
        if snippet.body.text:
            _print(_marked(snippet.body), 1, wraps=True)
        _print(Text(f"admitted {hit.changed_at:%Y-%m-%d %H:%M} UTC", "dim"), 1)
    if group.hides:
        label = f"{group.hides:,} more from this site" if collapse == "site" else f"Duplicates ({group.hides:,})"
        _print(Text(label, "cyan"), 1)
    for repeat in group.repeats if repeats else ():
        _print(Text(printable(repeat.hit.title or repeat.hit.id)), 2)
        _print(_address(repeat.hit), 2)
        _print(Text(f"{_why(repeat)}, of {printable(repeat.of)}", "cyan"), 2)
    console().print()


def _print(line: "Text", indent: int = 0, *, wraps: bool = False) -> None:
    """Print a line; only texts are wrapped, for people, so that programs find other lines in one piece."""
    from rich.padding import Padding
    from rich.text import Text

    screen, begin = console(), indent * len(_INDENT)
    if wraps and screen.is_terminal:
        screen.print(Padding(line, (0, 0, 0, begin), expand=False))
    else:
        screen.print(Text.assemble(" " * begin, line), soft_wrap=True)


def _address(hit: "FoundHit") -> "Text":
    from rich.text import Text

    return Text(printable(hit.url or hit.id), "green")


def _why(repeat: "Repeat") -> str:
    """Return the rule that hides a hit.

    Examples: ``minhash: resemblance 0.83, at least 0.60 (verified)``, ``same site: a.example``, ``same text``.
    """
    if isinstance(repeat.value, float):
        limit = "" if repeat.threshold is None else f", at least {decimals(repeat.threshold)}"
        measure = repeat.measure if repeat.verified else f"estimated {repeat.measure}"
        verified = "verified" if repeat.verified else "not verified"
        return f"{repeat.rule}: {measure} {decimals(repeat.value)}{limit} ({verified})"
    return repeat.rule if repeat.value is None else f"{repeat.rule}: {printable(str(repeat.value))}"


def _marked(piece: "Marked", style: str = "") -> "Text":
    """Return a piece of text with the terms of the query in colour."""
    from rich.text import Text

    shown, done = Text(style=style), 0
    for begin, end in piece.spans:
        shown.append(printable(piece.text[done:begin]))
        shown.append(printable(piece.text[begin:end]), _MATCH)
        done = end
    shown.append(printable(piece.text[done:]))
    return shown
