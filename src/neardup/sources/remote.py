"""Files at URLs, such as ``s3://`` and ``hf://``, through fsspec (the extra ``remote``).

Inputs are copied into local files before they are read, and outputs after they are complete. The path of a copy
contains its URL, which is what messages and ids show.
"""

import glob
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

from neardup.model.errors import DataError, InputRefused, NeardupError, OutputError, cut_to
from neardup.sources.formats import FETCHED, display, kind, without_passwords
from neardup.sources.patterns import is_hidden_match

_STEP: Final = 1 << 24
_LONGEST: Final = 300  # characters of the error of a file system: some list every place where they look for a library


def found(url: str) -> list[str]:
    """Return the URLs of a file, of a pattern's files, or of the files of known formats in a folder, sorted.

    Raises ``InputRefused`` if there is none.
    """
    with _reached(url) as (system, path):
        if glob.has_magic(path):
            paths = [one for one in system.glob(path) if not system.isdir(one) and not _is_hidden(one, path)]
        elif system.isdir(path):
            paths = [one for one in system.find(path) if kind(one) is not None and not _is_hidden(one, f"{path}/*")]
        elif system.exists(path):
            return [url]
        else:
            raise InputRefused(display(url), "there is no such file or folder")
        if not paths:
            raise InputRefused(display(url), "no file of a known format matches this pattern or is in this folder")
        return [system.unstrip_protocol(one) for one in sorted(paths)]


def _is_hidden(path: str, pattern: str) -> bool:
    """Return whether a file is hidden by a point, or a table by an underscore, that the pattern does not have."""
    return is_hidden_match(path, pattern, "." if kind(path) is None else "._")


def identity(url: str) -> list[Any]:
    """Return what changes with a file: its size, and what its file system calls its version."""
    with _reached(url) as (system, path):
        return [system.size(path), str(system.ukey(path))]


def fetch(url: str, file: BinaryIO) -> None:
    """Copy the file at a URL into an open file."""
    with _reached(url) as (system, path), system.open(path, "rb") as source:
        shutil.copyfileobj(source, file, _STEP)


def place(url: str) -> str:
    """Return the relative path of a copy; ``InputRefused`` for a URL with ``..`` in its path."""
    scheme, _, rest = url.partition("://")
    parts = [part for part in rest.split("/") if part]
    if ".." in parts:
        raise InputRefused(display(url), "its path must not contain '..'")
    return "/".join([FETCHED, scheme, *parts])


def exists(url: str) -> bool:
    """Return whether there is a file at a URL."""
    with _reached(url) as (system, path):
        return bool(system.exists(path))


def matching(pattern: str) -> list[str]:
    """Return the URLs that match a pattern, sorted."""
    with _reached(pattern) as (system, path):
        return sorted(system.unstrip_protocol(one) for one in system.glob(path))


def remove(url: str) -> None:
    """Remove the file at a URL."""
    with _reached(url) as (system, path):
        system.rm_file(path)


def send(file: str, url: str) -> None:
    """Copy a local file to a URL."""
    try:
        with _reached(url) as (system, path):
            if parent := path.rpartition("/")[0]:
                system.makedirs(parent, exist_ok=True)
            system.put_file(file, path)
    except DataError as error:
        raise OutputError(display(url), error.rule) from error


@contextmanager
def _reached(url: str) -> Iterator[tuple[Any, str]]:
    """Yield the file system of a URL, and the path there; its errors are raised as ``DataError``.

    They are ``InputRefused`` if the URL is wrong, or a library is missing.
    """
    try:
        import fsspec
    except ImportError:
        rule = "a URL needs the extra remote: pip install 'neardup[remote]'"
        raise InputRefused(display(url), rule) from None
    try:
        yield fsspec.url_to_fs(url)
    except NeardupError:
        raise
    except Exception as error:
        reason = cut_to(_LONGEST, without_passwords(str(error)))
        kind = InputRefused if isinstance(error, ValueError | ImportError | FileNotFoundError) else DataError
        rule = f"it cannot be reached: {reason}"
        if isinstance(error, ImportError):
            rule = f"it needs a package that cannot be loaded: {reason}"
        elif (scheme := url.partition("://")[0]) not in fsspec.available_protocols():
            rule = f"{scheme}:// is not known; URLs begin with s3://, gs://, hf://, https:// or the like, in lower case"
        raise kind(display(url), rule) from error
