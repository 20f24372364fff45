"""What the name of an input or output says about what it holds."""

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from neardup.model.errors import InputRefused, require

STDIN: Final = "-"
FOLDER: Final = "folder"
COMPRESSIONS: Final = {".gz": "gzip", ".zst": "zstd"}
FORMATS: Final = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
DOCUMENTS: Final = frozenset({".txt", ".md", ".text", ".html", ".htm", ".xhtml"})
KNOWN: Final = ".jsonl, .ndjson, .csv and .tsv (each also with .gz or .zst), and .parquet"


@dataclass(frozen=True, slots=True)
class Kind:
    """A format, and the compression around it if any."""

    format: str
    compression: str | None = None


def kind(path: str) -> Kind | None:
    """Say what the file's name promises; None if its ending is unknown. Case does not matter.

    >>> kind("pages.JSONL.gz")
    Kind(format='jsonl', compression='gzip')
    >>> kind("pages.parquet.gz") is None  # Parquet compresses inside the file
    True
    """
    name = PurePath(path.lower())
    compression = COMPRESSIONS.get(name.suffix)
    found = FORMATS.get(name.suffix if compression is None else PurePath(name.stem).suffix)
    if found is None or (found == "parquet" and compression is not None):
        return None
    return Kind(found, compression)


def expand(inputs: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Replace each pattern by the paths it matches, sorted. A path that exists is never a pattern.

    Raises ``InputRefused`` for a path that does not exist and for a pattern that matches nothing,
    ``ParameterError`` for no inputs at all and for standard input given twice.
    """
    require(len(inputs) > 0, "inputs", list(inputs), "must name at least one file or folder")
    require(list(inputs).count(STDIN) <= 1, "inputs", list(inputs), "must name standard input only once")
    paths: list[str] = []
    for path in (os.fspath(path) for path in inputs):
        if path == STDIN or os.path.lexists(path):
            paths.append(path)
        elif glob.has_magic(path):
            matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - Path.glob knows no absolute pattern
            if not matches:
                raise InputRefused(path, "no file matches this pattern")
            paths.extend(matches)
        else:
            raise InputRefused(path, "there is no such file or folder")
    return tuple(paths)


def input_kind(path: str) -> Kind:
    """Say what an existing input is: standard input is JSONL, a folder is a folder, a file what its name says.

    Raises ``InputRefused`` for an unknown ending.
    """
    if path == STDIN:
        return Kind("jsonl")
    if Path(path).is_dir():
        return Kind(FOLDER)
    found = kind(path)
    if found is None:
        raise InputRefused(path, f"its ending is unknown; known are {KNOWN}, or a folder of text or HTML files")
    return found


def common_format(paths: Sequence[str]) -> str:
    """Return the one format of all the inputs; ``ParameterError`` if there are several."""
    formats = list(dict.fromkeys(input_kind(path).format for path in paths))
    require(len(formats) == 1, "inputs", list(paths), f"must be of one format, not {' and '.join(formats)}")
    return formats[0]


def display(path: str) -> str:
    """Return the name of an input as messages and ids show it; bytes of it that are not UTF-8 are escaped."""
    return "<stdin>" if path == STDIN else os.fsencode(path).decode(errors="backslashreplace")
