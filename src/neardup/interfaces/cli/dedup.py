"""Remove near-duplicate documents from files, with evidence for every drop."""

import argparse
import json
import shlex
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.interfaces.cli import options, scheme_options, terminal
from neardup.interfaces.cli.advice import IN_PIECES, OF_DEDUP
from neardup.interfaces.cli.warm import say_if_cold
from neardup.interfaces.wording.numbers import Row, total
from neardup.interfaces.wording.runs import cluster_lines, pairs_not_compared, rule_of, totals_of
from neardup.model.errors import ParameterError, require

if TYPE_CHECKING:
    from neardup.pipeline.files.dedup import FilesResult
    from neardup.pipeline.spilled.changes import Continuation
    from neardup.pipeline.spilled.forecast import Forecast

_LONG = 60  # seconds
_OF_PIECES = (*IN_PIECES, "keep_work")
_PARAMETERS = "keep verify gather representative ignore_common force threads state for_index against"

_WORK = {
    "large": "inputs larger than memory: run in pieces, with intermediate files",
    "unless": ", unless --keep-work is given. Without --work, a run in pieces uses a folder next to --out",
    "runs": "run in pieces",
}
USAGE = f"""
{options.INPUTS}
[outputs]
--out PATH: the kept documents, in the format of its ending; without an ending, a folder with one file for each input;
  - is standard output
--report PATH: every document's decision, with its evidence (.parquet, .jsonl; without an ending, a folder), or a page
  to look at (.html)
--dropped PATH: the removed documents themselves
--mark PATH: all documents, each with its cluster: neardup_cluster, neardup_kept and neardup_representative
--part-size SIZE: for outputs that are folders: write files part-00000, ... of about SIZE bytes of text
--out-format FORMAT: for outputs that are folders: parquet, jsonl, jsonl.zst, ... (default: as the inputs)
--revisits: if --out is a web archive: write revisit records for the dropped pages whose payload is that of the kept
  page, byte by byte, also in an archive of --against
--dry-run: do not write --out; other outputs are written
--force: replace files that exist; if an input folder of texts or pages is written as a folder, its path must not exist
{options.JSON}
{options.READING_OF_RUNS}
{options.LEARN}
{options.PLAIN}
{scheme_options.SCHEME}
{scheme_options.NEW_COMMON}
[what is done with matches]
{options.KEEP}
--verify exact|estimate|none=exact: how matches are checked: on the documents, on their signatures, or not at all,
  which is sensible only where a shared key is the scheme's rule, as in trials and checksum
--gather kept|components=kept: match the kept copy itself, or chain matches
--representative best-ranked|closest=best-ranked: which matching kept document is recorded: the best-ranked or the
  closest
[how it runs]
{options.WORK % _WORK}
--keep-work: with --work: keep DIR at the end, for neardup audit --of DIR, or to repeat the run with another threshold
  or --keep without signing again; a run without this option removes DIR
{options.THREADS}
[documents of earlier runs]
--state DIR: compare with the documents of all earlier runs with this folder, and add those of this run to it; it is
  created if it does not exist
--for-index: with --state, in its first run: store what neardup index --from needs, so that it does not read and sign
  the documents again
--against PATH ...: compare with the documents of a state, of an index with texts, or of other files, and change none;
  may be repeated for indexes and files
"""

EXAMPLE = "Example: neardup dedup pages.jsonl --out kept.jsonl --report why.jsonl"


def run(arguments: argparse.Namespace) -> int:
    """Deduplicate and summarise; return 1 if records were rejected."""
    given = vars(arguments)
    if arguments.dry_run:
        given.pop("out", None)
    elif "out" not in given:
        raise ParameterError("out", None, "is needed: a path for the kept documents, or --dry-run to write none")
    if not any(name in given for name in OF_DEDUP):
        options.refuse(given, ("part_size", "out_format"), "needs an output that is a folder; there is no output")
    terminal.resolve_outputs(arguments, *OF_DEDUP)
    from neardup.sources.output import ARRAYS, check_file, write_file
    from neardup.sources.patterns import expand

    rule = "cannot be used with --state, which adds the documents; replace --state by --against, or leave out --dry-run"
    require("state" not in given or not given["dry_run"], "dry_run", None, rule)
    scheme = scheme_options.scheme_of(arguments)
    if scheme_options.writes_list(arguments):
        read = [*arguments.inputs, *given.get("against", ())]
        check_file(given["common"], ARRAYS, expand(read), force=arguments.force)
    say_if_cold()
    from neardup.pipeline.files.dedup import dedup_files

    begins = False
    if "state" in given:  # the module takes long to load
        from neardup.pipeline.spilled.state import is_state

        begins = not is_state(Path(given["state"]))

    def page(done: "FilesResult") -> bytes:
        from neardup.interfaces.pages.report import report_page

        return report_page(done, scheme)

    started = time.monotonic()
    with terminal.progress_bars(as_lines=arguments.json) as progress:
        done = dedup_files(
            arguments.inputs,
            scheme=scheme,
            page=page,
            revisits=arguments.revisits,
            forecast=_print_forecast_line if arguments.json else _print_forecast,
            continued=_print_continued_line if arguments.json else lambda found: terminal.complain(str(found)),
            progress=progress,
            **options.chosen(arguments, " ".join([_PARAMETERS, *OF_DEDUP, *_OF_PIECES])),
            **options.reading_of(arguments),
        )
    seconds = time.monotonic() - started
    common = done.result.summary.common
    if common is not None and scheme_options.writes_list(arguments):
        write_file(given["common"], common.to_bytes(), ARRAYS, force=arguments.force)
    terminal.note_quoted_lines(done.documents.quoted_lines)
    if arguments.json:
        terminal.print_json(summary_of(done, seconds))
    else:
        show_summary(done, seconds, arguments)
        terminal.show_lines(_notes(arguments, done, begins=begins))
    return 1 if done.rejected else 0


def _notes(arguments: argparse.Namespace, done: "FilesResult", *, begins: bool) -> list[str]:
    """Return notes on templates and folders; the run *begins* a state if there were no earlier documents."""
    given = vars(arguments)
    hosts = None if done.templates is None else len(done.templates)
    notes = [*options.learned_line(arguments, hosts, done.hosts_learned)]
    if begins:
        notes.append(f"state {given['state']} created: there were no earlier documents")
    if done.documents.without_templates and not given["no_templates"]:
        notes.append(options.without_templates(arguments))
    if given["keep_work"] and "work" in given:
        notes.append(f"the work folder {shlex.quote(given['work'])} is kept")
    return notes


def _print_forecast(found: "Forecast") -> None:
    """Print what a run in pieces needs, unless it is a short one that was requested."""
    if found.seconds >= _LONG or not found.asked:
        terminal.complain(str(found))


def _print_forecast_line(found: "Forecast") -> None:
    """Print what a run in pieces needs as a JSON line on standard error."""
    needed = {"documents": found.documents, "disk": found.disk, "memory": found.memory}
    terminal.print_error(json.dumps({"stage": "forecast", **needed, "seconds": round(found.seconds)}))


def _print_continued_line(found: "Continuation") -> None:
    """Print what a continued run has finished as a JSON line on standard error."""
    terminal.print_error(json.dumps({"stage": "continue", **asdict(found)}))


def summary_of(done: "FilesResult", seconds: float) -> dict[str, Any]:
    """Return the run in numbers, for programs."""
    return {
        **done.result.summary.as_dict(),
        "seconds": round(seconds, 3),
        "rejected": done.rejected,
        "ignored": done.documents.ignored,
        "skipped": dict(done.documents.skipped),
        "body_faults": dict(done.documents.body_faults),
        "hosts_with_templates": None if done.templates is None else len(done.templates),
        "hosts_learned": done.hosts_learned,
        "without_text": done.documents.without_text,
        "quoted_lines": done.documents.quoted_lines,
    }


def show_summary(done: "FilesResult", seconds: float, arguments: argparse.Namespace) -> None:
    """Print the run in numbers, for people."""
    summary = done.result.summary
    terminal.show_counts(
        [
            total(summary.documents, "document"),
            Row(summary.kept, "kept", always=True),
            total(summary.exact, "dropped: exact duplicate", ", equal byte by byte"),
            total(summary.near, "dropped: near duplicate", f", {rule_of(summary)}"),
            Row(summary.known, "of the dropped documents match a document of --state or --against"),
            *totals_of(done),
        ]
    )
    if summary.not_compared:
        terminal.show_lines([pairs_not_compared(summary.not_compared)])
    terminal.show_lines(cluster_lines(summary))
    terminal.show_rejected(done.rejected, arguments)
    megabytes = done.documents.text_bytes / 1e6
    worth_telling = megabytes > seconds >= 1  # for a small collection, start-up would dominate
    rate = f", {megabytes / seconds:,.0f} MB of text per second" if worth_telling else ""
    terminal.show_lines([f"{seconds:.1f} s{rate}"])
