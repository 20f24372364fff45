"""A file of names, one per line."""

from neardup.model.errors import DataError
from neardup.sources.compression import load
from neardup.sources.formats import require_file
from neardup.sources.lines import BOM


def listed(path: str, max_bytes: int = 1 << 30) -> list[str]:
    r"""Read the names in a file, or in standard input for ``-``, without empty lines; ``\r\n`` ends a line, too.

    Raises ``InputRefused`` for a file that does not exist, ``DataError`` for invalid UTF-8.
    """
    require_file(path, max_bytes, or_standard_input=True)
    contents = load(path, None, max_bytes)
    names = []
    for number, line in enumerate(bytes(contents.data).removeprefix(BOM).split(b"\n"), 1):
        try:
            names.append(line.removesuffix(b"\r").decode())
        except UnicodeDecodeError:
            raise DataError(f"{contents.source}:{number}", "it is not valid UTF-8", "encoding") from None
    return [name for name in names if name.strip()]
