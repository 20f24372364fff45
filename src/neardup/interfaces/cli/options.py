"""Options that name a scheme, shared by the verbs that sign."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.model.errors import InputRefused, ParameterError

if TYPE_CHECKING:
    from neardup.schemes.checksum import Checksum, Field
    from neardup.schemes.minhash import MinHash

_KEY_BYTES = 16
_MINHASH = ("threshold", "shingle", "permutations", "recall")
_ANALYSIS = ("unit", "stem")
_HIDDEN = argparse.SUPPRESS  # keeps "(default: None)" out of the help


def add_scheme_options(parser: argparse.ArgumentParser) -> None:
    """Add everything that decides signatures and matches."""
    group = parser.add_argument_group("what counts as the same")
    group.add_argument("--scheme", choices=("minhash", "checksum"), default="minhash", help="how documents are signed")
    group.add_argument(
        "--threshold", type=float, metavar="T", default=_HIDDEN, help="least resemblance of a match (default: 0.6)"
    )
    group.add_argument(
        "--unit",
        choices=("letter", "word", "line", "sentence"),
        default=_HIDDEN,
        help="what a token is (default: word)",
    )
    group.add_argument(
        "--shingle", type=int, metavar="Q", default=_HIDDEN, help="tokens in a row that make a feature (default: 3)"
    )
    group.add_argument("--stem", metavar="LANGUAGE", default=_HIDDEN, help="stem words, e.g. english (default: no)")
    group.add_argument(
        "--permutations", type=int, metavar="P", default=_HIDDEN, help="minima in a signature (default: 128)"
    )
    group.add_argument(
        "--recall",
        type=float,
        metavar="R",
        default=_HIDDEN,
        help="share of the pairs at the threshold that must become candidates (default: 0.999)",
    )
    group.add_argument(
        "--fields",
        metavar="NAME[:BYTES],...",
        default=_HIDDEN,
        help="checksum: the fields, each with an optional cap (default: title and 1,024 bytes of the text)",
    )
    seed = group.add_mutually_exclusive_group()
    seed.add_argument(
        "--seed", type=int, metavar="N", default=_HIDDEN, help="public seed of all hash functions (default: 1)"
    )
    seed.add_argument(
        "--key-file",
        metavar="PATH",
        default=_HIDDEN,
        help="secret key of 16 bytes or 32 hexadecimal digits, so that nobody can forge near-duplicates",
    )


def scheme_of(arguments: argparse.Namespace) -> "MinHash | Checksum":
    """Build the scheme that the options describe."""
    from neardup.schemes.checksum import Checksum
    from neardup.schemes.minhash import MinHash
    from neardup.text.analysis import Analysis

    given = vars(arguments)
    hashing: dict[str, Any] = {"seed": given.get("seed", 1)}
    if "key_file" in given:
        hashing["key"] = _key(Path(given["key_file"]))
    if arguments.scheme == "checksum":
        for name in (*_MINHASH, *_ANALYSIS):
            if name in given:
                raise ParameterError(name, given[name], "does not go with a checksum, which is equal or not")
        if "fields" in given:
            return Checksum(fields=_fields(given["fields"]), **hashing)
        return Checksum(**hashing)
    if "fields" in given:
        raise ParameterError("fields", given["fields"], "goes with --scheme checksum only")
    analysis = Analysis(**{name: given[name] for name in _ANALYSIS if name in given})
    return MinHash(**{name: given[name] for name in _MINHASH if name in given}, **hashing, analysis=analysis)


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
    return tuple(fields)


def _key(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            content = stream.read(4 * _KEY_BYTES)
    except OSError as error:
        raise InputRefused(str(path), f"the key cannot be read: {error.strerror}") from error
    if len(content) == _KEY_BYTES:
        return content
    try:
        key = bytes.fromhex(content.decode("ascii"))
    except ValueError:
        key = b""
    if len(key) != _KEY_BYTES:
        raise InputRefused(str(path), "a key file must hold 16 bytes or 32 hexadecimal digits")
    return key
