"""Fingerprint tables as a file: written once, mapped into memory, each block verified before it is first used."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from neardup.index.disk.arrays import Array, StoredArrays, expect
from neardup.index.hamming.entries import Coded, EntryGuard, Lists, Plain
from neardup.kernels import blocks, differences
from neardup.kernels import hamming as kernels
from neardup.model.errors import ParameterError, StorageDamaged, require_whole
from neardup.model.tables import TableDesign, high_bytes

KIND: Final = "fingerprint tables"
UNFINISHED: Final = ".unfinished"

_GUARDED: Final = {False: ("lows", "highs", "starts"), True: ("stream", "offsets", "starts")}  # compressed or not
_Form = tuple[tuple[np.dtype[Any], ...], tuple[int | None, ...]]
_COUNTS: Final = (np.dtype(np.uint32),)
_BYTES: Final = (np.dtype(np.uint8),)
_SMALL: Final = ("bases", "lengths")  # of compressed tables, verified on opening

StoredTables = tuple[TableDesign, Plain | Coded, Lists, "TablesFile"]  # saved tables, and their guard


class TablesFile:
    """Guards the arrays of tables in a file, whose names begin with *prefix*."""

    def __init__(self, stored: StoredArrays, prefix: str, entries: Plain | Coded, lists: Lists) -> None:
        self._stored, self._entries, self._lists = stored, entries, lists
        self._names = [f"{prefix}{name}" for name in (*_GUARDED[isinstance(entries, Coded)], *Lists._fields)]
        self._whole = False
        arrays = [stored[name] for name in self._names]
        rows = [array if array.ndim > 1 else array[np.newaxis] for array in arrays]
        begins = [
            stored.begin(name) + np.arange(len(row)) * row[:1].nbytes
            for name, row in zip(self._names, rows, strict=True)
        ]
        self._begins = np.zeros((len(rows), max(map(len, begins))), np.int64)
        for number, places in enumerate(begins):
            self._begins[number] = places  # an array of one row has the same for all tables
        self._sizes = np.array([row.itemsize * int(np.prod(row.shape[2:])) for row in rows], np.int64)

    @contextmanager
    def guarded(self) -> Iterator[EntryGuard]:
        """Yield a guard for one call of a kernel; raise ``StorageDamaged`` if that has read a damaged block."""
        guard = EntryGuard(*self._stored.guard, self._begins, self._sizes, np.full(1, blocks.INTACT, np.int64))
        yield guard
        self._stored.require(int(guard.fault[0]))

    @property
    def part(self) -> Any:
        """The *part* that ``HammingTables.save`` was given."""
        return self._stored.meta.get("part")

    def require_all(self) -> None:
        """Raise ``StorageDamaged`` unless every block is intact, and no array leads outside another one."""
        if not self._whole:
            for name in self._names:
                self._stored.whole(name)
            with self.understood():
                self._require_places()
            self._whole = True

    @contextmanager
    def understood(self) -> Iterator[None]:
        """Raise ``StorageDamaged`` for contents that break a rule (``expect``)."""
        try:
            yield
        except ValueError as error:
            raise StorageDamaged(str(self._stored.path), str(error)) from error

    def _require_places(self) -> None:
        entries, (positions, bounds) = self._entries, self._lists
        if isinstance(entries, Coded):
            for base, offsets in zip(entries.bases.tolist(), entries.offsets, strict=True):
                room = len(entries.stream) - differences.SPARE - base
                expect(_ascends(offsets) and int(offsets[-1]) <= room, "its buckets are not in its stream")
        for starts in entries.starts.reshape(-1, entries.starts.shape[-1]):
            expect(_divides(starts, entries.number), "its buckets do not have all values")
        expect(not len(bounds) or _divides(bounds, len(positions)), "its values do not have all positions")
        expect(
            int(positions.max(initial=0)) < max(1, len(positions)), "its positions are not those of its fingerprints"
        )


def read(stored: StoredArrays, prefix: str, meta: Any) -> StoredTables:
    """Return the tables among the arrays of a file, checked against their design."""
    where = str(stored.path)
    try:
        design = TableDesign(**meta["design"])
        bits = require_whole("bucket_bits", meta["bucket_bits"], 1, min(table.lead for table in design.tables))
        number = require_whole("values", meta["values"], 0, 1 << kernels.POSITION_BITS)
        compressed = bool(meta["compressed"])
        expected = _shapes(design, bits, number, compressed=compressed)
    except (ParameterError, KeyError, TypeError) as error:
        raise StorageDamaged(where, f"has no design that this neardup knows: {error}") from error
    for name, (kinds, shape) in expected.items():
        if f"{prefix}{name}" not in stored:
            raise StorageDamaged(where, f"holds {', '.join(stored.names)}, but its design has {', '.join(expected)}")
        array = stored[f"{prefix}{name}"]
        fits = len(shape) == array.ndim and all(
            size in (None, has) for size, has in zip(shape, array.shape, strict=True)
        )
        if array.dtype not in kinds or not fits:
            raise StorageDamaged(where, f"its array {name} is not as its design has it")
    fields = Coded._fields if compressed else Plain._fields
    entries = (Coded if compressed else Plain)(bits, *(stored[f"{prefix}{name}"] for name in fields[1:]))
    lists = Lists(*(stored[f"{prefix}{name}"] for name in Lists._fields))
    if isinstance(entries, Coded):
        if stored.slice(f"{prefix}starts", 1 << bits, (1 << bits) + 1) != number:
            raise StorageDamaged(where, "its entries are not as many as its values")
        for name in _SMALL:
            stored.whole(f"{prefix}{name}")
        if not _are_readable(entries):
            raise StorageDamaged(where, "its codes cannot be read")
    many = len(lists.positions) == number if len(lists.bounds) == 0 else len(lists.bounds) == number + 1
    if not many or len(lists.positions) > 1 << kernels.POSITION_BITS:
        raise StorageDamaged(where, "its positions are not as many as its values")
    return design, entries, lists, TablesFile(stored, prefix, entries, lists)


def _are_readable(entries: Coded) -> bool:
    """Return whether the tables begin in the stream, and a code has one bit or more for a length of at most 64."""
    room = len(entries.stream) - differences.SPARE
    lengths, sizes = entries.lengths >> 8, entries.lengths & 255
    known = (lengths < differences.LENGTHS) & (sizes > 0) & (sizes <= differences.CODE_BITS)
    codes = known | (entries.lengths == differences.NO_CODE)
    return bool(((entries.bases >= 0) & (entries.bases <= room)).all() and codes.all())


def _ascends(row: Array) -> bool:
    return bool((row[1:] >= row[:-1]).all())


def _divides(row: Array, number: int) -> bool:
    """Return whether ascending numbers divide this many entries."""
    return (int(row[0]), int(row[-1])) == (0, number) and _ascends(row)


def _shapes(design: TableDesign, bits: int, number: int, *, compressed: bool) -> dict[str, _Form]:
    """Return the types and shapes of the arrays; ``None`` is any length."""
    tables, buckets = len(design.tables), 1 << bits
    lists: dict[str, _Form] = {"positions": (_COUNTS, (None,)), "bounds": (_COUNTS, (None,))}
    if compressed:
        return {
            "stream": (_BYTES, (None,)),
            "bases": ((np.dtype(np.int64),), (tables,)),
            "offsets": ((*_COUNTS, np.dtype(np.uint64)), (tables, buckets + 1)),
            "lengths": ((np.dtype(np.uint16),), (tables, 1 << differences.CODE_BITS)),
            "starts": (_COUNTS, (buckets + 1,)),
            **lists,
        }
    return {
        "lows": (_COUNTS, (tables, number + kernels.BLOCK)),
        "highs": (_BYTES, (tables, number, high_bytes(bits))),
        "starts": (_COUNTS, (tables, buckets + 1)),
        **lists,
    }
