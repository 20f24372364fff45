"""Checking an index for every kind of damage."""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from neardup.index.disk.arrays import StoredArrays, expect, understood
from neardup.index.disk.columns import strings_of
from neardup.index.disk.files import Disk
from neardup.index.disk.folder import COMMON
from neardup.index.disk.log import LogReader
from neardup.index.disk.manifest import MANIFEST, SECOND, TRIES, Manifest
from neardup.index.disk.merger import PREFIXES, UPDATES
from neardup.index.disk.rescue import manifest_of
from neardup.index.disk.segment import SEGMENT
from neardup.model.engine import StageProgress
from neardup.model.errors import PERMISSION, StorageDamaged, StorageError, StorageFailed
from neardup.model.folders import TEMPLATES, URL_RULES

_OWN: Final = (*PREFIXES, MANIFEST, SECOND, COMMON, TEMPLATES, URL_RULES)

LEFT_OUT: Final = "were never acknowledged, or not on the disk yet at a power failure: they are left out"


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a check: *problems* is empty if the index is intact.

    *files* counts all files that were verified, *bytes* and *documents* those in intact segments, without the log.
    *lost* is whether nothing can be rescued, because no manifest can be used; *torn* are the bytes behind the last
    record of the log, which a killed writer leaves. They are a problem, too.
    """

    problems: list[str]
    files: int
    bytes: int
    documents: int
    lost: bool = False
    torn: int = 0

    @property
    def interrupted(self) -> bool:
        """Whether the only problems are remains of a killed writer, which the next writer discards."""
        return self.torn > 0 and len(self.problems) == 1


def check(folder: Path, disk: Disk, progress: StageProgress | None = None) -> Report:
    """Verify every byte of an index, and that its files agree. Changes nothing and needs no key.

    If a writer replaces files during the check, the new files are checked instead. Raises ``StorageFailed`` for files
    that the user may not read.
    """
    require_permission(folder, disk)
    for _ in range(TRIES):
        try:
            manifest = Manifest.read(disk, folder)
            report = _report(folder, disk, manifest, progress)
            if not report.problems or Manifest.read(disk, folder) == manifest:
                break
        except StorageError as error:
            lost = _why_lost(folder, disk)
            return Report([str(error), *lost], 1, 0, 0, lost=bool(lost))
    return report


def _why_lost(folder: Path, disk: Disk) -> list[str]:
    """Return why an index cannot be rescued, if that is so."""
    try:
        manifest_of(disk, folder)
    except StorageDamaged as error:
        return [str(error)]
    except StorageError:  # of another format, for example
        pass
    return []


def require_permission(folder: Path, disk: Disk) -> None:
    """Raise ``StorageFailed`` if the user may not read a file of an index: such a file is not damaged."""
    with suppress(FileNotFoundError):  # there is no index
        for name in disk.names(folder):
            if name.startswith(_OWN):
                try:
                    disk.map(folder / name)
                except StorageFailed as error:
                    if error.code == PERMISSION:
                        raise
                except FileNotFoundError:  # a writer has removed it
                    continue


def _report(folder: Path, disk: Disk, manifest: Manifest, progress: StageProgress | None) -> Report:
    problems: list[str] = []
    total = sum(stored.size for stored in manifest.stored)
    done = documents = last = 0
    for stored in manifest.stored:
        path, kind = folder / stored.name, SEGMENT if stored in manifest.segments else UPDATES
        try:
            arrays = StoredArrays(disk, path, kind, stored)
            damaged = [*arrays.damaged(None if progress is None else partial(_advance, progress, done, total))]
            problems += [f"{path}: the block at byte {begin:,} is damaged" for begin, _ in damaged]
            if kind == SEGMENT and not damaged:
                with understood(path):
                    _require_agreement(arrays, manifest, last)
                    documents += arrays.meta["documents"]
                    last = arrays.meta["last"] + 1
        except FileNotFoundError:
            problems.append(f"{path} is missing")
        except StorageError as error:
            problems.append(str(error))
        done += stored.size
        if progress:
            progress(done, total)
    torn = _torn(disk, folder, manifest, problems)
    if SECOND in disk.names(folder):  # there is none if its writer was killed before
        try:
            Manifest.read(disk, folder, name=SECOND)
        except StorageError as error:
            problems.append(f"{error}; the next change of the manifest replaces it")
    return Report(problems, len(manifest.stored) + 3, done, documents, torn=torn)


def _advance(progress: StageProgress, before: int, total: int, verified: int) -> None:
    progress(before + verified, total)


def _require_agreement(arrays: Any, manifest: Manifest, last: int) -> None:
    """Check that the columns of a segment do not contradict each other; for use in ``understood``."""
    documents, ordinals = arrays.meta["documents"], arrays["ordinal"]
    ends = (arrays.meta["first"], arrays.meta["last"])
    ascending = len(ordinals) == documents and bool((np.diff(ordinals) > 0).all()) and ends[0] >= last
    own = (int(ordinals[0]), int(ordinals[-1])) if documents else ends
    expect(ascending and own == ends, "its documents are not in the order of their admission")
    for name in manifest.terms.columns.strings:
        strings_of(name, arrays.__getitem__, documents)
    for name in (name for name in arrays.names if name.endswith(".entries")):
        is_sorted = all((row[1:] >= row[:-1]).all() for row in arrays[name].view(np.uint64))
        expect(is_sorted, f"the list {name!r} is not sorted")


def _torn(disk: Disk, folder: Path, manifest: Manifest, problems: list[str]) -> int:
    """Return the bytes behind the last record of the log, after adding its *problems*."""
    path = folder / manifest.log
    try:
        reader = LogReader(disk, path, bytes.fromhex(manifest.mark), manifest.sealed)
        for _ in (*reader.read(), *reader.read()):  # twice: a writer may be in the middle of a record
            pass
    except FileNotFoundError:
        problems.append(f"{path} is missing")
        return 0
    except StorageError as error:
        problems.append(str(error))
        return 0
    if reader.tail.torn:
        problems.append(f"{path}: {reader.tail.torn:,} bytes behind its last record {LEFT_OUT}")
    return reader.tail.torn
