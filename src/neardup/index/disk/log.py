"""An append-only log of framed, checksummed records.

The header has a magic string, the format, the index's *mark* and the number of the first record. Then come the frames:
the record's number, its size, the number of the first record that was not known to be on the disk yet, a checksum, and
the record. The checksum covers the numbers, the record and the header, so that frames of other logs or places are not
accepted.

A record is a kind and named arrays: the size of a JSON directory, the directory, the arrays' bytes.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from weakref import finalize

import msgspec
import numpy as np
import numpy.typing as npt

from neardup.index.disk.arrays import checksum, described, expect, understood
from neardup.index.disk.files import Disk
from neardup.model.errors import StorageDamaged, StorageError, StorageRefused

FORMAT: Final = 1
MARK_BYTES: Final = 16

_MAGIC: Final = b"neardupL"
_HEADER: Final = struct.Struct(f"<8sQ{MARK_BYTES}sQQ")  # magic, format, mark, number of the first record, checksum
HEADER_BYTES: Final = _HEADER.size
_FRAME: Final = struct.Struct("<QQQQ")  # number, bytes, first number not synced, checksum
_SIZE: Final = struct.Struct("<I")
_AHEAD: Final = 64  # records that are looked for after a damaged one

_encoder: Final = msgspec.json.Encoder()
_described: Final = lru_cache(1024)(described)  # most records have arrays of the same shapes


class LogRecord(NamedTuple):
    """One change of an index."""

    number: int
    kind: str
    arrays: dict[str, npt.NDArray[Any]]


class Tail(NamedTuple):
    """Where the records of a log end, and how many bytes after that are not records."""

    end: int
    torn: int
    following: int  # the number that the next record will have


class LogWriter:
    """Appends records to a log. After ``StorageFailed``, which it raises if the system refuses, it must not be used."""

    def __init__(self, disk: Disk, path: Path, file: int, seed: int, tail: Tail) -> None:
        self._disk, self._path, self._file, self._seed = disk, path, file, seed
        self._closing = finalize(self, disk.close, file, path)  # also if the index is no longer used
        self._closing.atexit = False  # threads may still write
        self.tail = tail
        self._synced = tail.following  # the number of the first record that may not be on the disk

    @classmethod
    def create(cls, disk: Disk, path: Path, mark: bytes, first: int) -> "LogWriter":
        """Begin a log whose first record will have the number *first*; its header is on the disk on return."""
        head = _HEADER.pack(_MAGIC, FORMAT, mark, first, 0)[:-8]
        seed = checksum(head)
        file = disk.create(path)
        writer = cls(disk, path, file, seed, Tail(_HEADER.size, 0, first))
        with writer.closed_on_failure():
            disk.append(file, head + struct.pack("<Q", seed), path)
            writer.sync()
        return writer

    @classmethod
    def reopen(cls, disk: Disk, path: Path, seed: int, tail: Tail) -> "LogWriter":
        """Continue after the last record, which must be the end of the file, with all records on the disk."""
        writer = cls(disk, path, disk.reopen(path), seed, tail)
        with writer.closed_on_failure():
            writer.sync()
        return writer

    @contextmanager
    def closed_on_failure(self) -> Iterator[None]:
        """Close the file if the block raises."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def append(self, kind: str, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Write one record. On return it survives the end of the process, after ``sync`` that of the system."""
        record = _encoded(kind, arrays)
        end, _, number = self.tail
        total = _frame_sum(self._seed, number, self._synced, record)
        frame = _FRAME.pack(number, len(record), self._synced, total)
        try:
            self._disk.append(self._file, frame + record, self._path)
        except BaseException:
            with suppress(StorageError):  # its first bytes are not a record, and take room
                self._disk.cut(self._file, end, self._path)
            raise
        self.tail = Tail(end + len(frame) + len(record), 0, number + 1)

    def sync(self) -> None:
        """Wait until all records are on the disk."""
        self._disk.sync(self._file, self._path)
        self._synced = self.tail.following

    def close(self) -> None:
        """Leave the file as it is."""
        self._file = -1
        self._closing()


def is_log(disk: Disk, path: Path) -> bool:
    """Return whether a file begins as a log does."""
    return disk.read(path)[: len(_MAGIC)] == _MAGIC


class LogReader:
    """Reads the records of a log, and those that were appended since.

    Bytes after the last record remain if a writer is killed, or if the power fails before they are synced: ``tail`` has
    their number. They are damage, which raises ``StorageDamaged``, if they are among the first *sealed* bytes, or if a
    record follows that was written after they were synced.
    """

    def __init__(self, disk: Disk, path: Path, mark: bytes, sealed: int) -> None:
        self._disk, self._path, self._sealed = disk, path, sealed
        head = disk.read(path)[: _HEADER.size]
        if len(head) < _HEADER.size:
            raise StorageDamaged(str(path), "is too short to be a log")
        magic, version, own_mark, first, self.seed = _HEADER.unpack(head)
        if checksum(head[:-8]) != self.seed or magic != _MAGIC:
            raise StorageDamaged(str(path), "its header is damaged")
        if version > FORMAT:
            raise StorageRefused(str(path), f"is of format {version}, newer than the {FORMAT} that this neardup reads")
        if own_mark != mark:
            raise StorageDamaged(
                str(path), "belongs to another index: the folder has files of two. Restore the index from a copy"
            )
        self.tail = Tail(_HEADER.size, 0, first)

    def read(self) -> Iterator[LogRecord]:
        """Yield the records that were not read yet."""
        data = memoryview(self._disk.read(self._path, self.tail.end))
        base, place, number = self.tail.end, 0, self.tail.following
        while (size := self._frame(data, place, number)) >= 0:
            begin = place + _FRAME.size
            place = begin + size
            self.tail = Tail(base + place, 0, number + 1)
            with understood(self._path):
                record = _decoded(number, data[begin:place])
            yield record
            number += 1
        if base + place < self._sealed or self._records_follow(data[place:], number):
            raise StorageDamaged(str(self._path), f"the record at byte {base + place:,} is damaged")
        self.tail = self.tail._replace(torn=len(data) - place)

    def intact(self) -> Iterator[LogRecord | tuple[int, int, int]]:
        """Yield every whole record of the log, and where damaged bytes between them begin and end.

        With these is the number of records that are missing there; 0 for bytes after the last record.
        """
        data = memoryview(self._disk.read(self._path))
        place, number = self.tail.end, self.tail.following
        while place < len(data):
            size = self._frame(data, place, number)
            if size < 0:
                found = [own for own in self._later(data[place:], number) if own[0]]
                ahead, following = min(found, default=(len(data) - place, number))
                yield place, place + ahead, following - number
                place, number = place + ahead, following
                continue
            place += _FRAME.size + size
            with understood(self._path):
                record = _decoded(number, data[place - size : place])
            yield record
            number += 1

    def _frame(self, data: memoryview, place: int, number: int) -> int:
        """Return the size of the record that begins here, or -1 if none does."""
        begin = place + _FRAME.size
        if begin > len(data):
            return -1
        own, size, synced, total = _FRAME.unpack(data[place:begin])
        if own != number or size > len(data) - begin:
            return -1
        return size if _frame_sum(self.seed, number, synced, data[begin : begin + size]) == total else -1

    def _records_follow(self, data: memoryview, number: int) -> bool:
        """Return whether a whole record follows a damaged one that was on the disk before it was written."""
        return any(_FRAME.unpack_from(data, place)[2] > number for place, _ in self._later(data, number))

    def _later(self, data: memoryview, number: int) -> Iterator[tuple[int, int]]:
        """Yield the places of whole records that may follow a damaged one, and their numbers."""
        raw = bytes(data)
        for later in range(number + 1, number + _AHEAD):
            place = raw.find(struct.pack("<Q", later))
            while place >= 0:
                if self._frame(data, place, later) >= 0:
                    yield place, later
                place = raw.find(struct.pack("<Q", later), place + 1)


def _frame_sum(seed: int, number: int, synced: int, record: bytes | memoryview) -> int:
    return checksum(struct.pack("<QQQQQ", seed, number, len(record), synced, checksum(record)))


def _encoded(kind: str, arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    directory = [[name, array.dtype.str, array.shape] for name, array in whole.items()]
    head = _encoder.encode([kind, directory])
    return b"".join([_SIZE.pack(len(head)), head, *(array.tobytes() for array in whole.values())])


def _decoded(number: int, record: memoryview) -> LogRecord:
    place = _SIZE.size + _SIZE.unpack(record[: _SIZE.size])[0]
    kind, directory = json.loads(bytes(record[_SIZE.size : place]))
    arrays = {}
    for name, stated, shape in directory:
        dtype, counts, size = _described(stated, tuple(shape))
        arrays[name] = np.frombuffer(bytearray(record[place : place + size]), dtype).reshape(counts)
        place += size
    expect(place == len(record), "it is not as long as its arrays")
    return LogRecord(number, kind, arrays)
