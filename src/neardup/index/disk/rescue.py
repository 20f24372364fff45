"""Reading what is intact in a damaged index."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np

from neardup.index.disk.arrays import Array, Stored, StoredArrays, understood
from neardup.index.disk.buffers import some
from neardup.index.disk.columns import Batch, Columns, unflattened
from neardup.index.disk.field_changes import of_arrays
from neardup.index.disk.files import Disk
from neardup.index.disk.log import LogReader, LogRecord
from neardup.index.disk.manifest import MANIFEST, RESTORE, SECOND, Manifest
from neardup.index.disk.merger import UPDATES
from neardup.index.disk.reader import changed_values
from neardup.index.disk.segment import SEGMENT, require_columns
from neardup.kernels.blocks import BLOCK
from neardup.model.arrays import Flags, Positions, TextBatch
from neardup.model.engine import StageProgress
from neardup.model.errors import StorageDamaged, StorageError, counted

_BOTH_LOST: Final = (
    f"cannot be rescued: {MANIFEST} and {SECOND} are both damaged or missing, and nothing else can be read without"
    f" them; {RESTORE}"
)


class Loss(NamedTuple):
    """Something that is damaged: the file, what is lost, and the number of lost documents if it is known."""

    where: str
    what: str
    documents: int | None


def manifest_of(disk: Disk, folder: Path) -> tuple[Manifest, list[Loss]]:
    """Read the manifest, or the second one if it is damaged.

    Raises ``StorageRefused`` if there is no index, and ``StorageDamaged`` if no manifest can be used.
    """
    try:
        return Manifest.read(disk, folder), []
    except StorageDamaged as error:
        damaged = error
    try:
        manifest = Manifest.read(disk, folder, name=SECOND)
    except StorageError as error:
        raise StorageDamaged(str(folder), _BOTH_LOST, "no manifest") from error
    return manifest, [Loss(damaged.where, f"{damaged.rule}; {SECOND} is used instead", None)]


class Salvage:
    """The intact documents of a damaged index. *losses* describes the others, once all batches were taken."""

    def __init__(self, folder: Path, disk: Disk, manifest: Manifest) -> None:
        self._folder, self._disk, self._manifest, self._columns = folder, disk, manifest, manifest.terms.columns
        self.losses: list[Loss] = []
        self._removed: set[int] = set()
        self._changed: dict[str, dict[int, Any]] = {name: {} for name in self._columns.changing}
        self._recent: list[Batch] = []

    def batches(self, progress: StageProgress | None = None) -> Iterator[Batch]:
        """Yield the intact documents in the order of their admission, with the latest values of all columns."""
        self._read_updates()
        self._read_log()
        total, done = sum(stored.size for stored in self._manifest.segments), 0
        for stored in self._manifest.segments:
            found = self._of_segment(stored)
            done += stored.size
            if progress:
                progress(done, total)
            if found is not None:
                yield from self._alive(found)
        for batch in self._recent:
            yield from self._alive(batch)

    def _read_updates(self) -> None:
        """Read which documents of segments were removed, and the changed values of others."""
        stored = self._manifest.updates
        if stored is None:
            return
        where = self._folder / stored.name
        try:
            file = StoredArrays(self._disk, where, UPDATES, stored, salvaging=True)
            with understood(where):
                removed = file.whole("removed").tolist()
                changed = list(changed_values(file, self._columns))
        except (StorageError, FileNotFoundError) as error:
            what = "lost: earlier removals, times and changes of fields; removed documents may be back"
            self.losses.append(Loss(str(where), f"{_reason(error)}; {what}", None))
            return
        self._removed.update(removed)
        for name, ordinals, values in changed:
            self._change(name, ordinals, values)

    def _read_log(self) -> None:
        """Read the latest changes, and the documents that are not in segments yet."""
        path, sealed = self._folder / self._manifest.log, self._manifest.sealed
        try:
            reader = LogReader(self._disk, path, bytes.fromhex(self._manifest.mark), sealed)
        except (StorageError, FileNotFoundError) as error:
            self.losses.append(Loss(str(path), f"{_reason(error)}; lost: all changes in it", None))
            return
        for record in reader.intact():
            if isinstance(record, LogRecord):
                try:
                    with understood(path):
                        self._repeat(record)
                except StorageError as error:
                    self.losses.append(Loss(str(path), _reason(error), None))
            else:
                begin, end, number = record
                if number or begin < sealed:
                    lost = f"{counted(number, 'change')}, of any number of documents" if number else "the last changes"
                    what = f"the bytes {begin:,} to {end:,} are damaged; lost: {lost}"
                    self.losses.append(Loss(str(path), what, None))

    def _repeat(self, record: LogRecord) -> None:
        arrays = record.arrays
        if record.kind == "change":
            batch = unflattened(self._columns, arrays) if "ordinal" in arrays else None
            self._removed.update(arrays["removed"].tolist())
            self._change("representative", arrays["moved"], arrays["representatives"])
            if batch is not None:
                self._recent.append(batch)
        elif record.kind == "see":
            moment = int(arrays["seen"][0])
            seen = self._changed["seen"]
            for ordinal in arrays["ordinal"].tolist():
                seen[ordinal] = max(seen.get(ordinal, moment), moment)
            if "reported" in arrays:
                self._change("reported", arrays["reported"], arrays["numbers"])
            for name, (ordinals, values) in of_arrays(self._columns, arrays).items():
                self._change(f"known.{name}", ordinals, np.ones(len(ordinals), np.bool_))
                self._change(f"field.{name}", ordinals, values)

    def _change(self, name: str, ordinals: Positions, values: Array | TextBatch) -> None:
        each = map(values.bytes_at, range(len(values))) if isinstance(values, TextBatch) else values.tolist()
        self._changed[name].update(zip(ordinals.tolist(), each, strict=True))

    def _of_segment(self, stored: Stored) -> Batch | None:
        """Return the intact documents of a segment."""
        where = self._folder / stored.name
        try:
            arrays = StoredArrays(self._disk, where, SEGMENT, stored, salvaging=True)
            with understood(where):
                documents = int(arrays.meta["documents"])
                require_columns(arrays, self._columns, documents)
                intact = _intact(arrays, self._columns, documents)
        except (StorageError, FileNotFoundError) as error:
            self.losses.append(Loss(str(where), f"{_reason(error)}; lost: its documents", None))
            return None
        lost = documents - int(intact.sum())
        if lost:
            self.losses.append(Loss(str(where), f"damaged blocks of {BLOCK:,} bytes", lost))
        rows = np.flatnonzero(intact)
        batch: Batch = {name: arrays[name][rows] for name in self._columns.fixed}
        return batch | {name: some(arrays.column(name)[1], rows) for name in self._columns.strings}

    def _alive(self, batch: Batch) -> Iterator[Batch]:
        """Yield the documents of a batch that were not removed, with their changed values."""
        ordinals = cast("Positions", batch["ordinal"]).tolist()
        rows = np.array([row for row, own in enumerate(ordinals) if own not in self._removed], np.int64)
        if not len(rows):
            return
        found: Batch = {name: some(column, rows) for name, column in batch.items()}
        for name in self._columns.changing:
            if not (changed := self._changed[name]):
                continue
            news = {place: changed[own] for place, row in enumerate(rows.tolist()) if (own := ordinals[row]) in changed}
            if news:
                found[name] = _changed_column(name, found[name], news)
        yield found


def _changed_column(name: str, column: Array | TextBatch, news: dict[int, Any]) -> Array | TextBatch:
    """Return a column with *news*, values by place; of two times when a document was seen, the later one counts."""
    if isinstance(column, TextBatch):
        raw = [news[place] if place in news else column.bytes_at(place) for place in range(len(column))]
        return TextBatch.of(raw)
    places, new = np.array([*news]), np.array([*news.values()], column.dtype)
    changed = column.copy()
    changed[places] = np.maximum(changed[places], new) if name == "seen" else new
    return changed


def _intact(arrays: StoredArrays, columns: Columns, documents: int) -> Flags:
    """Return which documents of a segment have no value in a damaged block."""
    flags = np.ones(documents, np.bool_)
    damaged = list(arrays.damaged())
    for name in columns.fixed:
        each = arrays[name].nbytes // max(documents, 1)
        for begin, end in _within(arrays, name, damaged):
            flags[begin // each : -(-end // each)] = False
    for name in columns.strings:
        for begin, end in _within(arrays, f"{name}.offsets", damaged):
            flags[max(begin // 8 - 1, 0) : -(-end // 8)] = False
        _, strings = arrays.column(name)
        begins, ends = strings.offsets[:-1], strings.offsets[1:]
        flags &= (begins >= 0) & (begins <= ends) & (ends <= len(strings.data))
        for begin, end in _within(arrays, f"{name}.data", damaged):
            flags &= (ends <= begin) | (begins >= end)
    return flags


def _within(arrays: StoredArrays, name: str, damaged: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the damaged bytes of an array, counted from its beginning."""
    first, size = arrays.begin(name), arrays[name].nbytes
    for begin, end in damaged:
        inside = max(begin - first, 0), min(end - first, size)
        if inside[0] < inside[1]:
            yield inside


def _reason(error: OSError) -> str:
    return "is missing" if isinstance(error, FileNotFoundError) else getattr(error, "rule", str(error))
