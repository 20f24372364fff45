"""Secret keys, read from files."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from neardup.model.errors import DataError, InputRefused

_KEY_BYTES: Final = 16


def key_in(name: str) -> bytes:
    """Read a key of 16 bytes, or 32 hexadecimal digits, which is never shown.

    Raises ``InputRefused`` for anything else, ``DataError`` for a file that the system refuses to have read.
    """
    path = Path(name)
    try:
        with path.open("rb") as stream:
            content = stream.read(4 * _KEY_BYTES)
    except OSError as error:
        raise DataError.by(error, path, "the key") from error
    if len(content) != _KEY_BYTES:
        with suppress(ValueError):
            content = bytes.fromhex(content.decode("ascii"))
    if len(content) != _KEY_BYTES:
        raise InputRefused(str(path), "a key file must contain 16 bytes or 32 hexadecimal digits")
    return content
