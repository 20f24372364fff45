"""Errors in the words of the command line: what is wrong, and what to do next."""

import argparse
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neardup.interfaces.cli.usage import STDOUT, size_words
from neardup.model.errors import (
    FOLDER_FOR_FILE,
    FULL,
    NO_FILE,
    NOT_A_FILE,
    OTHER_FILE,
    PERMISSION,
    TEMPORARY,
    ExtraMissing,
    FieldMissing,
    NeardupError,
    NothingRead,
    OutputsOverlap,
    ParameterConflict,
    ParameterError,
    RunChanged,
    StorageDamaged,
    StorageFailed,
    cut_to,
    is_full,
)
from neardup.model.folders import BESIDE, INDEX, RUN, STATE, WORK

if TYPE_CHECKING:
    from neardup.sources.record_faults import QuotedLines, Rejected

_SHOWN: Final = 200  # shown characters of an invalid value
_WITH_COMMAS: Final = {"stop_words"}  # options whose value is a list
_OF_READING: Final = "quoting"  # an option, with a default, of the verbs that have the options for reading files
_OF_REPORTS: Final = {  # columns of the reports that a verb reads
    "audit": ("id", "position", "representative_position", "rule", "resemblance"),
    "mirrors": ("representative",),
    "rules": ("representative",),
}
_NAMED_FIELDS: Final = {"text": "text", "html": "HTML", "id": "id", "url": "URL", "contribution": "contribution"}
_ONE_FIELD: Final = frozenset(",;|\t")  # in a header that is one field: it separates others
_AFTER_ANSWERS: Final = "continue with --skip N, where N is the line of the last answer"
_WITHOUT_ANSWERS: Final = " (a page that was admitted without an answer is then `known`)"
_AGAIN: Final = "run the same command again"
OF_DEDUP: Final = ("out", "report", "dropped", "mark")  # its outputs
_RESULTS: Final = (*OF_DEDUP, "to", "items", "documents", "html", "svg")
_OUTPUTS: Final = (*_RESULTS, "common", "templates")
_NO_FILES: Final = {"-", STDOUT, None}  # as outputs
SIZES: Final = {"memory", "part_size", "max_bytes"}  # options whose value is a number of bytes
IN_PIECES: Final = ("work", "memory", "part_size", "out_format", "restart")  # options of dedup: a run in pieces
_ENCODINGS: Final = {  # by the code of an error or a rejected record
    name.lower(): f"convert it to UTF-8, such as with: iconv -f {name} -t UTF-8 FILE > NEW"
    for name in ("UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE", "UTF-32BE")  # without a mark, by order
}
_BEGINS_AGAIN: Final = "the same command with --restart begins again"
_MORE_MEMORY: Final = "split the input; or use dedup in pieces: add --memory SIZE, or make it smaller"
_NEXT: Final[Mapping[str, str]] = {  # by the code of an error; {0} is where it is, or the invalid value
    **_ENCODINGS,
    "mixed folder": "name the tables by a pattern",
    "json as table": "rename it with the ending .jsonl",
    "ending": "rename it with the ending of its format",
    "not compressed": "rename it without this ending, or compress it",
    "packed files": "unpack it first, and use the files in it, or their folder, as inputs",
    "arc": "convert it to WARC first: warcio recompress {0} NEW.warc.gz",
    "compressed stream": "name the file as an input, or, if it has lines, expand it first: zcat FILE | neardup ...",
    "archive stream": "name the file as an input: archives are read from files",
    "too large": "that is the most that is read here",
    "changed": "run again when nothing writes to it",
    "memory": _MORE_MEMORY,
    "earlier input": "restore it, with its modification time (a folder with its files, and no others), or remove what"
    " its run added: neardup state forget DIR --before TIME",
    "json array": "expand it if it is compressed, and convert it: jq -c '.[]' {0} > lines.jsonl",
    "json over lines": "expand it if it is compressed, and convert it: jq -c . {0} > lines.jsonl",
    "work needed": "add --work DIR",
    "state needed": "add --state DIR",
    "scheme not registered": "the command line cannot import it: use neardup in Python",
    "label": "`neardup label` writes files of labels",
    "no labels": "label pairs first: neardup label INPUT --out {0}",
    **dict.fromkeys(("one kind", "one group"), "neardup label with the same --out and a larger --labels adds more"),
    "no text": "add the file of the documents: neardup tune LABELS INPUT",
    "unknown id": "name the file with this document, too, or remove the labels of its pairs",
    "pages": "deduplicate them first (`neardup dedup` with --report why.parquet), then name why.parquet",
    "no URLs": "name the column of the URLs with --url, or repeat dedup with --id, which names their field",
    "exists": "--force replaces it",
    "timeout": "--seconds sets the time",
    "no id": "--id or --url names a field",
    **dict.fromkeys(("folder", FOLDER_FOR_FILE), "name a file in it"),
    PERMISSION: "change its permissions, name another path, or run this as another user",
    TEMPORARY: "make room there, or name another folder for temporary files: TMPDIR=DIR neardup ...",
    # Of parameters and outputs of dedup, index and audit.
    "other columns": "as the output, name a .jsonl file, or a folder, which receives one file for each input",
    "other labels": "as the output, name a folder, which receives one file for each input",
    "output ending": "the name of a folder of outputs has no ending, or ends in a slash",
    "parts of texts": "--out-format names it, such as --out-format jsonl",
    **dict.fromkeys(
        ("index without texts", "lengths unknown"), "make such an index with: neardup index INPUT --to DIR --texts"
    ),
    "share with state": "such as with: neardup dedup INPUT --dry-run --work DIR --ignore-common {0} --common common.npz"
    ", with the options of the scheme; then add --common common.npz, and leave out --ignore-common",
    "no url": "name it with --url FIELD",
    "terms not recorded": "--key-file names the key, and --common the list; if the list was not saved, repeat the run"
    " with --ignore-common S --common FILE, which writes it",
    # Of an index, a state or a work folder.
    "storage busy": "wait until it has finished, or write through `neardup serve`, which many clients can use",
    "key needed": "name the file of its key with --key-file",
    "other key": "name the file of its own key with --key-file",
    "no key": "leave out --key-file",
    "scheme needed": "this is only possible in Python",
    "no texts": "make a new one in another folder: neardup index INPUT --to NEWDIR --search",
    "changes unknown": "leave out --since",
    "older format": "make the index again from its documents: neardup index INPUT --to NEWDIR",
    "newer format": "update neardup",
    "too few keys": "in the options or the file of settings, set a lower recall, or leave out the threshold, the"
    " distance and needed; or make another index: neardup index INPUT --to NEWDIR",
    "other URL rules": "leave out --rules: the index then uses its own rules, if it has any; or make another index with"
    " these: neardup index INPUT --to NEWDIR --url FIELD --rules FILE",
    "lost rules": "or name that file with --rules",
    "run damaged": _BEGINS_AGAIN,
    "decisions damaged": "add --force and --keep-work to its command",
    "only Parquet": "name an output that ends in .parquet, and repeat the command; a run in pieces continues",
    "index exists": "another process has just created it: run the same command again",
    "not empty": "name a new folder",
    "not a state": "to create a state: neardup dedup INPUT --out KEPT --state DIR",
    "not a work folder": "name a new folder for --work, and the same one for neardup work",
    "not an index": "to create an index: neardup index INPUT --to DIR",
    "other view": "leave out --text-view, or use the view of the templates, the state or the index",
    "other version": "begin a new state or index, or use the versions of neardup and resiliparse that made it",
    "no templates": "leave out the options of templates, or begin a new state or index without --no-templates",
    "templates needed": "leave out --no-templates, or begin a new state or index",
    "other templates": "leave out --templates: its own are used then; or name a file that was made of its own: neardup"
    " templates learn INPUT --templates DIR --out FILE",
    "other settings": "repeat these settings of the index, because options that are left out have their defaults; or"
    " leave out all options of the scheme",
}
_RESTORED: Final = "restore it, with its modification time"
_IN_SITUATIONS: Final[Mapping[str, Mapping[str, str]]] = {  # that need other words: verbs, and groups of these
    "reading": {  # verbs with options for reading files
        "mixed folder": "name the tables by a pattern, or choose the texts with --glob PATTERN",
        "too large": "--max-bytes raises this cap of inputs",
        "json as table": "to read it as JSON lines, use --format jsonl",
        "open quote": "if quotation marks are plain text in this file, use --quoting none",
        "ending unknown": "use --format jsonl, csv, tsv or parquet; for single texts, name their folder",
        "json ending": "for JSON lines add --format jsonl; convert a JSON array: jq -c '.[]' {0} > lines.jsonl",
        "text ending": "to read text or HTML files, name their folder; for JSON lines or a table add --format"
        " jsonl, csv or tsv; if each line is a text: jq -cR '{{text: .}}' {0} > lines.jsonl",
        "folder of other files": "--glob reads others as text, such as --glob '*.py'",
        "structs": "name one of these as COLUMN.FIELD, with --text or --html",
        "lists": "join the parts of each list into one string first, in another column",
        "not a number": "correct it, or leave it empty: documents without a value rank last",
        "not a date": "write it as 2026-01-31 or 2026-01-31T12:00:00Z, or leave it empty: such documents rank last",
        "kinds": "write all values as numbers, and leave missing ones empty or null",
        "field taken": "if neardup has marked them, mark the original files instead; otherwise rename the field",
    },
    "strict": dict.fromkeys(
        ("encoding", "fields", "json", "too long", "type"),
        "correct the record; or leave out --strict: such records are then rejected, and the others are read",
    ),
    "format": {  # that is named
        "ending": "leave out --format, and name the file with the ending of its format; or expand it first: zcat FILE |"
        " neardup ..."
    },
    "report": dict.fromkeys(
        ("ending unknown", "json ending", "text ending"),
        "name the report of a run: neardup dedup INPUT --report FILE.parquet writes one, and .html only a page",
    ),
    "standard input": {"all rejected": "name the format of CSV or TSV with --format"},
    "in pieces": {"changed": f"{_RESTORED}, and start the same command again; or begin again with --restart"},
    "work": {"changed": f"{_RESTORED}, or mount it here at the same path, and repeat the command of the run"},
    "learning": {
        "folder": "name an .arrow file; a state or an index in use learns its own templates: leave out --templates"
        " and --learn-templates"
    },
    "index": {
        "lengths unknown": "--texts keeps the texts in a new index",
        "memory": "make --memory smaller, or split the input",
    },
    "audit": {"changed": f"{_RESTORED}, as an audit reads what the run has read; or repeat the run and then the audit"},
    "compare": {
        NO_FILE: "compare reads files of this machine; --strings takes both arguments as texts",
        NOT_A_FILE: "--strings takes both arguments as texts",
        "ending": "compare takes files of text or HTML; a compressed one needs the ending of its format",
    },
}
_OTHER_FOLDERS: Final = {"folder of other files", "not a state", "not an index"}
_OF_OWN_FOLDERS: Final[Mapping[tuple[str, ...], str]] = {  # by files in them
    INDEX: "to describe an index: neardup stats {0}; dedup compares with it: --against {0}",
    STATE: "to describe a state: neardup state info {0}; to make an index of it: neardup index --from {0} --to DIR",
    RUN: "to audit the run of a work folder: neardup audit INPUT --of {0}",
}
_OF_RECORDS: Final[Mapping[str, str]] = {  # by the code of a rejected record
    **_ENCODINGS,
    "encoding": "convert files that are not UTF-8, such as with: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW;"
    " expand compressed files; from documents, such as PDF, extract the text first",
    "type": 'write a text as one string, such as {"text": "..."}, and an id as a string or a number',
}
_OF_READ_RECORDS: Final[Mapping[str, str]] = {  # of verbs that have the options for reading files
    **_OF_RECORDS,
    "too large": "--max-bytes raises the cap",
    "torn quotes": "if quotation marks are plain text there, use --quoting none",
    "quotes are text": "if fields are in quotation marks there, use --quoting minimal",
}
_OF_FILES: Final[Mapping[str, str]] = {  # that do not exist, are others or have another format, by their options
    "templates": "`neardup templates learn` writes such a file; dedup and index do so with --learn-templates",
    "common": "`neardup dedup --ignore-common S --common FILE` writes such a file",
    "token_file": "neardup serve --new-token read --token-file FILE writes such a file",
    "ids": "a file of ids has one id per line, and is not compressed; from JSON lines: jq -r .id FILE > IDS",
    "key_file": "a key is a file of 16 bytes or 32 hexadecimal digits; name the one that was used before, or create"
    " one: head -c 16 /dev/urandom > FILE",
    "rules": "`neardup rules REPORT --out FILE` writes such a file",
    **dict.fromkeys(("config", "file"), "`neardup tune LABELS --out FILE` writes such a file"),
    "stop_words": "to name words instead of a file, separate them by commas; write a single word with a comma: the,",
}


def advice(error: NeardupError, arguments: argparse.Namespace) -> str:
    """Return what is wrong and what to do next."""
    following = _following(error, arguments)
    if isinstance(error, ParameterError):
        worded = _of_parameter(error, arguments)
    elif isinstance(error, OutputsOverlap):
        worded = error.words(lambda name: _option(name) if name in vars(arguments) else name)
        if error.where == STDOUT:
            worded = f"{_option(error.name)} and {_option(error.other)} cannot both be standard output (-)"
    else:
        worded = error.words(_option)
    return f"{worded}{following}" if following[:1] in {"", *",:;"} else f"{worded}; {following}"


def _following(error: NeardupError, arguments: argparse.Namespace) -> str:
    """Return what to do next about an error, or an empty string."""
    given, where = vars(arguments), str(getattr(error, "where", ""))
    particular = _about_kind(error, given) or _about_folder(error.code, where, given)
    return particular or _about_code(error, where, arguments)


def _about_kind(error: NeardupError, given: Mapping[str, Any]) -> str:
    """Return what to do next about an error with data of its own; an empty string for others."""
    if isinstance(error, FieldMissing):
        return _about_field(error, given)
    if isinstance(error, RunChanged):
        return _about_changes(error)
    if isinstance(error, ExtraMissing) and error.library == "resiliparse":
        return "or use --text-view visible, which needs no library"
    if isinstance(error, ParameterError) and error.name == "memory" and error.rule.startswith("must be"):
        return ", such as 64M or 2GiB"
    if isinstance(error, ParameterConflict) and error.name == "measure":
        return "leave out --scheme: --measure chooses it"
    return ""


def _about_folder(code: str, where: str, given: Mapping[str, Any]) -> str:
    """Return the commands for a folder of another kind, a damaged index or a missing search table."""
    folder = shlex.quote(str(given.get("index", given.get("to", "DIR"))))
    if code in _OTHER_FOLDERS and (commands := _about_own_folder(where)):
        return commands
    if code == "not a work folder" and given.get("verb") == "work" and (Path(where) / STATE[0]).is_file():
        return f"it is a state; if a run of it is in progress, join it with: neardup work {shlex.quote(where)}/work"
    if code == "search table":  # these rules end with "build it" or "rebuild it"
        key = f" --key-file {shlex.quote(given['key_file'])}" if given.get("key_file") else ""
        return f": neardup reindex {folder}{key}"
    if code == StorageDamaged.code and _is_of_index(where, given):
        check = f"neardup check {folder}, which reports whether neardup rescue {folder} TO can save the rest"
        return f"restore the index from a copy; or run {check}"
    return ""


def _about_code(error: NeardupError, where: str, arguments: argparse.Namespace) -> str:
    """Return what to do next by the code of an error, in the words for the command."""
    given, code, verb = vars(arguments), error.code, vars(arguments).get("verb", "")
    if code not in _NEXT and isinstance(error.__cause__, OSError) and is_full(error.__cause__):
        code = FULL
    if code in {NO_FILE, NOT_A_FILE, OTHER_FILE, "ending"}:
        for option, advised in _OF_FILES.items():
            if given.get(option) == where:
                return advised
    if code == FULL:
        return f"make room; {way_on(arguments)}"
    situations = {  # the most particular one first
        "report": where == given.get("of") if verb == "audit" else verb in _OF_REPORTS,
        "in pieces": verb == "dedup" and code == "changed" and runs_in_pieces(arguments),
        "standard input": where == "<stdin>" and _OF_READING in given,
        "strict": given.get("strict", False),
        "format": "format" in given,
        "learning": "learn_templates" in given and where == given.get("templates"),
        verb: True,
        "reading": _OF_READING in given,
    }
    known = (_IN_SITUATIONS.get(situation, {}).get(code) for situation, holds in situations.items() if holds)
    place = error.value if isinstance(error, ParameterError) else shlex.quote(where)
    place = "FILE" if "://" in where or where == "<stdin>" else place  # commands read files only
    following = next(filter(None, known), _NEXT.get(code, "")).format(place)
    if isinstance(error, NothingRead):
        effect = "" if given.get("dry_run") else "nothing was written"
        return "; ".join(filter(None, (effect, following, _of_records(arguments).get(error.first))))
    return following


def more_memory(arguments: argparse.Namespace) -> str:
    """Return what to do if there is not enough memory for a command."""
    given = vars(arguments)
    otherwise = _MORE_MEMORY if "inputs" in given else "free some, or raise its limit"
    return _IN_SITUATIONS.get(given["verb"], {}).get("memory", otherwise)


def way_on(arguments: argparse.Namespace) -> str:
    """Return how an interrupted command continues, or that it begins again."""
    given = vars(arguments)
    answers = f"{_AFTER_ANSWERS}{_WITHOUT_ANSWERS if given.get('admit') else ''}"
    ways = {
        "dedup": _way_of_run(given) if _leaves_work(arguments) else "",
        "pairs": _way_of_run(given) if "work" in given else "",
        "index": "" if "from" in given else f"{_AGAIN}; documents that were added are skipped",
        "seen": answers if given.get("inputs", []) in ([], ["-"]) else "",
        "work": f"other processes do the tasks of this worker; {_AGAIN} to join again",
        "label": f"the same command continues: the labels are in {given['out']}" if "out" in given else "",
    }
    again = f"{_AGAIN}; outputs that were complete need --force" if _may_need_force(given) else _AGAIN
    return ways.get(given.get("verb", "")) or again


def _leaves_work(arguments: argparse.Namespace) -> bool:
    """Return whether an interrupted command is a run in pieces whose work folder is not a temporary one."""
    given = vars(arguments)
    places = {given.get(name) for name in ("work", "state", *OF_DEDUP)} - _NO_FILES
    stays = bool(places) and "-" not in given.get("inputs", ())
    return given.get("verb") == "dedup" and stays and runs_in_pieces(arguments)


def _way_of_run(given: Mapping[str, Any]) -> str:
    """Return how a run in pieces continues, and where its work folder is if no option names it."""
    run = f"the same command{' without --restart' * given.get('restart', False)} continues the run"
    if "work" in given:
        return f"{run} in {given['work']}"
    ends = {"state": f"/{WORK}", **dict.fromkeys(OF_DEDUP, BESIDE)}
    named = (f"{Path(given[name])}{end}" for name, end in ends.items() if given.get(name))
    left = next((folder for folder in named if Path(folder).is_dir()), "")
    return f"{run} in {left}; to give up, remove this folder" if left else run


def _may_need_force(given: Mapping[str, Any]) -> bool:
    """Return whether some outputs of an interrupted command may be complete, so that they exist when it is repeated."""
    return given.get("force") is False and len({*map(given.get, _RESULTS)} - _NO_FILES) > 1


def advice_on_quotes(found: "QuotedLines | int") -> str:
    """Return a note on records with line ends inside quotes, which may be a mistake; or on their number."""
    number, where = found if isinstance(found, int) else found.records, ""
    if not isinstance(found, int):
        first = "" if number == 1 else "the first in "
        where = f" ({first}lines {found.first:,} to {found.last:,} of {found.source})"
    records = "1 record has" if number == 1 else f"{number:,} records have"
    way_out = "if they are meant, --quoting minimal hides this note; --quoting none reads quotation marks as text"
    return f"{records} line ends inside quotation marks{where}; {way_out}"


def advice_on_rejected(rejected: "Sequence[Rejected]", arguments: argparse.Namespace) -> list[str]:
    """Return what may help with rejected records, each sentence once."""
    codes, known = dict.fromkeys(one.code for one in rejected), _of_records(arguments)
    return [known[code] for code in codes if code in known]


def _of_records(arguments: argparse.Namespace) -> Mapping[str, str]:
    """Return what may help with rejected records, by their codes, with the options that the verb has."""
    return _OF_READ_RECORDS if _OF_READING in arguments else _OF_RECORDS


def _of_parameter(error: ParameterError, arguments: argparse.Namespace) -> str:
    """Return what is wrong with a parameter of the library, by the option that the user has given."""
    given, rule, value = vars(arguments), error.rule, error.value
    if error.name == "templates":
        value = given.get("templates", value)  # the library does not know the file
    options = {"output": _OUTPUTS, "field": _NAMED_FIELDS}.get(error.name, ())  # which the library does not know
    name = next((option for option in options if given.get(option) == value), error.name)
    several = isinstance(value, list | tuple) and value and name not in {"against", *_WITH_COMMAS}
    is_option = not several and name not in {"inputs", "output", *({"field"} - {*given})}
    if isinstance(error, ParameterConflict):
        other = option_of(error.other, error.other_value, arguments)
        rule = f"cannot be used with {other}{error.why and f': {error.why}'}"
    shown = "" if value is None or value is True else _value_of(error.name, value)
    subject = option_of(name, shown, arguments) if is_option else f"{name} {shown}".rstrip()
    return f"{subject}: the value {rule}" if shown and rule.startswith("must ") and is_option else f"{subject} {rule}"


def _value_of(name: str, value: object) -> str:
    """Return the value of a parameter as it is on the command line; of a long one, the beginning."""
    shown = str(value)
    if name in SIZES and isinstance(value, int):
        shown = size_words(value)
    elif isinstance(value, float):
        shown = shown.removesuffix(".0")
    elif isinstance(value, list | tuple) and value:
        shown = ("," if name in _WITH_COMMAS else " ").join(map(str, value)) or shown
    shown = cut_to(_SHOWN, shown)
    return repr(shown) if not shown or shown.endswith(":") else shown


def option_of(name: str, value: object, arguments: argparse.Namespace) -> str:
    """Return an option with its value as the user has set it: on the command line, or in a file of settings."""
    if name in getattr(arguments, "of_config", ()):
        return f"{f'{name} {value}'.rstrip()} in {arguments.config}"
    return f"{_option(name)} {value}".rstrip()


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def runs_in_pieces(arguments: argparse.Namespace) -> bool:
    """Return whether options of ``dedup`` are those of a run in pieces."""
    given = vars(arguments)
    if any(given.get(name) for name in (*IN_PIECES, "state", "against")):
        return True
    from neardup.sources.output import is_folder

    return any(is_folder(given[name]) for name in ("out", "dropped", "mark") if name in given)


def _is_of_index(where: str, given: Mapping[str, Any]) -> bool:
    """Return whether a damaged file is one of an index, and not of the state that ``index`` reads."""
    named = given["verb"] == "index" or ("index" in given and given["verb"] not in {"check", "rescue"})
    return named and not ("from" in given and Path(where).is_relative_to(given["from"]))


def _about_changes(error: RunChanged) -> str:
    """Return how a run continues whose inputs or settings were changed."""
    touched = next((change for change in error.changes if change.kind == "time"), None)
    if touched is None:
        return _BEGINS_AGAIN
    seconds, nanoseconds = divmod(touched.before, 10**9)
    restored = f"touch -d @{seconds}.{nanoseconds:09} {shlex.quote(touched.name)}"
    return f"if its content is the same, restore its time: {restored}; otherwise {_BEGINS_AGAIN}"


def _about_own_folder(where: str) -> str:
    """Return the commands for an index, a state or a work folder; an empty string for other folders."""
    from neardup.engines.files import has_file

    with suppress(StorageFailed):  # the user may not look into it
        for names, commands in _OF_OWN_FOLDERS.items():
            if has_file(Path(where), *names):
                return commands.format(shlex.quote(where))
    return ""


def _about_field(error: FieldMissing, given: Mapping[str, Any]) -> str:
    """Return what to do about a missing field."""
    if error.field in _OF_REPORTS.get(given["verb"], ()) and error.field != given.get("text"):
        return "this must be a report that `neardup dedup --report` has written"
    return _about_header(error.existing) or "; ".join(_options_for(error, given))


def _about_header(fields: Sequence[str]) -> str:
    """Return what to do about a header that was not divided into fields; an empty string for others."""
    header, *others = fields or ("",)
    if header.startswith("sep="):
        note = "line 1 is written by Excel, and is not the header; remove it"
        return note if header == "sep=" else f"{note}, and save the file with commas or tabs"
    if others or _ONE_FIELD.isdisjoint(header):
        return ""
    name = "tsv" if "\t" in header else "csv" if "," in header else ""
    way_out = f"to read it as {name.upper()}, use --format {name}" if name else "save the file with one of these"
    return f"the header is one field: CSV needs commas, and TSV needs tabs; {way_out}"


def _options_for(error: FieldMissing, given: Mapping[str, Any]) -> list[str]:
    """Return which options name a missing field."""
    ways: list[str] = []
    for name, words in _NAMED_FIELDS.items():
        if error.field == {"url": "url", "html": "html", **given}.get(name) and not ways:
            wanted = error.field.lower()
            alike = [other for other in error.existing if f".{other.strip().lower()}".endswith(f".{wanted}")]
            example = f", such as --{name} {shlex.quote(alike[0])}" if alike else ""
            ways.append(f"--{name} names the field of the {words}{example}")
    ways += _in_lists(error.field, given)
    if "scheme" in given and "fields" not in given and _OF_READING in given:
        from neardup.schemes.registry import named

        columns = named(given["scheme"])().columns
        if error.field in {*columns, *({given["text"]} if "body" in columns else ())}:
            by_default = f"--scheme {given['scheme']} compares {' and '.join(columns)} by default"
            example = next((one for one in reversed(columns) if one != error.field and not ways), columns[0])
            ways.append(f"{by_default}, and --fields names others, such as --fields {example}")
    return ways


def _in_lists(field: str, given: Mapping[str, Any]) -> list[str]:
    """Return which options name a missing field as one of several."""
    ranks = str(given.get("keep", "")).split(",")
    ways = {
        "--keep names the field that ranks": any(key.endswith(f":{field}") for key in ranks),
        f"--keep {field} ranks by this field": field in ranks,
        "--fields names the fields to compare": field in str(given.get("fields", "")).split(","),
        "--field names the fields to store": any(one.rpartition(":")[0] == field for one in given.get("field", ())),
    }
    return [way for way, holds in ways.items() if holds]
