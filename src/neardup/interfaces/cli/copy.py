"""Copy an index while it is in use. Needs no key."""

import argparse

from neardup.interfaces.cli.options import INDEX, JSON
from neardup.interfaces.cli.terminal import progress_bar, summarise
from neardup.interfaces.wording.numbers import Row, total

EXAMPLE = "Example: neardup copy seen /backup/seen"
USAGE = f"""
{INDEX}
to TO: a folder that is empty or does not exist, or has an earlier copy, which is brought up to date
{JSON}
"""


def run(arguments: argparse.Namespace) -> int:
    """Copy and summarise."""
    from neardup.pipeline.files.upkeep import copy_index

    with progress_bar("copy", as_lines=arguments.json) as progress:
        done = copy_index(arguments.index, arguments.to, progress)
    rows = [
        total(done.bytes, "byte", " in the copy without its search table, all of them verified"),
        Row(done.bytes - done.written, "of these in the earlier copy already"),
    ]
    return summarise(arguments, done._asdict(), rows)
