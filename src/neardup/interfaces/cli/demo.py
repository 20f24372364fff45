"""Find the near-duplicates of the bundled sample collection and show some side by side."""

import argparse
import json
import time
from collections import Counter
from difflib import SequenceMatcher
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from neardup.interfaces.cli.dedup import show_summary, summary_of
from neardup.interfaces.cli.terminal import console, printable, progress_bars
from neardup.interfaces.cli.warm import say_if_cold

if TYPE_CHECKING:
    from rich.text import Text

    from neardup.pipeline.files import FilesResult

_CLUSTERS = 4
_WORDS = 55  # of each text are shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run the main job with its defaults and show what it decided."""
    say_if_cold()
    from neardup.pipeline.files import dedup_files

    with as_file(files("neardup.samples") / "collection.jsonl") as path:
        started = time.monotonic()
        with progress_bars() as progress:
            done = dedup_files([str(path)], progress=progress)
        seconds = time.monotonic() - started
        if arguments.json:
            print(json.dumps(summary_of(done, seconds)))
            return 0
        _show(done, seconds)
    return 0


def _show(done: "FilesResult", seconds: float) -> None:
    from rich.rule import Rule

    screen = console()
    screen.print(
        f"\nA collection of {len(done.documents):,} documents: which say the same, which one stays, and why?\n"
    )
    show_summary(done, seconds)
    dropped = done.result.decisions.filter(~done.result.decisions["kept"].to_numpy()).to_pylist()
    sizes = Counter(row["representative"] for row in dropped)
    chosen = _chosen(dropped)
    screen.print(f"\n{len(sizes):,} kept documents stand for {len(dropped):,} others. {len(chosen)} of them:\n")
    ids = done.documents.ids.to_pylist()
    texts = dict(zip(ids, done.documents.texts.to_pylist(), strict=True))
    for row in chosen:
        screen.print(Rule(align="left", characters="-"))
        _show_pair(row, sizes[row["representative"]], texts)
    screen.print("Your own:  neardup dedup FILE.jsonl --out kept.jsonl --report why.jsonl\n", markup=False)


def _chosen(dropped: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Take pairs from the loosest match to an exact one, of different clusters."""
    near = sorted(
        (row for row in dropped if row["rule"] == "resemblance"), key=lambda row: (row["resemblance"], row["id"])
    )
    rest = [row for rule in ("same features", "same text") for row in dropped if row["rule"] == rule]
    spread = [near[len(near) * part // 3] for part in range(3)] if len(near) >= _CLUSTERS else near
    chosen: dict[str, dict[str, Any]] = {}
    for row in [*spread, *rest]:
        if len(chosen) < _CLUSTERS:
            chosen.setdefault(row["representative"], row)
    return list(chosen.values())


def _show_pair(row: dict[str, Any], size: int, texts: dict[str, str | None]) -> None:
    from rich.table import Table

    screen = console()
    others = f", as for {size - 1} more" if size > 1 else ""
    screen.print(f"[bold]{printable(row['id'])}[/] dropped for [bold]{printable(row['representative'])}[/]{others}")
    measures = (
        f"{row['rule']} {row['resemblance']:.2f}; {row['contained_in_kept']:.0%} of it is in the kept one,"
        f" {row['contains_kept']:.0%} of the kept one is in it"
    )
    screen.print(measures, style="cyan")
    kept, gone = _marked(texts[row["representative"]] or "", texts[row["id"]] or "")
    table = Table(expand=True, pad_edge=False)
    table.add_column("kept", ratio=1)
    table.add_column("dropped", ratio=1)
    table.add_row(kept, gone)
    screen.print(table)


def _marked(kept: str, gone: str) -> "tuple[Text, Text]":
    """Mark the words that differ, in a stretch of both texts around the first difference."""
    from rich.text import Text

    left, right = printable(kept).split(), printable(gone).split()
    blocks = SequenceMatcher(a=left, b=right, autojunk=False).get_matching_blocks()
    first = blocks[0]
    begin = max(0, first.size - _WORDS // 4) if first.a == 0 and first.b == 0 else 0
    shared_left = {first.a + step for first in blocks for step in range(first.size)}
    shared_right = {first.b + step for first in blocks for step in range(first.size)}

    def stretch(words: list[str], shared: set[int]) -> Text:
        shown = Text("... " if begin else "")
        for place in range(begin, min(begin + _WORDS, len(words))):
            shown.append(words[place], style="" if place in shared else "bold red")
            shown.append(" ")
        if begin + _WORDS < len(words):
            shown.append("...")
        return shown

    return stretch(left, shared_left), stretch(right, shared_right)
