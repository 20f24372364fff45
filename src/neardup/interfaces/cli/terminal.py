"""What a person sees on the terminal: tables, and progress on standard error."""

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

_WORDS = {"read": "Reading", "shingle": "Shingling", "sign": "Signing", "compare": "Comparing"}


def console(*, errors: bool = False) -> "Console":
    """Give a console of standard output or standard error; it honours ``NO_COLOR`` and plain pipes."""
    from rich.console import Console

    return Console(stderr=errors, highlight=False, soft_wrap=False)


@contextmanager
def progress_bars(*, wanted: bool = True) -> "Iterator[Callable[[str, int, int], None] | None]":
    """Show a bar a stage on standard error if it is a terminal: what is done, the rate, the time left."""
    if not (wanted and sys.stderr is not None and sys.stderr.isatty()):
        yield None
        return
    from rich import progress

    bars = progress.Progress(
        progress.TextColumn("{task.description:<10}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TextColumn("{task.fields[rate]:>16}"),
        progress.TimeRemainingColumn(),
        console=console(errors=True),
        transient=True,
    )
    tasks: dict[str, Any] = {}

    def update(stage: str, done: int, total: int) -> None:
        if stage not in tasks:
            tasks[stage] = bars.add_task(_WORDS.get(stage, stage), total=total or None, rate="")
        task = bars.tasks[bars.task_ids.index(tasks[stage])]
        bars.update(tasks[stage], completed=done, total=total or None, rate=_rate(stage, task.speed))

    with bars:
        yield update


def _rate(stage: str, speed: float | None) -> str:
    if not speed:
        return ""
    return f"{speed / 1e6:,.0f} MB/s" if stage == "read" else f"{speed:,.0f} docs/s"
