"""Remove the documents of an index that were not seen for a while."""

import argparse
import json

from neardup.interfaces.cli.amounts import moment
from neardup.interfaces.cli.folders import add_index_argument, opened
from neardup.interfaces.cli.terminal import show_counts
from neardup.model.errors import plural

EXAMPLE = "Example: neardup expire seen --before 90d"
INTERRUPTED = "interrupted; either all documents were removed or none; run the same command again"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_index_argument(parser)
    parser.add_argument(
        "--before",
        metavar="TIME",
        type=moment,
        required=True,
        default=argparse.SUPPRESS,
        help="remove the documents that were last seen before this time: a date or time in UTC, such as 2026-01-31 or"
        " 2026-01-31T12:00:00Z, or an age, such as 90d, 12h or 4w",
    )
    parser.add_argument(
        "--by",
        metavar="TIME",
        default="last_seen",
        help="the time that counts: last_seen, first_seen, changed_at (the last change of the content), or a time field"
        " of the index",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Remove and summarise."""
    from neardup.pipeline.upkeep import expire

    with opened(arguments, "w") as index:
        done = expire(index, arguments.before, arguments.by)
        total = len(index)
    promoted = len(done.promoted)
    if arguments.json:
        print(json.dumps({"removed": done.removed, "promoted": promoted, "documents": total}))
        return 0
    show_counts(
        [
            (done.removed, f"{plural(done.removed, 'document')} removed", True),
            (promoted, f"{plural(promoted, 'document')} kept now, as the representative was removed", False),
            (total, f"{plural(total, 'document')} in the index", True),
        ]
    )
    return 0
