"""Local copies of inputs that can be read only once, or are elsewhere: standard input, other pipes, files at URLs."""

import os
from collections.abc import Mapping
from pathlib import Path

from neardup.sources import remote
from neardup.sources.formats import PIPED, SPOOLED, STDIN, is_pipe, is_url
from neardup.sources.output import temporary_files
from neardup.sources.standard_input import piped


def needs_copy(path: str) -> bool:
    """Return whether an input must be copied before it can be read more than once."""
    return path == STDIN or is_url(path) or is_pipe(path)


def name_of_copy(path: str, form: str) -> str:
    """Return the relative path of the copy of an input of this format; it shows what the copy is of."""
    if path == STDIN:
        return f"{SPOOLED}.{form}"
    return remote.place(path) if is_url(path) else f"{PIPED}{os.path.abspath(path)}"  # noqa: PTH100 - links stay


def copied(formats: Mapping[str, str], folder: str) -> dict[str, Path]:
    """Copy those inputs that need it into a folder; return their copies. Each input is given with its format.

    Raises ``DataError`` for an input that cannot be read, and ``StorageFailed`` if the folder cannot be written.
    """
    copies = {path: Path(folder, name_of_copy(path, form)) for path, form in formats.items() if needs_copy(path)}
    for path, copy in copies.items():
        with temporary_files(folder):
            copy.parent.mkdir(parents=True, exist_ok=True)
            with copy.open("wb") as file:
                if is_url(path):
                    remote.fetch(path, file)
                else:
                    file.writelines(piped(path))
    return copies
