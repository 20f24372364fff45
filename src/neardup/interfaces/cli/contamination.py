"""Find which items of test sets are in a training set."""

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from neardup.interfaces.cli.amounts import number, whole
from neardup.interfaces.cli.options import add_inputs, add_reading_options, reading_of
from neardup.interfaces.cli.terminal import progress_bars, show_counts, show_rejected
from neardup.interfaces.cli.warm import say_if_cold
from neardup.model.errors import plural

if TYPE_CHECKING:
    from neardup.pipeline.contamination import Contamination

_HIDDEN = argparse.SUPPRESS

EXAMPLE = "Example: neardup contamination train/*.parquet --against tests.jsonl --items items.parquet"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_inputs(parser)
    asked = parser.add_argument_group("what is compared")
    asked.add_argument(
        "--against",
        metavar="TESTS",
        action="append",
        required=True,
        default=_HIDDEN,
        help="the items of the test set, each a record; may be repeated",
    )
    asked.add_argument("--words", type=whole, metavar="N", default=13, help="the length of the runs that are compared")
    asked.add_argument(
        "--threshold",
        type=number,
        metavar="T",
        default=0.8,
        help="an item is contaminated if one document has this share of its runs",
    )
    outputs = parser.add_argument_group("outputs")
    outputs.add_argument("--items", metavar="PATH", default=_HIDDEN, help="one record per item (.parquet, .jsonl)")
    outputs.add_argument(
        "--documents", metavar="PATH", default=_HIDDEN, help="the training documents with items (.parquet, .jsonl)"
    )
    outputs.add_argument("--force", action="store_true", help="replace outputs that exist")
    outputs.add_argument("--json", action="store_true", help="print the summary as JSON")
    add_reading_options(parser)
    parser.add_argument("--threads", type=whole, metavar="N", default=_HIDDEN, help="cores to use (default: all)")


def run(arguments: argparse.Namespace) -> int:
    """Search and summarise; return 1 if records were rejected."""
    from neardup.sources.output import check_separate, check_table, write_table

    given = vars(arguments)
    outputs: dict[str, str] = {name: given[name] for name in ("items", "documents") if name in given}
    check_separate(outputs)
    for path in outputs.values():
        check_table(path, [*arguments.inputs, *arguments.against], force=arguments.force)
    say_if_cold()
    from neardup.pipeline.contamination import contamination_in_files

    with progress_bars() as bars:
        found = contamination_in_files(
            arguments.inputs,
            arguments.against,
            words=arguments.words,
            threshold=arguments.threshold,
            threads=given.get("threads"),
            progress=bars,
            **reading_of(arguments),
        )
    for name, path in outputs.items():
        write_table(path, getattr(found, name), force=arguments.force)
    if arguments.json:
        counts = {"documents": found.read, "items": len(found.items), "contaminated": found.contaminated}
        told = {**counts, "to_drop": len(found.documents), "rejected": [asdict(one) for one in found.rejected]}
        print(json.dumps(told))
    else:
        _show(found, arguments.threshold)
    return 1 if found.rejected else 0


def _show(found: "Contamination", threshold: float) -> None:
    partly = int((found.items["share"].to_numpy() > 0).sum()) - found.contaminated
    rule = f"contaminated: one document has {threshold:g} or more of the item"
    show_counts(
        [
            (found.read, f"training {plural(found.read, 'document')}", True),
            (len(found.items), f"{plural(len(found.items), 'item')} of the test set", True),
            (found.contaminated, rule, True),
            (partly, "with less of it in a document", False),
            (len(found.documents), f"training {plural(len(found.documents), 'document')} with these items", True),
            (len(found.rejected), f"{plural(len(found.rejected), 'record')} rejected", False),
        ]
    )
    show_rejected(found.rejected)
