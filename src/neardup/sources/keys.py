"""Secret keys, read from files."""

from contextlib import suppress
from typing import Final

from neardup.model.errors import DataError, InputRefused, raising, require_path

_KEY_BYTES: Final = 16
_MOST_BYTES: Final = 64  # that are read


def key_in(name: str) -> bytes:
    """Read a key of 16 bytes, or 32 hexadecimal digits, which is never shown.

    Raises ``InputRefused`` for anything else, ``DataError`` for a file that the system refuses to have read, and
    ``ParameterError`` for a name that is not a path.
    """
    path = require_path("key_file", name)
    with raising(DataError.by, path, "the key"), path.open("rb") as stream:
        content = stream.read(_MOST_BYTES)
    length = len(content)
    if length != _KEY_BYTES:
        with suppress(ValueError):
            content = bytes.fromhex(content.decode("ascii"))
    if len(content) != _KEY_BYTES:
        found = f"{length:,} or more" if length == _MOST_BYTES else f"{length:,}"
        rule = f"a key file must contain 16 bytes or 32 hexadecimal digits, not {found} bytes"
        raise InputRefused(str(path), rule)
    return content
