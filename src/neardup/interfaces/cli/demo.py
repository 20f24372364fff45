"""Find the near duplicates of bundled samples, show some side by side; with --serve, serve a page to search them."""

import argparse
import os
import tempfile
import time
from collections import Counter
from contextlib import suppress
from importlib.resources import as_file, files
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from neardup.interfaces.cli.dedup import show_summary, summary_of
from neardup.interfaces.cli.interruption import without_waiting
from neardup.interfaces.cli.options import JSON
from neardup.interfaces.cli.serve import loaded
from neardup.interfaces.cli.terminal import complain, console, print_json, progress_bars, show_side_by_side
from neardup.interfaces.cli.warm import say_if_cold
from neardup.interfaces.escaping import printable
from neardup.interfaces.wording.excerpts import compared
from neardup.interfaces.wording.runs import evidence_of
from neardup.model.errors import counted, require

if TYPE_CHECKING:
    from neardup.pipeline.files.dedup import FilesResult

_CLUSTERS = 4
_CONTEXT = 60  # characters of a shared passage that are shown at each end
_CHARACTERS = 300  # of each text, more or less, that are shown

USAGE = f"""
{JSON}
--serve: serve a page to search the collection on, for this machine only, until Ctrl-C
"""


def run(arguments: argparse.Namespace) -> int:
    """Deduplicate the sample with defaults, and show decisions."""
    both = arguments.json and arguments.serve
    require(not both, "json", None, "cannot be used with --serve; leave out one of the two")
    running = loaded() if arguments.serve else None
    say_if_cold()
    from neardup.interfaces.pages.report import report_page
    from neardup.pipeline.files.dedup import dedup_files
    from neardup.schemes.registry import default

    scheme = default()
    with as_file(files("neardup.samples") / "collection.jsonl") as path:
        started = time.monotonic()
        with progress_bars() as progress:
            done = dedup_files([str(path)], scheme=scheme, progress=progress)
        seconds = time.monotonic() - started
        report = _written(report_page(done, scheme))
        if arguments.json:
            print_json({**summary_of(done, seconds), "report": report})
            return 0
        _show(done, seconds, arguments)
    if report is not None:
        print(f"The report of this run, to open in a browser:\n{printable(report)}\n")
    return 0 if running is None else _serve(running)


def _serve(running: ModuleType) -> int:
    """Serve the collection from an index in a temporary folder, which is removed at the end."""
    from neardup.pipeline.files.ingestion import add_files

    def started(address: str, _: object) -> None:
        print(f"A page to search the collection on, to open in a browser until Ctrl-C ends it:\n{address}", flush=True)

    with tempfile.TemporaryDirectory(prefix="neardup-demo-") as folder:
        index = str(Path(folder, "index"))
        with as_file(files("neardup.samples") / "collection.jsonl") as path, progress_bars() as progress:
            add_files([str(path)], index, search=True, durability="bulk", progress=progress)
        with without_waiting():
            code: int = running.run(running.Deployment(folder=index, port=0), started=started, report=complain)
            print("Ended.", flush=True)
    return code


def _written(page: bytes) -> str | None:
    """Write the page to the folder for temporary files, replacing that of the last run; return its path, or ``None``.

    Other users may write there, too: a link is replaced, never followed, and a file that cannot be replaced is left.
    """
    try:
        descriptor, name = tempfile.mkstemp(prefix="neardup-demo-", suffix=".html")
    except OSError:  # the demonstration continues without it
        return None
    place = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(page)
    except OSError:
        place.unlink(missing_ok=True)
        return None
    with suppress(OSError):
        return str(place.replace(place.with_name("neardup-demo.html")))
    return name


def _show(done: "FilesResult", seconds: float, arguments: argparse.Namespace) -> None:
    import numpy as np
    from rich.rule import Rule

    screen = console()
    screen.print(
        f"\nA collection of {counted(len(done.documents), 'document')}: which are repeats, which are kept, and why?\n"
    )
    show_summary(done, seconds, arguments)
    dropped = done.result.decisions.filter(~done.result.decisions["kept"].to_numpy()).to_pylist()
    sizes = Counter(row["representative"] for row in dropped)
    chosen = _chosen(dropped)
    screen.print(f"\n{len(sizes):,} kept documents represent {len(dropped):,} others. {len(chosen)} of them,")
    screen.print("with the differences marked:\n")
    ids = done.documents.ids.to_pylist()
    raw = done.documents.raw_texts(np.arange(len(ids)))
    texts = {own: (text or b"").decode() for own, text in zip(ids, raw, strict=True)}
    for row in chosen:
        screen.print(Rule(align="left", characters="-"))
        _show_pair(row, sizes[row["representative"]], texts)
    screen.print("Your own:  neardup dedup FILE.jsonl --out kept.jsonl --report why.jsonl\n", markup=False)


def _chosen(dropped: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return pairs of different clusters, from the loosest match to an exact one."""
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


def _show_pair(row: dict[str, Any], size: int, texts: dict[str, str]) -> None:
    from rich.text import Text

    screen = console()
    others = f", which represents {size - 1} more" if size > 1 else ""
    gone_id, kept_id = printable(row["id"]), printable(row["representative"])
    screen.print(Text.assemble((gone_id, "bold"), " dropped for ", (kept_id, "bold"), others))
    screen.print(evidence_of(row), style="cyan")
    sides = compared(texts[row["representative"]], texts[row["id"]], _CONTEXT, characters=_CHARACTERS)
    show_side_by_side(screen, ("kept", "dropped"), sides)
