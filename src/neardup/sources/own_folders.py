"""Paths inside the folders of neardup: nothing else may be written there."""

import os
from pathlib import Path
from typing import Final

from neardup.model.errors import OutputRefused
from neardup.model.folders import INDEX, RUN, STATE, WORK

_KINDS: Final = {"index": INDEX, "state": STATE, "work folder": RUN}


def require_outside(path: str | os.PathLike[str], index: str | os.PathLike[str] | None = None) -> None:
    """Raise ``OutputRefused`` for a path inside an index, a state or a work folder, but for the work folder of a state.

    A folder that only has a file with one of their names, such as a ``manifest.json``, is another program's; *index*
    is a folder that is an index, even if it is damaged.
    """
    real = Path(os.path.realpath(path))
    damaged = None if index is None else Path(os.path.realpath(index))
    for folder in real.parents:
        kind = "index" if folder == damaged else _kind(folder)
        if kind and not (kind == "state" and real == folder / WORK):
            rule = f"it is inside the {kind} {folder}, which is for its own files; name a path elsewhere"
            raise OutputRefused(os.fspath(path), rule)


def _kind(folder: Path) -> str:
    found = (kind for kind, names in _KINDS.items() if all(map(os.path.isfile, (folder / name for name in names))))
    return next(found, "")
