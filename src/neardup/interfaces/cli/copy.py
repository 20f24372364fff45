"""Copy an index while it is in use. Needs no key."""

import argparse
import json

from neardup.interfaces.cli.folders import add_index_argument
from neardup.interfaces.cli.terminal import progress_bars, show_counts
from neardup.model.errors import plural

EXAMPLE = "Example: neardup copy seen /backup/seen"
INTERRUPTED = "interrupted; an earlier copy is as it was; run the same command again to continue"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_index_argument(parser, with_key=False)
    parser.add_argument(
        "to",
        metavar="TO",
        help="a folder that is empty or does not exist, or has an earlier copy, which is brought up to date",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Copy and summarise."""
    from neardup.pipeline.upkeep import copy_index

    with progress_bars() as progress:
        done = copy_index(
            arguments.index, arguments.to, progress and (lambda some, total: progress("copy", some, total))
        )
    if arguments.json:
        print(json.dumps(done._asdict()))
        return 0
    had = done.bytes - done.written
    show_counts(
        [
            (done.bytes, f"{plural(done.bytes, 'byte')} in the copy, all of them verified", True),
            (had, "of these in the earlier copy already", False),
        ]
    )
    return 0
