"""Remove the documents of an index that were not seen for a while."""

import argparse

from neardup.interfaces.cli.options import JSON, KEYED_INDEX, MOMENT, opened
from neardup.interfaces.cli.terminal import summarise
from neardup.interfaces.wording.numbers import promoted_row, total
from neardup.model.moments import moment_in

EXAMPLE = "Example: neardup expire seen --before 90d"
USAGE = f"""
{KEYED_INDEX}
--before TIME!: remove the documents that were last seen before this time: {MOMENT}
--by last_seen|first_seen=last_seen: the time of a document that must be before TIME
{JSON}
"""


def run(arguments: argparse.Namespace) -> int:
    """Remove and summarise."""
    from neardup.pipeline.files.upkeep import expire

    with opened(arguments, "w") as index:
        done = expire(index, moment_in(arguments.before), arguments.by)
        documents = len(index)
    promoted = len(done.promoted)
    rows = [
        total(done.removed, "document", " removed"),
        promoted_row(promoted, "removed"),
        total(documents, "document", " in the index"),
    ]
    return summarise(arguments, {"removed": done.removed, "promoted": promoted, "documents": documents}, rows)
