"""Check pages, on standard input or in files, against an index."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

from neardup.interfaces.cli import options
from neardup.interfaces.cli.terminal import complain, note_quoted_lines, progress_bars, show_counts, show_rejected
from neardup.interfaces.cli.warm import say_if_cold
from neardup.interfaces.wording.numbers import Row, reading_rows, total
from neardup.model.errors import DataError, OutputRefused, counted, require
from neardup.model.verdicts import NearDuplicate
from neardup.sources.formats import STDIN, display

if TYPE_CHECKING:
    from neardup.pipeline.files.visits import FileAnswers
    from neardup.pipeline.index.index import Index

EXAMPLE = (
    'Examples: echo \'{"url": "http://a.example/", "text": "..."}\' | neardup seen DIR --admit;'
    " neardup seen DIR crawl.warc.gz --admit"
)
_INVALID = "invalid"
_LINES = 64  # lines that are searched for the first one that is not blank
USAGE = f"""
{options.KEYED_INDEX}
inputs [INPUT ...]: files of pages, as for neardup index: .warc .wet (also .gz .zst .lz4), .jsonl .ndjson .csv .tsv
  (also .gz .zst .bz2 .xz), .parquet, or folders of text or HTML files (default: JSON lines on standard input)
--admit: add the pages to the index
--changed-at-least S: content that resembles the last version of its page by at least S counts as unchanged, such as
  0.95 for pages with a visitor counter (default: only equal content)
--skip N=0: skip the first N lines of standard input
--text FIELD=text: the field that holds the text
--html FIELD: the field that holds an HTML page, instead of a text
{options.FORMAT_OF_FILES}
{options.QUOTING}
{options.GLOB}
{options.MAX_BYTES_OF_FILES}
{options.VIEW_OF_INDEX}
{options.TEMPLATES_IN_USE}
{options.RULES}
--url FIELD=url: the field that holds the URL, if there is one
--id FIELD=id: the field that holds the id where there is no URL
"""


def run(arguments: argparse.Namespace) -> int:
    """Answer page by page; return 1 if some were invalid."""
    require(arguments.skip >= 0, "skip", arguments.skip, "must be at least 0")
    files = arguments.inputs not in ([], [STDIN])
    rule = "can only be used with standard input; files are read again, and pages admitted before are known"
    require(not files or not arguments.skip, "skip", arguments.skip, rule)
    html = vars(arguments).get("html")
    if not files:
        rule = "can only be used with files of pages; standard input is JSON lines"
        require(arguments.quoting == "auto", "quoting", arguments.quoting, rule)
        options.refuse(vars(arguments), ("format", "glob", "max_bytes"), rule)
    if not files and html is None:
        options.refuse(vars(arguments), ("text_view", "templates"), "needs --html FIELD, or files of pages")
    rule = "cannot be used with --html FIELD: the text is that of the page"
    require(html is None or arguments.text == "text", "text", arguments.text, rule)
    if sys.stdout is None:
        raise OutputRefused("standard output", "it is closed")
    if sys.stdin is None and not files:
        raise DataError("standard input", "it is closed")
    say_if_cold()
    from neardup.pipeline.files.visits import FileAnswers
    from neardup.pipeline.query.search import keeping_up

    admit = arguments.admit
    with (
        options.opened(arguments, "w" if admit else "r") as index,
        keeping_up(index) if admit else nullcontext() as catch_up,
    ):
        given = options.chosen(arguments, "text html format quoting glob max_bytes url id admit changed_at_least")
        extraction, addresses = options.extraction_if_given(arguments), options.addresses_of(arguments)
        answering = FileAnswers(index, **given, extraction=extraction, addresses=addresses, catch_up=catch_up)
        return (_of_files if files else _of_lines)(arguments, index, answering)


def _of_files(arguments: argparse.Namespace, index: "Index", answering: "FileAnswers") -> int:
    """Answer the pages of files, and print a summary on standard error."""
    with progress_bars() as progress:
        counts = _written(answering.answer(arguments.inputs, progress=progress), index)
    rejected = answering.faults.rejected
    rows = [
        total(counts.total() - len(rejected), "document"),
        *(Row(count, name) for name, count in counts.most_common() if name != _INVALID),
        *reading_rows(answering.faults, rejected),
    ]
    with redirect_stdout(sys.stderr):
        show_counts(rows)
        show_rejected(rejected, arguments, listed="the answers list all")
    note_quoted_lines(answering.faults.quoted_lines)
    _note_unused_rules(arguments, answering)
    return 1 if rejected else 0


def _of_lines(arguments: argparse.Namespace, index: "Index", answering: "FileAnswers") -> int:
    """Answer the lines of standard input as they arrive; a summary is printed if some are invalid, or on a terminal."""
    from neardup.pipeline.files.visits import LINES
    from neardup.sources.jsonl import HEAD, require_lines
    from neardup.sources.standard_input import arriving

    number = 0

    def batches() -> Iterator[tuple[int, list[bytes | None]]]:
        nonlocal number
        checked = False
        for lines in arriving(sys.stdin.fileno(), display(STDIN)):
            if not checked:
                head = b"\n".join(line for line in lines[:_LINES] if line)[:HEAD]
                require_lines(head, display(STDIN))
                checked = bool(head.strip())
            passed = min(max(arguments.skip - number, 0), len(lines))
            for begin in range(passed, len(lines), LINES):
                yield number + begin + 1, lines[begin : begin + LINES]
            number += len(lines)

    counts = _written(answering.answer_lines(batches()), index)
    if sys.stderr is not None and (sys.stderr.isatty() or counts[_INVALID]):
        numbers = "; ".join(f"{count:,} {name}" for name, count in counts.most_common())
        complain(f"{counted(counts.total(), 'line')}{numbers and f': {numbers}'}")
    if counts and counts[_INVALID] == counts.total():
        complain("no line is valid; --text, --html, --url and --id name the fields of the lines")
    _note_unused_rules(arguments, answering)
    if number < arguments.skip:
        complain(f"--skip {arguments.skip}: the input has only {counted(number, 'line')}, so none was checked")
    return 1 if counts[_INVALID] or number < arguments.skip else 0


def _note_unused_rules(arguments: argparse.Namespace, answering: "FileAnswers") -> None:
    if "rules" in arguments and not answering.addressed:
        complain(f"no page has a field {arguments.url!r}, so --rules changed nothing; --url names the field of the URL")


def _written(answers: Iterable[list[dict[str, Any]]], index: "Index") -> "Counter[str]":
    """Write answers to standard output, some at a time; return the number of each verdict."""
    import msgspec

    from neardup.sources.screens import escaped

    encode, out, on_screen = msgspec.json.Encoder().encode, sys.stdout.buffer, sys.stdout.isatty()
    counts: Counter[str] = Counter()
    for some in answers:
        lines = b"".join(encode(answer) + b"\n" for answer in some)
        out.write(escaped(lines.decode()).encode() if on_screen else lines)
        out.flush()
        counts.update(_name(answer, estimated=index.estimates) for answer in some)
    return counts


def _name(answer: dict[str, Any], *, estimated: bool) -> str:
    if "error" in answer:
        return _INVALID
    name = str(answer["verdict"])
    if estimated and name == NearDuplicate.name:
        return f"{name} (estimated: the index has no texts)"
    return f"{name}, changed" if answer.get("changed") else name
