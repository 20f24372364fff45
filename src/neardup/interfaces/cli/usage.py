"""The arguments of verbs, described by lines of text, and their values as people write them."""

import argparse
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

STDOUT: Final = "/dev/stdout"  # the path of an output -
_NUMBER: Final = re.compile(r"(-?\d{1,60}(?:[,_]\d{3})*(?:\.\d{1,18})?)(?:[eE](\d{1,2}))? ?([A-Za-z]*)", re.ASCII)
_COMMA: Final = re.compile(r"[+-]?\d*,\d+")
_PERCENT: Final = re.compile(r"(\d{1,18}(?:\.\d{1,18})?) ?%", re.ASCII)
_POWER: Final = re.compile(r"(\d{1,2})(?:\^|\*\*)(\d{1,2})", re.ASCII)
_COUNTS: Final = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9, "t": 10**12}
_SIZES: Final = {
    "": 1,
    "b": 1,
    **{unit: 1000 ** (power + 1) for power, one in enumerate("kmgt") for unit in (one, f"{one}b")},
    **{f"{one}ib": 1024 ** (power + 1) for power, one in enumerate("kmgt")},
}


def count(text: str) -> int:
    """Parse an integer, such as ``20M``.

    >>> count("20M"), count("1.5B"), count("2^34"), count("20,000,000"), count("8e9")
    (20000000, 1500000000, 17179869184, 20000000, 8000000000)
    """
    return _read(text, _COUNTS, "an integer such as 20, 20M, 8e9 or 2^34")


def size(text: str) -> int:
    """Parse a number of bytes, with a unit or without.

    >>> size("14GB"), size("1.5 GiB"), size("2^30")
    (14000000000, 1610612736, 1073741824)
    """
    return _read(text, _SIZES, "a size such as 500M, 14GB or 16GiB")


def size_words(size: int) -> str:
    """Return a number of bytes as people write it, exactly.

    >>> size_words(2_000_000_000), size_words(1 << 28), size_words(256)
    ('2G', '256MiB', '256')
    """
    for unit in ("T", "TiB", "G", "GiB", "M", "MiB", "K", "KiB"):
        if size and size % _SIZES[unit.lower()] == 0:
            return f"{size // _SIZES[unit.lower()]}{unit}"
    return str(size)


def _read(text: str, units: dict[str, int], wanted: str) -> int:
    if power := _POWER.fullmatch(text.strip()):
        raised: int = int(power[1]) ** int(power[2])
        return raised
    number = _NUMBER.fullmatch(text.strip())
    if number is None or number[3].lower() not in units:
        raise ArgumentTypeError(f"{text[:50]!r} is not {wanted}")
    value = Fraction(re.sub("[,_]", "", number[1])) * 10 ** int(number[2] or 0) * units[number[3].lower()]
    if value.denominator != 1:
        raise ArgumentTypeError(f"{text[:50]!r} is not an integer")
    return int(value)


def number(text: str) -> float:
    """Parse a number with a decimal point.

    >>> number("0.8")
    0.8
    """
    try:
        return float(text)
    except ValueError:
        own = text.strip()
        hint = f"; write {own.replace(',', '.')}, with a point" if _COMMA.fullmatch(own) else ""
        raise ArgumentTypeError(f"{text[:50]!r} is not a number{hint}") from None


def share(text: str) -> float:
    """Parse a share, as a number or in percent.

    >>> share("0.005"), share("0.5%"), share("99.9 %")
    (0.005, 0.005, 0.999)
    """
    percent = _PERCENT.fullmatch(text.strip())
    return float(Fraction(percent[1]) / 100) if percent else number(text)


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
