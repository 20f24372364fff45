"""Options that verbs share: for reading, and for the scheme."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.interfaces.cli.amounts import number, size, whole
from neardup.interfaces.cli.common_shingles import with_list
from neardup.interfaces.cli.terminal import complain
from neardup.model.errors import InputRefused, ParameterError, require
from neardup.model.presets import PRESETS

if TYPE_CHECKING:
    from neardup.model.options import Option
    from neardup.model.protocols import Scheme
    from neardup.sources.addresses import Addresses
    from neardup.text.extraction import Extraction

_HIDDEN = argparse.SUPPRESS  # keeps "(default: None)" out of the help

_KINDS: dict[str, Any] = {"whole": whole, "number": number, "text": str}


def add_inputs(parser: argparse.ArgumentParser, *, least: int = 1) -> None:
    """Add the inputs of a verb, which needs at *least* this many of them: 0 or 1."""
    parser.add_argument(
        "inputs",
        nargs="+" if least else "*",
        metavar="INPUT",
        help=".jsonl .ndjson .csv .tsv (also .gz .zst .bz2 .xz), .parquet, .warc .wet (also .gz .zst .lz4), a folder"
        " of text or HTML files, or - for standard input; patterns and several inputs of one format are allowed",
    )


def add_reading_options(parser: argparse.ArgumentParser, *, with_url: bool = False) -> None:
    """Add the options for reading documents; *with_url* also the field of the URL."""
    reading = parser.add_argument_group("reading")
    reading.add_argument(
        "--text", metavar="FIELD", default="text", help="the field that holds the text, such as body.content"
    )
    reading.add_argument(
        "--html", metavar="FIELD", default=_HIDDEN, help="the field that holds an HTML page, instead of a text"
    )
    reading.add_argument("--id", metavar="FIELD", default="id", help="the field that holds the id, if there is one")
    add_templates_option(reading)
    if not with_url:
        reading.add_argument(
            "--url", metavar="FIELD", default=_HIDDEN, help="with --templates: the field with the URL (default: url)"
        )
    else:
        reading.add_argument(
            "--url", metavar="FIELD", default=_HIDDEN, help="the field with the URL, whose normal form is the id then"
        )
    add_format_option(reading)
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
        help="of folders: the files to read as texts, such as '*.py'; can be repeated (default: text and HTML files)",
    )
    add_view_option(reading)
    reading.add_argument("--strict", action="store_true", help="stop at the first broken record")
    reading.add_argument(
        "--max-bytes",
        type=size,
        metavar="SIZE",
        default=_HIDDEN,
        help="cap on the expanded size of a compressed input, a Parquet file or standard input (default: 8 GiB)",
    )


def add_format_option(parser: "argparse._ActionsContainer") -> None:
    """Add the option for the format of the inputs."""
    parser.add_argument(
        "--format",
        choices=("jsonl", "csv", "tsv", "parquet"),
        default=_HIDDEN,
        help="format of the inputs (default: by their names; standard input is jsonl)",
    )


def add_view_option(parser: "argparse._ActionsContainer", *, default: str = "auto") -> None:
    """Add the option for the text of HTML pages."""
    parser.add_argument(
        "--text-view",
        choices=("auto", "main", "visible"),
        default=default,
        help="of HTML: its main text, without navigation and advertisements (main), all visible text (visible), or main"
        " text, but of pages with little of it all visible text (auto)",
    )


def add_templates_option(parser: "argparse._ActionsContainer") -> None:
    """Add the option for the templates of hosts."""
    parser.add_argument(
        "--templates",
        metavar="FILE",
        default=_HIDDEN,
        help="for web pages: the templates of hosts, whose lines do not count; `neardup templates learn` writes them",
    )


def extraction_of(arguments: argparse.Namespace) -> "Extraction":
    """Return how web pages become texts: with the view and the templates that options name."""
    from neardup.text.extraction import Extraction
    from neardup.text.host_templates import HostTemplates

    path = vars(arguments).get("templates")
    return Extraction(view=arguments.text_view, templates=None if path is None else HostTemplates.load(path))


def add_keep_option(parser: "argparse._ActionsContainer") -> None:
    """Add the option for the ranks of documents."""
    parser.add_argument(
        "--keep",
        default="first",
        metavar="WHICH",
        help="the copy that stays: first, last, longest, shortest, max:FIELD or min:FIELD; of documents whose id is"
        " a URL also canonical (the address that most documents name in their field canonical), https or shortest-id;"
        " several, separated by commas, in order of importance",
    )


def add_config_option(parser: "argparse._ActionsContainer") -> None:
    """Add the option for a file of settings."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        default=_HIDDEN,
        help="settings from a file such as neardup.toml; other options replace them",
    )


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings in the file that ``--config`` names, without those that other options replace."""
    from neardup.pipeline.config import load_config

    given = vars(arguments)
    settings = dict(load_config(arguments.config).settings)
    for name, other in (("seed", "key_file"), ("key_file", "seed")):
        if name in given:
            settings.pop(other, None)
    return settings


def add_rules_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for the URL rules that ids follow."""
    parser.add_argument(
        "--rules",
        metavar="FILE",
        default=_HIDDEN,
        help="URL rules of hosts, found by neardup rules: URLs that differ in nothing else are one page",
    )


def addresses_of(arguments: argparse.Namespace) -> "Addresses | None":
    """Return the addresses with the URL rules that an option names."""
    path = vars(arguments).get("rules")
    if path is None:
        return None
    from neardup.sources.addresses import Addresses
    from neardup.sources.url_rules import UrlRules

    return Addresses(rules=UrlRules.read(path))


def add_scheme_options(parser: argparse.ArgumentParser, *, with_measure: bool = True) -> None:
    """Add the options that decide signatures and matches; *with_measure* also what exact verification compares."""
    from neardup.schemes.registry import kinds, measures

    group = parser.add_argument_group("what counts as the same")
    add_config_option(group)
    names = [kind.name for kind in kinds()]
    group.add_argument(
        "--scheme", choices=names, default=_HIDDEN, help=f"how documents are signed (default: {names[0]})"
    )

    if with_measure:
        group.add_argument(
            "--measure",
            choices=measures(),
            default=_HIDDEN,
            help="what must reach the threshold: the resemblance; the share of a document that is in a better-ranked"
            " one (containment); the share of the smaller one that is in the other (overlap); or the cosine of weighted"
            " words. Without --scheme it also chooses the scheme (default: resemblance)",
        )
    group.add_argument(
        "--preset",
        choices=tuple(PRESETS),
        default=_HIDDEN,
        help="settings by name, printed; other options replace them. "
        + "; ".join(f"{name}: {preset.about}" for name, preset in PRESETS.items()),
    )

    for owners in _owners().values():
        _add_option(group, owners)
    seed = group.add_mutually_exclusive_group()
    seed.add_argument(
        "--seed", type=whole, metavar="N", default=_HIDDEN, help="public seed of all hash functions (default: 1)"
    )
    seed.add_argument(
        "--key-file",
        metavar="PATH",
        default=_HIDDEN,
        help="secret key of 16 bytes or 32 hexadecimal digits, so that others cannot forge near-duplicates",
    )


def _owners() -> "dict[str, dict[str, Option]]":
    """Return the schemes of each option, and the option of each."""
    from neardup.schemes.registry import kinds

    owners: dict[str, dict[str, Option]] = {}
    for kind in kinds():
        for option in kind.options:
            owners.setdefault(option.name, {})[kind.name] = option
    return owners


def _add_option(group: "argparse._ArgumentGroup", owners: "dict[str, Option]") -> None:
    """Add an option of some schemes; its help names the scheme if there is only one."""
    option = next(iter(owners.values()))
    about = option.about if len(owners) > 1 else f"{next(iter(owners))}: {option.about}"
    name = f"--{option.name.replace('_', '-')}"
    if option.kind == "flag":
        group.add_argument(name, action="store_true", default=_HIDDEN, help=about)
        return
    about = f"{about} (default: {_defaults(owners)})"
    if isinstance(option.kind, tuple):
        group.add_argument(name, choices=option.kind, default=_HIDDEN, help=about)
    else:
        group.add_argument(name, type=_KINDS[option.kind], metavar=option.value, default=_HIDDEN, help=about)


def _defaults(owners: "dict[str, Option]") -> str:
    """Return the defaults of an option: that of the first scheme, then others with the names of their schemes."""
    by_default: dict[str, list[str]] = {}
    for scheme, option in owners.items():
        by_default.setdefault(option.default, []).append(scheme)
    first, *others = by_default.items()
    return "; ".join([first[0], *(f"{' and '.join(schemes)} {default}" for default, schemes in others)])


def scheme_of(arguments: argparse.Namespace) -> "Scheme":
    """Return the scheme that the options describe; ``ParameterError`` for options that it does not have."""
    _apply_preset(arguments)
    return with_list(_plain_scheme(arguments), arguments)


def _apply_preset(arguments: argparse.Namespace) -> None:
    """Set the values of the named preset that no option sets, and print them."""
    given = vars(arguments)
    if "preset" not in given:
        return
    name = given["preset"]
    require("config" not in given, "preset", name, "cannot be used with --config")
    default = _default()
    require("measure" not in given, "preset", name, "cannot be used with --measure")
    scheme = given.get("scheme", default)
    require(scheme == default, "preset", name, f"cannot be used with --scheme {scheme}, only with {default}")
    wanted = dict(PRESETS[name].settings)
    share = PRESETS[name].ignore_common
    if share is not None and arguments.verb == "dedup" and not ("common" in given and Path(given["common"]).exists()):
        wanted["ignore_common"] = share
    own = {option: value for option, value in wanted.items() if option not in given}
    vars(arguments).update(own)
    listed = " ".join(f"--{option.replace('_', '-')} {value}" for option, value in own.items())
    complain(f"preset {name}: {listed or 'nothing is left to set'}")
    if share is not None and arguments.verb != "dedup" and "common" not in given:
        complain(
            f"preset {name}: --ignore-common {share} is not used, as `neardup {arguments.verb}` needs a list of common"
            f" shingles; make it with `neardup dedup --ignore-common {share} --common FILE`, then use"
            f" `neardup {arguments.verb} --common FILE`"
        )


def _plain_scheme(arguments: argparse.Namespace) -> "Scheme":
    from neardup.pipeline.config import scheme_from, scheme_name

    given = {name: value for name, value in vars(arguments).items() if name != "measure" or arguments.verb != "pairs"}
    _refuse_others(scheme_name(given), given)
    return scheme_from(given)


def _default() -> str:
    from neardup.schemes.registry import kinds

    return str(kinds()[0].name)


def describes_scheme(arguments: argparse.Namespace) -> bool:
    """Return whether any option but the key describes the scheme."""
    described = {"scheme", "measure", "preset", "seed", "common", *_owners()}
    return not described.isdisjoint(vars(arguments))


def add_key_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for a key, for verbs that know the scheme from the index."""
    parser.add_argument(
        "--key-file",
        metavar="PATH",
        default=_HIDDEN,
        help="the secret key that the index was created with: a file of 16 bytes or 32 hexadecimal digits",
    )


def key_of(arguments: argparse.Namespace) -> bytes | None:
    """Read the key, if an option names one."""
    from neardup.sources.keys import key_in

    path = vars(arguments).get("key_file")
    return None if path is None else key_in(path)


def _refuse_others(scheme: str, given: dict[str, Any]) -> None:
    for name, owners in _owners().items():
        if name in given and scheme not in owners:
            rule = f"cannot be used with --scheme {scheme}, only with {' or '.join(owners)}"
            raise ParameterError(name, None if given[name] is True else given[name], rule)


def reading_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options for reading as parameters of the library."""
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
        "html": given.get("html"),
        "extraction": extraction_of(arguments),
        **({"url": given["url"]} if "url" in given else {}),
        "strict": arguments.strict,
        "max_bytes": given.get("max_bytes", MAX_BYTES),
    }
