"""Add documents to an index on disk; create the index if it does not exist."""

import argparse
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from neardup.interfaces.cli import options, scheme_options, terminal
from neardup.interfaces.cli.warm import say_if_cold
from neardup.interfaces.wording.numbers import Row, reading_rows, repeated_row, row, total, without_text
from neardup.model.errors import ParameterError, require

if TYPE_CHECKING:
    from neardup.pipeline.files.ingestion import Added
    from neardup.pipeline.index.transfer import Filled


USAGE = f"""
{options.SOME_INPUTS}
--from STATE: instead of inputs: fill a new index with the documents that dedup --state STATE kept, which is faster
  because they are not compared again
--to DIR!: the folder of the index
{options.JSON}
{options.RULES}
{options.READING_OF_PAGES}
{options.LEARN}
{options.PLAIN}
[what a new index keeps]
--texts: keep the texts, and verify near duplicates on them
--field NAME:KIND ...: keep a field: string, integer, number, time or flag; can be repeated
--representative best-ranked|closest: which matching kept document represents a near duplicate: the first admitted or
  the closest (default: best-ranked)
--search: build a search table, kept by every later run; a new index keeps texts, title and url, too
{scheme_options.SCHEME}
[how it runs]
--durability commit|interval|bulk=commit: what a power failure may lose: nothing that was acknowledged, the last
  second, or the whole run
{options.INDEX_MEMORY}
"""
EXAMPLE = "Example: neardup index pages.jsonl --to seen --url url"


def run(arguments: argparse.Namespace) -> int:
    """Admit and summarise; return 1 if records were rejected."""
    given = vars(arguments)
    from neardup.sources.formats import local_folder

    arguments.to = str(local_folder("to", arguments.to))
    ways: dict[str, Any] = options.chosen(arguments, "url texts representative search durability")
    ways |= {"fields": _fields(given.get("field", [])), "memory": arguments.memory}
    if scheme_options.describes_scheme(arguments):
        ways["scheme"] = scheme_options.scheme_of(arguments)
    else:
        ways["key"] = options.key_of(arguments)
    rule = "cannot be used with --url, which makes the ids: the normal form of each URL; leave out one of them"
    require("url" not in given or arguments.id == "id", "id", arguments.id, rule)
    ways["addresses"] = options.addresses_of(arguments)
    if "from" in given:
        return _fill(arguments, ways)
    require(arguments.inputs, "inputs", None, "are needed: files of documents, or --from STATE")
    say_if_cold()
    from neardup.pipeline.files.ingestion import add_files

    started = time.monotonic()
    with terminal.progress_bars(as_lines=arguments.json) as progress:
        added = add_files(
            arguments.inputs,
            arguments.to,
            progress=progress,
            **options.reading_of(arguments) | ways,
        )
    seconds = time.monotonic() - started
    if "config" in given:
        why = "an index compares the texts that it keeps, otherwise the signatures, and joins no chains of matches"
        options.note_unused(given["config"], ("gather",) if added.estimated else ("gather", "verify"), why)
    terminal.note_quoted_lines(added.quoted_lines)
    code = _summarise(arguments, added, _rows_of(added), seconds)
    if not arguments.json:
        terminal.show_lines(options.learned_line(arguments, added.hosts_with_templates, added.hosts_learned))
        terminal.show_lines([options.without_templates(arguments)] * added.lacks_templates)
    return code


def _fill(arguments: argparse.Namespace, ways: dict[str, Any]) -> int:
    """Fill a new index from a state and summarise; return 1 if documents were rejected."""
    rule = "cannot be used with --from: the documents come from the state"
    require(not arguments.inputs, "inputs", " ".join(arguments.inputs), rule)
    options.refuse_reading(arguments, rule, but=("url",))
    state = vars(arguments)["from"]
    say_if_cold()
    from neardup.pipeline.files.ingestion import fill_index

    started = time.monotonic()
    with terminal.progress_bars(as_lines=arguments.json) as progress:
        filled = fill_index(state, arguments.to, progress=progress, **ways)
    seconds = time.monotonic() - started
    rows = [
        total(filled.documents, "kept document", f" in the state {state}"),
        repeated_row(filled.repeated),
        row(len(filled.rejected), "document", " rejected, not in the index"),
    ]
    return _summarise(arguments, filled, rows, seconds)


def _fields(described: list[str]) -> dict[str, Any]:
    from neardup.pipeline.index.fields import field_kinds

    fields: dict[str, Any] = {}
    for one in described:
        name, _, kind = one.rpartition(":")
        require(name != "", "field", one, "must be NAME:KIND, such as score:number")
        require(name not in fields, "field", one, "must name each field once")
        fields[name] = kind
        try:
            field_kinds(fields)
        except ParameterError as error:
            raise ParameterError("field", one, error.rule) from None
    return fields


def _rows_of(added: "Added") -> list[Row]:
    estimated = ", estimated: the index has no texts (--texts)" if added.estimated else ""
    return [
        total(added.documents, "document"),
        Row(added.new, "new", always=True),
        total(added.exact, "exact duplicate", ", equal byte by byte to a document admitted before"),
        total(added.near, "near duplicate", f" of a document admitted before{estimated}"),
        Row(added.empty - added.no_text, "empty, or without words or fields to compare"),
        *(Row(added.no_text, one.words) for one in without_text(added.without_text, ", kept")),
        Row(added.replaced, "known, with other content: replaced"),
        Row(added.unchanged, "known and unchanged"),
        repeated_row(added.repeated),
        row(
            added.unnamed, "document", " of these without an id, known by file and line; --id or --url names the field"
        ),
        *reading_rows(added, added.rejected, ", not in the index"),
    ]


def _summarise(arguments: argparse.Namespace, done: "Added | Filled", rows: list[Row], seconds: float) -> int:
    """Print what was done, and the size of the index; return 1 if something was rejected."""
    if arguments.json:
        terminal.print_json({**asdict(done), "seconds": round(seconds, 3)})
    else:
        terminal.show_counts(rows)
        terminal.show_rejected(done.rejected, arguments)
        made = "created" if getattr(done, "created", True) else "added to"
        index = f" in the index {arguments.to} ({made}), {seconds:.1f} s"
        terminal.show_counts([total(done.total, "document", index)])
    return 1 if done.rejected else 0
