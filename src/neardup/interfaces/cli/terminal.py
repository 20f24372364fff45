"""Output on the terminal: tables, and progress on standard error."""

import json
import os
import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any, cast

from msgspec import to_builtins

from neardup.interfaces.cli.advice import advice_on_quotes, advice_on_rejected
from neardup.interfaces.cli.interruption import PatientTerminal
from neardup.interfaces.cli.usage import STDOUT
from neardup.interfaces.escaping import printable, printable_lines, shortened
from neardup.interfaces.wording.numbers import Row, rejected_rows
from neardup.model.errors import OutputRefused, counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from neardup.interfaces.wording.excerpts import Excerpt
    from neardup.model.engine import StageProgress
    from neardup.sources.record_faults import QuotedLines, Rejected

_SHOWN = 5  # rejected records, or unknown ids, that are shown by name
_NAME = 100  # characters of an id
_SHORT = 1.0  # seconds of a command before it prints progress for programs


def resolve_outputs(arguments: Namespace, *options: str) -> None:
    """Replace ``-`` in options for outputs by the path of standard output.

    If an option has that path, the verb prints everything else on standard error. Raises ``OutputRefused`` if standard
    output is closed, and for files in memory, which would end with the command.
    """
    given = vars(arguments)
    for name in options:
        if str(given.get(name)).startswith("memory://"):
            raise OutputRefused(given[name], "it would end with this command; name a file")
    given.update({name: STDOUT for name in options if given.get(name) == "-"})
    if any(given.get(name) == STDOUT for name in options):
        if sys.stdout is None:
            raise OutputRefused(STDOUT, "it is closed")
        sys.stdout = sys.stderr  # until the verb ends


def shown_ids(ids: Sequence[str]) -> str:
    """Return the first ids, the long ones cut, as the end of a line.

    >>> shown_ids(["a", "b"]), shown_ids([*"abcdefg"])
    (': a, b', ': a, b, c, d, e and 2 more')
    """
    more = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
    return f": {', '.join(shortened(own, _NAME) for own in ids[:_SHOWN])}{more}"


def console() -> "Console":
    """Return a console for standard output; it respects ``NO_COLOR`` and plain pipes."""
    from rich.console import Console

    width = shutil.get_terminal_size().columns  # rich takes COLUMNS=0 for a width, and prints nothing
    return Console(highlight=False, soft_wrap=False, width=width)


@contextmanager
def progress_bars(*, as_lines: bool = False) -> Iterator[Callable[[str, int, int], None] | None]:
    """Show one bar per stage on standard error if it is a terminal: progress, rate and remaining time.

    With *as_lines*, print them as ``progress_lines`` does instead, everywhere.
    """
    if as_lines:
        yield progress_lines()
        return
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    from neardup.pipeline.progress import bars

    terminal = None
    with suppress(OSError, AttributeError):  # it has no name, or is not a system file, and cannot be opened again
        terminal = PatientTerminal(sys.stderr)  # which delays no signal
    screen = Console(file=cast("IO[str]", terminal or sys.stderr), highlight=False, soft_wrap=False)
    with closing(terminal) if terminal else nullcontext(), bars(screen) as update:
        yield update


@contextmanager
def progress_bar(stage: str, *, as_lines: bool = False) -> "Iterator[StageProgress | None]":
    """Show the progress of one stage as ``progress_bars`` does."""
    with progress_bars(as_lines=as_lines) as update:
        yield update and partial(update, stage)


def progress_lines() -> Callable[[str, int, int], None]:
    """Return a function that prints progress as JSON lines on standard error: one a second at most, and each end.

    A command that takes less than a second prints none. A line has the rate, what was done per second since the first
    report of the stage, and the seconds left at this rate; both are null in the first line of a stage.
    """
    begun: dict[str, tuple[float, int]] = {}  # for each stage the time of the first report, and what was done by it
    started, last, printed = time.monotonic(), 0.0, ("", 0, 0)

    def report(stage: str, done: int, total: int) -> None:
        nonlocal last, printed
        now = time.monotonic()
        began, before = begun.setdefault(stage, (now, done))
        due = now - started >= _SHORT and (now - last >= 1 or done == total)
        if due and (stage, done, total) != printed:
            last, printed = now, (stage, done, total)
            rate = (done - before) / (now - began) if done > before and now > began else None
            line = {"stage": stage, "done": done, "total": total, "rate": rate and round(rate, 1)}
            print_error(json.dumps({**line, "seconds_left": rate and round(max(total - done, 0) / rate)}))

    return report


def summarise(
    arguments: Namespace,
    record: Any,
    rows: Sequence[Row] = (),
    *,
    lines: Iterable[str] = (),
    rejected: "Sequence[Rejected] | None" = None,
) -> int:
    """Print what a command did: with ``--json`` the record, otherwise numbers and lines; return the exit code.

    *rejected* are records that could not be read: they belong to both, and the exit code is 1 if there are any. The
    *record* is as in ``print_json``; with *rejected*, a mapping.
    """
    if arguments.json:
        print_json(record if rejected is None else {**record, "rejected": rejected})
    else:
        show_counts([*rows, *rejected_rows(rejected or ())])
        show_lines(lines)
        show_rejected(rejected or (), arguments)
    return 1 if rejected else 0


def print_json(record: Any) -> None:
    """Print a record as a line of JSON: mappings, lists and plain values, or data classes and structs among these."""
    print(json.dumps(record, default=to_builtins))


def show_counts(rows: Sequence[Row]) -> None:
    """Print numbers with their descriptions: those that are not 0, or are always shown."""
    shown = [row for row in rows if row.number or row.always]
    width = max((len(f"{row.number:,}") for row in shown), default=0)
    _show(((f"{row.number:>{width},}", "bold"), (f"  {printable(row.words)}", "")) for row in shown)


def show_rejected(rejected: "Sequence[Rejected]", arguments: Namespace, *, listed: str = "--json lists all") -> None:
    """Print the first rejected records, the reasons, what may help, and how all are *listed*.

    The *arguments* of the command have the options that may help.
    """
    lines = [f"{'incomplete' if one.code == 'endless' else 'rejected'}: {one}" for one in rejected[:_SHOWN]]
    more = [f"and {len(rejected) - _SHOWN:,} more ({listed})"] if len(rejected) > _SHOWN else []
    show_lines([*lines, *more, *advice_on_rejected(rejected, arguments)], style="yellow")


def show_lines(lines: Iterable[str], *, style: str = "") -> None:
    """Print lines of text, with control characters escaped."""
    _show(((printable(line), style),) for line in lines)


def _show(lines: Iterable[Sequence[tuple[str, str]]]) -> None:
    """Print lines, each of them parts with their styles, which only a terminal shows."""
    if sys.stdout is None or not (sys.stdout.isatty() or "FORCE_COLOR" in os.environ):
        for line in lines:
            print(*(part for part, _ in line), sep="")
        return
    from rich.text import Text  # slow to load

    screen = console()
    for line in lines:
        screen.print(Text.assemble(*line), soft_wrap=True)


def complain(message: str) -> None:
    """Print a message on standard error."""
    print_error(f"neardup: {printable(message)}")


def print_error(line: str) -> None:
    """Print a line on standard error, unless it is closed."""
    if sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)


def note_quoted_lines(found: "QuotedLines | int | None") -> None:
    """Print a note on records with line ends inside quotes, if there are any, on standard error."""
    if found:
        complain(advice_on_quotes(found))


def show_side_by_side(
    screen: "Console", headings: tuple[str, str], sides: "Iterable[Excerpt]", *, more: str = "", lines: bool = False
) -> None:
    """Print two texts as columns; mark the parts that only one of them has; see ``marked``."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    plain = screen.no_color or screen.color_system is None
    table = Table(expand=True, box=box.SIMPLE, show_header=any(headings))
    for heading in headings:
        table.add_column(Text(printable(heading)), ratio=1, overflow="fold")  # a text may have no spaces
    table.add_row(*(marked(one, plain=plain, more=more, lines=lines) for one in sides))
    screen.print(table)


def marked(found: "Excerpt", *, plain: bool, more: str = "", lines: bool = False) -> "Text":
    """Return a text with shared parts dimmed and others coloured; with *plain*, between stars instead of coloured.

    With *lines*, line ends and tabs are kept. It ends with the number of characters that are not shown, and *more*, the
    way to see them.
    """
    from rich.text import Text

    escaped = printable_lines if lines else printable
    shown = Text()
    for piece in found.pieces:
        text = escaped(piece.text)
        if piece.omitted:
            text += f" … {piece.omission} … {escaped(piece.rest)}"
        if piece.kind == "alone":
            shown.append(f"*{text}*" if plain else text, style="bold red")
        else:
            shown.append(text, style="dim" if piece.kind == "shared" else "")
    if found.left:
        hint = f" ({more})" if more else ""
        shown.append(f" … and {counted(found.left, 'character')} more{hint}", style="italic")
    return shown
