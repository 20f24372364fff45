"""Merge the segments of an index, and purge removed documents."""

import argparse
import json
from dataclasses import asdict

from neardup.interfaces.cli.folders import add_index_argument, opened
from neardup.interfaces.cli.terminal import progress_bars, show_counts
from neardup.model.errors import plural

INTERRUPTED = "interrupted; the index is unchanged or partly merged; run the same command again to continue"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_index_argument(parser)
    parser.add_argument("--json", action="store_true", help="print the numbers before and after as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Compact the index, and print its size before and after."""
    with opened(arguments, "w") as index:
        before = index.stats()
        with progress_bars() as progress:
            index.compact(progress and (lambda done, total: progress("compact", done, total)))
        after = index.stats()
    if arguments.json:
        print(json.dumps({"before": asdict(before), "after": asdict(after)}))
        return 0
    purged = before.removed_in_files - after.removed_in_files
    show_counts(
        [
            (after.documents, plural(after.documents, "document"), True),
            (after.segments, f"{plural(after.segments, 'segment')} (before: {before.segments:,})", True),
            (after.bytes, f"{plural(after.bytes, 'byte')} (before: {before.bytes:,})", True),
            (purged, f"removed {plural(purged, 'document')} purged from the files", False),
        ]
    )
    return 0
