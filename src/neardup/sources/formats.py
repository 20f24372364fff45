"""The formats of inputs and outputs, by their names."""

import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
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
    require,
    require_path,
)
from neardup.model.folders import BESIDE

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
_SLASHES: Final = re.compile(r":///+")  # file systems write URLs of the same file with two slashes or with three


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


def expand(inputs: Sequence[AnyPath]) -> tuple[str, ...]:
    """Replace each pattern by the paths that match, sorted. An existing path is never a pattern.

    So are URLs, which are reached here.

    Raises ``InputRefused`` for a path that does not exist and for a pattern without matches, ``DataError`` for one that
    the user may not look for, ``ParameterError`` for no inputs and for standard input given twice.
    """
    require(len(inputs) > 0, "inputs", list(inputs), "must name at least one file or folder")
    require_one_standard_input(inputs)
    paths: list[str] = []
    for path in (local(path) for path in inputs):
        if is_url(path):
            from neardup.sources.remote import found

            paths.extend(found(path))
        elif path == STDIN or os.path.lexists(path):
            paths.append(path)
        elif glob.has_magic(path):
            paths.extend(_matching(path))
        else:
            raise _absent(path)
    return tuple(paths)


def require_one_standard_input(inputs: Sequence[AnyPath]) -> None:
    """Raise ``ParameterError`` for standard input given twice: the second reading would be empty."""
    rule = "must name standard input only once; to read it twice, save it to a file"
    require(list(inputs).count(STDIN) <= 1, "inputs", list(inputs), rule)


def _matching(pattern: str) -> list[str]:
    """Return the paths that match a pattern, sorted; ``DataError`` for a folder that may hold others unseen."""
    parts = PurePath(pattern).parts
    first = next(place for place, part in enumerate(parts) if glob.has_magic(part))
    for place in range(first, len(parts) + (parts[-1] == "**")):
        above = os.path.join(*parts[:place], "")  # noqa: PTH118 - with the slash that only folders match
        for folder in glob.glob(above, recursive=True) if place > first else [above or os.curdir]:  # noqa: PTH207
            _require_listed(folder)
    found = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - Path.glob knows no absolute pattern
    found = [path for path in found if not path.rstrip(os.sep).endswith(BESIDE)]  # of an interrupted run
    shown = [path for path in found if not _is_hidden_table(path, pattern)]
    if not shown:
        hidden = (
            f"only hidden tables ({len(found):,}), whose names or folders begin with _: write this _ in the pattern"
        )
        raise InputRefused(pattern, f"this pattern matches {hidden}" if found else "no file matches this pattern")
    return shown


def _is_hidden_table(path: str, pattern: str) -> bool:
    """Return whether a match is a table, or a folder of tables, that a pattern hides."""
    if not is_hidden_match(path, pattern, "_"):
        return False
    if not os.path.isdir(path):  # noqa: PTH112 - a string
        return kind(path) is not None
    names = [name for _, _, files in os.walk(path) for name in files]
    return any(kind(name) is not None for name in names) and not any(map(is_document, names))


def _require_listed(folder: str) -> None:
    """Raise ``DataError`` for a folder whose files the user may not see, which patterns would leave out in silence."""
    try:
        os.scandir(folder).close()
        os.stat(os.path.join(folder, os.curdir))  # noqa: PTH116, PTH118 - which needs the permission to enter it
    except PermissionError as error:
        raise DataError.by(error, display(folder), "this folder") from error
    except OSError:  # it is not a folder, or was removed
        return


def require_once(paths: tuple[str, ...], globs: Sequence[str] = ()) -> tuple[str, ...]:
    """Return expanded inputs; ``InputRefused`` if files could count twice.

    This is so for inputs that are the same, also by a symbolic link, and for one inside an input folder if its files
    are read with the folder: texts, files that match *globs* if there are any, and tables of a folder without texts.
    """
    known: dict[str, str] = {}
    for path in paths:
        own = os.path.realpath(path) if path != STDIN and not is_url(path) else _SLASHES.sub("://", path, 1)
        if first := known.get(own):
            rule = "is given twice, by its name or a pattern" if first == path else f"is the same as {display(first)}"
            raise InputRefused(display(path), f"{rule}; name each input once", "given twice")
        known[own] = path
    folders = {own: path for own, path in known.items() if os.path.isdir(own)}  # noqa: PTH112 - a string
    for own, path in known.items() if folders else ():
        outer = next((above for above in map(str, PurePath(own).parents) if above in folders), None)
        if outer is not None and _is_read(outer, own, globs):
            rule = f"is inside the input folder {display(folders[outer])}, which is read with it; name each input once"
            raise InputRefused(display(path), rule)
    return paths


def _is_read(folder: str, path: str, globs: Sequence[str]) -> bool:
    """Return whether an input folder is read with a path inside it."""
    if os.path.isdir(path):  # noqa: PTH112 - a string
        return True
    if globs:
        return matches(os.path.relpath(path, folder), globs)
    names = (name for _, _, files in os.walk(folder) for name in files)
    return is_document(path) or not any(map(is_document, names))


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


def _absent(path: str) -> DataError:
    if not path:
        return InputRefused("input ''", "the name of an input is empty")
    try:
        Path(path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return InputRefused(path, "there is no such file or folder", NO_FILE)
    except PermissionError as error:
        return DataError.by(error, path)
    except (OSError, ValueError) as error:
        return InputRefused(path, f"it cannot be opened: {reason(error)}")
    return InputRefused(path, "it was created during the check; run again")


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


@contextmanager
def readable(source: str) -> Iterator[None]:
    """Raise the errors of the system in reading an input as ``DataError``."""
    try:
        yield
    except OSError as error:
        raise DataError.by(error, source) from error


def matches(relative: str, patterns: Sequence[str]) -> bool:
    """Return whether a file of a folder matches a pattern: by its name or, with a slash, by its whole path.

    ``*`` does not match slashes, and ``**`` between slashes matches any number of folders, also none.

    >>> matches("a.py", ["**/*.py"]), matches("s/t/c.py", ["s/**"]), matches("s/t/c.py", ["s/*"])
    (True, True, False)
    """
    parts = relative.split("/")
    return any(
        _match(parts, pattern.split("/")) if "/" in pattern else fnmatchcase(parts[-1], pattern) for pattern in patterns
    )


def _match(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether the parts of a path match those of a pattern."""
    if not parts or not pattern:
        return not parts and not pattern
    if pattern[0] == "**":
        rest = pattern[1:]
        return not rest or any(_match(parts[number:], rest) for number in range(len(parts)))
    return fnmatchcase(parts[0], pattern[0]) and _match(parts[1:], pattern[1:])


def is_hidden(relative: str, patterns: Sequence[str], marks: str = ".") -> bool:
    """Return whether a part of a path begins with one of the *marks*, unless a part of a pattern begins with it, too.

    >>> is_hidden(".git/notes.txt", ["*.txt"]), is_hidden(".git/notes.txt", [".git/*.txt"])
    (True, False)
    """
    named = {part[:1] for pattern in patterns for part in pattern.split("/")}
    return any(part.startswith((*marks,)) and part[0] not in named for part in relative.split("/"))


def is_hidden_match(path: str, pattern: str, marks: str) -> bool:
    """Return whether ``is_hidden`` holds for a match of a pattern, both without the folders before its first wildcard.

    >>> [is_hidden_match("_a/b/_c.csv", pattern, "_") for pattern in ("_a/*/*.csv", "_a/b/_*.csv")]
    [True, False]
    """
    parts = PurePath(pattern).parts
    first = next(place for place, part in enumerate(parts) if glob.has_magic(part))
    return is_hidden("/".join(PurePath(path).parts[first:]), ["/".join(parts[first:])], marks)


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
    """Return whether a file is a copy of standard input."""
    return SPOOLED in path and PurePath(path).stem == SPOOLED


def _is_copy_of_pipe(path: str) -> bool:
    """Return whether a file is in a folder of copies of pipes; its own name may contain the name of this folder."""
    return f"{os.sep}{PIPED}{os.sep}" in path


def full_name(source: str) -> str:
    """Return the name of an input, as ``display`` returns it, with its full path; URLs and standard input have none."""
    own = is_url(source) or source == display(STDIN)
    return source if own else os.path.abspath(source)  # noqa: PTH100 - links stay
