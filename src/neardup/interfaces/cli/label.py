"""Label pairs of documents as same or different, in the terminal or on a local page, or compare two files of labels."""

import argparse
import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neardup.interfaces.cli import options, scheme_options, terminal
from neardup.interfaces.cli.interruption import without_waiting
from neardup.interfaces.cli.serve import loaded
from neardup.interfaces.cli.warm import say_if_cold
from neardup.interfaces.wording.excerpts import compared
from neardup.interfaces.wording.labelling import KEYS, QUESTION, agreement_lines, counts_of, end_of, place_of
from neardup.model.errors import InputRefused, counted, require
from neardup.sources.formats import STDIN

if TYPE_CHECKING:
    from rich.console import Console

    from neardup.pipeline.labels.labelling import Labelling, PairSource
    from neardup.sources.record_faults import Rejected

_COMPARE = "compare"
_FILES = (".jsonl", ".ndjson")
_LABELS = 50
_SAMPLE = 20_000
_SHOWN: dict[str, Any] = {"context": 80, "characters": 1_500}  # of each text
_WHOLE: dict[str, Any] = {"context": 1_000_000, "characters": 1_000_000}  # after the key m
_MOST = 200_000  # characters of a text that are shown and compared
_OPEN = "The pairs to label, to open in a browser until Ctrl-C ends it:"
_HELP = "s same, d different, u unsure, b back, m more of the texts, q quit"

USAGE = f"""
{options.SOME_INPUTS.rstrip()}; or compare A B: report how much two files of labels agree
[labels]
--out PATH: the file to which each answer is added at once (.jsonl); a file that exists is continued
--labels N: the pairs to label (default: {_LABELS})
--like PATH: label the pairs that another person has labelled in this file, without seeing the answers; inputs are only
  needed for texts of more than 1 MiB
--serve: label on a page of this machine, until Ctrl-C
--port N: with --serve: the port (default: a free one)
--json: with `neardup label compare A B`: print the agreement as JSON
[which pairs are drawn]
--sample N: the most documents that are compared with all others to find pairs (default: {_SAMPLE:,})
--draw N: random seed of the sample (default: 1)
{options.THREADS}
{options.READING}
{options.PLAIN}
{scheme_options.SCHEME}
"""
EXAMPLE = (
    "Example: neardup label pages.jsonl --out labels.jsonl; a second person: neardup label --like labels.jsonl"
    " --out second.jsonl; then: neardup label compare labels.jsonl second.jsonl"
)
END: Final = "end"  # of the input
_ESCAPE: Final = b"\x1b"
_END_KEYS: Final = (b"", b"\x04")
_SEQUENCE_SECONDS: Final = 0.05  # in which the rest of the sequence of a key, such as an arrow, follows


def run(arguments: argparse.Namespace) -> int:
    """Label pairs, or compare the labels of two people; return 1 if records were rejected."""
    if arguments.inputs[:1] == [_COMPARE]:
        return _compare(arguments)
    _check(arguments)
    given = vars(arguments)
    source, rejected = _liked(arguments) if "like" in given else _drawn(arguments)
    from neardup.pipeline.labels.labelling import Labelling

    wanted = given.get("labels", None if "like" in given else _LABELS)
    with Labelling(source, arguments.out, wanted=len(source) if wanted is None else wanted) as labelling:
        if arguments.serve:
            from neardup.interfaces.http.labelling import serve

            with without_waiting():
                serve(labelling, given.get("port", 0), partial(print, _OPEN, sep="\n", flush=True))
        else:
            _ask(labelling)
        answers = labelling.answers
    terminal.show_lines([f"{arguments.out}: {counts_of(answers)}"])
    terminal.show_rejected(rejected, arguments)
    return 1 if rejected else 0


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that do not go together, and a file that cannot be continued, before anything else is read."""
    given = vars(arguments)
    require(not arguments.json, "json", None, "is only for `neardup label compare A B`")
    require(given.get("labels", 1) >= 1, "labels", given.get("labels"), "must be at least 1")
    require("port" not in given or arguments.serve, "port", given.get("port"), "is only used with --serve")
    require("out" in given, "out", None, "is needed: the file of the answers, such as labels.jsonl")
    if not arguments.inputs and "like" not in given:
        raise InputRefused("INPUT", "must name the documents, or --like the labels of another person")
    if STDIN in arguments.inputs and not arguments.serve:
        raise InputRefused(STDIN, "standard input is needed for the answers; name a file, or use --serve")
    if "like" in given:
        _refuse_drawing(arguments, "cannot be used with --like: the pairs are those of the other person")
    if not arguments.inputs:
        options.refuse_reading(arguments, "needs INPUT: it describes how documents are read")
    options.drawn(arguments)
    if arguments.serve:
        loaded()  # or an error that names the library that is missing
    from neardup.sources.labels import read_labels
    from neardup.sources.output import check_file

    others = [*arguments.inputs, *([given["like"]] if "like" in given else [])]
    check_file(arguments.out, _FILES, others, force=True)
    if Path(arguments.out).is_file():
        read_labels(arguments.out)


def _compare(arguments: argparse.Namespace) -> int:
    files = arguments.inputs[1:]
    if len(files) != 2:  # noqa: PLR2004 - of two people
        raise InputRefused("label compare", "needs two files of labels; write ./compare for an input of this name")
    rule = "cannot be used with `neardup label compare`"
    require(not arguments.serve, "serve", None, rule)
    for name in ("out", "like", "labels", "port"):
        require(name not in vars(arguments), name, None, rule)
    _refuse_drawing(arguments, rule)
    options.refuse_reading(arguments, rule)
    from neardup.evaluation.agreement import compare_labels
    from neardup.sources.labels import read_labels

    found = compare_labels(*(read_labels(file) for file in files))
    return terminal.summarise(arguments, found.as_dict(), lines=agreement_lines(found))


def _refuse_drawing(arguments: argparse.Namespace, rule: str) -> None:
    """Raise ``ParameterError`` with this *rule* for an option that decides which pairs are drawn."""
    options.refuse(vars(arguments), ("sample", "draw", "threads"), rule)
    scheme_options.refuse_scheme(arguments, rule)


def _drawn(arguments: argparse.Namespace) -> "tuple[PairSource, list[Rejected]]":
    """Return a pool of pairs of the inputs, and the rejected records."""
    given = vars(arguments)
    from neardup.pipeline.corpus.run import scheme_of_texts
    from neardup.pipeline.labels.pool import LABELS_OF_TEXTS, draw_pairs

    scheme = scheme_of_texts(scheme_options.scheme_of(arguments), LABELS_OF_TEXTS)  # before anything is read
    say_if_cold()
    import pyarrow as pa

    with terminal.progress_bars() as bars:
        collection = options.read_inputs(arguments, bars)
        pool = draw_pairs(
            pa.table({"id": collection.ids, "text": collection.texts}),
            scheme=scheme,
            sample=given.get("sample", _SAMPLE),
            seed=options.drawn(arguments),
            threads=given.get("threads"),
            progress=bars,
        )
    sampled = f"{pool.sample:,} of {counted(pool.documents, 'document')} compared with all of them"
    left = len(collection) - pool.documents
    more = [f"{counted(left, 'document')} left out, with the id of an earlier document"] if left else []
    terminal.show_lines([f"{sampled}: {counted(len(pool), 'pair')} to draw from", *more])
    return pool, collection.rejected


def _liked(arguments: argparse.Namespace) -> "tuple[PairSource, list[Rejected]]":
    """Return the pairs of another person's labels, and the rejected records of inputs that have further texts."""
    from neardup.evaluation.passages import is_compiled
    from neardup.pipeline.labels.labelling import LabelledPairs
    from neardup.sources.labels import read_labels

    say_if_cold(is_compiled)
    labels = read_labels(arguments.like)
    if not labels:
        raise InputRefused(arguments.like, "it has no labels yet")
    lacking = {name for one in labels for name, text in ((one.a, one.text_a), (one.b, one.text_b)) if text is None}
    if not arguments.inputs or not lacking:
        return LabelledPairs(labels), []
    with terminal.progress_bars() as bars:
        texts, rejected = options.texts_of(arguments, lacking, bars)
    return LabelledPairs(labels, texts), rejected


def _ask(labelling: "Labelling") -> None:
    """Show one pair after the other, and read the answers."""
    screen = terminal.console()
    with key_reader() as read_key:
        while (pair := labelling.current) is not None:
            screen.print()
            screen.rule(place_of(labelling), align="left", characters="-")
            texts = pair.text_a[:_MOST], pair.text_b[:_MOST]
            terminal.show_side_by_side(screen, (pair.a, pair.b), compared(*texts, **_SHOWN), lines=True)
            if texts != (pair.text_a, pair.text_b):
                terminal.show_lines([f"Only the first {_MOST:,} characters of a text are shown."])
            terminal.show_lines([f"{QUESTION}  {_HELP}"])
            if not _answered(labelling, texts, read_key, screen):
                return
        terminal.show_lines([f"{end_of(labelling)}."])


def _answered(labelling: "Labelling", texts: tuple[str, str], read_key: Callable[[], str], screen: "Console") -> bool:
    """Wait for an answer, or the way back; return false for the end."""
    while True:
        key = read_key()
        if key in {"q", "quit", END}:
            return False
        label = KEYS.get(key, key)
        if label in KEYS.values():
            labelling.answer(label)  # type: ignore[arg-type]  # a label
            terminal.show_lines([label])
            return True
        if key in {"b", "back"}:
            if labelling.back():
                return True
            terminal.show_lines(["This is the first pair."])
        elif key in {"m", "more"}:
            terminal.show_side_by_side(screen, ("", ""), compared(*texts, **_WHOLE), lines=True)
            terminal.show_lines([_HELP])
        elif key:
            terminal.show_lines([f"Unknown key. {_HELP}"])


@contextmanager
def key_reader() -> Iterator[Callable[[], str]]:
    """Yield a function that waits for a key of a terminal, and returns it in lower case; ``END`` at the end of input.

    Keys with sequences, such as arrows, are an empty string. If standard input is not a terminal, the function returns
    its next line, in lower case and without white space around it.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        yield _line
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSADRAIN)
        yield lambda: _key(terminal)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _line() -> str:
    line = b"" if sys.stdin is None else sys.stdin.buffer.readline()
    return line.decode("utf-8", "replace").strip().lower() if line else END


def _key(terminal: int) -> str:
    key = os.read(terminal, 1)
    if key in _END_KEYS:
        return END
    if key == _ESCAPE:
        _skip_sequence(terminal)
        return ""
    return key.decode("ascii", "replace").lower()


def _skip_sequence(terminal: int) -> None:
    """Read the rest of the sequence of a key: ``[`` or ``O``, parameters, and a last byte from ``@`` on."""
    begun = False
    while select.select([terminal], [], [], _SEQUENCE_SECONDS)[0]:
        byte = os.read(terminal, 1)
        if byte == b"" or (begun and byte >= b"@") or (not begun and byte not in {b"[", b"O"}):
            return
        begun = True
