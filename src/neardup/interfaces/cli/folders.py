"""The command for a folder that is not of the kind that a verb needs."""

import argparse
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from neardup.model.errors import FOLDER_FOR_FILE, DataError, StorageError, StorageFailed

NOT_INDEX: Final = "not an index"
NOT_STATE: Final = "not a state"
NOT_WORK: Final = "not a work folder"
_Commands = Mapping[str, str]

_FOR_STATE: Final[_Commands] = {  # by verbs for an index; {0} is the folder
    "stats": "use: neardup state info {0}",
    "compact": "use: neardup state compact {0}",
    "remove": "use: neardup state forget {0} --ids FILE",
    "expire": "use: neardup state forget {0} --before TIME",
}
_FILLING: Final = "fill a new index from it: neardup index --from {0} --to DIR"
_FOR_INDEX: Final[_Commands] = {  # by verbs for a state, and actions of the verb state
    "info": "use: neardup stats {0}",
    "compact": "use: neardup compact {0}",
    "forget": "use: neardup remove {0} --ids FILE, or neardup expire {0} --before TIME",
    "index": "use: neardup copy {0} DIR",
    "dedup": "to compare with its documents, replace --state by --against {0}",
}
_AS_WORK: Final[_Commands] = {
    "index": "it is an index, which neardup stats {0} describes; ",
    "state": "it is a state, which neardup state info {0} describes; runs with it work in {1} by default; ",
}
_NEW_WORK: Final = "name a new folder for --work, and the same one for neardup work"
_NAMES: Final = {"index": "an index", "state": "a state", "run": "the work folder of a run"}
_AUDIT: Final = "audit this run with: neardup audit INPUT ... --of {0}"
_AS_INPUT: Final[_Commands] = {
    "index": "it is an index; to list its documents: neardup export {0} --to FILE; dedup compares with it by --against",
    "state": "it is a state; name the inputs of its runs, which neardup state info {0} lists",
    "run": "it is the work folder of a run; name the inputs of the run",
}
_NEW_INDEX: Final = "to create an index: neardup index INPUT --to DIR"
_NEW_STATE: Final = "to create a state: neardup dedup INPUT --out KEPT --state DIR"


def input_advice(error: DataError, arguments: argparse.Namespace) -> str:
    """Return what a folder is that cannot be read, and what to do; empty for others of other programs.

    It has no documents, or is in the place of a file.
    """
    path = Path(error.where)
    if error.code == FOLDER_FOR_FILE:
        settings = path / "neardup.toml"
        if error.where in {vars(arguments).get("config"), vars(arguments).get("file")} and settings.is_file():
            return f"name the file in it: {settings}"
        found = _kind(path)
        return f"it is {_NAMES[found]}, and a file is needed here" if found else "name a file in it"
    known = _AS_INPUT.get(_kind(path), "") if error.code == "folder of other files" else ""
    return known.format(shlex.quote(error.where))


def folder_advice(error: StorageError, arguments: argparse.Namespace) -> str:
    """Return what is in the folder that cannot be used, and the command for it; empty for other errors."""
    verb, action = getattr(arguments, "verb", ""), getattr(arguments, "action", "")
    folder = Path(error.where)
    if error.code not in {NOT_INDEX, NOT_STATE, NOT_WORK}:
        return ""
    found = _kind(folder)
    if error.code == NOT_WORK:
        following = f"{_AS_WORK.get(found, '')}{_NEW_WORK}"
    elif found == "run":
        following = f"it is the work folder of a run; {_AUDIT}"
    elif error.code == NOT_INDEX:
        following = f"it is a state; {_FOR_STATE.get(verb, _FILLING)}" if found == "state" else _NEW_INDEX
    elif found == "index":
        following = _FOR_INDEX.get(action if verb == "state" else verb, "")
    else:
        following = "name a new folder for the state" if verb == "dedup" else _NEW_STATE
    return following.format(shlex.quote(error.where), shlex.quote(str(folder / "work")))


def _kind(folder: Path) -> str:
    """Return whether a folder is an index, a state or the work folder of a run; empty for others."""
    from neardup.engines.journal import is_work
    from neardup.pipeline.files.ingestion import is_index
    from neardup.pipeline.spilled.state import is_state

    kinds = {"index": is_index, "state": is_state, "run": is_work}
    with suppress(StorageFailed):  # the user may not look into it
        return next((name for name, holds in kinds.items() if holds(folder)), "")
    return ""
