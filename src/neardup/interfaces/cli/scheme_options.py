"""Options for the scheme: what counts as the same."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neardup.interfaces.cli.advice import option_of
from neardup.interfaces.cli.options import refuse
from neardup.interfaces.cli.terminal import complain
from neardup.interfaces.cli.usage import add_usage, count, path_given, share
from neardup.interfaces.wording.numbers import any_of
from neardup.model.errors import ParameterError, require
from neardup.model.options import ANALYSIS, BAG, SHINGLE, THRESHOLD, Option
from neardup.model.presets import PRESETS

if TYPE_CHECKING:
    from neardup.schemes.scheme import Scheme

SCHEME: Final = "\n[what counts as the same]\n"  # the place of the options of schemes
CONFIG: Final = """
--config FILE: settings from a file such as neardup.toml; other options replace them
"""
COMMON: Final = """
--common FILE: a list of shingles that do not count, as `neardup dedup --ignore-common` saves it
"""
NEW_COMMON: Final = """
[common shingles]
--ignore-common S: do not count shingles in more than this share of the different documents: system prompts, licence
  headers, forms; 0.1 for small collections, 0.01 or less for large and mixed ones
--common FILE: the list of these shingles: --ignore-common writes it, and without --ignore-common it is used again
"""
_MEASURE: Final = """
--measure {}: what must reach the threshold: the resemblance; the share of a document that is in a better-ranked one
  (containment); the share of the smaller one that is in the other (overlap); or the cosine of weighted words. Without
  --scheme it also chooses the scheme (default: resemblance)
"""
_SEED: Final = """
--seed N: public seed of all hash functions (default: 1)
--key-file PATH: secret key of 16 bytes or 32 hexadecimal digits, so that others cannot forge near duplicates
"""
_TYPES: dict[Any, Any] = {"whole": count, "number": share, "text": str}
_OF_FEATURES: Final = {"words", *(option.name for option in (THRESHOLD, SHINGLE, BAG, *ANALYSIS))}


def add_scheme_options(parser: argparse.ArgumentParser, *, own_measure: str = "", with_common: bool = True) -> None:
    """Add the options that decide signatures and matches.

    *own_measure* describes the option ``--measure`` of a verb that compares features: it has only the options of these.
    *with_common*: also the list of common shingles.
    """
    from neardup.schemes.registry import kinds, measures

    names, presets = [kind.name for kind in kinds()], (f"{name}: {preset.about}" for name, preset in PRESETS.items())
    group = add_usage(
        parser,
        f"""
{SCHEME}{CONFIG}
--scheme {"|".join(names)}: how documents are signed (default: {names[0]})
{own_measure or _MEASURE.format("|".join(measures()))}
--preset {"|".join(PRESETS)}|: settings by name, printed; other options replace them. {"; ".join(presets)}
""",
    )
    known = _owners()
    if own_measure:
        about = "minimum measure of a pair"
        known["threshold"] = {scheme: option._replace(about=about) for scheme, option in known["threshold"].items()}
    for name, owners in known.items():
        if not own_measure or name in _OF_FEATURES:
            _add_option(group, owners)
    add_usage(group, _SEED)
    if with_common:
        add_usage(group, COMMON)


def _owners() -> dict[str, dict[str, Option]]:
    """Return the schemes of each option, and the option of each."""
    from neardup.schemes.registry import kinds

    owners: dict[str, dict[str, Option]] = {}
    for kind in kinds():
        for option in kind.options:
            owners.setdefault(option.name, {})[kind.name] = option
    return owners


def _add_option(group: "argparse._ActionsContainer", owners: dict[str, Option]) -> None:
    """Add an option of some schemes; its help names the scheme if there is only one."""
    option = next(iter(owners.values()))
    about = option.about if len(owners) > 1 else f"{next(iter(owners))}: {option.about}"
    name = f"--{option.name.replace('_', '-')}"
    if option.kind == "flag":
        group.add_argument(name, action="store_true", default=argparse.SUPPRESS, help=about)
        return
    word = "|".join(option.kind) if isinstance(option.kind, tuple) else option.value
    add_usage(
        group,
        f"{name} {word}: {about} (default: {_defaults(owners)})",
        **{word: path_given if word == "FILE" else _TYPES.get(option.kind, str)},
    )


def _defaults(owners: dict[str, Option]) -> str:
    """Return the defaults of an option: that of the first scheme, then others with the names of their schemes."""
    by_default: dict[str, list[str]] = {}
    for scheme, option in owners.items():
        by_default.setdefault(option.default, []).append(scheme)
    first, *others = by_default.items()
    return "; ".join([first[0], *(f"{' and '.join(schemes)} {default}" for default, schemes in others)])


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings in the file that ``--config`` names, without those that a preset or a key replaces."""
    from neardup.pipeline.config import load_config

    given = vars(arguments)
    replaced = PRESETS[given["preset"]].settings if "preset" in given else ()
    settings = {name: value for name, value in load_config(given["config"]).settings.items() if name not in replaced}
    for name, other in (("seed", "key_file"), ("key_file", "seed")):
        if name in given:
            settings.pop(other, None)
    return settings


def scheme_of(arguments: argparse.Namespace) -> "Scheme":
    """Return the scheme that the options describe; ``ParameterError`` for options that it does not have."""
    from neardup.pipeline.config import scheme_from, scheme_name

    apply_preset(arguments)
    given = _of_scheme(arguments)
    rule = "cannot be used with --key-file: the key alone decides the hash functions; leave out --seed"
    require("seed" not in given or "key_file" not in given, "seed", given.get("seed"), rule)
    scheme = scheme_name(given)
    for name, owners in _owners().items():
        if name in given and scheme not in owners:
            chosen = "scheme" if "scheme" in given or "measure" not in given else "measure"
            other = option_of(chosen, given.get(chosen, scheme), arguments)
            raise ParameterError(name, given[name], f"cannot be used with {other}, only with {any_of(list(owners))}")
    return _with_list(scheme_from(given), arguments)


def apply_preset(arguments: argparse.Namespace) -> None:
    """Replace the named preset by its values that no option sets, and print them."""
    if "preset" not in vars(arguments):
        return
    name = vars(arguments).pop("preset")
    given = _of_scheme(arguments)
    from neardup.schemes.registry import default

    usual = default().name
    if "measure" in given or given.get("scheme", usual) != usual:
        other = "measure" if "measure" in given else "scheme"
        rule = f"cannot be used with {option_of(other, given[other], arguments)}, only with {usual}"
        raise ParameterError("preset", name, rule)
    wanted = dict(PRESETS[name].settings)
    share = PRESETS[name].ignore_common
    if share is not None and arguments.verb == "dedup" and not ("common" in given and Path(given["common"]).exists()):
        wanted["ignore_common"] = share
    own = {option: value for option, value in wanted.items() if option not in given}
    vars(arguments).update(own)
    listed = " ".join(f"--{option.replace('_', '-')} {value}" for option, value in own.items())
    complain(f"preset {name}: {listed or 'nothing is left to set'}")
    if share is not None and arguments.verb != "dedup" and "common" not in given:
        listed = f"`neardup dedup INPUT --dry-run --preset {name} --common FILE.npz` makes the list"
        complain(f"preset {name}: --ignore-common {share} is not used; {listed}; then add --common FILE.npz")


def _of_scheme(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options without the measure of `neardup pairs`, which is not that of a scheme."""
    return {name: value for name, value in vars(arguments).items() if name != "measure" or arguments.verb != "pairs"}


def writes_list(arguments: argparse.Namespace) -> bool:
    """Return whether this run finds the list and saves it."""
    return {"ignore_common", "common"} <= vars(arguments).keys()


def _with_list(scheme: "Scheme", arguments: argparse.Namespace) -> "Scheme":
    """Return a scheme with the named list of common shingles, unless this run writes it."""
    path = vars(arguments).get("common")
    if path is None or writes_list(arguments):
        return scheme
    scheme.require_shingles(path, "common")
    from neardup.text.common_shingles import CommonShingles

    common = CommonShingles.load(path)
    try:
        made: Scheme = scheme.with_common(common)
    except ParameterError as error:
        rule = "was created with other settings; use the same --shingle, --unit, --stem and --seed or --key-file"
        raise ParameterError("common", path, rule) from error
    return made


def refuse_scheme(arguments: argparse.Namespace, rule: str) -> None:
    """Raise ``ParameterError`` with this *rule* for an option of the scheme."""
    refuse(vars(arguments), ("config", *_describing(), "key_file"), rule)


def describes_scheme(arguments: argparse.Namespace) -> bool:
    """Return whether any option but the key describes the scheme."""
    return not vars(arguments).keys().isdisjoint(_describing())


def _describing() -> tuple[str, ...]:
    return ("scheme", "measure", "preset", *_owners(), "seed", "common")
