"""Options of runs in a work folder."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from neardup.interfaces.cli.amounts import size
from neardup.model.errors import ParameterError

_HIDDEN = argparse.SUPPRESS


def add_work_options(group: "argparse._ActionsContainer", purpose: str) -> None:
    """Add the options of a work folder, which has this *purpose*."""
    group.add_argument(
        "--work",
        metavar="DIR",
        default=_HIDDEN,
        help=f"for {purpose} in DIR, a new folder. If the run is interrupted, the same command continues it. DIR is"
        " removed at the end",
    )
    group.add_argument(
        "--memory",
        type=size,
        metavar="SIZE",
        default=_HIDDEN,
        help="with --work: memory for documents in progress (default: 2G)",
    )
    group.add_argument(
        "--restart",
        action="store_true",
        help="with --work: discard what an interrupted run has finished, and begin again",
    )


def refuse_without_work(given: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise ``ParameterError`` for one of the options of these *names*, or ``--restart``."""
    for name in (*names, *(["restart"] if given["restart"] else [])):
        if name in given:
            raise ParameterError(name, given[name], "can only be used with a work folder (--work DIR)")
