"""Find which items of test sets are in a training set."""

import argparse

from neardup.interfaces.cli.options import INPUTS, JSON, READING, THREADS, chosen, reading_of
from neardup.interfaces.cli.terminal import note_quoted_lines, progress_bars, resolve_outputs, summarise
from neardup.interfaces.cli.warm import say_if_cold
from neardup.interfaces.wording.numbers import Row, quoted_rows, total, without_text
from neardup.model.errors import require

EXAMPLE = "Example: neardup contamination train/*.parquet --against tests.jsonl --items items.parquet"
USAGE = f"""
{INPUTS}
{THREADS}
[what is compared]
--against TESTS ...!: the items of the test set, each a record; may be repeated; an item may be in any part of a page,
  so no templates are learned; if the items are pages themselves, use --templates to ignore what pages of a host share
--words N=13: the length of the runs that are compared
--threshold T=0.8: an item is contaminated if one document has this share of its runs
[outputs]
--items PATH: one record per item (.parquet, .jsonl)
--documents PATH: the training documents with items (.parquet, .jsonl)
--force: replace outputs that exist
{JSON}
{READING}
"""


def run(arguments: argparse.Namespace) -> int:
    """Search and summarise; return 1 if records were rejected."""
    resolve_outputs(arguments, "items", "documents")
    from neardup.sources.output import check_separate, check_table, write_table

    given = vars(arguments)
    rule = "needs --templates FILE: it is used only to find the template of the host of a page"
    require("url" not in given or "templates" in given, "url", given.get("url"), rule)
    outputs: dict[str, str] = {name: given[name] for name in ("items", "documents") if name in given}
    check_separate(outputs)
    for name, path in outputs.items():
        check_table(path, [*arguments.inputs, *arguments.against], force=arguments.force, name=name)
    say_if_cold()
    from neardup.pipeline.partners.contamination import contamination_in_files

    with progress_bars(as_lines=arguments.json) as bars:
        found = contamination_in_files(
            arguments.inputs,
            arguments.against,
            **chosen(arguments, "words threshold threads"),
            progress=bars,
            **reading_of(arguments),
        )
    note_quoted_lines(found.quoted_lines)
    for name, path in outputs.items():
        write_table(path, getattr(found, name), force=arguments.force)
    wordless = int((found.items["words"].to_numpy() == 0).sum())
    record = {
        "documents": found.read,
        "items": len(found.items),
        "without_words": wordless,
        "without_text": found.without_text,
        "items_without_text": found.items_without_text,
        "quoted_lines": found.quoted_lines,
        "contaminated": found.contaminated,
        "to_drop": len(found.documents),
    }
    least = f"{arguments.threshold:g}"
    partly = int((found.items["share"].to_numpy() > 0).sum()) - found.contaminated
    rows = [
        total(found.read, "training document"),
        *without_text(found.without_text),
        total(len(found.items), "item", " of the test set"),
        Row(wordless, "of these without words, which no document can contain"),
        *without_text(found.items_without_text),
        *quoted_rows(found.quoted_lines),
        Row(found.contaminated, f"contaminated: one document has {least} or more of the item", always=True),
        Row(partly, "with less of it in a document"),
        total(len(found.documents), "training document", " with these items"),
    ]
    return summarise(arguments, record, rows, rejected=found.rejected)
