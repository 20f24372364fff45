"""The formats of inputs and outputs, by their names."""

import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from neardup.model.errors import (
    FOLDER_FOR_FILE,
    NO_FILE,
    NOT_A_FILE,
    DataError,
    InputRefused,
    StorageRefused,
    reason,
    require_path,
)

AnyPath = str | os.PathLike[str]

STDIN: Final = "-"
FETCHED: Final = ".neardup-inputs"  # the folder of copies of remote files
SPOOLED: Final = ".neardup-stdin"  # the name of a copy of standard input, with the ending of its format
PIPED: Final = ".neardup-pipes"  # the folder of copies of other pipes
FOLDER: Final = "folder"
COMPRESSIONS: Final = {".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2", ".xz": "xz"}
FORMATS: Final = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".warc": "warc",
    ".wet": "warc",
}
WARC: Final = "warc"
PAGE_FORMATS: Final = frozenset({FOLDER, WARC})
"""The formats whose documents may be web pages: folders of documents, and archives."""
WARC_COMPRESSIONS: Final = {".gz": "gzip", ".zst": "zstd", ".lz4": "lz4"}
NAMED: Final = ("jsonl", "csv", "tsv", "parquet")  # the names of formats
DOCUMENTS: Final = frozenset({".txt", ".md", ".text", ".html", ".htm", ".xhtml"})
KNOWN: Final = (
    ".jsonl, .ndjson, .csv and .tsv (each also with .gz, .zst, .bz2 or .xz), .parquet, and .warc and .wet (both"
    " also with .gz, .zst or .lz4)"
)
PACKED: Final = "packed files"  # the code of an error about a file that other files are packed in
_SHOWN: Final = 5  # names of inputs in a message
_UNKNOWN: Final = {
    ".json": "json ending",
    **dict.fromkeys((".txt", ".md", ".html"), "text ending"),
    **dict.fromkeys((".zip", ".wacz", ".tar", ".tgz", ".7z", ".rar"), PACKED),
    ".arc": "arc",
}
_COPY_OF_URL: Final = f"{os.sep}{FETCHED}{os.sep}"  # in the path of a copy, before its URL
_NAME: Final = 60  # shown characters of a name that cannot be a file's
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_PASSWORD: Final = re.compile(r"(?i)\b((?:https?|ftps?|sftp|ssh|smb|webdavs?|webhdfs|hdfs)://[^/?#@:\s]*):[^/?#\s]*@")


@dataclass(frozen=True, slots=True)
class Kind:
    """A format, and the compression around it if any."""

    format: str
    compression: str | None = None


def kind(path: str) -> Kind | None:
    """Return the format that the file's name promises; ``None`` if its ending is unknown. Case does not matter.

    >>> kind("pages.JSONL.gz")
    Kind(format='jsonl', compression='gzip')
    >>> kind("pages.parquet.gz") is None  # Parquet compresses inside the file
    True
    """
    name = PurePath(path.lower())
    compression = (COMPRESSIONS | WARC_COMPRESSIONS).get(name.suffix)
    found = FORMATS.get(name.suffix if compression is None else PurePath(name.stem).suffix)
    if found is None or (found == "parquet" and compression is not None):
        return None
    if compression not in {None, *(WARC_COMPRESSIONS if found == WARC else COMPRESSIONS).values()}:
        return None
    return Kind(found, compression)


def compression_of(path: str) -> str | None:
    """Return the compression that the file's name promises; ``None`` without one, or if its ending is unknown."""
    found = kind(path)
    return None if found is None else found.compression


def is_document(name: str) -> bool:
    """Return whether a file of a folder is a document by the ending of its name."""
    return ending(name) in DOCUMENTS


def ending(name: str) -> str:
    """Return the ending of a file's name in lower case, with its dot; without an ending, some end of the name.

    >>> ending("a/b.TXT"), ending("a/.txt") == ".txt"  # the name of a hidden file is not an ending
    ('.txt', False)
    """
    return name[name.rfind(".", name.rfind("/") + 2) :].lower()


def is_pipe(path: str) -> bool:
    """Return whether there is neither a file nor a folder at a path, but something else, which can be read once.

    Opening it might wait forever. A path that cannot be looked up is left to the reader.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a string
    except (OSError, ValueError):
        return False
    return path != STDIN and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def is_url(path: str) -> bool:
    """Return whether a path is a URL."""
    return _URL.match(path) is not None


def real_path(path: str) -> str:
    """Return the path without links, or the URL without empty parts: file systems write these differently."""
    scheme, _, rest = path.partition("://")
    return "/".join([f"{scheme}:/", *filter(None, rest.split("/"))]) if is_url(path) else os.path.realpath(path)


def local(path: AnyPath) -> str:
    """Return a path as a string, a ``file://`` or ``local://`` URL without its scheme."""
    return os.fspath(path).removeprefix("file://").removeprefix("local://")


def local_folder(name: str, path: AnyPath) -> Path:
    """Return the path of a folder of this machine, also of a ``file://`` URL; ``StorageRefused`` for other URLs.

    Raises ``ParameterError`` with the *name* of the parameter for an invalid path.
    """
    require_path(name, path)
    own = local(path)
    if is_url(own):
        raise StorageRefused(display(own), "is a URL; name a folder on this machine")
    return Path(own)


def require_file(path: str, max_bytes: int, *, or_standard_input: bool = False) -> None:
    """Raise ``InputRefused`` for a path that is not that of a file, ``DataError`` for more than *max_bytes*."""
    if path == STDIN:
        if or_standard_input:
            return
        raise InputRefused(STDIN, "standard input cannot be used here; save it in a file", NOT_A_FILE)
    if not path:
        raise InputRefused("input ''", "the name of a file is empty", NOT_A_FILE)
    name = display(path)
    try:
        size = Path(path).stat().st_size
    except FileNotFoundError:
        raise InputRefused(name, "there is no such file", NO_FILE) from None
    except PermissionError as error:
        raise DataError.by(error, name) from error
    except (OSError, ValueError) as error:  # a name that is too long, or has a NUL, is probably a text
        raise InputRefused(name[:_NAME], f"it is not the name of a file: {reason(error)}", NOT_A_FILE) from error
    if Path(path).is_dir():
        raise InputRefused(name, "it is a folder, not a file", FOLDER_FOR_FILE)
    if size > max_bytes:
        raise DataError(name, f"it is larger than {max_bytes:,} bytes", "too large")


def input_kind(path: str, format: str | None = None) -> Kind:  # noqa: A002 - what users call it
    """Return the format of an existing input: by name for files, JSONL for standard input, ``FOLDER`` for folders.

    *format* overrides the name of a file, and the default of standard input. Raises ``InputRefused`` for an unknown
    ending.
    """
    if Path(path).is_dir() and path != STDIN:
        return Kind(FOLDER)
    if format is not None:
        compression = None if format == "parquet" else COMPRESSIONS.get(PurePath(path.lower()).suffix)
        return Kind(format, compression)
    if path == STDIN:
        return Kind("jsonl")
    found = kind(path)
    if found is None:
        rule = f"its name does not end in a known format: {KNOWN}"
        name = PurePath(path.lower())
        inner = PurePath(name.stem).suffix
        code = _UNKNOWN.get(inner if inner in {".tar", ".arc"} else name.suffix, "ending unknown")
        raise InputRefused(display(path), "it is an ARC file" if code == "arc" else rule, code)
    return found


def display_all(paths: Iterable[str]) -> str:
    """Return the names of inputs for messages: the first few, and how many others there are."""
    return first_names([*map(display, paths)])


def first_names(names: Sequence[str]) -> str:
    """Return the first few names of ``display``, and how many others there are."""
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def display(path: str) -> str:
    """Return the name of an input for messages and ids, without passwords; bytes that are not UTF-8 are escaped.

    >>> display("ftp://me:sesame@a.example/b.csv")
    'ftp://me:***@a.example/b.csv'
    """
    if path == STDIN or _is_spooled(path):
        return "<stdin>"
    if url := path.partition(_COPY_OF_URL)[2]:
        scheme, *rest = PurePath(url).parts
        path = f"{scheme}://{'/'.join(rest)}"
    elif _is_copy_of_pipe(path):
        path = path.partition(PIPED)[2]
    return without_passwords(os.fsencode(path).decode(errors="backslashreplace"))


def without_passwords(text: str) -> str:
    """Return a text without the passwords of its URLs; what other schemes have before an "@" is a place."""
    return _PASSWORD.sub(r"\1:***@", text)


def is_read_once(path: str) -> bool:
    """Return whether an input is standard input or another pipe, or a copy of one."""
    return path == STDIN or _is_spooled(path) or _is_copy_of_pipe(path)


def _is_spooled(path: str) -> bool:
    return SPOOLED in path and PurePath(path).stem == SPOOLED


def _is_copy_of_pipe(path: str) -> bool:
    """Return whether a file is in a folder of copies of pipes; its own name may contain the name of this folder."""
    return f"{os.sep}{PIPED}{os.sep}" in path


def full_name(source: str) -> str:
    """Return the name of an input, as ``display`` returns it, with its full path; URLs and standard input have none."""
    own = is_url(source) or source == display(STDIN)
    return source if own else os.path.abspath(source)  # noqa: PTH100 - links stay
