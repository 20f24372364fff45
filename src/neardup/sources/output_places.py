"""Where no output may be: at an input, inside an input folder, or inside a folder of neardup."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from neardup.model.errors import OutputRefused
from neardup.model.folders import INDEX, RUN, STATE, WORK
from neardup.sources.formats import STDIN, AnyPath, display, is_url, kind, real_path
from neardup.sources.patterns import is_pattern, may_match

_INPUTS: Final = "one of the inputs"
_NEXT: Final = "name a path elsewhere"
_KINDS: Final = {"index": INDEX, "state": STATE, "work folder": RUN}  # folders of neardup


class InputPaths:
    """Paths and patterns of inputs, which many outputs are compared with; *name* and *folder* are for messages."""

    def __init__(self, inputs: Iterable[str], name: str = _INPUTS, *, folder: str = "the input folder") -> None:
        self._name, self._folder = name, folder
        self._places: set[str] = set()
        self._files: set[tuple[int, int]] = set()
        self._folders: dict[str, str] = {}
        self._patterns: list[str] = []
        for path in inputs:
            if path == STDIN:
                continue
            real = real_path(path)
            self._places.add(real)
            if is_pattern(path):
                self._patterns.append(path)
                continue
            if is_url(path):
                if kind(path) is None:  # it may be a folder
                    self._folders[str(Path(real))] = path
                continue
            self._files |= _numbers(real)
            if Path(real).is_dir():
                self._folders[real] = path

    def check(self, path: str) -> None:
        """Raise ``OutputRefused`` for an output that is an input, also by a link, is inside one, or is in a pattern."""
        real, shown = real_path(path), display(path)
        if real in self._places or (not is_url(path) and _numbers(real) & self._files):
            raise OutputRefused(shown, f"it is {self._name}; {_NEXT}")
        for folder in map(str, Path(real).parents):
            if folder in self._folders:
                raise OutputRefused(shown, f"it is inside {self._folder} {display(self._folders[folder])}; {_NEXT}")
        for pattern in self._patterns:
            if may_match(path, pattern):
                raise OutputRefused(shown, f"it would be read as one of the files of {display(pattern)}; {_NEXT}")


def require_outside(path: AnyPath, index: AnyPath | None = None) -> None:
    """Raise ``OutputRefused`` for a path inside an index, a state or a work folder, but for the work folder of a state.

    A folder that only has a file with one of their names, such as a ``manifest.json``, is another program's; *index*
    is a folder that is an index, even if it is damaged.
    """
    real = Path(os.path.realpath(path))
    damaged = None if index is None else Path(os.path.realpath(index))
    for folder in real.parents:
        kind = "index" if folder == damaged else _kind(folder)
        if kind and not (kind == "state" and real == folder / WORK):
            rule = f"it is inside the {kind} {folder}, which is for its own files; {_NEXT}"
            raise OutputRefused(os.fspath(path), rule)


def _numbers(path: str) -> set[tuple[int, int]]:
    """Return what identifies a file, by any of its names; nothing if it is missing or cannot be looked up."""
    try:
        found = Path(path).stat()
    except OSError:
        return set()
    return {(found.st_dev, found.st_ino)}


def _kind(folder: Path) -> str:
    found = (kind for kind, names in _KINDS.items() if all(map(os.path.isfile, (folder / name for name in names))))
    return next(found, "")
