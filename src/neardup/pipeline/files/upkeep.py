"""Maintenance of an index: checks and statistics without its key, and removing documents."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from neardup.index.disk import check as checking
from neardup.index.disk import copies
from neardup.index.disk.files import Disk
from neardup.index.disk.folder import open_
from neardup.index.disk.lookup import Lookup, Terms
from neardup.index.disk.manifest import Manifest
from neardup.index.disk.store import LEAST_MEMORY, Ways
from neardup.model.arrays import Flags, Words
from neardup.model.errors import StorageError
from neardup.model.seen import Removal, Stats
from neardup.pipeline.index import terms
from neardup.pipeline.index.index import Index
from neardup.pipeline.query.search import keeping_up
from neardup.sources.output import AnyPath


def check_index(folder: AnyPath, progress: Callable[[int, int], None] | None = None) -> checking.Report:
    """Verify every byte of the committed files of an index, and its list of common shingles; see ``Report``.

    Raises ``StorageRefused`` if there is no index.
    """
    path, disk = Path(folder), Disk()
    if not any(path.glob("log-*")):
        Manifest.read(disk, path)
    report = checking.check(path, disk, progress)
    try:
        terms.common_in(path, Manifest.read(disk, path), disk)
    except StorageError as error:
        if str(error) not in report.problems:
            report.problems.append(str(error))
    return report


def index_stats(folder: AnyPath) -> Stats:
    """Return the contents and the size of an index."""
    stated: list[_Stated] = []

    def terms_of(manifest: Any) -> Terms:
        stated[:] = [_Stated(manifest.terms["name"], manifest.terms["recipe"])]
        return Terms(terms.columns_of(manifest), Lookup(_no_keys, pooled=False))

    disk = Disk()
    with Index(
        open_(Path(folder), terms_of, Ways("commit", LEAST_MEMORY, disk), writes=False), stated[0], disk
    ) as index:
        return index.stats()


@dataclass(frozen=True, slots=True)
class _Stated:
    """A scheme without anything but the stated terms."""

    name: str
    recipe: str


def _no_keys(rows: Any, _: Flags) -> Words:
    """Return a different key for each document, because no candidates will be requested."""
    return np.arange(len(rows), dtype=np.uint64).reshape(-1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """The number of removed documents, the number of ``unknown`` ids, and the number of documents kept since then."""

    removed: int
    unknown: int
    promoted: int


def remove_ids(index: Index, ids: Sequence[str]) -> Removed:
    """Remove documents in one step from the index, then from the search table."""
    names = set(ids)
    with keeping_up(index) or nullcontext() as table:
        done = index.remove(names)
        if table:
            table.catch_up()
    return Removed(removed=done.removed, unknown=len(names) - done.removed, promoted=len(done.promoted))


def expire(index: Index, before: datetime, by: str) -> Removal:
    """Remove documents by a time, as ``Index.expire`` does, in one step from the index, then from the search table."""
    with keeping_up(index) or nullcontext() as table:
        done = index.expire(before, by)
        if table:
            table.catch_up()
    return done


def copy_index(folder: AnyPath, to: AnyPath, progress: Callable[[int, int], None] | None = None) -> copies.Copied:
    """Copy an index, as ``Index.copy`` does. Needs no key."""
    Manifest.read(Disk(), Path(folder))
    return copies.copy(Path(folder), Path(to), Disk(), Disk(), progress)
