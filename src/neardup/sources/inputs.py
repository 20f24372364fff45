"""The files among some inputs: patterns and folders of tables represent the files in them."""

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from neardup.sources.folder import entries, is_link_to_folder
from neardup.sources.formats import (
    FOLDER,
    STDIN,
    AnyPath,
    Kind,
    expand,
    input_kind,
    is_document,
    is_hidden,
    is_pipe,
    kind,
    matches,
    require_once,
    require_one_standard_input,
)
from neardup.sources.request import Request


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
    """Return the files among some inputs; the same request is made of *others*.

    A folder without documents represents the tables inside it, such as the parts of a data set. Raises the errors of
    ``expand``, ``require_once`` (also for tables of several folders) and ``input_kind``, and ``ParameterError`` for
    options that do not fit any input, and for standard input on both sides.
    """
    given = require_once(expand(inputs), request.glob)
    there = [_tables(path, request) for path in given]
    paths = tuple(chain.from_iterable(tables for tables, _ in there))
    if paths != given:  # folders have become their tables
        different = ({os.path.realpath(table): table for table in tables}.values() for tables, _ in there)
        require_once(tuple(chain.from_iterable(different)), request.glob)
    ignored = sum(number for _, number in there)
    found = Inputs(paths, tuple(input_kind(path, request.format) for path in paths), ignored, given)
    beside = expand(others) if others else ()
    require_one_standard_input((*given, *beside))
    tables = (table for path in beside for table in _tables(path, request)[0])
    forms = found.formats | {input_kind(path, request.format).format for path in tables}
    request.require_used(forms, folders=any(Path(path).is_dir() for path in (*given, *beside)))
    return found


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
