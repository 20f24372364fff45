"""The arguments of verbs, described by lines of text."""

import argparse
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from neardup.interfaces.cli.amounts import count, number, share, size


def path_given(text: str) -> str:
    """Return the value of an option that is a path, which must not be empty."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty")
    return text


_KINDS: Final[Mapping[str, Callable[[str], Any]]] = {  # by the word for a value; other words are texts
    **dict.fromkeys(("N", "GENERATION"), count),
    **dict.fromkeys(("S", "T", "X", "SHARE"), share),
    "SECONDS": number,
    "SIZE": size,
    **dict.fromkeys(("DIR", "FILE", "INPUT", "LABELS", "PATH", "TO"), path_given),
}
_CONTINUED: Final = re.compile(r"\n +")


class _StoreOnce(argparse.Action):
    """Store the value of an option, which may be given once; the last one would count without a word."""

    def __call__(self, _: object, namespace: argparse.Namespace, values: object, *__: object) -> None:
        if getattr(namespace, self.dest, argparse.SUPPRESS) is not self.default:
            raise argparse.ArgumentError(self, "given twice; give it once")
        setattr(namespace, self.dest, values)


def add_usage(
    parser: "argparse._ActionsContainer", text: str, **kinds: Callable[[str], Any]
) -> "argparse._ActionsContainer":
    """Add the arguments that a text describes, one a line, and return the group of the last ones.

    A line has an argument as in a usage message, and its help after a colon. ``--force`` is a switch. The value of
    ``--out PATH`` is missing if it is not given, ``--out PATH!`` must be given, and ``--keep WHICH=first`` has a
    default. ``--verify exact|estimate`` takes one of these words; only ``--field NAME ...`` may be repeated.
    ``index DIR`` is a position, ``right [B]`` one that may be empty, ``inputs INPUT ...`` several. ``[outputs]`` begins
    a group, and an indented line continues the one before. The word for a value determines its kind; *kinds* are
    further ones.
    """
    group = parser
    for line in filter(None, _CONTINUED.sub(" ", text).splitlines()):
        if line.startswith("["):
            group = parser.add_argument_group(line.strip("[]"))
            continue
        usage, _, about = line.partition(": ")
        name, _, value = usage.partition(" ")
        written, _, default = value.partition("=")
        word = written.removesuffix("!").removeprefix("[").removesuffix("]").removesuffix(" ...")
        how: dict[str, Any] = {"help": about}
        if not value:
            how["action"] = "store_true"
        elif "|" in word:
            how["choices"] = tuple(filter(None, word.split("|")))
        else:
            how |= {"metavar": word, "type": kinds.get(word) or _KINDS.get(word)}
        if not name.startswith("-"):
            how |= {"nargs": nargs} if (nargs := _positions(written)) else {}
            how |= {"default": []} if nargs == "*" else {}  # or errors would name it among the required ones
        elif value:
            how["default"] = default if "=" in value else argparse.SUPPRESS  # so that verbs know what was given
            how["action"] = "append" if " ..." in written else _StoreOnce
            how |= {"required": True} if written.endswith("!") else {}
        group.add_argument(name, **how)
    return group


def _positions(value: str) -> str:
    """Return how many values a position takes, as ``argparse`` writes it; empty for one."""
    if value.startswith("["):
        return "*" if value.endswith("...]") else "?"
    return "+" if value.endswith("...") else ""
