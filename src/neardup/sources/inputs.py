"""The files among some inputs: patterns and folders of tables represent the files in them; no file counts twice."""

import os
import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from neardup.model.errors import InputRefused
from neardup.sources.formats import (
    FOLDER,
    STDIN,
    AnyPath,
    Kind,
    display,
    input_kind,
    is_document,
    is_pipe,
    is_url,
    kind,
)
from neardup.sources.patterns import (
    entries,
    expand,
    file_names,
    is_hidden,
    is_link_to_folder,
    matches,
    require_one_standard_input,
)
from neardup.sources.request import Request

_SLASHES: Final = re.compile(r":///+")  # file systems write URLs of the same file with two slashes or with three


class Inputs(NamedTuple):
    """The *paths* of files and of folders of documents, their *kinds*, and how many other files were *ignored*.

    *given* are the inputs as they were named, without patterns: folders of tables are there instead of the tables.
    """

    paths: tuple[str, ...]
    kinds: tuple[Kind, ...]
    ignored: int
    given: tuple[str, ...]

    @property
    def formats(self) -> set[str]:
        """The formats of the inputs."""
        return {one.format for one in self.kinds}

    @property
    def folders(self) -> list[str]:
        """The folders of documents."""
        return [path for path, one in zip(self.paths, self.kinds, strict=True) if one.format == FOLDER]


def inputs_of(inputs: Sequence[AnyPath], request: Request, others: Sequence[AnyPath] = ()) -> Inputs:
    """Return the files among some inputs; *others* will be read by the same request.

    A folder without documents represents the tables inside it, such as the parts of a data set. Raises the errors of
    ``expand``, ``require_once`` (also for tables of several folders) and ``input_kind``, and ``ParameterError`` for
    options that do not fit any input, and for standard input on both sides.
    """
    given = require_once(expand(inputs), request.glob)
    there = [_tables(path, request) for path in given]
    paths = tuple(chain.from_iterable(tables for tables, _ in there))
    if paths != given:  # folders have become their tables; in one folder, links may repeat a table
        different = ({os.path.realpath(table): table for table in tables}.values() for tables, _ in there)
        require_once(tuple(chain.from_iterable(different)), request.glob)
    ignored = sum(number for _, number in there)
    found = Inputs(paths, tuple(input_kind(path, request.format) for path in paths), ignored, given)
    compared = expand(others) if others else ()
    require_one_standard_input((*given, *compared))
    tables = (table for path in compared for table in _tables(path, request)[0])
    forms = found.formats | {input_kind(path, request.format).format for path in tables}
    request.require_used(forms, folders=any(Path(path).is_dir() for path in (*given, *compared)))
    return found


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
    return is_document(path) or not any(map(is_document, file_names(folder)))


def _tables(path: str, request: Request) -> tuple[list[str], int]:
    """Return the tables inside a folder without documents, otherwise the path itself; and how many files are ignored.

    Tables are hidden by a point, as documents are, and by an underscore, as Spark does; other files with such names are
    those of no data, and do not count. Links to folders do.
    """
    if path == STDIN or not Path(path).is_dir():
        return [path], 0
    found: list[str] = []
    others = 0
    for relative, entry in entries(path):
        if is_link_to_folder(entry):
            others += 1
            continue
        is_table = kind(entry.name) is not None
        known = matches(relative, request.glob) if request.glob else is_document(entry.name)
        if not is_table and known and not is_hidden(relative, request.glob):
            return [path], 0
        if is_hidden(relative, request.glob, "._"):
            others += is_table
        elif is_table and (known or not request.glob) and not is_pipe(entry.path):
            found.append(str(Path(entry.path)))
        else:
            others += 1
    return (sorted(found), others) if found else ([path], 0)
