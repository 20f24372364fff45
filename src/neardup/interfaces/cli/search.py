"""Find documents of an index by their words, without repeats."""

import argparse
import shlex

from neardup.interfaces.cli.options import KEYED_INDEX, chosen, opened, raw_argument
from neardup.interfaces.cli.terminal import complain, console, print_json
from neardup.interfaces.cli.warm import say_if_cold
from neardup.interfaces.escaping import parts, printable
from neardup.interfaces.wording.answers import advice_of, because, hidden_of, total_of
from neardup.model.answers import Answer, AnswerGroup, FoundHit, Marked
from neardup.model.errors import counted

Styled = str | tuple[str, str]  # a text, with its style

_MATCH = "bold yellow"

EXAMPLE = "Example: neardup search seen 'storm \"over the harbour\" fish*'"
USAGE = f"""
{KEYED_INDEX}
query QUERY ...: words that a document must all contain; "words in double quotes" are a phrase; word* matches any
  ending
--seconds SECONDS=2: the time limit, in seconds
[what is shown]
--all: show the repeats that a result hides below it, and why
--sort score|newest=score: best matches first, or newest
--site HOST: only documents of this host, with or without www.
--page N=1: which page
--size N=10: results of a page
--json: print everything as JSON
[what is hidden]
--collapse near|exact|site|off=near: hide near duplicates, equal texts, results of the same site, or nothing
--threshold T: least measure of a near duplicate (default: that of the index's scheme)
--verify exact|estimate: what decides about near duplicates: their texts, all of them, or the estimate of their
  signatures (default: the texts, unless there are too many)
--representative best-ranked|closest=best-ranked: which result hides a near duplicate that matches several: the first of
  them, or the closest
--keep N=1: the number of results shown per group
--include GROUP: show the members of a group only
--top N=100: how many hits are examined: the best or, with --sort newest, the newest
"""


def run(arguments: argparse.Namespace) -> int:
    """Search and show the results; return 0 even without a result."""
    query = raw_argument(" ".join(arguments.query)).decode("utf-8", "replace")
    say_if_cold()
    from neardup.pipeline.query.search import Search

    names = "page size collapse threshold keep include top seconds verify representative sort site"
    with opened(arguments, "r") as index, Search.open(index) as search:
        answer, behind = search.answer(query, **chosen(arguments, names)), search.behind
    if arguments.json:
        print_json(answer)
    else:
        _show(answer, repeats=arguments.all, site=vars(arguments).get("site"))
    if behind:
        complain(
            f"the search table lacks the last {counted(behind, 'change')} of the index, so hits may be missing;"
            f" run neardup reindex {shlex.quote(arguments.index)}, or wait for the next change of the index"
        )
    return 0


def _show(answer: Answer, *, repeats: bool, site: str | None) -> None:
    first = (answer.page - 1) * answer.size + 1
    for place, group in enumerate(answer.results, first):
        _show_group(place, group, answer.collapse, repeats=repeats or answer.include is not None)
    for line in _totals(answer, site):
        _print(printable(line))


def _totals(answer: Answer, site: str | None) -> list[str]:
    more = [f"--page {answer.page + 1} shows the next ones."] if answer.page < answer.pages else []
    if answer.total and answer.include is not None:
        if not answer.results:
            return [f"There is no group {answer.include} on page {answer.page} of this query."]
        return [f"Page {answer.page:,} of {answer.pages:,} of this group", *more] if answer.pages > 1 else []
    total = total_of(answer) if answer.total else f"Nothing found for: {answer.query}"
    if answer.pages > 1 and answer.results:
        total += f"; page {answer.page:,} of {answer.pages:,}"
    return [total, *advice_of(answer, site), *more]


def _show_group(number: int, group: AnswerGroup, collapse: str, *, repeats: bool) -> None:
    for hit in group.shown:
        title = _marked(hit.snippet.title, "bold") if hit.title else [(printable(hit.id), "bold")]
        _print(f"{number}. ", *title)
        _show_address(hit, 1)
        if hit.snippet.body.text:
            _print(*_marked(hit.snippet.body), indent=1, wraps=True)
        _print((f"admitted {hit.changed_at:%Y-%m-%d %H:%M} UTC", "dim"), indent=1)
    if group.hides:
        _print((hidden_of(collapse, group.hides), "cyan"), indent=1)
    for repeat in group.repeats if repeats else ():
        _print(printable(repeat.title or repeat.id), indent=2)
        _show_address(repeat, 2)
        _print((f"{because(repeat)}; matches {printable(repeat.of)}", "cyan"), indent=2)
    console().print()


def _print(*parts: Styled, indent: int = 0, wraps: bool = False) -> None:
    """Print a line; only texts are wrapped, for people, so that programs find other lines in one piece."""
    from rich.padding import Padding
    from rich.text import Text

    screen, begin = console(), 3 * indent
    if wraps and screen.is_terminal:
        screen.print(Padding(Text.assemble(*parts), (0, 0, 0, begin), expand=False))
    else:
        screen.print(Text.assemble(" " * begin, *parts), soft_wrap=True)


def _show_address(hit: FoundHit, indent: int) -> None:
    """Print the URL of a hit, otherwise its id, unless that is in the place of its title."""
    if hit.title or hit.url:
        _print((printable(hit.url or hit.id), "green"), indent=indent)


def _marked(piece: Marked, style: str = "") -> list[Styled]:
    """Return a piece of text with the terms of the query in colour."""
    return [(text, _MATCH if wanted else style) for text, wanted in parts(piece.text, piece.spans)]
