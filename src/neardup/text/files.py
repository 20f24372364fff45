"""Small files that are written and read as a whole: lists of shingles, and templates."""

import os

from neardup.model.errors import DataError, OutputError, require_path


def save(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file, replacing an existing one; ``OutputError`` if that fails."""
    target = require_path("path", path)
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(content)
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise OutputError.by(error, target) from error


def load(path: str | os.PathLike[str], what: str, most: int | None = None) -> bytes:
    """Read a file of *what* it contains; ``DataError`` if that fails, or if it has over *most* bytes."""
    source = require_path("path", path)
    try:
        if most is not None and source.stat().st_size > most:
            raise DataError(os.fspath(path), f"it is larger than {most:,} bytes", "too large")
        return source.read_bytes()
    except OSError as error:
        raise DataError.by(error, os.fspath(path), what) from error
