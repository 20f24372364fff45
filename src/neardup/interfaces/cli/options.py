"""Options that verbs share: what they read, and which scheme signs it."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.interfaces.cli.amounts import number, size, whole
from neardup.interfaces.cli.templates import with_list
from neardup.interfaces.cli.terminal import complain
from neardup.model.errors import InputRefused, ParameterError, require
from neardup.model.presets import PRESETS

if TYPE_CHECKING:
    from collections.abc import Callable

    from neardup.model.protocols import Scheme
    from neardup.schemes.checksum import Field

_HIDDEN = argparse.SUPPRESS  # keeps "(default: None)" out of the help

# The options that go with each scheme, besides --seed and --key-file; the first one is the default.
_ANALYSIS = ("unit", "stem", "min_length", "normalization", "symbols", "stop_words")
_OPTIONS = {
    "minhash": ("threshold", "shingle", "permutations", "recall", "bag", *_ANALYSIS),
    "trials": ("threshold", "words", "hashes", "trials", "needed", "bag", *_ANALYSIS),
    "sentences": ("threshold", "size", "relative_to", "stem", "min_length"),
    "simhash": ("threshold", "shingle", "distance", "bits", "blocks", *_ANALYSIS),
    "combined": ("threshold",),
    "checksum": ("fields", "contribution"),
}
_DEFAULT = next(iter(_OPTIONS))


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Describe what a verb reads documents from."""
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="INPUT",
        help=".jsonl .ndjson .csv .tsv (also .gz .zst .bz2 .xz), .parquet, a folder of text or HTML files, or - for"
        " standard input; patterns and several inputs of one format are fine",
    )


def add_reading_options(parser: argparse.ArgumentParser, *, with_url: bool = False) -> None:
    """Describe how documents are read, *with_url* also by which URL they are known."""
    reading = parser.add_argument_group("reading")
    reading.add_argument("--text", metavar="FIELD", default="text", help="the field that holds the text")
    reading.add_argument("--id", metavar="FIELD", default="id", help="the field that holds the id, if there is one")
    if with_url:
        reading.add_argument(
            "--url", metavar="FIELD", default=_HIDDEN, help="the field with the URL, whose normal form is the id then"
        )
    reading.add_argument(
        "--format",
        choices=("jsonl", "csv", "tsv", "parquet"),
        default=_HIDDEN,
        help="what the inputs are (default: what their names say; standard input is jsonl)",
    )
    reading.add_argument(
        "--quoting",
        choices=("auto", "minimal", "none"),
        default="auto",
        help="of CSV and TSV: fields may be in quotation marks (minimal), or a quotation mark is a character like any"
        " other (none); auto is minimal for CSV, and for TSV whose header is quoted",
    )
    reading.add_argument(
        "--glob",
        action="append",
        metavar="PATTERN",
        default=_HIDDEN,
        help="of folders: the files to read as texts, such as '*.py'; several are fine (default: text and HTML files)",
    )
    reading.add_argument("--strict", action="store_true", help="stop at the first broken record")
    reading.add_argument(
        "--max-bytes",
        type=size,
        metavar="SIZE",
        default=_HIDDEN,
        help="cap on what a compressed input may expand to (default: 8 GiB)",
    )


def add_scheme_options(parser: argparse.ArgumentParser) -> None:
    """Add everything that decides signatures and matches."""
    group = parser.add_argument_group("what counts as the same")
    group.add_argument(
        "--scheme", choices=tuple(_OPTIONS), default=_HIDDEN, help=f"how documents are signed (default: {_DEFAULT})"
    )

    group.add_argument(
        "--preset",
        choices=tuple(PRESETS),
        default=_HIDDEN,
        help="settings by name, printed; options that are given replace them. "
        + "; ".join(f"{name}: {preset.about}" for name, preset in PRESETS.items()),
    )

    def option(name: str, *, kind: "Callable[[str], Any]" = whole, letter: str, explained: str, default: str) -> None:
        whole = f"{explained} (default: {default})"
        group.add_argument(name, type=kind, metavar=letter, default=_HIDDEN, help=whole)

    resemblance = "least resemblance of a match; for sentences, least overlap"
    defaults = "0.6; trials and combined where chance is even; sentences 0.5; simhash 0.8"
    option("--threshold", kind=number, letter="T", explained=resemblance, default=defaults)
    group.add_argument(
        "--unit",
        choices=("letter", "word", "line", "sentence"),
        default=_HIDDEN,
        help="what a token is (default: word)",
    )
    option("--shingle", letter="Q", explained="tokens in a row that make a feature", default="3; simhash 1")
    option("--stem", kind=str, letter="LANGUAGE", explained="stem words", default="no; sentences english")
    option("--min-length", letter="N", explained="leave out words of fewer characters", default="1; sentences 3")
    group.add_argument(
        "--normalization",
        choices=("NFC", "NFKC", "none"),
        default=_HIDDEN,
        help="which spellings of a character are equal: composed and decomposed accents (NFC, the default), with NFKC"
        " also ligatures and full-width forms, or none",
    )
    group.add_argument(
        "--symbols",
        choices=("count", "separate"),
        default=_HIDDEN,
        help="operators, signs, currencies and emoji: words (count, the default), or only separators",
    )
    group.add_argument(
        "--stop-words",
        metavar="FILE",
        default=_HIDDEN,
        help="words to leave out: a file with one word per line, or words separated by commas (default: none)",
    )
    group.add_argument("--bag", action="store_true", default=_HIDDEN, help="count the repeats of a feature")
    option("--permutations", letter="P", explained="minhash: minima in a signature", default="128")
    option(
        "--recall",
        kind=number,
        letter="R",
        explained="minhash: share of the pairs at the threshold that are compared",
        default="0.999",
    )
    option("--words", letter="W", explained="trials: words in a sequence", default="2")
    option("--hashes", letter="H", explained="trials: minima that make a trial", default="14")
    option("--trials", letter="N", explained="trials: how many there are", default="6")
    option("--needed", letter="N", explained="trials: how many must agree for a candidate", default="2")
    option("--size", letter="K", explained="sentences: smallest values that are kept", default="64")
    group.add_argument(
        "--relative-to",
        choices=("union", "smaller"),
        default=_HIDDEN,
        help="sentences: of what the shared ones are a share (default: union)",
    )
    option("--distance", letter="K", explained="simhash: bits that may differ", default="3")
    option("--bits", letter="B", explained="simhash: bits of a fingerprint", default="64")
    blocks = "simhash: parts into which the bits are cut for the keys; decides how fast, not who matches"
    option("--blocks", letter="N", explained=blocks, default="3 more than the distance, 1 from distance 8 on")
    group.add_argument(
        "--fields",
        metavar="NAME[:BYTES],...",
        default=_HIDDEN,
        help="checksum: the fields, each with an optional cap (default: title and 1,024 bytes of the text)",
    )
    group.add_argument(
        "--contribution",
        metavar="NAME",
        default=_HIDDEN,
        help="checksum: one more field, which enters whole and may be missing (default: none)",
    )
    seed = group.add_mutually_exclusive_group()
    seed.add_argument(
        "--seed", type=whole, metavar="N", default=_HIDDEN, help="public seed of all hash functions (default: 1)"
    )
    seed.add_argument(
        "--key-file",
        metavar="PATH",
        default=_HIDDEN,
        help="secret key of 16 bytes or 32 hexadecimal digits, so that nobody can forge near-duplicates",
    )


def scheme_of(arguments: argparse.Namespace) -> "Scheme":
    """Build the scheme that the options describe; ``ParameterError`` for one that does not go with it."""
    _apply_preset(arguments)
    return with_list(_plain_scheme(arguments), arguments)


def _apply_preset(arguments: argparse.Namespace) -> None:
    """Set what the preset that is named sets and no option does, and print it."""
    given = vars(arguments)
    if "preset" not in given:
        return
    name = given["preset"]
    scheme = given.get("scheme", _DEFAULT)
    require(scheme == _DEFAULT, "preset", name, f"does not go with --scheme {scheme}, only with {_DEFAULT}")
    wanted = dict(PRESETS[name].settings)
    share = PRESETS[name].ignore_common
    if share is not None and arguments.verb == "dedup" and not ("common" in given and Path(given["common"]).exists()):
        wanted["ignore_common"] = share
    own = {option: value for option, value in wanted.items() if option not in given}
    vars(arguments).update(own)
    listed = " ".join(f"--{option.replace('_', '-')} {value}" for option, value in own.items())
    complain(f"preset {name}: {listed or 'nothing is left to set'}")
    if share is not None and arguments.verb == "index" and "common" not in given:
        complain(
            f"preset {name}: --ignore-common {share} is not used, as an index needs a list of common shingles; make it"
            f" with `neardup dedup --ignore-common {share} --common FILE`, then use `neardup index --common FILE`"
        )


def _plain_scheme(arguments: argparse.Namespace) -> "Scheme":
    import neardup

    given = vars(arguments)
    name = given.get("scheme", _DEFAULT)
    own = _OPTIONS[name]
    _refuse_others(name, given)
    parameters: dict[str, Any] = {name: given[name] for name in own if name in given}
    hashing: dict[str, Any] = {"seed": given.get("seed", 1)}
    if "key_file" in given:
        hashing["key"] = key_of(arguments)
    if "unit" in own:
        parameters["analysis"] = neardup.Analysis(**_analysis(parameters))
    match name:
        case "trials":
            return neardup.Trials(**parameters, **hashing)
        case "sentences":
            return neardup.Sentences(**parameters, **hashing)
        case "simhash":
            return neardup.SimHash(**parameters, **hashing)
        case "combined":
            first = neardup.Trials(words=8, **parameters, **hashing)
            return neardup.Combined(first, neardup.SimHash(bits=384, distance=29, **hashing))
        case "checksum":
            if "fields" in parameters:
                parameters["fields"] = _fields(parameters["fields"])
            return neardup.Checksum(**parameters, **hashing)
        case _:
            return neardup.MinHash(**parameters, **hashing)


def describes_scheme(arguments: argparse.Namespace) -> bool:
    """Tell whether any option but the key says what the scheme should be."""
    described = {"scheme", "preset", "seed", "common", *(name for names in _OPTIONS.values() for name in names)}
    return not described.isdisjoint(vars(arguments))


def add_key_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names a key for verbs that know the scheme from elsewhere."""
    parser.add_argument(
        "--key-file",
        metavar="PATH",
        default=_HIDDEN,
        help="the secret key that the index was made with: a file of 16 bytes or 32 hexadecimal digits",
    )


def key_of(arguments: argparse.Namespace) -> bytes | None:
    """Read the key that is named, if one is."""
    from neardup.sources.keys import key_in

    path = vars(arguments).get("key_file")
    return None if path is None else key_in(path)


def _refuse_others(scheme: str, given: dict[str, Any]) -> None:
    own = _OPTIONS[scheme]
    for name in dict.fromkeys(name for names in _OPTIONS.values() for name in names):
        if name in given and name not in own:
            goes = " or ".join(scheme for scheme, names in _OPTIONS.items() if name in names)
            rule = f"does not go with --scheme {scheme}, only with {goes}"
            raise ParameterError(name, None if given[name] is True else given[name], rule)


def _analysis(parameters: dict[str, Any]) -> dict[str, Any]:
    """Take out of the parameters what describes the analysis of texts."""
    analysis = {name: parameters.pop(name) for name in _ANALYSIS if name in parameters}
    if "stop_words" in analysis:
        analysis["stop_words"] = _words(analysis["stop_words"])
    if "symbols" in analysis:
        analysis["symbols"] = analysis["symbols"] == "count"
    if analysis.get("normalization") == "none":
        analysis["normalization"] = None
    return analysis


def _words(described: str) -> tuple[str, ...]:
    """Read words from a file, or take them as they are listed."""
    if not Path(described).exists() and not ("/" in described or Path(described).suffix):
        return tuple(word.strip() for word in described.split(",") if word.strip())
    from neardup.sources.listing import listed

    return tuple(word.strip() for word in listed(described))


def reading_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say of how files are read, as the library takes it."""
    from neardup.sources.read import MAX_BYTES

    given = vars(arguments)
    if "" in given.get("glob", ()):
        raise InputRefused("--glob", "the pattern is empty")
    return {
        "text": arguments.text,
        "id": arguments.id,
        "format": given.get("format"),
        "quoting": arguments.quoting,
        "glob": given.get("glob", ()),
        "strict": arguments.strict,
        "max_bytes": given.get("max_bytes", MAX_BYTES),
    }


def _fields(described: str) -> "tuple[Field, ...]":
    from neardup.schemes.checksum import Field

    rule = "must be NAME or NAME:BYTES with at least 1 byte, separated by commas"
    fields = []
    for part in described.split(","):
        name, colon, limit = part.strip().partition(":")
        try:
            fields.append(Field(name=name, limit=int(limit) if colon else None))
        except ValueError as error:
            raise ParameterError("fields", described, rule) from error
    names = [part.name for part in fields]
    require(len(set(names)) == len(names), "fields", described, "must name each field once")
    return tuple(fields)
