"""What can be learnt of an index without its key."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neardup.index import check as checking
from neardup.index.disk import Disk
from neardup.index.opening import Terms, Ways, open_
from neardup.index.store import LEAST_MEMORY
from neardup.model.arrays import Flags, Words
from neardup.pipeline import terms
from neardup.pipeline.living import Index, Stats

AnyPath = str | os.PathLike[str]


def check_index(folder: AnyPath, progress: Callable[[int, int], None] | None = None) -> checking.Report:
    """Verify every byte of the committed files of an index; see ``Report``."""
    return checking.check(Path(folder), Disk(), progress)


def index_stats(folder: AnyPath) -> Stats:
    """Say what an index is made of."""
    stated: list[_Stated] = []

    def terms_of(manifest: Any) -> Terms:
        stated[:] = [_Stated(manifest.terms["name"], manifest.terms["recipe"])]
        return Terms(terms.columns_of(manifest), _no_keys, pooled=False)

    disk = Disk()
    with Index(
        open_(Path(folder), terms_of, Ways("commit", LEAST_MEMORY, disk), writes=False), stated[0], disk
    ) as index:
        return index.stats()


@dataclass(frozen=True, slots=True)
class _Stated:
    """A scheme of which no more is known than an index says of it."""

    name: str
    recipe: str


def _no_keys(rows: Any, _: Flags) -> Words:
    """Give each document a key of its own: nobody is going to look for candidates."""
    return np.arange(len(rows), dtype=np.uint64).reshape(-1, 1)
