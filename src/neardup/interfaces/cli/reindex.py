"""Rebuild the search table of an index from its stored texts."""

import argparse
import time

from neardup.interfaces.cli.options import JSON, KEYED_INDEX, opened
from neardup.interfaces.cli.terminal import progress_bars, summarise
from neardup.interfaces.wording.numbers import total

EXAMPLE = "Example: neardup reindex seen"
USAGE = f"{KEYED_INDEX}{JSON}"


def run(arguments: argparse.Namespace) -> int:
    """Build and summarise."""
    from neardup.pipeline.query.search import Search, table_bytes

    started = time.monotonic()
    with opened(arguments, "w") as index, progress_bars(as_lines=arguments.json) as progress:
        Search.rebuild(index, progress)
        documents, size = len(index), table_bytes(index)
    seconds = time.monotonic() - started
    rows = [
        total(documents, "document", f" in the search table, {seconds:.1f} s"),
        total(size, "byte"),
    ]
    return summarise(arguments, {"documents": documents, "bytes": size, "seconds": round(seconds, 3)}, rows)
