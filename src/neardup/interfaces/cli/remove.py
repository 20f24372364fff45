"""Remove documents from an index."""

import argparse

from neardup.interfaces.cli.options import JSON, KEYED_INDEX, RULES, addresses_of, opened
from neardup.interfaces.cli.terminal import shown_ids, summarise
from neardup.interfaces.wording.numbers import promoted_row, row, total

EXAMPLE = "Example: neardup remove seen --ids removed.txt"
USAGE = f"""
{KEYED_INDEX}
--ids FILE!: a file of ids, one per line; - is standard input; for a URL, any form that has the same normal form
{RULES}
{JSON}
"""


def run(arguments: argparse.Namespace) -> int:
    """Remove and summarise."""
    from neardup.pipeline.files.upkeep import remove_ids
    from neardup.sources.lines import read_names

    ids = read_names(arguments.ids)
    with opened(arguments, "w") as index:
        done = remove_ids(index, ids, addresses_of(arguments))
        documents = len(index)
    unknown = len(done.unknown)
    rows = [
        total(done.removed, "document", " removed"),
        row(unknown, "id", f" not in the index{shown_ids(done.unknown)}"),
        promoted_row(done.promoted, "removed"),
        total(documents, "document", " in the index"),
    ]
    record = {"removed": done.removed, "unknown": unknown, "promoted": done.promoted, "documents": documents}
    return summarise(arguments, record, rows)
