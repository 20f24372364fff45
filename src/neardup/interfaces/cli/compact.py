"""Merge the segments of an index, and purge removed documents."""

import argparse

from neardup.interfaces.cli.options import KEYED_INDEX, opened
from neardup.interfaces.cli.terminal import Row, progress_bar, summarise
from neardup.model.errors import plural

INTERRUPTED = "interrupted; the index is unchanged or partly merged; run the same command again to continue"
USAGE = f"{KEYED_INDEX}--json: print the numbers before and after as JSON"


def run(arguments: argparse.Namespace) -> int:
    """Compact the index, and print its size before and after."""
    with opened(arguments, "w") as index:
        before = index.stats()
        with progress_bar("compact") as progress:
            index.compact(progress)
        after = index.stats()
    purged = before.removed_in_files - after.removed_in_files
    rows: list[Row] = [
        (after.documents, plural(after.documents, "document"), True),
        (after.segments, f"{plural(after.segments, 'segment')} (before: {before.segments:,})", True),
        (after.bytes, f"{plural(after.bytes, 'byte')} (before: {before.bytes:,})", True),
        (purged, f"removed {plural(purged, 'document')} purged from the files"),
    ]
    return summarise(arguments, {"before": before, "after": after}, rows)
