"""Options for common shingles: the shingles that do not count, and the file with their list."""

import argparse
from typing import TYPE_CHECKING

from neardup.interfaces.cli.amounts import number
from neardup.model.errors import ParameterError

if TYPE_CHECKING:
    from neardup.model.protocols import Scheme

_HIDDEN = argparse.SUPPRESS


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for finding and omitting common shingles."""
    group = parser.add_argument_group("common shingles")
    group.add_argument(
        "--ignore-common",
        type=number,
        metavar="S",
        default=_HIDDEN,
        help="do not count shingles in more than this share of the different documents: system prompts, licence"
        " headers, forms; 0.1 for small collections, 0.01 or less for large and mixed ones",
    )
    group.add_argument(
        "--common",
        metavar="FILE",
        default=_HIDDEN,
        help="the list of these shingles: --ignore-common writes it, and without --ignore-common it is used again",
    )


def add_list_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for a list of common shingles, for an index or a comparison."""
    parser.add_argument(
        "--common",
        metavar="FILE",
        default=_HIDDEN,
        help="a list of shingles that do not count, as `neardup dedup --ignore-common` saves it",
    )


def writes_list(arguments: argparse.Namespace) -> bool:
    """Return whether this run finds the list and saves it."""
    return {"ignore_common", "common"} <= vars(arguments).keys()


def with_list(scheme: "Scheme", arguments: argparse.Namespace) -> "Scheme":
    """Return a scheme with the named list of common shingles, unless this run writes it."""
    path = vars(arguments).get("common")
    if path is not None and vars(arguments).get("scheme") == "checksum":
        rule = "cannot be used with --scheme checksum, which compares fields, not shingles"
        raise ParameterError("common", None, rule)
    if path is None or writes_list(arguments):
        return scheme
    from neardup.text.common_shingles import CommonShingles

    common = CommonShingles.load(path)
    try:
        made: Scheme = scheme.with_common(common)
    except ParameterError as error:
        rule = "was created with other settings; use the same --shingle, --unit, --stem and --seed or --key-file"
        raise ParameterError("common", path, rule) from error
    return made
