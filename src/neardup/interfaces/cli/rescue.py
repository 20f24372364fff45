"""Make a new index of everything that is intact in a damaged one."""

import argparse

from neardup.interfaces.cli.options import JSON, KEYED_INDEX, key_of
from neardup.interfaces.cli.terminal import progress_bar, show_lines, summarise
from neardup.interfaces.wording.numbers import promoted_row, repeated_row, row, total
from neardup.model.errors import StorageDamaged, counted

EXAMPLE = "Example: neardup rescue seen rescued"
USAGE = f"""
{KEYED_INDEX}
to TO: the folder of the new index, which is empty or does not exist
{JSON}
"""


def run(arguments: argparse.Namespace) -> int:
    """Rescue and report; return 1 if something is lost."""
    from neardup.pipeline.index.rescue import rescue

    with progress_bar("rescue", as_lines=arguments.json) as progress:
        found = rescue(arguments.index, arguments.to, key=key_of(arguments), progress=progress)
    lost = sum(loss.documents or 0 for loss in found.losses)
    rows = [
        total(found.documents, "document", " in the new index"),
        row(lost, "document", " known to be lost"),
        promoted_row(found.promoted, "lost"),
        repeated_row(found.repeated),
    ]
    record = {"documents": found.documents, "promoted": found.promoted, "repeated": found.repeated}
    summarise(arguments, {**record, "losses": [loss._asdict() for loss in found.losses]}, rows)
    if not arguments.json:
        losses = [str(StorageDamaged(loss.where, _described(loss.what, loss.documents))) for loss in found.losses]
        show_lines(losses or ["Nothing was damaged."], style="yellow" if losses else "")
    return 1 if found.losses else 0


def _described(what: str, documents: int | None) -> str:
    return what if documents is None else f"{what}; lost: {counted(documents, 'document')}"
