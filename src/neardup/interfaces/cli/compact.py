"""Merge the segments of an index, and purge removed documents."""

import argparse

from neardup.interfaces.cli.options import KEYED_INDEX, opened
from neardup.interfaces.cli.terminal import progress_bar, summarise
from neardup.interfaces.wording.numbers import row, total

USAGE = f"{KEYED_INDEX}--json: print the numbers before and after as JSON"


def run(arguments: argparse.Namespace) -> int:
    """Compact the index, and print its size before and after."""
    with opened(arguments, "w") as index:
        before = index.stats()
        with progress_bar("compact", as_lines=arguments.json) as progress:
            index.compact(progress)
        after = index.stats()
    purged = before.removed_in_files - after.removed_in_files
    rows = [
        total(after.documents, "document"),
        total(after.segments, "segment", f" (before: {before.segments:,})"),
        total(after.bytes, "byte", f" (before: {before.bytes:,})"),
        row(purged, "removed document", " purged from the files"),
    ]
    return summarise(arguments, {"before": before, "after": after}, rows)
