"""Show the contents and the size of an index. Needs no key."""

import argparse

from neardup.interfaces.cli.options import INDEX
from neardup.interfaces.cli.terminal import summarise
from neardup.interfaces.wording.numbers import Row, row, total
from neardup.interfaces.wording.runs import extraction_line

USAGE = f"{INDEX}--json: print everything as JSON"


def run(arguments: argparse.Namespace) -> int:
    """Open, count, print."""
    from neardup.pipeline.files.upkeep import index_stats

    stats = index_stats(arguments.index)
    rows = [
        total(stats.documents, "document"),
        Row(stats.kept, "kept; the others are duplicates of these", always=True),
        total(stats.segments, "segment"),
        total(stats.bytes, "byte", f" without the search table, {stats.bytes_in_log:,} of them in the log"),
        Row(stats.removed_in_files, "removed, but still in the files; `neardup compact` purges them"),
        row(stats.discarded_bytes, "byte", " after the last record of the log, never acknowledged"),
    ]
    lines = [f"scheme {stats.scheme}, recipe {stats.recipe}, generation {stats.generation}"]
    if stats.extraction is not None:
        lines.append(extraction_line(stats.extraction, arguments.index))
    return summarise(arguments, stats, rows, lines=lines)
