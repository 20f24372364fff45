"""Fingerprint tables in shards, with one or two of them in memory at a time."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Final, Self

import numpy as np

from neardup.index.disk.files import Disk
from neardup.index.hamming.tables import Found, HammingTables, first_found, require_flags, tables_of
from neardup.model.arrays import Flags, Positions, Words
from neardup.model.errors import StorageDamaged, StorageRefused, counted, require_path, require_whole
from neardup.model.tables import TableDesign

_NAME: Final = "{:05d}-of-{:05d}.tables"

_Shards = Sequence[tuple[int, Callable[[], HammingTables]]]


class ShardedTables:
    """Tables of consecutive parts of an array of fingerprints, with the answers of one index of them all.

    ``HammingTables.build(..., shards=n)`` returns tables that are not yet built: every method builds one shard after
    another. Save them, and open the folder, for several calls. Each call opens the files again, one or two at a time,
    and verifies what it reads: call with many queries together.

    >>> fingerprints = np.array([0b0000, 0b0111, 0b1111, 0b0111], np.uint64)
    >>> tables = HammingTables.build(fingerprints, distance=1, shards=3)
    >>> [found.tolist() for found in tables.self_join()]
    [[1, 1, 2], [2, 3, 3], [1, 0, 1]]
    """

    def __init__(self, design: TableDesign, shards: _Shards, number: int) -> None:
        """Keep the first position of each shard, a function for its tables, and the *number* of all fingerprints."""
        self.design = design
        self.shards = shards
        self._number = number

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Open a folder of saved shards, as ``HammingTables.open`` opens each file.

        Raises ``StorageRefused`` unless the folder has all files, ``StorageDamaged`` for files of several ``save``.
        """
        folder = require_path("path", path)
        try:
            names = Disk().names(folder)
        except (FileNotFoundError, NotADirectoryError):
            raise StorageRefused(str(folder), "is not a folder") from None
        if not names or names != [_NAME.format(number, len(names)) for number in range(len(names))]:
            raise StorageRefused(
                str(folder), "must contain all shards of one index, and no other file; save the index again"
            )
        shards, designs, number, whole = [], set(), 0, []
        for place, name in enumerate(names):
            path = folder.absolute() / name  # the working directory may change
            shards.append((number, partial(HammingTables.open, path)))
            tables = shards[-1][1]()
            if place == 0 and isinstance(tables.part, list):
                whole = tables.part[:1]
            if tables.part != [*whole, place, len(names)]:
                raise StorageDamaged(str(folder / name), "is not this shard of this index; save it again")
            designs.add(tables.design)
            number += len(tables)
        if len(designs) > 1:
            raise StorageDamaged(str(folder), "has shards of different designs")
        return cls(designs.pop(), shards, number)

    def save(self, path: str | PathLike[str]) -> None:
        """Write each shard to a file of a new or empty folder; after an error the folder is empty again."""
        folder, disk = require_path("path", path), Disk()
        disk.make_folder(folder)
        if disk.names(folder):
            raise StorageRefused(str(folder), "is not empty")
        whole, parts = token_hex(8), len(self.shards)
        try:
            for number, (_, shard) in enumerate(self.shards):
                shard().save(folder / _NAME.format(number, parts), part=(whole, number, parts))
        except BaseException:
            for name in disk.names(folder):
                disk.remove(Path(folder, name))
            raise

    def lookup(self, queries: Words, first: int | None = None, there: Flags | None = None) -> Found:
        """Find the fingerprints near each query, as ``HammingTables.lookup`` does."""
        require_flags(there, len(self))
        if first is not None:
            first = require_whole("first", first, 1)
        parts = []
        for begin, shard in self.shards:
            tables = shard()
            flags = None if there is None else there[begin : begin + len(tables)]
            parts.append(_moved(tables.lookup(queries, first, flags), 0, begin))
        found = _merged(parts)
        return found if first is None else first_found(found, first)

    def count(self, queries: Words) -> Positions:
        """Count the fingerprints near each query: int64, one per query."""
        return np.asarray(np.sum([shard().count(queries) for _, shard in self.shards], axis=0))

    def self_join(self) -> Found:
        """Find all pairs of near fingerprints: ``(i, j, distance)`` with i < j, sorted."""
        parts = []
        for number, (begin, shard) in enumerate(self.shards):
            tables = shard()
            parts.append(_moved(tables.self_join(), begin, begin))
            parts += [_moved(tables.join(later()), begin, other) for other, later in self.shards[number + 1 :]]
        return _merged(parts)

    def join(self, other: "ShardedTables | HammingTables | Words") -> Found:
        """Find the pairs of near fingerprints of two indexes, as ``HammingTables.join`` does."""
        if isinstance(other, ShardedTables):
            shards = other.shards
        else:
            own = other if isinstance(other, HammingTables) else tables_of(other, self.design)
            shards = [(0, lambda: own)]
        parts = []
        for begin, shard in shards:
            theirs = shard()
            if theirs.design != self.design:
                theirs = theirs.redesigned(self.design)
            parts += [_moved(ours().join(theirs), here, begin) for here, ours in self.shards]
        return _merged(parts)

    def join_part(self, number: int, other: "ShardedTables | None", place: int) -> Found:
        """Find the pairs of one shard with a shard of another index, or of this one (``None``), sorted.

        The parts of all pairs of shards are the ``join``; those of all ``number <= place`` are the ``self_join``.
        """
        (begin, ours), (there, shard) = self.shards[number], (self if other is None else other).shards[place]
        tables = ours()
        if other is None and number == place:
            return _moved(tables.self_join(), begin, begin)
        return _moved(tables.join(shard()), begin, there)

    @property
    def distance(self) -> int:
        """The most bits in which a fingerprint may differ from a query and still be near."""
        return self.design.distance

    def __len__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        number, shards = counted(len(self), "fingerprint"), counted(len(self.shards), "shard")
        return f"<ShardedTables of {number} in {shards}, {self.design}>"


def _moved(found: Found, left: int, right: int) -> Found:
    """Return the pairs with positions of all fingerprints instead of those of a shard."""
    return found[0] + left, found[1] + right, found[2]


def _merged(parts: Iterable[Found]) -> Found:
    left, right, distances = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((right, left))
    return left[order], right[order], distances[order]
