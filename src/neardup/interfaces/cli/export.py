"""Write the documents of an index and their representatives to a table, for other engines."""

import argparse
import json

from neardup.interfaces.cli.amounts import whole
from neardup.interfaces.cli.folders import add_index_argument, opened
from neardup.interfaces.cli.terminal import show_counts, show_lines
from neardup.model.errors import plural

EXAMPLE = "Example: neardup export seen --to documents.parquet"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_index_argument(parser)
    parser.add_argument(
        "--to",
        metavar="PATH",
        required=True,
        default=argparse.SUPPRESS,
        help="a table with the id, the representative, the times and the fields of each document: .parquet, .jsonl,"
        " .jsonl.gz or .jsonl.zst",
    )
    parser.add_argument(
        "--since",
        type=whole,
        metavar="GENERATION",
        default=0,
        help="only what has changed since the generation that an earlier export printed; removed documents have no"
        " representative",
    )
    parser.add_argument("--force", action="store_true", help="replace an output that exists")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Export and summarise."""
    from neardup.pipeline.changes import export
    from neardup.sources.output import check_separate, check_table

    check_separate({"DIR": arguments.index, "to": arguments.to})
    check_table(arguments.to, force=arguments.force)
    with opened(arguments, "r") as index:
        done = export(index, arguments.to, arguments.since, force=arguments.force)
    if arguments.json:
        print(json.dumps(done._asdict()))
        return 0
    show_counts(
        [
            (done.documents, f"{plural(done.documents, 'document')} written", True),
            (done.removed, f"removed {plural(done.removed, 'document')} listed", False),
        ]
    )
    show_lines([f"generation {done.generation}: the next export of changes takes --since {done.generation}"])
    return 0
