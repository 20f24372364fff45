"""Estimate what a run missed, from a random sample of its documents."""

import argparse
from pathlib import Path

from neardup.interfaces.cli import options, scheme_options
from neardup.interfaces.cli.terminal import complain, note_quoted_lines, progress_bars, summarise
from neardup.interfaces.cli.warm import say_if_cold
from neardup.interfaces.wording.estimates import audit_lines, band_rows, missed_lines, table_lines

USAGE = f"""
{options.INPUTS}
[what is audited, and how]
--of RUN: the run to audit; name all its inputs. A report (.parquet, .jsonl): repeat the options of the run for reading
  and, for .jsonl, all others; for archives with --state or an index, add --templates DIR, its folder. A work folder:
  that of dedup --work --keep-work, which has recorded the options. Without --of, the inputs are deduplicated first, in
  memory
--sample N=2000: the documents to draw at random
--until SHARE: draw more documents until half the width of the interval of the recall is at most SHARE, such as 0.5%%
--draw N=1: random seed of the sample
{options.KEEP}
{options.THREADS}
[outputs]
--report PATH: a page to look at (.html), or JSON (.json)
--force: replace a report that exists
--json: print the audit as JSON, without texts
{options.READING}
{options.PLAIN}
{scheme_options.SCHEME}
"""

EXAMPLE = (
    "Example: neardup dedup pages.jsonl --dry-run --report why.parquet; neardup audit pages.jsonl --of why.parquet"
)


def run(arguments: argparse.Namespace) -> int:
    """Audit and print; return 1 if records were rejected."""
    from neardup.sources.output import check_file

    given = vars(arguments)
    of, report = given.get("of"), given.get("report")
    if report is not None:
        check_file(report, options.REPORTS, arguments.inputs, force=arguments.force)
    say_if_cold()
    from neardup.engines.journal import is_work
    from neardup.pipeline.files.audit import audit_files, records_scheme

    if of is not None:
        if is_work(Path(of)):
            rule = f"cannot be used with --of {of}, which has recorded how the inputs were read"
            options.refuse_reading(arguments, rule, but=("format", "glob"))  # by which the inputs are found
    elif "config" in given:
        why = "without --of, an audit makes its own run, with their defaults; to audit another run, name it with --of"
        options.note_unused(given["config"], ("verify", "gather", "representative"), why)
    described = scheme_options.describes_scheme(arguments)
    recorded = of is not None and records_scheme(of) and not described
    chosen = {"key": options.key_of(arguments)} if recorded else {"scheme": scheme_options.scheme_of(arguments)}
    with progress_bars(as_lines=arguments.json) as bars:
        found = audit_files(
            arguments.inputs,
            of,
            **chosen,
            seed=options.drawn(arguments),
            **options.chosen(arguments, "keep sample until threads"),
            progress=bars,
            **options.reading_of(arguments),
        )
    note_quoted_lines(found.quoted_lines)
    if of is not None and not recorded and not described and "config" not in given:
        way_out = "if the run had others, repeat them, or audit a .parquet report, which records them"
        complain(f"{of} does not record the options of its run, so the defaults were used; {way_out}")
    if report is not None:
        from neardup.interfaces.pages.estimates import audit_page

        options.write_findings(arguments, found, audit_page)
    record = found.as_dict()
    for one in record["missed"]:
        del one["text"], one["partner_text"]
    lines = [*audit_lines(found), *table_lines(band_rows(found)), *missed_lines(found)]
    summarise(arguments, record, lines=lines)
    return 1 if found.rejected else 0
