"""Remove documents from an index."""

import argparse
import json

from neardup.interfaces.cli.opening import add_index_argument, opened
from neardup.interfaces.cli.terminal import progress_bars, show_counts

EXAMPLE = "Example: neardup remove seen --ids gone.txt --promote"
INTERRUPTED = "interrupted; what was removed is gone, and the same command goes on"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_index_argument(parser)
    parser.add_argument(
        "--ids",
        metavar="FILE",
        required=True,
        default=argparse.SUPPRESS,
        help="a file of ids, one a line; - is standard input",
    )
    parser.add_argument(
        "--promote", action="store_true", help="judge afresh the documents that lost the one that stood for them"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Remove and summarise."""
    from neardup.pipeline.upkeep import remove_ids
    from neardup.sources.listing import listed

    ids = listed(arguments.ids)
    with opened(arguments, "w") as index, progress_bars() as progress:
        done = remove_ids(index, ids, promote=arguments.promote, progress=progress)
        total = len(index)
    summary = {"removed": done.removed, "unknown": done.unknown, "orphans": done.orphans, "promoted": done.promoted}
    if arguments.json:
        print(json.dumps({**summary, "documents": total}))
        return 0
    orphans = "lost the one that stood for them" + ("" if arguments.promote else "; --promote judges them afresh")
    show_counts(
        [
            (done.removed, "documents removed", True),
            (done.unknown, "ids that are not in the index", False),
            (done.orphans, orphans, False),
            (done.promoted, "of all such are kept now", arguments.promote),
            (total, "documents in the index", True),
        ]
    )
    return 0
