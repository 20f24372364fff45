"""A file of names, one per line."""

from pathlib import PurePath

from neardup.model.errors import DataError
from neardup.sources.compression import load
from neardup.sources.formats import COMPRESSIONS, expand
from neardup.sources.lines import BOM


def listed(path: str, max_bytes: int = 1 << 30) -> list[str]:
    r"""Read the names in a file, which may be compressed, or in standard input for ``-``, without empty lines.

    A line may end with ``\r\n``, too.

    Raises ``InputRefused`` for a file that does not exist, ``DataError`` for invalid UTF-8.
    """
    name = expand([path])[0]
    contents = load(name, COMPRESSIONS.get(PurePath(name.lower()).suffix), max_bytes)
    names = []
    for number, line in enumerate(bytes(contents.data).removeprefix(BOM).split(b"\n"), 1):
        try:
            names.append(line.removesuffix(b"\r").decode())
        except UnicodeDecodeError:
            raise DataError(f"{contents.source}:{number}", "it is not valid UTF-8") from None
    return [name for name in names if name.strip()]
