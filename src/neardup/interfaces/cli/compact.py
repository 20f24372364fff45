"""Merge the segments of an index, and purge removed documents."""

import argparse
import json
from dataclasses import asdict

from neardup.interfaces.cli.folders import add_index_argument, opened
from neardup.interfaces.cli.terminal import progress_bars, show_counts

INTERRUPTED = "interrupted; the index is unchanged or partly merged; run the same command again to continue"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_index_argument(parser)
    parser.add_argument("--json", action="store_true", help="print what it was before, and is after, as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Compact; say what it was and is."""
    with opened(arguments, "w") as index:
        before = index.stats()
        with progress_bars() as progress:
            index.compact(progress and (lambda done, total: progress("compact", done, total)))
        after = index.stats()
    if arguments.json:
        print(json.dumps({"before": asdict(before), "after": asdict(after)}))
        return 0
    show_counts(
        [
            (after.documents, "documents", True),
            (after.segments, f"segment{'' if after.segments == 1 else 's'} (before: {before.segments:,})", True),
            (after.bytes, f"bytes (before: {before.bytes:,})", True),
            (before.removed_in_files - after.removed_in_files, "removed documents left out of the files", False),
        ]
    )
    return 0
