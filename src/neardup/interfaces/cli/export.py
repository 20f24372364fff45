"""Write the documents of an index and their representatives to a table, for other engines."""

import argparse

from neardup.interfaces.cli.options import JSON, KEYED_INDEX, opened
from neardup.interfaces.cli.terminal import resolve_outputs, summarise
from neardup.interfaces.wording.numbers import row, total

EXAMPLE = "Example: neardup export seen --to documents.parquet"
USAGE = f"""
{KEYED_INDEX}
--to PATH!: a table with the id, the representative, the times and the fields of each document: .parquet or .jsonl
  (also with .gz, .zst, .bz2 or .xz)
--since GENERATION=0: only what has changed since the generation that an earlier export printed; removed documents have
  no representative
--force: replace an output that exists
{JSON}
"""


def run(arguments: argparse.Namespace) -> int:
    """Export and summarise."""
    resolve_outputs(arguments, "to")
    from neardup.pipeline.index.changes import export
    from neardup.sources.output import check_separate, check_table

    check_separate({"DIR": arguments.index, "to": arguments.to})
    check_table(arguments.to, force=arguments.force)
    with opened(arguments, "r") as index:
        done = export(index, arguments.to, arguments.since, force=arguments.force)
    rows = [
        total(done.documents, "document", " written"),
        row(done.removed, "removed document", " listed"),
    ]
    lines = [f"generation {done.generation}: the next export of changes takes --since {done.generation}"]
    return summarise(arguments, done._asdict(), rows, lines=lines)
