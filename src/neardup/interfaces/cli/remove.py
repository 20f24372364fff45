"""Remove documents from an index."""

import argparse
import json

from neardup.interfaces.cli.folders import add_index_argument, opened
from neardup.interfaces.cli.terminal import show_counts
from neardup.model.errors import plural

EXAMPLE = "Example: neardup remove seen --ids removed.txt"
INTERRUPTED = "interrupted; either all documents were removed or none; run the same command again"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_index_argument(parser)
    parser.add_argument(
        "--ids",
        metavar="FILE",
        required=True,
        default=argparse.SUPPRESS,
        help="a file of ids, one per line; - is standard input",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Remove and summarise."""
    from neardup.pipeline.upkeep import remove_ids
    from neardup.sources.listing import listed

    ids = listed(arguments.ids)
    with opened(arguments, "w") as index:
        done = remove_ids(index, ids)
        total = len(index)
    summary = {"removed": done.removed, "unknown": done.unknown, "promoted": done.promoted}
    if arguments.json:
        print(json.dumps({**summary, "documents": total}))
        return 0
    show_counts(
        [
            (done.removed, f"{plural(done.removed, 'document')} removed", True),
            (done.unknown, f"{plural(done.unknown, 'id')} not in the index", False),
            (done.promoted, f"{plural(done.promoted, 'document')} kept now, as the representative was removed", False),
            (total, f"{plural(total, 'document')} in the index", True),
        ]
    )
    return 0
