"""Remove documents from an index."""

import argparse

from neardup.interfaces.cli.options import JSON, KEYED_INDEX, opened
from neardup.interfaces.cli.terminal import summarise
from neardup.model.errors import plural

EXAMPLE = "Example: neardup remove seen --ids removed.txt"
INTERRUPTED = "interrupted; either all documents were removed or none; run the same command again"
USAGE = f"""
{KEYED_INDEX}
--ids FILE!: a file of ids as the index has them (URLs in their normal form), one per line; - is standard input
{JSON}
"""


def run(arguments: argparse.Namespace) -> int:
    """Remove and summarise."""
    from neardup.pipeline.files.upkeep import remove_ids
    from neardup.sources.listing import listed

    ids = listed(arguments.ids)
    with opened(arguments, "w") as index:
        done = remove_ids(index, ids)
        total = len(index)
    rows = [
        (done.removed, f"{plural(done.removed, 'document')} removed", True),
        (done.unknown, f"{plural(done.unknown, 'id')} not in the index", False),
        (done.promoted, f"{plural(done.promoted, 'document')} kept now, as the representative was removed", False),
        (total, f"{plural(total, 'document')} in the index", True),
    ]
    record = {"removed": done.removed, "unknown": done.unknown, "promoted": done.promoted, "documents": total}
    return summarise(arguments, record, rows)
