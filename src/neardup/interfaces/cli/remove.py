"""Remove documents from an index."""

import argparse

from neardup.interfaces.cli.options import JSON, KEYED_INDEX, RULES, addresses_of, opened
from neardup.interfaces.cli.terminal import Row, shown_ids, summarise
from neardup.interfaces.wording.rows import promoted_words
from neardup.model.errors import plural

EXAMPLE = "Example: neardup remove seen --ids removed.txt"
INTERRUPTED = "interrupted; either all documents were removed or none; run the same command again"
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
        total = len(index)
    unknown = len(done.unknown)
    rows: list[Row] = [
        (done.removed, f"{plural(done.removed, 'document')} removed", True),
        (unknown, f"{plural(unknown, 'id')} not in the index{shown_ids(done.unknown)}"),
        (done.promoted, promoted_words(done.promoted, "removed")),
        (total, f"{plural(total, 'document')} in the index", True),
    ]
    record = {"removed": done.removed, "unknown": unknown, "promoted": done.promoted, "documents": total}
    return summarise(arguments, record, rows)
