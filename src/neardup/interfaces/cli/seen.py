"""Check pages (JSON lines on standard input) against an index."""

import argparse
import sys
from collections import Counter
from contextlib import nullcontext
from typing import Any

from neardup.interfaces.cli import options
from neardup.interfaces.cli.terminal import complain
from neardup.interfaces.cli.warm import say_if_cold
from neardup.model.errors import DataError, OutputRefused, counted, require
from neardup.model.verdicts import NearDuplicate

EXAMPLE = (
    'Example: echo \'{"url": "http://a.example/", "text": "..."}\' | neardup seen DIR --admit. For an archive:'
    " neardup dedup crawl.warc.gz --dry-run --mark pages.jsonl && neardup seen DIR --admit <pages.jsonl"
)
INTERRUPTED = (
    "interrupted; answered pages were admitted if --admit was given; continue after the last answer with --skip"
)
_LINES = 64  # lines that are searched for the first one that is not blank
USAGE = f"""
{options.KEYED_INDEX}
--admit: remember the pages
--changed-at-least S: content that resembles the last version of its page by at least S counts as unchanged, such as
  0.95 for pages with a visitor counter (default: only equal content)
--skip N=0: skip the first N lines
--text FIELD=text: the field that holds the text
--html FIELD: the field that holds an HTML page, instead of a text
{options.VIEW_IF_GIVEN}
{options.TEMPLATES}
{options.RULES}
--url FIELD=url: the field that holds the URL, if there is one
--id FIELD=id: the field that holds the id where there is no URL
"""


def run(arguments: argparse.Namespace) -> int:
    """Answer line by line; return 1 if some were invalid."""
    require(arguments.skip >= 0, "skip", arguments.skip, "must be at least 0")
    html = vars(arguments).get("html")
    for name in ("text_view", "templates"):
        require(html is not None or name not in arguments, name, vars(arguments).get(name), "needs --html FIELD")
    rule = "cannot be used with --html FIELD: the text is that of the page"
    require(html is None or arguments.text == "text", "text", arguments.text, rule)
    arguments.text_view = vars(arguments).get("text_view", "auto")
    if sys.stdout is None:
        raise OutputRefused("standard output", "it is closed")
    if sys.stdin is None:
        raise DataError("standard input", "it is closed")
    say_if_cold()
    import msgspec

    from neardup.pipeline.crawl.stream import TOGETHER, Answering
    from neardup.pipeline.query.search import keeping_up
    from neardup.sources.arriving import arriving
    from neardup.sources.jsonl import HEAD, require_lines

    encode, out = msgspec.json.Encoder().encode, sys.stdout.buffer
    counts: Counter[str] = Counter()
    admit, fields = arguments.admit, {"text": html or arguments.text, "url": arguments.url, "id": arguments.id}
    with (
        options.opened(arguments, "w" if admit else "r") as index,
        keeping_up(index) if admit else nullcontext() as catch_up,
    ):
        ways: dict[str, Any] = {"addresses": options.addresses_of(arguments), "admit": admit, "catch_up": catch_up}
        ways["changed_at_least"] = vars(arguments).get("changed_at_least")
        ways["extraction"] = None if html is None else options.extraction_of(arguments)
        answering = Answering(index, **fields, **ways)
        number, checked = 0, False
        for lines in arriving(sys.stdin.fileno(), "<stdin>"):
            if not checked:
                head = b"\n".join(line for line in lines[:_LINES] if line)[:HEAD]
                require_lines(head, "<stdin>")
                checked = bool(head.strip())
            passed = min(max(arguments.skip - number, 0), len(lines))
            number += passed
            for begin in range(passed, len(lines), TOGETHER):
                some = lines[begin : begin + TOGETHER]
                answers = answering.answer(some, number + 1)
                number += len(some)
                out.write(b"".join(encode(answer) + b"\n" for answer in answers))
                out.flush()
                counts.update(_name(answer, estimated=index.estimates) for answer in answers)
    if sys.stderr is not None and (sys.stderr.isatty() or answering.failed):
        told = ", ".join(f"{count:,} {name}" for name, count in counts.most_common())
        complain(f"{counted(counts.total(), 'line')}: {told}")
    if number < arguments.skip:
        complain(f"--skip {arguments.skip}: the input has only {counted(number, 'line')}, so none was checked")
    return 1 if answering.failed or number < arguments.skip else 0


def _name(answer: dict[str, Any], *, estimated: bool) -> str:
    if "error" in answer:
        return "invalid"
    name = str(answer["verdict"])
    if estimated and name == NearDuplicate.name:
        return f"{name} (estimated: the index has no texts)"
    return f"{name}, changed" if answer.get("changed") else name
