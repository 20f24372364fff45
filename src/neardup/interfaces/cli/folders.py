"""What a folder of neardup is that is in the place of something else, and the commands for it."""

import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from neardup.model.errors import FOLDER_FOR_FILE, NeardupError, StorageFailed

NOT_WORK: Final = "not a work folder"
_KINDS: Final[Mapping[str, str]] = {  # {0} is the folder
    "index": "it is an index; to describe it: neardup stats {0}; to list its documents: neardup export {0} --to FILE;"
    " to compare with it: neardup dedup INPUT --out KEPT --against {0}",
    "state": "it is a state; to describe it and list the inputs of its runs: neardup state info {0}; to make an index"
    " of it: neardup index --from {0} --to DIR",
    "run": "it is the work folder of a run; to audit the run: neardup audit INPUT ... --of {0}",
}
_OTHERS: Final[Mapping[str, str]] = {  # by the code of an error about another folder, or none
    "folder of other files": "",
    "not a state": "to create a state: neardup dedup INPUT --out KEPT --state DIR",
    NOT_WORK: "name a new folder for --work, and the same one for neardup work",
    "not an index": "to create an index: neardup index INPUT --to DIR",
    FOLDER_FOR_FILE: "name a file in it",
}


def folder_advice(error: NeardupError) -> str:
    """Return what is in a folder that cannot be used, and the command for it; empty for other errors."""
    where = getattr(error, "where", "")
    if error.code not in _OTHERS:
        return ""
    kind = _kind(Path(where))
    if error.code == NOT_WORK and kind == "run":  # with other files
        kind = ""
    known = _KINDS.get(kind, _OTHERS[error.code])
    if error.code == NOT_WORK and kind:
        known = f"{known}; {_OTHERS[NOT_WORK]}"
    what, _, commands = known.partition("; ")
    return (commands if what in str(error) else known).format(shlex.quote(where))


def _kind(folder: Path) -> str:
    """Return whether a folder is an index, a state or the work folder of a run; empty for others."""
    from neardup.engines.journal import is_work
    from neardup.pipeline.files.ingestion import is_index
    from neardup.pipeline.spilled.state import is_state

    kinds = {"index": is_index, "state": is_state, "run": is_work}
    with suppress(StorageFailed):  # the user may not look into it
        return next((name for name, holds in kinds.items() if holds(folder)), "")
    return ""
