"""Verify every byte of an index, and name what is damaged. Needs no key."""

import argparse
import json
from dataclasses import asdict

from neardup.interfaces.cli.folders import add_index_argument
from neardup.interfaces.cli.terminal import progress_bars, show_counts, show_lines
from neardup.model.errors import plural

INTERRUPTED = "interrupted; the index is as it was"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_index_argument(parser, with_key=False)
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Check; return 1 if there are problems."""
    from neardup.pipeline.upkeep import check_index

    with progress_bars() as progress:
        report = check_index(arguments.index, progress and (lambda done, total: progress("check", done, total)))
    if arguments.json:
        print(json.dumps(asdict(report)))
        return 1 if report.problems else 0
    show_counts(
        [
            (report.files, f"{plural(report.files, 'file')} verified, with {report.bytes:,} bytes in segments", True),
            (report.documents, f"{plural(report.documents, 'document')} in segments, the log not counted", True),
            (len(report.problems), plural(len(report.problems), "problem"), True),
        ]
    )
    show_lines(report.problems, style="yellow")
    if report.interrupted:
        show_lines(["An interrupted writer leaves such an end; the next writer discards it."])
    elif report.problems:
        show_lines(["Restore the index from a copy, or save what is intact: neardup rescue DIR TO"])
    return 1 if report.problems else 0
