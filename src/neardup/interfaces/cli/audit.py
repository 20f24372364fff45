"""Estimate what a run missed, from a random sample of its documents."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.interfaces.audits import audit_lines, band_rows, missed_lines, table_lines
from neardup.interfaces.cli.amounts import share, whole
from neardup.interfaces.cli.common_shingles import add_list_option
from neardup.interfaces.cli.options import (
    add_inputs,
    add_keep_option,
    add_reading_options,
    add_scheme_options,
    describes_scheme,
    key_of,
    reading_of,
    scheme_of,
)
from neardup.interfaces.cli.terminal import progress_bars, show_lines
from neardup.interfaces.cli.warm import say_if_cold

if TYPE_CHECKING:
    from neardup.evaluation.audit import Audit

_HIDDEN = argparse.SUPPRESS
_REPORTS = (".html", ".htm", ".json")

EXAMPLE = (
    "Example: neardup dedup pages.jsonl --dry-run --report why.parquet; neardup audit pages.jsonl --of why.parquet"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_inputs(parser)
    audited = parser.add_argument_group("what is audited, and how")
    audited.add_argument(
        "--of",
        metavar="REPORT|STATE",
        default=_HIDDEN,
        help="the report of the run (.parquet, .jsonl), with the options of that run; or the folder of dedup --state,"
        " which has recorded them, with the inputs of all its runs; without it, the inputs are deduplicated first, in"
        " memory",
    )
    audited.add_argument("--sample", type=whole, metavar="N", default=2_000, help="the documents to draw at random")
    audited.add_argument(
        "--until",
        type=share,
        metavar="SHARE",
        default=_HIDDEN,
        help="draw more documents until the recall is known within SHARE, such as 0.5%%",
    )
    audited.add_argument("--draw", type=whole, metavar="N", default=1, help="another number draws other documents")
    audited.add_argument("--threads", type=whole, metavar="N", default=_HIDDEN, help="cores to use (default: all)")
    outputs = parser.add_argument_group("outputs")
    outputs.add_argument("--report", metavar="PATH", default=_HIDDEN, help="a page to look at (.html), or JSON (.json)")
    outputs.add_argument("--force", action="store_true", help="replace a report that exists")
    outputs.add_argument("--json", action="store_true", help="print the audit as JSON, without texts")
    add_reading_options(parser)
    add_scheme_options(parser)
    add_list_option(parser)
    add_keep_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Audit and print."""
    from neardup.sources.output import check_file, write_file

    given = vars(arguments)
    report = given.get("report")
    if report is not None:
        check_file(report, _REPORTS, arguments.inputs, force=arguments.force)
    say_if_cold()
    from neardup.pipeline.audit_files import audit_files
    from neardup.pipeline.spilled.state import is_state

    recorded = "of" in given and is_state(Path(given["of"])) and not describes_scheme(arguments)
    chosen = {"key": key_of(arguments)} if recorded else {"scheme": scheme_of(arguments)}
    with progress_bars() as bars:
        found = audit_files(
            arguments.inputs,
            given.get("of"),
            **chosen,
            keep=arguments.keep,
            sample=arguments.sample,
            until=given.get("until"),
            seed=arguments.draw,
            threads=given.get("threads"),
            progress=bars,
            **reading_of(arguments),
        )
    if report is not None:
        write_file(report, _rendered(found, report), _REPORTS, force=arguments.force)
    if arguments.json:
        plain = found.as_dict()
        for one in plain["missed"]:
            del one["text"], one["partner_text"]
        print(json.dumps(plain))
    else:
        show_lines([*audit_lines(found), *table_lines(band_rows(found)), *missed_lines(found)])
    return 0


def _rendered(found: "Audit", path: str) -> bytes:
    if path.lower().endswith(".json"):
        return json.dumps(found.as_dict(), indent=1).encode() + b"\n"
    from neardup.interfaces.pages.audit import audit_page

    return audit_page(found)
