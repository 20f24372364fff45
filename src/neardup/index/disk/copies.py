"""A consistent copy of an index and its search table, made while a writer works."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np

from neardup.index import fulltext
from neardup.index.disk.arrays import Stored, StoredArrays
from neardup.index.disk.files import LOCK, Disk
from neardup.index.disk.folder import COMMON
from neardup.index.disk.log import LogReader
from neardup.index.disk.manifest import MANIFEST, SESSIONS, UNFINISHED, Manifest, Session, with_session
from neardup.index.disk.merger import PREFIXES, UPDATES
from neardup.index.disk.segment import SEGMENT
from neardup.model.engine import StageProgress
from neardup.model.errors import StorageDamaged, StorageError, StorageRefused
from neardup.model.folders import TEMPLATES, URL_RULES

_OWN: Final = (*PREFIXES, COMMON, TEMPLATES, URL_RULES, fulltext.NAME)
_NONE: Final = np.empty(0, np.int64)


class Copied(NamedTuple):
    """The *bytes* of a copy without its manifest and its search table, and how many of them were *written* now."""

    bytes: int
    written: int


def copy(folder: Path, to: Path, source: Disk, target: Disk, progress: StageProgress | None = None) -> Copied:
    """Copy the acknowledged state of an index to a folder that is empty, or has an earlier copy of it.

    Every block is verified before it is copied. Files that the earlier copy has are not written again; until the new
    manifest is in place, the earlier copy is intact. Raises ``StorageDamaged`` for damaged files, ``StorageRefused``
    for a folder of something else, and for a copy with changes that this index does not have, ``StorageBusy`` if it is
    open to write.
    """
    copying = _Copying(folder.absolute(), to.absolute(), source, target)
    target.make_folder(to)
    if source.identity(folder) == target.identity(to):
        raise StorageRefused(str(to), "is the index itself; copy it to another folder")
    copying.require_same(Manifest.read(source, folder))  # before the lock leaves a file in the folder
    target.lock(copying.to)
    try:
        return Manifest.use(source, folder, partial(copying.copied, progress))
    except BaseException:
        fulltext.discard_copy(copying.to)
        raise
    finally:
        target.unlock(copying.to)


class _Copying(NamedTuple):
    folder: Path
    to: Path
    source: Disk
    target: Disk

    def require_same(self, manifest: Manifest) -> None:
        """Raise ``StorageRefused`` unless the folder is empty or has a copy, perhaps unfinished, of this index."""
        names = self.target.names(self.to)
        if MANIFEST in names:
            if Manifest.read(self.target, self.to).mark != manifest.mark:
                raise StorageRefused(str(self.to), "is another index; copy to an empty folder, or to an earlier copy")
        elif any(name not in {LOCK, UNFINISHED} and not name.startswith(_OWN) for name in names):
            raise StorageRefused(str(self.to), "is not empty: a copy needs a folder of its own; name a new folder")

    def require_earlier(self, manifest: Manifest) -> None:
        """Raise ``StorageRefused`` if the folder has changes that the index does not have, as it was changed itself."""
        if MANIFEST not in self.target.names(self.to):
            return
        known = Manifest.read(self.target, self.to)
        try:
            own = _History.of(self.target, self.to, known)
        except (StorageError, FileNotFoundError):  # its log is damaged
            return
        unchanged = own.records == known.copied
        if own.is_past_of(_History.of(self.source, self.folder, manifest), unchanged=unchanged):
            return
        advice = "copy to another folder, or remove this one"
        rule = f"has changes that {self.folder} does not have, and would lose them; {advice}"
        raise StorageRefused(str(self.to), rule)

    def copied(self, progress: StageProgress | None, manifest: Manifest) -> Copied:
        """Copy the files of one state, and commit it."""
        self.require_same(manifest)
        self.require_earlier(manifest)
        total, done, written = sum(stored.size for stored in manifest.stored), 0, 0
        for stored in manifest.stored:
            kind = SEGMENT if stored in manifest.segments else UPDATES
            if not self._has(kind, stored):
                arrays = StoredArrays(self.source, self.folder / stored.name, kind, stored)
                for begin, _ in arrays.damaged():
                    raise StorageDamaged(str(arrays.path), f"the block at byte {begin:,} is damaged")
                self.target.replace(self.to / stored.name, arrays.data.data)
                written += stored.size
            done += stored.size
            if progress:
                progress(done, total)
        for name in _attached(manifest):
            self.target.replace(self.to / name, self.source.read(self.folder / name))
        fulltext.copy(self.folder, self.to)  # before the log, so that it has no documents that the copy lacks
        is_first = MANIFEST not in self.target.names(self.to)
        if is_first:
            fulltext.replace(self.to)
        history = _History.of(self.source, self.folder, manifest)
        log = self.source.read(self.folder / manifest.log)[: history.end]
        self.target.replace(self.to / manifest.log, log)
        made = replace(manifest, generation=manifest.generation - 1, sealed=len(log), copied=history.records)
        made.commit(self.target, self.to)
        if not is_first:  # an older table catches up, a newer one may lack documents of the earlier copy
            fulltext.replace(self.to)
        for name in set(self.target.names(self.to)).difference(manifest.files):
            if name.startswith(PREFIXES):
                self.target.remove(self.to / name)
        return Copied(done + len(log), written + len(log))

    def _has(self, kind: str, stored: Stored) -> bool:
        try:
            StoredArrays(self.target, self.to / stored.name, kind, stored)
        except (StorageError, FileNotFoundError):
            return False
        return True


class _History(NamedTuple):
    """The *sessions* and the number of *records* that made an index what it is, and the *end* of its log."""

    sessions: list[Session]
    records: int
    end: int

    @classmethod
    def of(cls, disk: Disk, folder: Path, manifest: Manifest) -> Self:
        reader = LogReader(disk, folder / manifest.log, bytes.fromhex(manifest.mark), manifest.sealed)
        sessions, records = [*manifest.sessions], manifest.records
        for record in reader.read():
            for own in record.arrays.get("session", _NONE).tolist():
                sessions = with_session(sessions, Session(own, 0, 0, records))
            records += 1
        return cls(sessions, records, reader.tail.end)

    def is_past_of(self, other: Self, *, unchanged: bool) -> bool:
        """Return whether the other index has all changes of this one.

        It does if it knows the last session of this one, which wrote at least as many records there. A copy that is
        *unchanged* may be older than all sessions that the other one remembers.
        """
        known = {one.number: place for place, one in enumerate(other.sessions)}
        if not self.sessions:
            return True
        if (place := known.get(self.sessions[-1].number)) is None:
            return unchanged and len(known) >= SESSIONS and known.keys().isdisjoint(own.number for own in self.sessions)
        after = other.sessions[place + 1 :]
        return self.records <= (after[0].records if after else other.records)


def _attached(manifest: Manifest) -> Iterator[str]:
    """Yield the names of the files that the terms name."""
    if manifest.terms.common is not None:
        yield COMMON
    if manifest.terms.templates is not None:
        yield TEMPLATES
    if manifest.terms.url_rules is not None:
        yield URL_RULES
