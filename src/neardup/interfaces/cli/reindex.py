"""Rebuild the search table of an index from its stored texts."""

import argparse
import json
import time

from neardup.interfaces.cli.folders import add_index_argument, opened
from neardup.interfaces.cli.terminal import progress_bars, show_counts
from neardup.model.errors import plural

EXAMPLE = "Example: neardup reindex seen"
INTERRUPTED = "interrupted; the search table is as it was, and the same command starts again"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_index_argument(parser)
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Build and summarise."""
    from neardup.pipeline.search import Search, table_bytes

    started = time.monotonic()
    with opened(arguments, "w") as index, progress_bars() as progress:
        Search.rebuild(index, progress)
        documents, size = len(index), table_bytes(index)
    seconds = time.monotonic() - started
    if arguments.json:
        print(json.dumps({"documents": documents, "bytes": size, "seconds": round(seconds, 3)}))
        return 0
    show_counts(
        [
            (documents, f"{plural(documents, 'document')} in the search table, {seconds:.1f} s", True),
            (size, plural(size, "byte"), True),
        ]
    )
    return 0
