"""Options that verbs share: for reading, for an index and for a work folder."""

import argparse
import json
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from neardup.interfaces.cli.advice import SIZES
from neardup.interfaces.cli.terminal import complain, note_quoted_lines
from neardup.interfaces.cli.usage import add_usage, size_words
from neardup.interfaces.wording.numbers import Row, row
from neardup.model.errors import InputRefused, ParameterError, counted, require, require_whole
from neardup.model.memory import LEAST_OF_RUN, OF_INDEX, OF_RUN
from neardup.model.policy import Policy

if TYPE_CHECKING:
    from neardup.pipeline.crawl.crawled_pages import Crawled
    from neardup.pipeline.index.index import Index
    from neardup.pipeline.progress import Progress
    from neardup.sources.addresses import Addresses
    from neardup.sources.collection import Collection
    from neardup.sources.record_faults import Rejected
    from neardup.text.extraction import Extraction

NEEDS_WORK: Final = "can only be used with a work folder (--work DIR)"
REPORTS: Final = (".html", ".htm", ".json")  # endings

JSON: Final = "--json: print the summary as JSON\n"
THREADS: Final = "--threads N: cores to use (default: all)\n"
MOMENT: Final = "a date or time in UTC, such as 2026-01-31 or 2026-01-31T12:00:00Z, or an age, such as 90d, 12h or 4w"

INPUTS: Final = """
inputs INPUT ...: .jsonl .ndjson .csv .tsv (also .gz .zst .bz2 .xz), .parquet, .warc .wet (also .gz .zst .lz4), a
  folder of text or HTML files or of tables, or - for standard input (not archives); patterns and several inputs are
  allowed
"""
SOME_INPUTS: Final = INPUTS.replace("INPUT ...", "[INPUT ...]", 1)
CRAWLED: Final = """
inputs INPUT ...: reports of `neardup dedup --report` on the pages of a crawl (.parquet or .jsonl), in which the id, or
  a column url, is the URL of the page. If you have the pages, run dedup first
--url FIELD: the column of the URL (default: url if it exists, otherwise id)
"""

FORMAT: Final = """
--format jsonl|csv|tsv|parquet: format of the inputs (default: by their names; standard input is jsonl)
"""
FORMAT_OF_FILES: Final = FORMAT.replace("; standard input is jsonl", "")
QUOTING: Final = """
--quoting auto|minimal|none=auto: for CSV and TSV: fields may be in quotation marks (minimal), or a quotation mark is a
  character like any other (none); auto is minimal for CSV, and for TSV whose header is quoted
"""
GLOB: Final = """
--glob PATTERN ...: for folders: the files to read as texts, such as '*.py'; can be repeated (default: text and
  HTML files)
"""
MAX_BYTES: Final = """
--max-bytes SIZE: cap on the expanded size of a compressed input, a Parquet file or standard input (default: 8GiB); for
  archives, each record is limited instead: to 64 MiB. HTML is read up to 16 MiB of a page
"""
MAX_BYTES_OF_FILES: Final = MAX_BYTES.replace(", a Parquet file or standard input", " or a Parquet file")
VIEW: Final = """
--text-view auto|main|visible: the text of an HTML page. main: the main text, without navigation and
  advertisements. visible: all visible text. auto: the main text, or all visible text if the main text is short
  (default: auto)
"""
VIEW_OF_INDEX: Final = VIEW.replace("default: auto", "default: that of the pages of the index; without pages, auto")
TEMPLATES: Final = """
--templates FILE: for web pages: do not count the lines of these templates of hosts. FILE is written by `neardup
  templates learn`, or is the folder of a state or an index
"""
TEMPLATES_IN_USE: Final = f"{TEMPLATES.rstrip()} (default: those of the state or index in use, if any)\n"
LEARN: Final = """
--learn-templates: add the templates of the hosts that --templates FILE does not have, learned from the inputs, before
  the inputs are read; FILE ends in .arrow, and need not exist
"""
PLAIN: Final = """
--no-templates: read web pages without templates. By default, the templates of hosts are first learned from web
  archives, and from tables with --html and --url, except with --templates, or if an input is a URL or standard input
"""
_NO_TEMPLATES: Final = (
    "the pages were read without templates, so the menus and notices that pages of a host share are compared, too; {};"
    " --no-templates hides this note"
)
_NEED_URLS: Final = "--url names the field of the URLs, which templates need"
_NEVER_ANY: Final = "a state or index that was begun without templates never has any"
_OF_A_FOLDER: Final = (
    "for a folder whose pages declare canonical addresses, add --templates FILE.arrow --learn-templates"
)
_READING: Final = f"""
[reading]
--text FIELD=text: the field that holds the text, such as body.content
--html FIELD: the field that holds an HTML page, instead of a text
--id FIELD=id: the field that holds the id, if there is one
{TEMPLATES}
--url FIELD: %s
{FORMAT}
{QUOTING}
{GLOB}
{VIEW}
--strict: stop at the first broken record
{MAX_BYTES}
"""
READING: Final = _READING % "with --html: the field of the URL, for templates of hosts (default with --templates: url)"
READING_OF_RUNS: Final = READING.replace(TEMPLATES, TEMPLATES_IN_USE)
READING_OF_PAGES: Final = (
    _READING.replace(TEMPLATES, TEMPLATES_IN_USE)
    % "the field with the URL; its normal form is the id (default for archives: url)"
)
KEEP: Final = """
--keep WHICH: the copy that stays: first, last, longest, shortest, max:FIELD or min:FIELD (a field of numbers, dates or
  texts); for documents whose id is a URL also canonical (the address that most documents name in their field
  canonical), https or shortest-id; several, separated by commas, in order of importance (default: first)
"""
RULES: Final = """
--rules FILE: URL rules that `neardup rules` has written: URLs that differ only in parts that these rules ignore are
  one page (default: the rules that the index keeps, those of its first run)
"""
INDEX_MEMORY: Final = f"""
--memory SIZE={size_words(OF_INDEX)}: memory for new documents; beyond it, they are written to a segment
"""
INDEX: Final = """
index DIR: the folder of the index
"""
KEYED_INDEX: Final = f"""
{INDEX}
--key-file PATH: the secret key that the index was created with: a file of 16 bytes or 32 hexadecimal digits
"""
WORK: Final = f"""
--work DIR: for %(large)s in DIR, a new folder. If the run is interrupted, the same command continues it. DIR is removed
  at the end%(unless)s
--memory SIZE: %(runs)s, with this memory for documents in progress, at least {size_words(LEAST_OF_RUN)} (default:
  {size_words(OF_RUN)})
--restart: %(runs)s: discard what an interrupted run has finished, and begin again
"""


def chosen(arguments: argparse.Namespace, names: str) -> dict[str, Any]:
    """Return the options of these names that have a value, as parameters of the library."""
    return {name: vars(arguments)[name] for name in names.split() if name in vars(arguments)}


def raw_argument(argument: str) -> bytes:
    """Return the bytes of an argument that is a text, in UTF-8: those that the locale cannot decode are unchanged."""
    return argument.encode("utf-8", "surrogateescape")


def without_url(number: int) -> Row:
    """Return the row of the records of a crawl without a URL of the web."""
    return row(number, "record", " without a URL of the web, ignored")


def crawled_of(arguments: argparse.Namespace) -> "Crawled":
    """Read the pages of a crawl that the options name."""
    from neardup.pipeline.crawl.crawled_pages import read_crawled

    return read_crawled(arguments.inputs, url=vars(arguments).get("url"))


def opened(arguments: argparse.Namespace, mode: Literal["r", "w"]) -> "Index":
    """Open the index of the arguments."""
    from neardup.pipeline.index.index import Index

    return Index.open(arguments.index, mode, key=key_of(arguments))


def refuse(given: Mapping[str, Any], names: Iterable[str], rule: str) -> None:
    """Raise ``ParameterError`` with this *rule* for one of the options of these *names* that is given."""
    for name in names:
        value = given.get(name, False)
        if value is not False:
            raise ParameterError(name, size_words(value) if name in SIZES else value, rule)


def refuse_reading(arguments: argparse.Namespace, rule: str, but: Sequence[str] = ()) -> None:
    """Raise ``ParameterError`` with this *rule* for an option for reading, except those *but* which are used."""
    plain, usage = argparse.ArgumentParser(), READING + LEARN + PLAIN
    add_usage(plain, usage)
    given, defaults = vars(arguments), vars(plain.parse_args([]))
    names = [option.replace("-", "_") for option in re.findall(r"^--([\w-]+)", usage, re.MULTILINE)]
    changed = [name for name in names if given.get(name, defaults.get(name)) != defaults.get(name)]
    refuse(given, [name for name in changed if name not in but], rule)


def drawn(arguments: argparse.Namespace) -> int:
    """Return the number of the draw, the seed of what is drawn at random."""
    return require_whole("draw", vars(arguments).get("draw", 1), 0)


def extraction_of(arguments: argparse.Namespace) -> "Extraction":
    """Return how web pages become texts by the options, without a file of templates to which others are added."""
    from neardup.text.extraction import Extraction
    from neardup.text.host_templates import HostTemplates

    path = None if vars(arguments).get("learn_templates") else vars(arguments).get("templates")
    view = vars(arguments).get("text_view", "auto")
    return Extraction(view=view, templates=None if path is None else HostTemplates.load(path))


def extraction_if_given(arguments: argparse.Namespace) -> "Extraction | None":
    """Return how web pages become texts by the options; without any, ``None``: as those of the index did."""
    return None if {"text_view", "templates"}.isdisjoint(vars(arguments)) else extraction_of(arguments)


def learned_line(arguments: argparse.Namespace, hosts: int | None, learned: int) -> list[str]:
    """Return a line about the templates of *hosts* that a run used, if it *learned* some or was to learn some."""
    if hosts is None or not (learned or arguments.learn_templates):
        return []
    known = f"; {counted(hosts - learned, 'host')} already had templates" if hosts > learned else ""
    if arguments.learn_templates:
        return [f"templates of {counted(learned, 'new host')} added to {arguments.templates}{known}"]
    return [f"templates of {counted(learned, 'host')} learned, whose lines do not count{known}"]


def without_templates(arguments: argparse.Namespace) -> str:
    """Return a note on web pages that were read without templates, with the way to have some."""
    given = vars(arguments)
    known = arguments.verb == "index" or not given.keys().isdisjoint(("state", "against"))
    bare = "html" in given and "url" not in given
    ways = {_NEED_URLS: bare, _NEVER_ANY: known, _OF_A_FOLDER: not (bare or known)}
    return _NO_TEMPLATES.format("; ".join(way for way, holds in ways.items() if holds))


def addresses_of(arguments: argparse.Namespace) -> "Addresses | None":
    """Return the addresses with the URL rules that an option names."""
    path = vars(arguments).get("rules")
    if path is None:
        return None
    from neardup.sources.addresses import Addresses
    from neardup.sources.url_rules import UrlRules

    rules = UrlRules.read(path)
    try:
        return Addresses(rules=rules)
    except ParameterError as error:
        raise InputRefused(path, f"{error.value!r} {error.rule}; correct or remove it", "rule") from error


def key_of(arguments: argparse.Namespace) -> bytes | None:
    """Read the key, if an option names one."""
    from neardup.sources.keys import key_in

    path = vars(arguments).get("key_file")
    return None if path is None else key_in(path)


def reading_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options for reading as parameters of the library; refuse ``--url`` where it has no effect."""
    given = vars(arguments)
    if "url" in given and arguments.verb != "index":
        rule = "needs --html FIELD, the pages of a table; for URLs as ids use --id; archives and folders have their own"
        require("html" in given, "url", given["url"], rule)
    learn = given.get("learn_templates", False)
    rule = "needs --templates FILE, to which the templates are added"
    require(not learn or "templates" in given, "learn_templates", None, rule)
    if "" in given.get("glob", ()):
        raise InputRefused("--glob", "the pattern is empty")
    plain = given.get("no_templates", False)
    rule = "cannot be used with --templates FILE, which names those to use; leave out one of the two"
    require(not plain or "templates" not in given, "no_templates", None, rule)
    reading = chosen(arguments, "text id format quoting glob html url strict max_bytes")
    reading["extraction"] = extraction_of(arguments)
    if learn:
        reading["learn_templates"] = given["templates"]
    elif plain:
        reading["learn_templates"] = False
    return reading


def reading_as_dedup(
    arguments: argparse.Namespace, inputs: Sequence[str], progress: "Progress | None"
) -> dict[str, Any]:
    """Return the options for reading, with the templates of hosts that dedup of the same inputs would learn."""
    from neardup.pipeline.crawl.file_templates import templates_of
    from neardup.sources.inputs import inputs_of
    from neardup.sources.request import Request

    reading = reading_of(arguments)
    learn = reading.pop("learn_templates", None)
    threads = vars(arguments).get("threads")
    request = Request(**reading)
    found = inputs_of(inputs, request)
    return {**reading, "extraction": templates_of(learn, found, request).extended(found, request, progress, threads)}


def read_inputs(arguments: argparse.Namespace, progress: "Progress | None") -> "Collection":
    """Read the documents of the inputs as dedup does."""
    from neardup.sources.read import read

    found = read(arguments.inputs, **reading_as_dedup(arguments, arguments.inputs, progress), progress=progress)
    note_quoted_lines(found.quoted_lines)
    return found


def texts_of(
    arguments: argparse.Namespace, wanted: Container[str], progress: "Progress | None"
) -> "tuple[dict[str, str], list[Rejected]]":
    """Read the inputs; return the texts of the *wanted* documents by their ids, and the rejected records."""
    found = read_inputs(arguments, progress)
    pairs = zip(found.ids.to_pylist(), found.texts, strict=True)
    return {name: text.as_py() or "" for name, text in pairs if name in wanted}, found.rejected


def write_findings(arguments: argparse.Namespace, found: Any, page: Callable[[Any], bytes]) -> None:
    """Write what was found to the file that ``--report`` names: as JSON (.json), or rendered as a *page*."""
    from neardup.sources.output import write_file

    as_json = arguments.report.lower().endswith(".json")
    content = json.dumps(found.as_dict(), indent=1).encode() + b"\n" if as_json else page(found)
    write_file(arguments.report, content, REPORTS, force=arguments.force)


def note_unused(path: str, names: Iterable[str], why: str) -> None:
    """Print which of the settings of a policy in a file, by their *names*, a command does not follow, and *why*."""
    from neardup.pipeline.config import load_config

    wanted, usual = load_config(path).policy, Policy()
    unused = [f"{name} {getattr(wanted, name)}" for name in names if getattr(wanted, name) != getattr(usual, name)]
    if unused:
        complain(f"settings of {path} that are not used: {', '.join(unused)}; {why}")
