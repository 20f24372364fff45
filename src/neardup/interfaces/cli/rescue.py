"""Make a new index of everything that is intact in a damaged one."""

import argparse
import json

from neardup.interfaces.cli.folders import add_index_argument
from neardup.interfaces.cli.options import key_of
from neardup.interfaces.cli.terminal import progress_bars, show_counts, show_lines
from neardup.model.errors import counted, plural

EXAMPLE = "Example: neardup rescue seen rescued"
INTERRUPTED = "interrupted; the damaged index is as it was; remove the new folder and run the same command again"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_index_argument(parser)
    parser.add_argument("to", metavar="TO", help="the folder of the new index, which is empty or does not exist")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Rescue and report; return 1 if something is lost."""
    from neardup.pipeline.rescue import rescue

    with progress_bars() as progress:
        found = rescue(
            arguments.index,
            arguments.to,
            key=key_of(arguments),
            progress=progress and (lambda done, total: progress("rescue", done, total)),
        )
    if arguments.json:
        summary = {"documents": found.documents, "promoted": found.promoted, "repeated": found.repeated}
        print(json.dumps({**summary, "losses": [loss._asdict() for loss in found.losses]}))
        return 1 if found.losses else 0
    lost = sum(loss.documents or 0 for loss in found.losses)
    show_counts(
        [
            (found.documents, f"{plural(found.documents, 'document')} in the new index", True),
            (lost, f"{plural(lost, 'document')} known to be lost", False),
            (found.promoted, f"{plural(found.promoted, 'document')} kept now, as the representative is lost", False),
            (found.repeated, "left out: a later document has the same id", False),
        ]
    )
    show_lines([f"{loss.where}: {_described(loss.what, loss.documents)}" for loss in found.losses], style="yellow")
    if not found.losses:
        show_lines(["Nothing was damaged."])
    return 1 if found.losses else 0


def _described(what: str, documents: int | None) -> str:
    return what if documents is None else f"{what}; lost: {counted(documents, 'document')}"
