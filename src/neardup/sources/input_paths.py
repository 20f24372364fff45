"""Where inputs are: no output may replace one, be inside an input folder, or contain an input."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from neardup.model.errors import OutputRefused
from neardup.sources.formats import STDIN, is_url, real_path

_INPUTS: Final = "one of the inputs"
_NEXT: Final = "name a path elsewhere"


class InputPaths:
    """The paths of inputs, which many outputs are compared with; *name* is what messages call one of them."""

    def __init__(self, inputs: Iterable[str], name: str = _INPUTS) -> None:
        self._name = name
        self._places: set[str] = set()
        self._files: set[tuple[int, int]] = set()
        self._folders: dict[str, str] = {}
        self._above: dict[str, str] = {}
        for path in inputs:
            if path != STDIN:
                self._add(path)

    def _add(self, path: str) -> None:
        real = real_path(path)
        self._places.add(real)
        if is_url(path):
            return
        self._files |= _numbers(real)
        if Path(real).is_dir():
            self._folders[real] = path
        for folder in map(str, Path(real).parents):
            if folder in self._above:
                break
            self._above[folder] = path

    def check(self, path: str) -> None:
        """Raise ``OutputRefused`` for an output that is an input, also by a link, is inside one, or contains one."""
        real = real_path(path)
        if real in self._places or (not is_url(path) and _numbers(real) & self._files):
            raise OutputRefused(path, f"it is {self._name}; {_NEXT}")
        if is_url(path):
            return
        for folder in map(str, Path(real).parents):
            if folder in self._folders:
                raise OutputRefused(path, f"it is inside the input folder {self._folders[folder]}; {_NEXT}")
        if real in self._above and Path(real).is_dir():
            raise OutputRefused(path, f"it contains the input {self._above[real]}; {_NEXT}")


def _numbers(path: str) -> set[tuple[int, int]]:
    """Return what identifies a file, by any of its names; nothing if it is missing or cannot be looked up."""
    try:
        found = Path(path).stat()
    except OSError:
        return set()
    return {(found.st_dev, found.st_ino)}
