"""Small files that are written and read as a whole: lists of shingles, and templates."""

import io
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from neardup.model.errors import DataError, OutputError, raising, require_path

_BLOCK: Final = 1 << 20
_PERMISSIONS: Final = 0o777
_OPEN: Final = re.compile(r"/dev/(?:stdout|stderr|fd/\d{1,9})")  # files that this process has open


def save(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file, replacing an existing one, whose permissions it gets; ``OutputError`` if that fails.

    Links are followed; devices, pipes and open files such as ``/dev/stdout`` are written to directly.
    """
    given = require_path("path", path)
    target = Path(os.path.realpath(given))
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        if _OPEN.fullmatch(str(given)) or (given.exists() and not given.is_file()):
            with given.open("ab") as file:
                file.write(content)
            return
        with partial.open("wb") as file:
            if target.exists():
                partial.chmod(target.stat().st_mode & _PERMISSIONS)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
    except OSError as error:
        with suppress(OSError):  # such as a name that is too long
            partial.unlink(missing_ok=True)
        raise OutputError.by(error, given) from error


def load(path: str | os.PathLike[str], what: str, most: int) -> bytes:
    """Read a file, or a pipe, of *what* it contains; ``DataError`` if that fails, or if it has over *most* bytes."""
    source, content = require_path("path", path), io.BytesIO()
    with raising(DataError.by, os.fspath(path), what), source.open("rb") as file:
        size = os.fstat(file.fileno()).st_size  # 0 of a device or a pipe
        while size <= most and (block := file.read(_BLOCK)):
            content.write(block)
            size = max(size, content.tell())
    if size > most:
        raise DataError(os.fspath(path), f"it is larger than {most:,} bytes", "too large")
    return content.getvalue()
