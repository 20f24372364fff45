"""Patterns for paths: which files match them, among local files, at URLs and inside folders."""

import glob
import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path, PurePath

from neardup.model.errors import NO_FILE, DataError, InputRefused, reason, require
from neardup.model.folders import BESIDE
from neardup.sources.formats import STDIN, AnyPath, display, is_document, is_url, kind, local, real_path


def expand(inputs: Sequence[AnyPath]) -> tuple[str, ...]:
    """Replace each pattern by the paths that match, sorted. An existing path is never a pattern.

    A URL is replaced by those of the files that it names: its file system is reached here.

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


def is_pattern(path: str) -> bool:
    """Return whether an input is a pattern: an existing local path never is."""
    return glob.has_magic(path) and (is_url(path) or not os.path.lexists(path))


def may_match(path: str, pattern: str) -> bool:
    """Return whether a pattern would match an output at a path, a folder above it, or files in it if it is a folder."""
    is_file = PurePath(path).suffix or os.path.exists(path)  # noqa: PTH110 - a string
    is_folder = path.endswith(os.sep) or os.path.isdir(path) or not is_file  # noqa: PTH112 - the same
    for resolved in [real_path] if is_url(path) else [real_path, os.path.abspath]:  # a link may match, or its target
        place, parts = resolved(path), resolved(pattern).split("/")
        places = [place, f"{place}/{parts[-1]}"] if is_folder else [place]
        wholes = [[*parts, "**"], *([parts] if is_folder or not pattern.endswith(os.sep) else [])]
        for one, whole in product(places, wholes):
            marks = "." if is_document(one) else "._"  # only tables are hidden by an underscore
            if _match(one.split("/"), whole) and not is_hidden_match(one, "/".join(whole), marks):
                return True
    return False


def require_one_standard_input(inputs: Sequence[AnyPath]) -> None:
    """Raise ``ParameterError`` for standard input given twice: the second reading would be empty."""
    rule = "must name standard input only once; to read it twice, save it to a file"
    require(list(inputs).count(STDIN) <= 1, "inputs", list(inputs), rule)


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


def _matching(pattern: str) -> list[str]:
    """Return the paths that match a pattern, sorted; ``DataError`` for a folder that may hold others unseen."""
    parts = PurePath(pattern).parts
    first = next(place for place, part in enumerate(parts) if glob.has_magic(part))
    for place in range(first, len(parts) + (parts[-1] == "**")):
        above = os.path.join(*parts[:place], "")  # noqa: PTH118 - with the slash that only folders match
        for folder in glob.glob(above, recursive=True) if place > first else [above or os.curdir]:  # noqa: PTH207
            _require_listed(folder)
    found = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - Path.glob knows no absolute pattern
    found = [path for path in found if not _is_work(path, first)]
    if f"/{pattern}".endswith("/**"):
        found = [path for path in found if not os.path.isdir(path)]  # noqa: PTH112 - folders, whose files match, too
    shown = [path for path in found if not _is_hidden_table(path, pattern)]
    if not shown:
        hidden = (
            f"only hidden tables ({len(found):,}), whose names or folders begin with _: write this _ in the pattern"
        )
        raise InputRefused(pattern, f"this pattern matches {hidden}" if found else "no file matches this pattern")
    return shown


def _is_work(path: str, first: int) -> bool:
    """Return whether a match is, or is in, the work folder of an interrupted run, by its parts from the first on."""
    return any(part.endswith(BESIDE) for part in PurePath(path).parts[first:])


def _is_hidden_table(path: str, pattern: str) -> bool:
    """Return whether a match is a table, or a folder of tables, that a pattern hides."""
    if not is_hidden_match(path, pattern, "_"):
        return False
    if not os.path.isdir(path):  # noqa: PTH112 - a string
        return kind(path) is not None
    names = [*file_names(path)]
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
    first = next((place for place, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return is_hidden("/".join(PurePath(path).parts[first:]), ["/".join(parts[first:])], marks)


def entries(root: str) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
    """Yield each path in a folder, and in the folders inside, with its entry; folders themselves are left out.

    Raises ``DataError`` for a folder that cannot be listed.
    """
    folders = [""]
    while folders:
        above = folders.pop()
        try:
            with os.scandir(Path(root, above)) as listed:
                for entry in listed:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(f"{above}{entry.name}/")
                    else:
                        yield f"{above}{entry.name}", entry
        except OSError as error:
            raise DataError.by(error, error.filename, "this folder") from error


def is_link_to_folder(entry: "os.DirEntry[str]") -> bool:
    """Return whether an entry is a link to a folder; broken links are not, nor are links to themselves."""
    return entry.is_symlink() and os.path.isdir(entry)  # noqa: PTH112 - ``entry.is_dir`` may raise errors


def file_names(root: str) -> Iterator[str]:
    """Yield the name of each file in a folder, and in the folders inside; those of links to folders are left out."""
    return (entry.name for _, entry in entries(root) if not is_link_to_folder(entry))
