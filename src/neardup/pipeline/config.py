"""Settings in a file: ``neardup.toml`` with the recipe, the layout and the policy of a collection."""

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from os.path import lexists
from pathlib import Path
from typing import Any, Final, get_args

from neardup.model.errors import DataError, InputRefused, ParameterConflict, ParameterError, require, require_path
from neardup.model.options import OptionKind
from neardup.model.policy import Gather, Policy, Representative, Verify
from neardup.schemes.recorded_scheme import LAYOUT, MATCHING
from neardup.schemes.registry import for_measure, kinds, measures, named
from neardup.schemes.scheme import Scheme
from neardup.schemes.thresholds import require_policy
from neardup.sources.compression import HEAD, check_plain
from neardup.sources.keys import key_in
from neardup.sources.lines import read_names

_TABLES: Final = ("recipe", "layout", "policy")
_POLICY: Mapping[str, OptionKind] = {
    "keep": "text",
    "verify": get_args(Verify),
    "gather": get_args(Gather),
    "representative": get_args(Representative),
}
_HASHING: Mapping[str, OptionKind] = {"seed": "whole", "key_file": "text"}
_SHOWN: Final = 60  # characters of a line in a message
_MOST_BYTES: Final = 1 << 20
_NESTED: Final = re.compile(  # the standard library needs quadratic time for a key of many names with dots
    rb"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}"""
)
_PLACE: Final = re.compile(r" \(at line (\d+), column \d+\)$")  # of an error in TOML
# Errors in TOML about a name or table that is there already.
_TWICE: Final = ("Cannot overwrite", "Cannot declare", "Cannot redefine", "Cannot mutate", "Duplicate")
_PARTS: Final = re.compile(r"\('(.*?)',?\)")  # a name in such an error
_CLOSE: Final = 0.75  # the similarity of an unknown name to one that is proposed
_TYPES: Mapping[Any, tuple[tuple[type, ...], str]] = {
    "whole": ((int,), "an integer"),
    "number": ((int, float), "a number"),
    "text": ((str,), "a string"),
    "flag": ((bool,), "true or false"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The settings in a file: a *scheme* and a *policy*. ``settings`` are its keys as options of the command line."""

    scheme: Any
    policy: Policy
    settings: Mapping[str, Any]

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of ``dedup`` and ``dedup_files``: the scheme, and each part of the policy."""
        return {"scheme": self.scheme, **{name: getattr(self.policy, name) for name in _POLICY}}


def load_config(path: str | PathLike[str]) -> Config:
    """Read settings from a TOML file with the tables ``recipe``, ``layout`` and ``policy``; an empty one sets nothing.

    Raises ``InputRefused`` with the file and the key for an unknown table or key, and for a value that breaks its rule
    or that ``dedup`` cannot use with another one, ``DataError`` for a file that cannot be read. Further faults that
    were found together with the first one are the notes of the error.
    """
    path = str(require_path("path", path))
    faults: list[DataError] = []
    tables = _tables(path, faults)
    given = {**tables.get("recipe", {}), **tables.get("policy", {})}
    if given.get("measure") not in measures():
        given.pop("measure", None)  # reported below
    scheme = scheme_name(given)
    names = [kind.name for kind in kinds()]
    if scheme not in names:
        faults.append(InputRefused(f"{path}: scheme in [recipe]", f"must be one of {', '.join(names)}"))
        _require_none(faults)  # without a scheme, no key is known
    allowed = _allowed(named(scheme))
    settings: dict[str, Any] = {}
    for table, values in tables.items():
        for name, value in values.items():
            settings[name] = value
            unknown = "" if name in allowed[table] else _unknown(name, table, scheme, allowed)
            if rule := unknown or _kind_rule(value, allowed[table][name]):
                faults.append(InputRefused(f"{path}: {name} in [{table}]", rule))
    if {"seed", "key_file"} <= settings.keys():
        faults.append(InputRefused(f"{path}: key_file in [recipe]", "cannot be used with seed"))
    _require_none(faults)
    settings = {name: value for name, value in settings.items() if value is not False}
    if "key_file" in settings:
        settings["key_file"] = str(Path(path).parent / settings["key_file"])
    if "stop_words" in settings:
        settings["stop_words"] = _placed_words(path, settings["stop_words"])
    with _noted(path, allowed, faults):
        made = scheme_from(settings)
    with _noted(path, allowed, faults):
        policy = Policy(**{name: settings[name] for name in _POLICY if name in settings})
    _require_none(faults)
    with _noted(path, allowed, faults):
        require_policy(made, policy)
    _require_none(faults)
    return Config(scheme=made, policy=policy, settings=settings)


def scheme_from(settings: Mapping[str, Any]) -> Scheme:
    """Return the scheme of settings by the names of options; ``ParameterError`` for a value that breaks its rule."""
    measure = settings.get("measure")
    kind = named(scheme_name(settings))
    values = {option.name: settings[option.name] for option in kind.options if option.name in settings}
    if "stop_words" in values:
        values["stop_words"] = _words(values["stop_words"])
    if "symbols" in values:
        values["symbols"] = values["symbols"] == "count"
    values |= {name: None for name in ("normalization", "stem") if values.get(name) == "none"}
    made = kind.from_options(values, **{name: settings[name] for name in ("seed",) if name in settings})
    if "key_file" in settings:
        key = key_in(settings["key_file"])
        try:
            made = made.with_key(key)
        except ParameterError as error:
            raise ParameterError("key_file", settings["key_file"], error.rule) from None
    if "relative_to" in values and measure in {*made.measures} - {made.rule}:
        why = f"{values['relative_to']} means {made.rule}; leave out one of the two"
        raise ParameterConflict("relative_to", values["relative_to"], "measure", measure, why)
    scheme: Scheme = made if measure is None else made.with_measure(measure)
    return scheme


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return the text of a file with these settings, by the names of options; ``load_config`` reads it.

    Raises ``ParameterError`` for a setting that the scheme does not have.

    >>> print(settings_text({"scheme": "minhash", "shingle": 2, "threshold": 0.5}), end="")
    [recipe]
    scheme = "minhash"
    shingle = 2
    <BLANKLINE>
    [policy]
    threshold = 0.5
    """
    tables: dict[str, list[str]] = {}
    allowed = _allowed(named(scheme_name(settings)))
    for name, value in settings.items():
        table = next((table for table, keys in allowed.items() if name in keys), None)
        if table is None:
            raise ParameterError(name, value, "is not a setting of this scheme")
        written = json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f")  # strings as in JSON
        tables.setdefault(table, []).append(f"{name} = {written}")
    return "\n".join(f"[{table}]\n" + "\n".join(tables[table]) + "\n" for table in allowed if table in tables)


def scheme_name(settings: Mapping[str, Any]) -> str:
    """Return the name of the scheme of settings: the default one, unless their measure needs another one."""
    chosen = for_measure(settings["measure"]) if "measure" in settings else kinds()[0]
    return str(settings.get("scheme", chosen.name))


@contextmanager
def _noted(path: str, allowed: Mapping[str, Container[str]], faults: list[DataError]) -> Iterator[None]:
    """Add a value that breaks its rule, or a file that it names, to the *faults* of a file of settings."""
    try:
        yield
    except ParameterError as error:
        home = next((table for table in allowed if error.name in allowed[table]), "recipe")
        faults.append(InputRefused(f"{path}: {error.name} in [{home}]", error.rule))
    except DataError as error:
        faults.append(type(error)(f"{path}: {error.where}", error.rule, error.code))


def _require_none(faults: Sequence[DataError]) -> None:
    """Raise the first of some faults, with the others as notes."""
    for other in faults[1:]:
        faults[0].add_note(str(other))
    if faults:
        raise faults[0]


def _tables(path: str, faults: list[DataError]) -> dict[str, dict[str, Any]]:
    """Return the tables of settings in a file; other names in it are added to the *faults*."""
    import tomllib

    try:
        with Path(path).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise DataError.by(error, path, "the settings") from None
    if len(data) > _MOST_BYTES:
        raise InputRefused(path, f"is larger than {_MOST_BYTES:,} bytes", "too large")
    if _NESTED.search(data):
        raise InputRefused(path, "has a hundred names with dots between them; tables of settings are not nested")
    try:
        check_plain(path, data[:HEAD])
    except DataError as error:
        raise InputRefused(error.where, error.rule, error.code) from None
    try:
        tables = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputRefused(path, "is not valid UTF-8, which TOML requires; convert it") from None
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits, and deep nesting
        raise _invalid(path, data, str(error)) from None
    for name, table in tables.items():
        if name not in _TABLES:
            faults.append(InputRefused(f"{path}: {name}", _misplaced(name)))
        elif not isinstance(table, dict):
            faults.append(InputRefused(f"{path}: {name}", f"must be a table: write [{name}] on a line of its own"))
    return {name: table for name, table in tables.items() if name in _TABLES and isinstance(table, dict)}


def _invalid(path: str, data: bytes, reason: str) -> InputRefused:
    """Return the error for invalid TOML; the *reason* ends with the line, if that is known."""
    place = _PLACE.search(reason)
    if place is None:
        return InputRefused(path, f"is not valid TOML: {reason}")
    line = data.decode("utf-8-sig").split("\n")[int(place[1]) - 1].strip()
    hint = "; a string needs quotation marks, and a fraction a decimal point" if "=" in line else ""
    if reason.startswith(_TWICE):
        hint = "; this name or table is already set above: remove one of the two"
    fault = _PARTS.sub(lambda parts: parts[1].replace("', '", "."), reason[: place.start()])
    return InputRefused(f"{path}:{place[1]}", f"is not valid TOML: {fault}: {line[:_SHOWN]}{hint}")


def _misplaced(name: str) -> str:
    """Return the rule for a name at the top level that is not that of a table."""
    from difflib import get_close_matches

    homes = {key: home for scheme in kinds() for home, keys in _allowed(scheme).items() for key in keys}
    if name in homes:
        return f"belongs in [{homes[name]}]: write it below a line with [{homes[name]}]"
    likely = next(iter(get_close_matches(name.lower(), [*_TABLES, *homes], n=1, cutoff=_CLOSE)), None)
    if likely is None:
        return "is unknown; the tables are [recipe], [layout] and [policy]"
    return f"is unknown; did you mean {f'{likely}, in [{homes[likely]}]' if likely in homes else f'[{likely}]'}?"


def _allowed(scheme: type[Any]) -> dict[str, dict[str, OptionKind]]:
    """Return the keys of each table, with their kinds of values."""
    options: dict[str, OptionKind] = {option.name: option.kind for option in scheme.options}
    tables: dict[str, dict[str, OptionKind]] = {
        "recipe": {"scheme": "text", **_HASHING},
        "layout": {},
        "policy": {"measure": measures(), **_POLICY},
    }
    for name, kind in options.items():
        tables["layout" if name in LAYOUT else "policy" if name in MATCHING else "recipe"][name] = kind
    return tables


def _unknown(name: str, table: str, scheme: str, allowed: Mapping[str, Mapping[str, OptionKind]]) -> str:
    home = next((other for other in allowed if name in allowed[other]), None)
    if home is not None:
        return f"belongs in [{home}]"
    keys = ", ".join(allowed[table]) or "none"
    return f"is unknown; the keys of [{table}] for scheme {scheme} are: {keys}"


def _kind_rule(value: object, kind: OptionKind) -> str:
    """Return the rule that a value of a kind breaks; empty if it breaks none."""
    if isinstance(kind, tuple):
        return "" if value in kind else f"must be one of {', '.join(kind)}"
    types, words = _TYPES[kind]
    fits = isinstance(value, types) and (bool in types or not isinstance(value, bool))
    return "" if fits else f"must be {words}"


def _placed_words(path: str, described: str) -> str:
    """Return a list of stop words, or the path of their file, which is relative to the file of settings at *path*."""
    folder = Path(path).parent
    if not _names_file(described, folder):
        return described
    if not described or not lexists(folder / described):
        rule = f"{described!r} is not a file; separate words by commas, and write a single word with a comma"
        raise InputRefused(f"{path}: stop_words in [recipe]", rule)
    return str(folder / described)


def _words(described: str) -> tuple[str, ...]:
    """Return words from a list with commas, or from a file."""
    if not _names_file(described, Path()):
        words = tuple(filter(None, map(str.strip, described.split(","))))
        require(bool(words), "stop_words", described, "has no words")
        return words
    words = tuple(filter(None, map(str.strip, read_names(described))))
    if not words:
        raise DataError(described, "has no words; write each word on a line of its own, or leave out the stop words")
    for word in words:
        if "," in word or len(word.split()) > 1:
            raise DataError(described, f"{word[:_SHOWN]!r} is not a word; write each word on a line of its own")
    return words


def _names_file(described: str, folder: Path) -> bool:
    """Return whether stop words are described by the path of a file, relative to a folder."""
    return "," not in described or "/" in described or bool(Path(described).suffix) or lexists(folder / described)
