"""Add documents to an index on disk; create the index if it does not exist."""

import argparse
import json
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from neardup.interfaces.cli.advice import advice_on_quotes
from neardup.interfaces.cli.amounts import whole
from neardup.interfaces.cli.common_shingles import add_list_option
from neardup.interfaces.cli.options import (
    add_inputs,
    add_reading_options,
    add_rules_option,
    add_scheme_options,
    addresses_of,
    describes_scheme,
    key_of,
    reading_of,
    scheme_of,
)
from neardup.interfaces.cli.terminal import complain, progress_bars, show_counts, show_rejected
from neardup.interfaces.cli.warm import say_if_cold
from neardup.interfaces.wording import not_pages, without_text
from neardup.model.errors import ParameterError, plural, require, require_path

if TYPE_CHECKING:
    from neardup.pipeline.ingestion import Added

_HIDDEN = argparse.SUPPRESS
_MEGABYTE = 1 << 20

EXAMPLE = "Example: neardup index pages.jsonl --to seen --url url"
INTERRUPTED = "interrupted; admitted documents are in the index; run the same command again to continue"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb's options."""
    add_inputs(parser, least=0)
    parser.add_argument(
        "--from",
        dest="state",
        metavar="STATE",
        default=_HIDDEN,
        help="instead of inputs: fill a new index with the documents that dedup --state STATE kept, which is faster"
        " because they are not compared again",
    )
    parser.add_argument("--to", metavar="DIR", required=True, default=_HIDDEN, help="the folder of the index")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    add_reading_options(parser, with_url=True)
    add_rules_option(parser)
    making = parser.add_argument_group("what a new index keeps")
    making.add_argument("--texts", action="store_true", help="keep the texts, and verify near duplicates on them")
    making.add_argument(
        "--field",
        action="append",
        metavar="NAME:KIND",
        default=_HIDDEN,
        help="keep a field: string, integer, number, time or flag; can be repeated",
    )
    making.add_argument(
        "--search",
        action="store_true",
        help="build a search table, kept by every later run; a new index keeps texts, title and url, too",
    )
    add_scheme_options(parser)
    add_list_option(parser)
    running = parser.add_argument_group("how it runs")
    running.add_argument(
        "--durability",
        choices=("commit", "interval", "bulk"),
        default="commit",
        help="what a power failure may lose: nothing that was acknowledged, the last second, or the whole run",
    )
    running.add_argument("--memory", type=whole, metavar="MIB", default=256, help="memory for new documents")


def run(arguments: argparse.Namespace) -> int:
    """Admit and summarise; return 1 if records were rejected."""
    given = vars(arguments)
    require(arguments.memory >= 1, "memory", arguments.memory, "must be at least 1 (MiB)")
    require_path("to", arguments.to)
    chosen = {"scheme": scheme_of(arguments)} if describes_scheme(arguments) else {"key": key_of(arguments)}
    options: dict[str, Any] = {
        "url": given.get("url"),
        "fields": _fields(given.get("field", [])),
        "texts": arguments.texts,
        "search": arguments.search,
        "durability": arguments.durability,
        "memory": arguments.memory * _MEGABYTE,
        **chosen,
    }
    known = {"url"} <= given.keys() and "state" not in given
    require("rules" not in given or known, "rules", given.get("rules"), "needs --url FIELD, and inputs with URLs")
    if "state" in given:
        return _fill(arguments, options)
    require(arguments.inputs, "inputs", None, "are needed: files of documents, or --from STATE")
    say_if_cold()
    from neardup.pipeline.ingestion import add_files

    started = time.monotonic()
    with progress_bars() as progress:
        added = add_files(
            arguments.inputs,
            arguments.to,
            addresses=addresses_of(arguments),
            progress=progress,
            **reading_of(arguments) | options,
        )
    seconds = time.monotonic() - started
    if added.quoted_lines:
        complain(advice_on_quotes(added.quoted_lines))
    if arguments.json:
        print(json.dumps({**asdict(added), "seconds": round(seconds, 3)}))
    else:
        _show(added, arguments.to, seconds)
    return 1 if added.rejected else 0


def _fill(arguments: argparse.Namespace, options: dict[str, Any]) -> int:
    """Fill a new index from a state and summarise; return 1 if documents were rejected."""
    _require_alone(arguments)
    say_if_cold()
    from neardup.pipeline.ingestion import fill_index

    started = time.monotonic()
    with progress_bars() as progress:
        filled = fill_index(arguments.state, arguments.to, progress=progress, **options)
    seconds = time.monotonic() - started
    if arguments.json:
        print(json.dumps({**asdict(filled), "seconds": round(seconds, 3)}))
        return 1 if filled.rejected else 0
    show_counts(
        [
            (filled.documents, f"kept {plural(filled.documents, 'document')} in the state {arguments.state}", True),
            (filled.repeated, "with the id of a later document: left out", False),
            (len(filled.rejected), f"{plural(len(filled.rejected), 'document')} rejected, not in the index", False),
        ]
    )
    show_rejected(filled.rejected)
    in_index = f"{plural(filled.total, 'document')} in the index {arguments.to} (created), {seconds:.1f} s"
    show_counts([(filled.total, in_index, True)])
    return 1 if filled.rejected else 0


def _require_alone(arguments: argparse.Namespace) -> None:
    """Refuse inputs, and options for reading them, together with a state."""
    plain = argparse.ArgumentParser()
    add_reading_options(plain)
    rule = "cannot be used with --from, which reads the inputs of the state as its runs did"
    require(not arguments.inputs, "inputs", " ".join(arguments.inputs), rule)
    given, defaults = vars(arguments), vars(plain.parse_args([]))
    for name in ("text", "html", "id", "templates", "format", "quoting", "glob", "text_view", "strict", "max_bytes"):
        if given.get(name) != defaults.get(name):
            raise ParameterError(name, None if given[name] is True else given[name], rule)


def _fields(described: list[str]) -> dict[str, Any]:
    from neardup.pipeline.fields import field_kinds

    fields: dict[str, Any] = {}
    for one in described:
        name, colon, kind = one.rpartition(":")
        require(bool(colon and name), "field", one, "must be NAME:KIND")
        require(name not in fields, "field", one, "must name each field once")
        fields[name] = kind
        try:
            field_kinds(fields)
        except ParameterError as error:
            raise ParameterError("field", one, error.rule) from None
    return fields


def _show(added: "Added", folder: str, seconds: float) -> None:
    estimated = ", estimated: the index has no texts (--texts)" if added.estimated else ""
    show_counts(
        [
            (added.documents, plural(added.documents, "document"), True),
            (added.new, "new", True),
            (
                added.exact,
                f"exact {plural(added.exact, 'duplicate')}, equal byte by byte to a document admitted before",
                True,
            ),
            (added.near, f"near {plural(added.near, 'duplicate')} of a document admitted before{estimated}", True),
            (added.empty, "empty, or without words to compare", False),
            *([(added.no_text, without_text(added.without_text), False)] if added.without_text else []),
            (added.replaced, "known, with other content: replaced", False),
            (added.unchanged, "known and unchanged", False),
            (added.repeated, "with the id of a later document: left out", False),
            (len(added.rejected), f"{plural(len(added.rejected), 'record')} rejected, not in the index", False),
            (added.ignored, f"other {plural(added.ignored, 'file')} ignored", False),
            (sum(added.skipped.values()), not_pages(added.skipped), False),
        ]
    )
    show_rejected(added.rejected)
    made = "created" if added.created else "added to"
    show_counts(
        [(added.total, f"{plural(added.total, 'document')} in the index {folder} ({made}), {seconds:.1f} s", True)]
    )
