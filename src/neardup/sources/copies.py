"""Local copies of inputs that can be read only once, or are elsewhere: standard input, other pipes, files at URLs."""

import os
from collections.abc import Mapping
from pathlib import Path

from neardup.sources import remote
from neardup.sources.formats import PIPED, SPOOLED, STDIN, is_url
from neardup.sources.output import temporary_files
from neardup.sources.standard_input import piped


def is_pipe(path: str) -> bool:
    """Return whether there is neither a file nor a folder at a path, but something else, which can be read once."""
    return path != STDIN and Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir())


def needs_copy(path: str) -> bool:
    """Return whether an input must be copied before it can be read more than once."""
    return path == STDIN or is_url(path) or is_pipe(path)


def copied(formats: Mapping[str, str], folder: str) -> dict[str, Path]:
    """Copy those inputs that need it into a folder; return their copies. Each input is given with its format.

    Raises ``DataError`` for an input that cannot be read, and ``StorageFailed`` if the folder cannot be written.
    """
    copies = remote.copied([*formats], folder)
    for path, form in formats.items():
        if path == STDIN:
            copies[path] = Path(folder, f"{SPOOLED}.{form}")
        elif is_pipe(path):
            copies[path] = Path(f"{folder}{os.sep}{PIPED}{os.path.abspath(path)}")  # noqa: PTH100 - links stay
        else:
            continue
        with temporary_files(folder):
            copies[path].parent.mkdir(parents=True, exist_ok=True)
            with copies[path].open("wb") as file:
                file.writelines(piped(path))
    return copies
