"""Creating and opening the folder of an index."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from neardup.index.disk.columns import Lookup
from neardup.index.disk.files import LOCK, Disk
from neardup.index.disk.log import HEADER_BYTES, MARK_BYTES, LogWriter
from neardup.index.disk.manifest import FIRST_LOG, MANIFEST, UNFINISHED, Manifest, Terms
from neardup.index.disk.store import Store, Usage
from neardup.model.errors import StorageFailed, StorageRefused

COMMON: Final = "common.npz"  # the list of common shingles, if the scheme has one; it never changes
_REMAINS: Final = frozenset({LOCK, FIRST_LOG, COMMON, UNFINISHED})  # of an interrupted creation


def create(  # noqa: PLR0913 - what an index is made of
    folder: Path,
    lookup: Lookup,
    terms: Terms,
    usage: Usage,
    *,
    common: bytes | None = None,
    mark: bytes | None = None,
) -> Store:
    """Make an index in a folder that does not exist or is empty.

    *common* is the content of the file ``COMMON``, *mark* that of an index whose digests it will have.
    """
    disk = usage.disk
    disk.make_folder(folder)
    _require_empty(folder, disk)  # a folder of other files is left unchanged, without a lock
    try:
        disk.sync_folder(folder.absolute().parent)  # so that its name is on the disk
    except StorageFailed as error:
        if not isinstance(error.__cause__, PermissionError):  # its parent cannot be read
            raise
    with _lock_for_store(folder, disk, wanted=True) as lock:
        _require_empty(folder, disk)
        for name in sorted(_REMAINS - {LOCK}):
            disk.remove(folder / name)
        mark = mark or secrets.token_bytes(MARK_BYTES)
        log = LogWriter.create(disk, folder / FIRST_LOG, mark, 1)
        log.close()
        if common is not None:
            disk.write(folder / COMMON, common)
        manifest = Manifest(mark=mark.hex(), log=FIRST_LOG, sealed=log.tail.end, terms=terms, next_file=2)
        return Store(folder, manifest.commit(disk, folder), lookup, usage, lock)


def open_(folder: Path, lookup_of: Callable[[Manifest], Lookup], usage: Usage, *, writes: bool) -> Store:
    """Open an index; *lookup_of* may refuse what its manifest states."""
    lookup_of(Manifest.read(usage.disk, folder))  # without an index, or with a wrong key, no lock is taken
    with _lock_for_store(folder, usage.disk, wanted=writes) as lock:

        def opened(manifest: Manifest) -> Store:
            return Store(folder, manifest, lookup_of(manifest), usage, lock)

        return Manifest.use(usage.disk, folder, opened, again=not writes)


@contextmanager
def _lock_for_store(folder: Path, disk: Disk, *, wanted: bool) -> Iterator[int]:
    """Lock the folder for the writer; released only if opening fails, as the store keeps it."""
    lock = disk.lock(folder) if wanted else -1
    try:
        yield lock
    except BaseException:
        if wanted:
            disk.unlock(folder.absolute())
        raise


def _require_empty(folder: Path, disk: Disk) -> None:
    names = set(disk.names(folder))
    if MANIFEST in names:
        raise StorageRefused(str(folder), "is an index already; open it with Index.open", "index exists")
    if names - _REMAINS:
        raise StorageRefused(str(folder), "is not empty: an index needs a folder of its own", "not empty")
    if FIRST_LOG in names and disk.size(folder / FIRST_LOG) > HEADER_BYTES:  # it has records: more than a creation
        rule = f"has {FIRST_LOG} with documents, but no manifest.json; restore that from a copy, or use another folder"
        raise StorageRefused(str(folder), rule)
