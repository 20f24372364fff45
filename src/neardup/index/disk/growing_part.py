"""Documents in memory, column by column, which can be written as a segment."""

from functools import cached_property
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from neardup.index.disk.buffers import Growing, GrowingStrings, checksums
from neardup.index.disk.columns import Batch, Columns, Lookup
from neardup.index.disk.part import ordinal_keys, packed_keys
from neardup.kernels.strings import WHOLE
from neardup.model.arrays import AnyPositions, Flags, Positions, TextBatch, Words

_TOGETHER: Final = 1 << 12  # documents whose keys stay in the processor's cache until they are in columns


class GrowingPart:
    """A part of an index that grows. Its documents cannot be found before they are in a segment."""

    bits = 1  # its keys are whole

    def __init__(self, columns: Columns, lookup: Lookup, salt: Words) -> None:
        self._lookup, self._salt = lookup, salt
        self._fixed = {name: Growing(kind, shape) for name, (kind, shape) in columns.fixed.items()}
        self._strings = {name: GrowingStrings() for name in columns.strings}
        self._alive = Growing(np.bool_)

    @property
    def documents(self) -> int:
        """The number of documents, including removed ones."""
        return self._alive.size

    @property
    def alive(self) -> Flags:
        """Which documents were not removed."""
        return self._alive.values

    @property
    def ordinals(self) -> Positions:
        """The number of each document's admission, ascending."""
        return self._fixed["ordinal"].values

    @property
    def nbytes(self) -> int:
        """The memory that it takes, approximately."""
        columns = sum(column.nbytes for column in self._fixed.values())
        return columns + sum(column.nbytes for column in self._strings.values())

    @property
    def used_bytes(self) -> int:
        """The memory of its documents, without reserved memory."""
        columns = sum(column.values.nbytes for column in self._fixed.values())
        return columns + sum(column.data.size + column.offsets.values.nbytes for column in self._strings.values())

    def clear(self) -> None:
        """Remove all documents; their memory is used again, which is faster than new memory."""
        self.__dict__.pop("_keys", None)
        for column in (self._alive, *self._fixed.values()):
            column.size = 0
        for strings in self._strings.values():
            strings.data.size, strings.offsets.size = 0, 1

    def extend(self, batch: Batch) -> None:
        """Add documents in order."""
        for name, fixed in self._fixed.items():
            fixed.extend(cast("Any", batch[name]))
        for name, strings in self._strings.items():
            strings.extend(cast("TextBatch", batch[name]))
        self._alive.extend(np.ones(len(cast("Any", batch["rows"])), np.bool_))

    def reserve(self, documents: int) -> None:
        """Reserve memory for this number of documents, with strings as long as those of the documents there are."""
        more = documents - self.documents
        for column in (self._alive, *self._fixed.values()):
            column.reserve(more)
        for strings in self._strings.values():
            strings.data.reserve(strings.data.size * more // max(1, self.documents))
            strings.offsets.reserve(more)

    def take(self, name: str, positions: AnyPositions) -> npt.NDArray[Any]:
        """Copy the values of a column for some documents."""
        return np.asarray(self._fixed[name].values[positions])

    def strings(self, name: str, positions: AnyPositions, most: int = WHOLE) -> TextBatch:
        """Copy the first *most* bytes of the values of a column of strings for some documents."""
        return self._strings[name].take(positions, most)

    def lists(self, name: str) -> int:
        """Return the number of lists of this name."""
        return 1 if name != "key" or self._lookup.position_independent else self._key_columns

    def by_document(self, name: str) -> bool:
        """Return whether the entries of ``packed`` are in the order of their documents."""
        return name != "key" or not self._lookup.position_independent

    def packed(self, name: str, number: int, bits: int, renumbered: Positions) -> Words:
        """Return one of the lists for a new part; see ``by_document``."""
        position_independent = self._lookup.position_independent and name == "key"
        keys, positions = self._keys if name == "key" else self._listed(name)
        return packed_keys(keys, renumbered[positions], number, bits, position_independent=position_independent)

    @cached_property
    def _keys(self) -> tuple[Words, Positions]:
        """Return all keys and their positions; only for a part that is complete."""
        present = np.flatnonzero(self._fixed["present"].values & self._fixed["leads"].values)
        rows = self._fixed["rows"].values
        keys = np.empty((len(present), self._key_columns), np.uint64, order="F")  # they are read column by column
        for begin in range(0, len(present), _TOGETHER):
            some = present[begin : begin + _TOGETHER]
            keys[begin : begin + len(some)] = self._lookup.keyed(rows[some], np.ones(len(some), np.bool_))
        return keys, present

    @property
    def _key_columns(self) -> int:
        columns: int = self._lookup.keyed(self._fixed["rows"].room[:0], np.empty(0, np.bool_)).shape[1]
        return columns

    def _listed(self, name: str) -> tuple[Words, Positions]:
        """Return the keys of one list (uint64[n, 1]) and their positions."""
        everybody = np.arange(self.documents)
        if name == "id":
            return checksums(self._strings["id"].values, self._salt).reshape(-1, 1), everybody
        if name == "representative":
            representatives = self._fixed["representative"].values
            others = np.flatnonzero(representatives != self._fixed["ordinal"].values)
            return ordinal_keys(representatives[others]).reshape(-1, 1), others
        known = np.flatnonzero(self._fixed[name].values.any(axis=1))
        return self._fixed[name].values[known], known
