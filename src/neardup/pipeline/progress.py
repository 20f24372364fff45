"""The progress of a run: passed to a function, or shown as bars."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from neardup.model.engine import Progress as Progress  # noqa: PLC0414 - for those that follow it
from neardup.model.engine import silent
from neardup.model.errors import require

if TYPE_CHECKING:
    from rich.console import Console

_WORDS: Final = {
    "learn": "Learning templates",
    "sample": "Finding common shingles",
    "read": "Reading",
    "shingle": "Shingling",
    "sign": "Signing",
    "bucket": "Bucketing",
    "compare": "Comparing",
    "audit": "Auditing",
    "gather": "Gathering",
    "match": "Matching",
    "settle": "Settling",
    "copy": "Copying inputs",
    "fields": "Finding the types of fields",
    "write": "Writing",
    "admit": "Admitting",
    "check": "Checking",
    "compact": "Merging",
    "remove": "Removing",
    "search": "Searchable",
}
_IN_BYTES: Final = {"learn", "fields", "sample", "read", "gather", "write", "check"}
# Neither bytes nor, in all runs, documents.
_NO_RATE: Final = {"bucket", "compact", "compare", "copy", "match", "settle"}


def followed(progress: bool | Progress | None, /) -> AbstractContextManager[Progress]:  # noqa: FBT001 - a switch or a function, as dedup takes it
    """Yield the function to call: the given one, bars on standard error for ``True``, no function for ``None``.

    The bars appear on a terminal and in a notebook, and disappear at the end. Raises ``ParameterError`` unless it is
    one of these.
    """
    if callable(progress):
        return nullcontext(progress)
    require(progress is None or isinstance(progress, bool), "progress", progress, "must be True, False or a function")
    if progress:
        from rich.console import Console

        screen = Console(stderr=True)
        if screen.is_terminal or screen.is_jupyter:
            return bars(screen)
    return nullcontext(silent)


@contextmanager
def bars(screen: "Console") -> Iterator[Progress]:
    """Show one bar per stage: what is done, the rate, the time left."""
    from rich import progress

    display = progress.Progress(
        progress.TextColumn("{task.description:<10}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TextColumn("{task.fields[rate]:>16}"),
        progress.TimeRemainingColumn(),
        console=screen,
        transient=True,
    )
    tasks: dict[str, Any] = {}

    def update(stage: str, done: int, total: int) -> None:
        if stage not in tasks:
            tasks[stage] = display.add_task(_WORDS.get(stage, stage), total=total or None, rate="")
        task = display.tasks[display.task_ids.index(tasks[stage])]
        display.update(tasks[stage], completed=done, total=total or None, rate=_rate(stage, task.speed))

    with display:
        yield update


def _rate(stage: str, speed: float | None) -> str:
    if not speed or stage in _NO_RATE:
        return ""
    return f"{speed / 1e6:,.0f} MB/s" if stage in _IN_BYTES else f"{speed:,.0f} docs/s"
