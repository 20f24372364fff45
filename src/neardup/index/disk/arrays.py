"""A file of named arrays: written once, mapped into memory, each block verified before it is first read.

The file consists of the arrays, each beginning at a multiple of ``ALIGNMENT`` bytes; the checksums of all blocks of
``BLOCK`` bytes (``neardup.kernels.blocks``); a directory in JSON; and a tail of fixed size with their sizes. The
directory and the checksums are verified on opening, and each block before it is first read.
"""

import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, Self

import msgspec
import numpy as np
import numpy.typing as npt

from neardup.index.disk.buffers import gathered
from neardup.index.disk.files import Disk
from neardup.kernels import blocks as kernels
from neardup.kernels.strings import WHOLE
from neardup.model.arrays import AnyPositions, Bytes, Positions, TextBatch, Words
from neardup.model.errors import StorageDamaged, StorageFailed, StorageRefused

FORMAT: Final = 1
ALIGNMENT: Final = 64
MOST: Final = 1 << 62  # of every number that a file states
Natural = Annotated[int, msgspec.Meta(ge=0, le=MOST)]

_AT_ONCE: Final = kernels.BLOCK << 10  # bytes that are verified between two calls of progress

_MAGIC: Final = b"neardupA"
_TAIL: Final = struct.Struct("<8sIIQQ")  # magic, format, bytes of the directory, bytes of the arrays, checksum

_TYPES: Final = re.compile(r"[|<][biuf][1248]")

Array = npt.NDArray[Any]


class BlockGuard(NamedTuple):
    """What kernels need to verify a block before they read it; see ``neardup.kernels.blocks``."""

    data: Bytes
    sums: Words
    seen: Bytes


class Stored(NamedTuple):
    """The name, size and checksum of a file, to recognise it."""

    name: str
    size: Natural
    checksum: int


def checksum(data: bytes | memoryview | Bytes) -> int:
    """Compute the checksum of some bytes; see ``neardup.kernels.blocks``."""
    return int(kernels.checksum(np.frombuffer(data, np.uint8) if len(data) else np.empty(0, np.uint8)))


@contextmanager
def understood(path: Path, *errors: type[Exception], rule: str = "") -> Iterator[None]:
    """Raise ``StorageDamaged`` for invalid contents of a file whose checksums are right; some *errors* pass.

    Checksums detect accidents, not forgeries, so parsed values are checked before they are used. A *rule* replaces the
    reason. ``StorageFailed`` if there is too little memory: the file may be intact.
    """
    try:
        yield
    except errors:
        raise
    except MemoryError as error:
        raise StorageFailed(
            str(path), "cannot be read: there is not enough memory; free some, or raise its limit"
        ) from error
    except (ArithmeticError, AttributeError, LookupError, RecursionError) as error:
        raise StorageDamaged(str(path), rule or f"makes no sense: {error!r}") from error
    except (TypeError, ValueError, struct.error, msgspec.ValidationError) as error:
        raise StorageDamaged(str(path), rule or f"makes no sense: {error}") from error


def expect(holds: bool, rule: str) -> None:  # noqa: FBT001 - reads as a sentence
    """Raise ``ValueError`` unless the rule holds; for use in ``understood``."""
    if not holds:
        raise ValueError(rule)


def natural(given: Any, most: int = MOST) -> int:
    """Check and return a number from a file; for use in ``understood``."""
    expect(type(given) is int and 0 <= given <= most, f"{given!r} is not a number up to {most}")
    return int(given)


def described(kind: Any, shape: Any) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    """Check and return the type, shape and size of an array in a file; for use in ``understood``."""
    expect(isinstance(kind, str) and _TYPES.fullmatch(kind) is not None, f"{kind!r} is not an array type")
    counts = tuple(natural(count) for count in shape)
    dtype = np.dtype(kind)
    return dtype, counts, prod(counts) * dtype.itemsize


class ArraysWriter:
    """Writes a file of named arrays, which may be read after ``finish`` has returned."""

    def __init__(self, disk: Disk, path: Path, kind: str) -> None:
        self._disk, self._path, self._kind = disk, path, kind
        self._file = disk.create(path)
        self._arrays: dict[str, tuple[str, tuple[int, ...], int]] = {}
        self._size = 0
        self._sums: list[Words] = []
        self._rest = b""  # after the last whole block

    def add(self, name: str, array: Array) -> None:
        """Write one array."""
        self.extend(name, [array], array.dtype, array.shape[1:])

    def extend(self, name: str, parts: Iterable[Array], kind: npt.DTypeLike, shape: tuple[int, ...] = ()) -> None:
        """Write one array in parts; *shape* is that of an entry."""
        self._append(bytes(-self._size % ALIGNMENT))
        begin, number = self._size, 0
        for part in parts:
            whole = np.ascontiguousarray(part, kind)
            number += len(whole)
            if whole.size:
                self._append(whole.reshape(-1).view(np.uint8).data)
        self._arrays[name] = (np.dtype(kind).str, (number, *shape), begin)

    def finish(self, meta: dict[str, Any]) -> Stored:
        """Write the directory, wait until the file is on the disk, and return what identifies it."""
        sums = np.concatenate([*self._sums, _sums(np.frombuffer(self._rest, np.uint8))])
        content = {"kind": self._kind, "meta": meta, "arrays": self._arrays, "sums": checksum(sums.view(np.uint8))}
        directory = json.dumps(content, sort_keys=True).encode()
        head = _TAIL.pack(_MAGIC, FORMAT, len(directory), self._size, 0)
        total = checksum(directory + head)
        tail = head[:-8] + struct.pack("<Q", total)
        self._disk.append(self._file, sums.tobytes() + directory + tail, self._path)
        self._disk.sync(self._file, self._path)
        self.close()
        return Stored(self._path.name, self._size + sums.nbytes + len(directory) + len(tail), total)

    def close(self) -> None:
        """Leave the file as it is."""
        if self._file >= 0:
            file, self._file = self._file, -1
            self._disk.close(file, self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, data: bytes | memoryview) -> None:
        if not len(data):
            return
        self._disk.append(self._file, data, self._path)
        self._size += len(data)
        whole = kernels.BLOCK - len(self._rest) if self._rest else 0  # bytes that fill the last block
        if self._rest and len(data) < whole:
            self._rest += data
            return
        if self._rest:
            self._sums.append(_sums(np.frombuffer(self._rest + bytes(data[:whole]), np.uint8)))
        end = whole + (len(data) - whole) // kernels.BLOCK * kernels.BLOCK
        self._sums.append(_sums(np.frombuffer(data, np.uint8)[whole:end]))
        self._rest = bytes(data[end:])


class StoredArrays:
    """A file of named arrays, mapped into memory.

    Raises ``StorageDamaged`` for a damaged file, ``StorageRefused`` for one of another kind or a newer format. With
    *salvaging*, the checksums of blocks may be damaged, too: blocks with such a checksum count as damaged.
    """

    def __init__(
        self, disk: Disk, path: Path, kind: str, stored: Stored | None = None, *, salvaging: bool = False
    ) -> None:
        self.path = path
        self.data = data = disk.map(path)
        if stored is not None and len(data) != stored.size:
            raise StorageDamaged(str(path), f"has {len(data):,} bytes, but was written with {stored.size:,}")
        directory, size = self._directory(stored)
        blocks = -(-size // kernels.BLOCK)
        sums = data[size : size + 8 * blocks].copy()
        with understood(path):
            if directory["kind"] != kind:
                raise StorageRefused(str(path), f"holds {directory['kind']}, but {kind} was wanted")
            if not salvaging and checksum(sums) != directory["sums"]:
                raise StorageDamaged(str(path), "the checksums of its blocks are not as they were written")
            self.meta: dict[str, Any] = directory["meta"]
            expect(isinstance(self.meta, dict), "missing metadata")
            self._begins: dict[str, int] = {}
            self._arrays: dict[str, Array] = {}
            self._raw: dict[str, Bytes] = {}
            self._columns: dict[str, tuple[Positions, TextBatch]] = {}
            for name, (stated, shape, begin) in directory["arrays"].items():
                dtype, counts, length = described(stated, shape)
                self._begins[name] = natural(begin, size - length)
                expect(begin % ALIGNMENT == 0, "an array is out of line")
                self._raw[name] = data[begin : begin + length]
                self._arrays[name] = self._raw[name].view(dtype).reshape(counts)
        self.guard = BlockGuard(data[:size], sums.view(np.uint64), np.zeros(blocks, np.uint8))

    def _directory(self, stored: Stored | None) -> tuple[dict[str, Any], int]:
        """Verify the tail, the directory and all sizes; return the directory, and the bytes of the arrays."""
        data, where = self.data, str(self.path)
        if len(data) < _TAIL.size:
            raise StorageDamaged(where, "is too short to be a file of arrays")
        tail = data[-_TAIL.size :].tobytes()
        magic, version, length, size, total = _TAIL.unpack(tail)
        if magic != _MAGIC:
            raise StorageDamaged(where, "is not a file that neardup wrote, or its end is damaged")
        begin = len(data) - _TAIL.size - length
        whole = begin >= 0 and size + 8 * -(-size // kernels.BLOCK) == begin
        if not whole or checksum(data[max(begin, 0) : -8].tobytes() + bytes(8)) != total:
            raise StorageDamaged(where, "its directory is damaged")
        if version > FORMAT:
            raise StorageRefused(where, f"is of format {version}, newer than the {FORMAT} that this neardup reads")
        if stored is not None and total != stored.checksum:
            raise StorageDamaged(where, "is another file than the index was made with")
        with understood(self.path):
            directory: dict[str, Any] = json.loads(data[begin : -_TAIL.size].tobytes())
        return directory, size

    @property
    def names(self) -> list[str]:
        """Name the arrays."""
        return list(self._arrays)

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def __getitem__(self, name: str) -> Array:
        """Return a mapped array, not verified: readers must verify its blocks (``guard``, from byte ``begin`` on)."""
        return self._arrays[name]

    def begin(self, name: str) -> int:
        """Return the byte at which an array begins."""
        return self._begins[name]

    def whole(self, name: str) -> Array:
        """Return a whole array, verified."""
        array, begin = self._arrays[name], self._begins[name]
        self.require(kernels.damaged_range(self.guard, begin, begin + array.nbytes))
        return array

    def slice(self, name: str, first: int, last: int) -> Array:
        """Return the values from *first* up to *last*, in order of rows, verified."""
        array, begin = self._arrays[name].reshape(-1), self._begins[name]
        self.require(kernels.damaged_range(self.guard, begin + first * array.itemsize, begin + last * array.itemsize))
        return array[first:last]

    def take(self, name: str, positions: AnyPositions) -> Array:
        """Copy the entries at these positions, verified."""
        array, begin = self._arrays[name], self._begins[name]
        shape = array.shape[1:]
        each = array.itemsize * prod(shape)
        out = np.empty(len(positions) * each, np.uint8)
        wanted = positions.astype(np.int64, copy=False)
        self.require(kernels.copy_entries(self.guard, begin, self._raw[name], each, wanted, out))
        return out.view(array.dtype).reshape(len(positions), *shape)

    def strings(self, name: str, positions: AnyPositions, most: int = WHOLE) -> TextBatch:
        """Copy the first *most* bytes of strings, which are ``NAME.data``, cut at ``NAME.offsets``."""
        found, block = gathered(self.guard, *self.column(name), positions, most)
        self.require(block)
        return found

    def column(self, name: str) -> tuple[Positions, TextBatch]:
        """Return where the offsets and the data of a column of strings begin, and these, not verified."""
        if name not in self._columns:
            parts = [f"{name}.{part}" for part in ("offsets", "data")]
            begins = np.array([self._begins[part] for part in parts])
            self._columns[name] = begins, TextBatch(self._arrays[parts[1]], self._arrays[parts[0]])
        return self._columns[name]

    def require(self, block: int) -> None:
        """Raise ``StorageDamaged`` if a kernel has read a damaged block."""
        if block != kernels.INTACT:
            raise StorageDamaged(str(self.path), f"the block at byte {block * kernels.BLOCK:,} is damaged")

    def damaged(self, progress: Callable[[int], None] | None = None) -> Iterator[tuple[int, int]]:
        """Verify every block, and yield where each damaged one begins and ends; *progress* gets the bytes done."""
        guard = self.guard._replace(seen=np.zeros(len(self.guard.seen), np.uint8))
        begin, end = 0, len(guard.data)
        while begin < end:
            stop = min(begin + _AT_ONCE, end)
            bad = int(kernels.damaged_range(guard, begin, stop))
            if bad != kernels.INTACT:
                stop = min((bad + 1) * kernels.BLOCK, end)
                yield bad * kernels.BLOCK, stop
            begin = stop
            if progress:
                progress(begin)


def _sums(data: Bytes) -> Words:
    sums = np.empty(-(-len(data) // kernels.BLOCK), np.uint64)
    kernels.block_sums(data, sums)
    return sums
