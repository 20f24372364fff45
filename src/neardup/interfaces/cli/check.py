"""Verify the files of an index, and name what is damaged. Needs no key."""

import argparse
import shlex

from neardup.interfaces.cli.options import INDEX
from neardup.interfaces.cli.terminal import progress_bar, show_lines, summarise
from neardup.interfaces.wording.numbers import row, total

USAGE = f"{INDEX}--json: print what was found as JSON"


def run(arguments: argparse.Namespace) -> int:
    """Check; return 1 if there are problems."""
    from neardup.pipeline.files.upkeep import can_be_rebuilt, check_index

    with progress_bar("check", as_lines=arguments.json) as progress:
        report = check_index(arguments.index, progress)
    problems = 0 if report.interrupted else len(report.problems)
    rows = [
        total(report.files, "file", " verified"),
        row(report.documents, "document", " in intact segments; documents in the log are not counted"),
        total(problems, "problem"),
    ]
    summarise(arguments, report, rows)
    if report.problems and not arguments.json:
        folder = shlex.quote(arguments.index)
        advice = f"Restore the index from a copy, or save what is intact: neardup rescue {folder} TO"
        if report.interrupted:
            advice = "An interrupted writer left these bytes. This is not damage: the next writer discards them."
        elif can_be_rebuilt(report):
            advice = f"Nothing else is damaged. Build the search table again: neardup reindex {folder}"
        show_lines(report.problems, style="yellow")
        show_lines([] if report.lost else [advice])
    return 1 if problems else 0
