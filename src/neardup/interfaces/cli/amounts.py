"""Numbers and sizes as people write them."""

import re
from argparse import ArgumentTypeError
from fractions import Fraction
from typing import Final

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
