"""Show the contents and the size of an index. Needs no key."""

import argparse
import json
from dataclasses import asdict

from neardup.interfaces.cli.folders import add_index_argument
from neardup.interfaces.cli.terminal import show_counts, show_lines
from neardup.model.errors import plural

INTERRUPTED = "interrupted; the index is as it was"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_index_argument(parser, with_key=False)
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Open, count, print."""
    from neardup.pipeline.upkeep import index_stats

    stats = index_stats(arguments.index)
    if arguments.json:
        print(json.dumps(asdict(stats)))
        return 0
    show_counts(
        [
            (stats.documents, plural(stats.documents, "document"), True),
            (stats.kept, "kept; the others are duplicates of these", True),
            (stats.segments, plural(stats.segments, "segment"), True),
            (stats.bytes, f"{plural(stats.bytes, 'byte')}, {stats.bytes_in_log:,} of them in the log", True),
            (stats.removed_in_files, "removed, but still in the files; `neardup compact` purges them", False),
            (
                stats.discarded_bytes,
                f"{plural(stats.discarded_bytes, 'byte')} after the last record of the log, never acknowledged",
                False,
            ),
        ]
    )
    show_lines([f"scheme {stats.scheme}, recipe {stats.recipe}, generation {stats.generation}"])
    return 0
