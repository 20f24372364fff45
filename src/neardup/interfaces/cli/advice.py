"""Errors in the words of the command line: what is wrong, and what to do next."""

import argparse
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from neardup.interfaces.cli.amounts import size_words
from neardup.interfaces.cli.folders import folder_advice
from neardup.model.errors import (
    FULL,
    NO_FILE,
    NOT_A_FILE,
    OTHER_FILE,
    PERMISSION,
    TEMPORARY,
    DataError,
    ExtraMissing,
    FieldMissing,
    NeardupError,
    NothingRead,
    OutputError,
    OutputsOverlap,
    ParameterConflict,
    ParameterError,
    QueryTimeout,
    RunChanged,
    StorageDamaged,
    StorageError,
    counted,
    is_full,
)
from neardup.model.memory import MemoryShort

if TYPE_CHECKING:
    from neardup.sources.record_faults import QuotedLines, Rejected

_SHOWN = 200  # shown characters of an invalid value
_WITH_COMMAS = {"stop_words"}  # options whose value is a list
_READING = {"dedup", "index", "audit", "pairs", "label", "tune", "contamination"}  # files, by options for that
_NAMED_FIELDS = {  # by option
    "text": "text",
    "html": "HTML",
    "id": "id",
    "url": "URL",
    "contribution": "contribution",
}
_FIELDS = {"templates": {"html": "html"}}  # defaults, by verb, that its options do not show
_OF_REPORTS = {  # columns of the reports that a verb reads
    "audit": ("id", "position", "representative_position", "rule", "resemblance"),
    "mirrors": ("representative",),
    "rules": ("representative",),
}
_ENDINGS = {"ending unknown", "json ending", "text ending"}  # the codes of names of no known format
_ENCODED = {  # files that are not texts in another encoding
    ".parquet": " in a table",
    **dict.fromkeys((".pdf", ".doc", ".docx", ".odt", ".epub"), " of a document"),
}
_ENCODINGS = {  # by the code of an error or a rejected record
    name.lower(): f"convert it to UTF-8, such as with: iconv -f {name} -t UTF-8 FILE > NEW"
    for name in ("UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE", "UTF-32BE")  # without a mark, by order
}
_OUTPUTS = ("out", "report", "dropped", "mark", "to", "items", "documents", "html", "svg", "common", "templates")
_OTHER_USER = "change its permissions, or run this as another user"
_CONTINUING = {"dedup", "work", "index"}  # verbs that continue where a full disk stopped them
_NEXT: Mapping[str, dict[str, str]] = {  # by the situation, and the code of an error or of a rejected record
    "": {  # of any error
        **_ENCODINGS,
        "mixed folder": "name the tables, such as '{tables}', or choose the texts with --glob '*.txt'",
        "json as table": "rename it with the ending .jsonl",
        "ending": "rename it with the ending of its format",
        "not compressed": "rename it without this ending, or compress it",
        "packed files": "unpack it first, and use the files in it, or their folder, as inputs",
        "arc": "convert it to WARC first: warcio recompress {where} NEW.warc.gz",
        "compressed stream": "name the file as an input, or, if it has lines, expand it first: zcat FILE | neardup ...",
        "archive stream": "name the file as an input: archives are read from files",
        "too large": "that is the most that is read here",
        "changed": "run again when nothing writes to it",
        "earlier input": "restore it, with its modification time, or remove what its run added: neardup state"
        " forget DIR --before TIME",
        "memory": "split the input, or use a machine with more memory",
        "json array": "expand it if it is compressed, and convert it: jq -c '.[]' {where} > lines.jsonl",
        "json over lines": "expand it if it is compressed, and convert it: jq -c . {where} > lines.jsonl",
        "scheme not registered": "the command line cannot import it: use neardup in Python",
        "label": "`neardup label` writes files of labels",
        **dict.fromkeys(("one kind", "one group"), "neardup label with the same --out and a larger --labels adds more"),
        "pages": "deduplicate them first (`neardup dedup` with --report why.parquet), then name why.parquet",
        "no URLs": "name the column of the URLs with --url, or repeat dedup with --id, which names their field",
        "exists": "--force replaces it",
        "no id": "--id or --url names a field",
        "folder": "name a file in it",
        PERMISSION: _OTHER_USER,
    },
    "output": {
        PERMISSION: "change its permissions, or name a path elsewhere",
        FULL: "make room, or name a path elsewhere, and run the same command again",
    },
    "reading": {  # verbs with options for reading files
        "too large": "--max-bytes raises this cap of inputs",
        "open quote": "if quotation marks are plain text in this file, use --quoting none",
        "ending unknown": "use --format jsonl, csv, tsv or parquet; for single texts, name their folder",
        "json as table": "to read it as JSON lines, use --format jsonl",
        "json ending": "for JSON lines add --format jsonl; convert a JSON array: jq -c '.[]' {where} > lines.jsonl",
        "text ending": "to read text or HTML files, name their folder; for JSON lines or a table add --format"
        " jsonl, csv or tsv; if each line is a text: jq -cR '{{text: .}}' {where} > lines.jsonl",
        "folder of other files": "--glob reads others as text, such as --glob '*.py'",
        "not a number": "correct it, or leave it empty: documents without a value rank last",
        "not a date": "write it as 2026-01-31 or 2026-01-31T12:00:00Z, or leave it empty: such documents rank last",
        "kinds": "write all values as numbers",
        "field taken": "if neardup has marked them, mark the original files instead; otherwise rename the field",
    },
    "standard input": {
        "packed files": "expand one of its files first: unzip -p FILE NAME | neardup ...",
        "all rejected": "name the format of CSV or TSV with --format",
        "json array": "convert it first: jq -c '.[]' FILE | neardup ...",
        "json over lines": "convert them first: jq -c . FILE | neardup ...",
    },
    "dedup": {
        "other columns": "as the output, name a .jsonl file, or a folder, which receives one file for each input",
        "output ending": "the name of a folder of outputs has no ending, or ends in a slash",
        "parts of texts": "--out-format names it, such as --out-format jsonl",
        "index without texts": "make such an index with: neardup index INPUT --to DIR --texts",
        "share with state": "such as with: neardup dedup INPUT --dry-run --work DIR"
        " --ignore-common {value} --common common.npz, and the same options for the scheme; then use"
        " --common common.npz instead of --ignore-common",
    },
    "in memory": {  # of dedup
        "memory": "to run in pieces, which needs less memory, add --memory SIZE",
    },
    "in pieces": {  # of dedup
        "memory": "a run in pieces needs --memory, about 300 MB, 80 bytes for each document, and more for a document"
        " larger than --memory: use a smaller --memory, or a machine with more memory",
        "changed": "restore it, with its modification time, and start the same command again: it continues; or begin"
        " again with --restart",
        "earlier input": "restore it, with its modification time, and start the same command again: it continues; if an"
        " input of this run is at its path now, give that another name first, and begin again with --restart; or remove"
        " its run and all before it (neardup state forget DIR --before TIME), and begin again with --restart",
    },
    "audit": {
        "changed": "an audit reads the inputs as the run has read them: restore the changed input with its modification"
        " time, or repeat the run and then the audit",
    },
    "parameter": {
        "no url": "name it with --url FIELD",
        "other view": "use --text-view with the view of these templates, or leave out --templates to use those of the"
        " state or the index",
    },
    "report": {
        "changed": "name a complete report, or repeat the run with --report",
        "terms not recorded": "--key-file names the key, and --common the list; if the list was not saved, repeat the"
        " run with --ignore-common S --common FILE, which writes it",
    },
    "compare": {
        **dict.fromkeys((NO_FILE, NOT_A_FILE), "--strings takes both arguments as texts"),
        "ending": "compare takes files of text or HTML; a compressed one needs the ending of its format",
    },
    "work": {
        "changed": "if this is so only on this machine, mount it here at the same path, and repeat this command;"
        " otherwise restore it, with its modification time, and repeat the command of the run and then this command"
    },
    "tune": {"no text": "add the file of the documents: neardup tune {where} INPUT"},
    "pairs": {"given twice": "for the pairs of one collection, leave out B"},
    "seen": dict.fromkeys(("compressed stream", "archive stream"), "name the file: neardup seen DIR FILE"),
    "storage": {
        "storage busy": "wait until it has finished, or write through `neardup serve`, which many clients can use",
        "key needed": "name the file of its key with --key-file",
        "other key": "name the file of its own key with --key-file",
        "no key": "leave out --key-file",
        "scheme needed": "this is only possible in Python",
        "no texts": "make a new one in another folder: neardup index INPUT --to NEWDIR --search",
        "older format": "make the index again from its documents: neardup index INPUT --to NEWDIR",
        "newer format": "update neardup",
        "too few keys": "in the options or the file of settings, set a lower recall, or leave out the threshold, the"
        " distance and needed; or make another index: neardup index INPUT --to NEWDIR",
        "other URL rules": "leave out --rules: the index then uses its own rules, if it has any; or make another index"
        " with these: neardup index INPUT --to NEWDIR --url FIELD --rules FILE",
        "lost rules": "or name that file with --rules",
        PERMISSION: _OTHER_USER,
        TEMPORARY: "make room there, or name another folder for temporary files: TMPDIR=DIR neardup ...",
        "index exists": "another process has just created it: run the same command again",
        "not empty": "name a new folder",
        "other view": "use the same --text-view, or begin a new state or index",
        "other version": "begin a new state or index, or use the versions of neardup and resiliparse that made it",
        "no templates": "leave out the options of templates, or begin a new state or index without --no-templates",
        "templates needed": "leave out --no-templates, or begin a new state or index",
        "other templates": "leave out --templates: its own are used then; or name a file that was made of its own:"
        " neardup templates learn INPUT --templates DIR --out FILE",
        "other settings": "leave out these settings, or use the values of the index",
    },
    "record": {
        **_ENCODINGS,
        "encoding": "convert files that are not UTF-8, such as with: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW",
        "encoding of a document": "extract the text of such files first, such as with: pdftotext FILE.pdf, or"
        " pandoc -t plain FILE.docx -o FILE.txt",
        "encoding in a table": "decode these values in the program that writes the table, and store them as strings",
        "too large": "--max-bytes raises the cap",
        "type": 'write such a value as one string, such as {"text": "..."}; join the items of a list first',
        "torn quotes": "if quotation marks are plain text there, use --quoting none",
        "quotes are text": "if fields are in quotation marks there, use --quoting minimal",
    },
}
IN_PIECES = ("work", "memory", "part_size", "out_format", "restart")  # options of dedup: a run in pieces
_NEXT_FILES = {  # that do not exist, are others or have another format, by their options
    "templates": "`neardup templates learn` writes such a file; dedup and index do so with --learn-templates",
    "common": "`neardup dedup --ignore-common S --common FILE` writes such a file",
    "token_file": "neardup serve --new-token read --token-file FILE writes such a file",
    "ids": "a file of ids has one id per line, and is not compressed; from JSON lines: jq -r .id FILE > IDS",
    "key_file": "a key is a file of 16 bytes or 32 hexadecimal digits; name the one that was used before, or create"
    " one: head -c 16 /dev/urandom > FILE",
    "rules": "`neardup rules REPORT --out FILE` writes such a file",
    "stop_words": "to name words instead of a file, separate them by commas; write a single word with a comma: the,",
}


def advice(error: NeardupError, arguments: argparse.Namespace) -> str:
    """Return what is wrong and what to do next."""
    if isinstance(error, ParameterError):
        known = _NEXT.get(getattr(arguments, "verb", ""), {}) | _NEXT["parameter"]
        following = known.get(error.code, "").format(value=error.value)
        if error.name == "templates":
            error.value = vars(arguments).get("templates", error.value)  # the library does not know the file
        elif error.name == "measure":
            following = _about_measure(error)
        worded = _of_parameter(error, arguments)
        return f"{worded}; {following}" if following else worded
    if worded := _worded(error, arguments):
        return worded
    if isinstance(error, DataError):
        error.where = _files_of(error.where, arguments)
    message = error.words()
    given = vars(arguments)
    folder = shlex.quote(str(given.get("index", given.get("to", "DIR"))))
    if error.code == "search table":  # these rules end with "build it" or "rebuild it"
        key = f" --key-file {shlex.quote(given['key_file'])}" if given.get("key_file") else ""
        return f"{message}: neardup reindex {folder}{key}"
    if isinstance(error, StorageDamaged) and error.code == StorageDamaged.code and _is_of_index(error, arguments):
        following = (
            f"restore the index from a copy; or run neardup check {folder}, which reports whether neardup rescue"
            f" {folder} TO can save the rest"
        )
    elif isinstance(error, StorageError):
        following = folder_advice(error) or _NEXT["storage"].get(error.code, "")
        if not following and _is_full(error):
            following = _about_room(error, arguments)
    else:
        following = _next(error, arguments)
    return f"{message}; {following}" if following else message


def _files_of(where: str, arguments: argparse.Namespace) -> str:
    """Return the files of the labels or the documents that an error of the library is about, other places as is."""
    given = vars(arguments)
    files = given.get("inputs", []) if where == "the documents" else []
    if where == "the labels":
        files = [given["labels"]] if arguments.verb == "tune" else [given.get("like")]
        files = arguments.inputs[1:] if files == [None] else files  # label compare A B
    more = f" and {counted(len(files) - 2, 'more file')}" if files[2:] else ""
    return f"{' and '.join(files[:2])}{more}" if files else where


def _worded(error: NeardupError, arguments: argparse.Namespace) -> str:
    """Return an error that is worded from its fields, or an empty string for all others."""
    if isinstance(error, RunChanged):
        touched = [change for change in error.changes if change.kind == "time"]
        nanoseconds, name = (touched[0].before, touched[0].name) if touched else (0, "")
        restored = f"touch -d @{nanoseconds // 10**9}.{nanoseconds % 10**9:09} {shlex.quote(name)}"
        way_out = f"; if its content is the same, restore its time: {restored}" if touched else ""
        if any(change.kind == "named" for change in error.changes):
            way_out += "; it can only be continued with the same names, which are in its report"
        return f"{error.words(_option)}; the same command with --restart begins again{way_out}"
    if isinstance(error, OutputsOverlap):
        return error.words(lambda name: _option(name) if name in vars(arguments) else name)
    if isinstance(error, ExtraMissing) and error.library == "resiliparse":
        return f"{error}; or use --text-view visible, which needs no library"
    if isinstance(error, QueryTimeout):
        stopped = f"the search was stopped after {error.seconds:g} seconds"
        return f"{stopped}; use fewer or rarer words, or allow more with --seconds"
    return ""


def advice_on_memory(arguments: argparse.Namespace) -> str:
    """Return what to do if there is not enough memory."""
    return _NEXT[_run(arguments) if arguments.verb == "dedup" else ""]["memory"]


def advice_on_warning(warning: Warning | str, arguments: argparse.Namespace) -> str:
    """Return a warning with what to do next."""
    if isinstance(warning, MemoryShort):
        return f"{warning.what}; {advice_on_memory(arguments)}"
    return str(warning)


def advice_on_quotes(found: "QuotedLines | int") -> str:
    """Return a note on records with line ends inside quotes, which may be a mistake; or on their number."""
    number, where = found if isinstance(found, int) else found.records, ""
    if not isinstance(found, int):
        first = "" if number == 1 else "the first in "
        where = f" ({first}lines {found.first:,} to {found.last:,} of {found.source})"
    records = "1 record has" if number == 1 else f"{number:,} records have"
    way_out = "if they are meant, --quoting minimal hides this note; --quoting none reads quotation marks as text"
    return f"{records} line ends inside quotation marks{where}; {way_out}"


def advice_on_rejected(rejected: "Sequence[Rejected]") -> list[str]:
    """Return what may help with rejected records, each sentence once."""
    kinds = dict.fromkeys((one.code, one.source) for one in rejected)
    return list(dict.fromkeys(filter(None, (_about_rejected(*kind) for kind in kinds))))


def _about_rejected(code: str, source: str) -> str:
    kind = _ENCODED.get(Path(source).suffix.lower(), "") if code == "encoding" else ""
    return _NEXT["record"].get(f"{code}{kind}", "")


def _of_parameter(error: ParameterError, arguments: argparse.Namespace) -> str:
    """Return what is wrong with a parameter of the library, by the option that the user has given."""
    given, rule = vars(arguments), error.rule
    options = {"output": _OUTPUTS, "field": _NAMED_FIELDS}.get(error.name, ())  # which the library does not know
    name = next((option for option in options if given.get(option) == error.value), error.name)
    several = isinstance(error.value, list | tuple) and error.value and name not in {"against", *_WITH_COMMAS}
    is_option = not several and name not in {"inputs", "output", *({"field"} - {*given})}
    if isinstance(error, ParameterConflict):
        other = option_of(error.other, error.other_value, arguments)
        rule = f"cannot be used with {other}{error.why and f': {error.why}'}"
    value = "" if error.value is None or error.value is True else _value_of(error)
    subject = option_of(name, value, arguments) if is_option else f"{name} {value}".rstrip()
    return f"{subject}: the value {rule}" if value and rule.startswith("must ") and is_option else f"{subject} {rule}"


def _value_of(error: ParameterError) -> str:
    """Return the value of a parameter as it is on the command line; of a long one, the beginning."""
    value = str(error.value)
    if error.name == "part_size" and isinstance(error.value, int):
        value = size_words(error.value)
    elif isinstance(error.value, float):
        value = value.removesuffix(".0")
    elif isinstance(error.value, list | tuple) and error.value:
        value = ("," if error.name in _WITH_COMMAS else " ").join(map(str, error.value)) or value
    value = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}..."
    return repr(value) if not value or value.endswith(":") else value


def option_of(name: str, value: object, arguments: argparse.Namespace) -> str:
    """Return an option with its value as the user has set it: on the command line, or in a file of settings."""
    if name in getattr(arguments, "of_config", ()):
        return f"{f'{name} {value}'.rstrip()} in {arguments.config}"
    return f"{_option(name)} {value}".rstrip()


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _next(error: NeardupError, arguments: argparse.Namespace) -> str:
    """Return what to do next about an error, or an empty string."""
    if not isinstance(error, DataError | OutputError):
        return ""
    verb = getattr(arguments, "verb", "")
    if isinstance(error, FieldMissing):
        return _about_field(error, arguments)
    is_report = error.where == vars(arguments).get("of") if verb == "audit" else verb in _OF_REPORTS
    if is_report and error.code in _ENDINGS:
        return "name the report of a run: neardup dedup INPUT --report FILE.parquet writes one, and .html only a page"
    situations = {  # the most particular one first
        "report" if is_report and verb == "audit" else verb: True,
        _run(arguments): verb == "dedup",
        "standard input": error.where == "<stdin>",
        "output": isinstance(error, OutputError),
        "reading": verb in _READING,
        "": True,
    }
    if isinstance(error, DataError) and (advised := _about_file(error, arguments) or folder_advice(error)):
        return advised
    known = (_NEXT.get(situation, {}).get(error.code) for situation, holds in situations.items() if holds)
    tables = _tables_in(error.where) if error.code == "mixed folder" else ""
    where = "FILE" if "://" in error.where else shlex.quote(error.where)  # commands read files only
    following = next(filter(None, known), "").format(where=where, tables=tables)
    if isinstance(error, NothingRead):
        effect = "" if vars(arguments).get("dry_run") else "nothing was written"
        return "; ".join(filter(None, (effect, following, _about_rejected(error.first, error.source))))
    return following


def _about_measure(error: ParameterError) -> str:
    """Return the schemes that have a measure, if another one was chosen with it."""
    from neardup.schemes.registry import kinds

    able = [kind.name for kind in kinds() if error.value in kind.measures]
    return f"use --scheme {' or '.join(able)}" if able and isinstance(error, ParameterConflict) else ""


def _is_of_index(error: StorageError, arguments: argparse.Namespace) -> bool:
    """Return whether a damaged file is one of an index, and not of the state that ``index`` reads."""
    given = vars(arguments)
    named = arguments.verb == "index" or ("index" in given and arguments.verb not in {"check", "rescue"})
    return named and not ("from" in given and Path(error.where).is_relative_to(given["from"]))


def _tables_in(folder: str) -> str:
    """Return a pattern of tables in a folder or its subfolders: of the first one."""
    from neardup.sources.formats import COMPRESSIONS, kind

    for inside, subfolders, names in os.walk(folder):
        subfolders.sort()
        for name in sorted(names):
            if kind(name) is not None:
                endings = Path(name).suffixes[-2:]
                ending = "".join(endings if endings[-1].lower() in COMPRESSIONS else endings[-1:])
                return f"{folder}/{'' if inside == folder else '**/'}*{ending}"
    return f"{folder}/*.parquet"


def _about_room(error: StorageError, arguments: argparse.Namespace) -> str:
    """Return what to do if the disk is full: whether the same command continues, or begins again."""
    if error.where.startswith(os.path.join(gettempdir(), "neardup-")):  # noqa: PTH118 - a work folder that is removed
        return _NEXT["storage"][TEMPORARY]
    verb = getattr(arguments, "verb", "")
    ending = {"state": "; the state is as it was"}.get(verb, ": it continues" if verb in _CONTINUING else "")
    return f"make room, and start the same command again{ending}"


def _is_full(error: BaseException | None) -> bool:
    """Return whether an error is about a full disk, or one that caused it is."""
    while error is not None:
        if getattr(error, "code", "") == FULL or (isinstance(error, OSError) and is_full(error)):
            return True
        error = error.__cause__
    return False


def runs_in_pieces(arguments: argparse.Namespace) -> bool:
    """Return whether options of ``dedup`` are those of a run in pieces."""
    given = vars(arguments)
    if any(given.get(name) for name in (*IN_PIECES, "state", "against")):
        return True
    from neardup.sources.output import is_folder

    return any(is_folder(given[name]) for name in ("out", "dropped", "mark") if name in given)


def _run(arguments: argparse.Namespace) -> str:
    """Return the kind of a run of ``dedup``, by its options."""
    return "in pieces" if runs_in_pieces(arguments) else "in memory"


def _about_file(error: DataError, arguments: argparse.Namespace) -> str:
    """Return the command that makes a missing or wrong file, or what its option takes; empty for other errors."""
    if error.code not in {NO_FILE, NOT_A_FILE, OTHER_FILE, "ending"}:
        return ""
    given = vars(arguments)
    if given.get("verb") == "compare" and "://" in error.where:
        return "URLs are not read here; download the page first"
    if error.code == "ending" and "format" in given:
        from neardup.sources.formats import kind

        if kind(error.where) is not None:
            return "leave out --format, or name the format of the file"
        named = Path(error.where).is_file() and not error.where.startswith("/dev/")  # not /dev/stdin
        return "" if named else _NEXT[""]["compressed stream"]
    return next((advised for option, advised in _NEXT_FILES.items() if given.get(option) == error.where), "")


def _about_field(error: FieldMissing, arguments: argparse.Namespace) -> str:
    given = {"url": "url", **_FIELDS.get(arguments.verb, {}), **vars(arguments)}
    if error.field in _OF_REPORTS.get(arguments.verb, ()) and error.field != given.get("text"):
        return "this must be a report that `neardup dedup --report` has written"
    if way_out := _about_separator(error.existing):
        return way_out
    for name, words in _NAMED_FIELDS.items():
        if error.field == given.get(name):
            wanted = error.field.lower()
            alike = [other for other in error.existing if f".{other.strip().lower()}".endswith(f".{wanted}")]
            example = f", such as --{name} {shlex.quote(alike[0])}" if alike else ""
            following = f"--{name} names the field of the {words}{example}{_about_header(error, arguments)}"
            return "; ".join(filter(None, (following, _about_columns("body", arguments) if name == "text" else "")))
    kept = {one.rpartition(":")[0] for one in given.get("field", ())}
    if error.field in kept.union(one.partition(":")[0] for one in given.get("fields", "").split(",")):
        return "correct --field" if error.field in kept else "correct --fields"
    if advised := _about_columns(error.field, arguments):
        return advised
    ways = str(given.get("keep", "")).split(",")
    needing = [way for way in ways if way.partition(":")[2] == error.field or way == error.field == "canonical"]
    return f"--keep {needing[0]} needs it; leave out {needing[0]}, or add the field" if needing else ""


def _about_columns(field: str, arguments: argparse.Namespace) -> str:
    """Return which fields a scheme compares by default; empty for another missing *field*, and if fields were named."""
    given = vars(arguments)
    if "scheme" not in given or "fields" in given or arguments.verb not in _READING:
        return ""
    from neardup.schemes.registry import named

    columns = named(given["scheme"])().columns
    if field not in columns:
        return ""
    by_default = f"{option_of('scheme', given['scheme'], arguments)} compares {' and '.join(columns)} by default"
    example = next((one for one in reversed(columns) if one != field), field)
    return f"{by_default}, and --fields names others, such as --fields {example}"


def _about_header(error: FieldMissing, arguments: argparse.Namespace) -> str:
    """Return what to do if the header of a table of text is a record; empty if all its names look like names."""
    from neardup.sources.formats import kind

    named = kind(error.where)
    read_as = vars(arguments).get("format") or (named and named.format)
    if read_as not in {"csv", "tsv"} or all(name.isidentifier() for name in error.existing):
        return ""
    return "; if the first line is a record, add a line with the names of the fields before it"


def _about_separator(names: Sequence[str]) -> str:
    """Return how a header can be read that is one field; an empty string if nothing in it separates fields."""
    header = names[0] if names else ""
    if header.startswith("sep="):
        return "its first line is only for Excel; remove it, such as with: tail -n +2 FILE > NEW"
    if len(names) > 1:
        return ""
    for character, other in (("\t", "tsv"), (",", "csv")):
        if character in header:
            separators = "tabs" if other == "tsv" else "commas"
            return f"for fields separated by {separators}, add --format {other}, or give the file the ending .{other}"
    for character, words in ((";", "semicolons"), ("|", "vertical bars")):
        if character in header:
            rule = f"the fields of CSV must be separated by commas, or by tabs in .tsv, not by {words}"
            return f"{rule}; convert it, such as with: mlr --csv --ifs '{character}' --ofs , cat FILE > NEW"
    return ""
