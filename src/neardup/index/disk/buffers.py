"""Arrays that grow at their end, in amortised constant time per entry."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from neardup.kernels.blocks import INTACT
from neardup.kernels.checksum import add_field
from neardup.kernels.strings import WHOLE, copy, locate
from neardup.model.arrays import AnyPositions, Flags, Positions, TextBatch, Words, inverse

Column = TypeVar("Column", bound="npt.NDArray[Any] | TextBatch")

_LEAST = 64
_NOWHERE = np.zeros(2, np.int64)  # the beginning of data that are in no file


class Growing:
    """An array that grows; *shape* is that of an entry."""

    def __init__(self, kind: npt.DTypeLike, shape: tuple[int, ...] = ()) -> None:
        self.room: npt.NDArray[Any] = np.empty((_LEAST, *shape), kind)
        self.size = 0

    @property
    def values(self) -> npt.NDArray[Any]:
        """The entries; valid until more are appended."""
        return self.room[: self.size]

    @property
    def nbytes(self) -> int:
        """The memory that it takes, including reserved memory."""
        return self.room.nbytes

    def reserve(self, more: int) -> None:
        """Reserve memory for this number of entries."""
        if self.size + more > len(self.room):
            larger = np.empty((max(self.size + more, 2 * len(self.room)), *self.room.shape[1:]), self.room.dtype)
            larger[: self.size] = self.values
            self.room = larger

    def extend(self, array: npt.NDArray[Any]) -> None:
        """Append the entries of an array."""
        self.reserve(len(array))
        self.room[self.size : self.size + len(array)] = array
        self.size += len(array)


class GrowingStrings:
    """A growing list of byte strings."""

    def __init__(self) -> None:
        self.data, self.offsets = Growing(np.uint8), Growing(np.int64)
        self.offsets.extend(np.zeros(1, np.int64))

    def __len__(self) -> int:
        return self.offsets.size - 1

    @property
    def values(self) -> TextBatch:
        """The strings; valid until more are appended."""
        return TextBatch(self.data.values, self.offsets.values)

    @property
    def nbytes(self) -> int:
        """The memory that they take, including reserved memory."""
        return self.data.nbytes + self.offsets.nbytes

    def extend(self, strings: TextBatch) -> None:
        """Append some strings."""
        begin, end = int(strings.offsets[0]), int(strings.offsets[-1])
        self.offsets.extend(strings.offsets[1:] - begin + self.data.size)
        self.data.extend(strings.data[begin:end])

    def take(self, positions: AnyPositions, most: int = WHOLE) -> TextBatch:
        """Copy the strings at these positions, or the first *most* bytes of each."""
        return taken(self.values, positions, most)


class ChangedStrings:
    """Strings that replace some of a column, by position."""

    def __init__(self) -> None:
        self._strings = GrowingStrings()
        self._rows = np.empty(0, np.int64)  # the place of each position in the strings, -1 for unchanged ones
        self._number = 0  # of changed positions

    @property
    def nbytes(self) -> int:
        """The memory that the strings take, including reserved memory."""
        return self._strings.nbytes

    def change(self, positions: AnyPositions, strings: TextBatch) -> None:
        """Replace the strings at different positions."""
        missing = int(positions.max(initial=-1)) + 1 - len(self._rows)
        if missing > 0:
            self._rows = np.append(self._rows, np.full(max(missing, len(self._rows)), -1))
        self._number += int((self._rows[positions] < 0).sum())
        first = len(self._strings)
        self._strings.extend(strings)
        self._rows[positions] = np.arange(first, len(self._strings))
        if len(self._strings) > 2 * self._number + _LEAST:  # most were replaced again
            changed, latest = self.changes()
            self._strings = GrowingStrings()
            self._strings.extend(latest)
            self._rows[changed] = np.arange(len(changed))

    def changes(self) -> tuple[Positions, TextBatch]:
        """Return the changed positions, ascending, and their strings."""
        changed = np.flatnonzero(self._rows >= 0)
        return changed, self._strings.take(self._rows[changed])

    def over(
        self, unchanged: Callable[[AnyPositions, int], TextBatch], positions: AnyPositions, most: int = WHOLE
    ) -> TextBatch:
        """Copy the first *most* bytes of the strings at these positions; *unchanged* returns those of the column."""
        rows = np.full(len(positions), -1)
        within = positions < len(self._rows)
        rows[within] = self._rows[positions[within]]
        changed, others = np.flatnonzero(rows >= 0), np.flatnonzero(rows < 0)
        if not len(changed):
            return unchanged(positions, most)
        both = GrowingStrings()
        both.extend(unchanged(positions[others], most))
        both.extend(self._strings.take(rows[changed], most))
        return both.take(inverse(np.concatenate([others, changed])))


def some(column: Column, rows: AnyPositions | slice) -> Column:
    """Return some values of a column; a slice (from a start to a stop) copies nothing."""
    found: Any = column
    if not isinstance(found, TextBatch):
        found = found[rows]
    elif isinstance(rows, slice):
        found = TextBatch(found.data, found.offsets[rows.start : rows.stop + 1])
    else:
        found = taken(found, rows)
    return found  # type: ignore[no-any-return]  # the kind of column that came in


def taken(strings: TextBatch, positions: AnyPositions, most: int = WHOLE) -> TextBatch:
    """Copy the strings at these positions, or the first *most* bytes of each."""
    found, block = gathered(None, _NOWHERE, strings, positions, most)
    if block != INTACT:
        raise IndexError("there are fewer strings")
    return found


def gathered(
    guard: Any, begins: Positions, strings: TextBatch, positions: AnyPositions, most: int
) -> tuple[TextBatch, int]:
    """Copy the first *most* bytes of strings; return them and ``INTACT``, or none and the damaged block."""
    firsts, bounds = np.empty(len(positions), np.int64), np.empty(len(positions) + 1, np.int64)
    block = locate(
        guard, begins, strings.offsets, strings.data, positions.astype(np.int64, copy=False), most, firsts, bounds
    )
    if block != INTACT:
        return TextBatch(np.empty(0, np.uint8), np.zeros(1, np.int64)), block
    out = np.empty(bounds[-1], np.uint8)
    copy(strings.data, firsts, bounds, out)
    return TextBatch(out, bounds), block


def checksums(strings: TextBatch, key: Words) -> Words:
    """Return a keyed checksum of each string (see ``add_field``); without the key, equal ones cannot be forged."""
    sums = np.zeros(len(strings), np.uint64)
    add_field(strings.data, strings.offsets, strings.offsets[1:], key, sums)
    return sums


def differing(one: TextBatch, other: TextBatch) -> Flags:
    """Return which of as many strings differ.

    >>> strings = [TextBatch(np.frombuffer(data, np.uint8), np.array([0, 2, 3])) for data in (b"abc", b"abd", b"abc")]
    >>> differing(strings[0], strings[1]).tolist(), differing(strings[0], strings[2]).tolist()
    ([False, True], [False, False])
    """
    flags = np.asarray(np.diff(one.offsets) != np.diff(other.offsets))
    rows = np.flatnonzero(~flags)
    if len(rows) < len(flags):
        one, other = taken(one, rows), taken(other, rows)
    begin, end = one.offsets[0], one.offsets[-1]
    own, theirs = one.data[begin:end], other.data[other.offsets[0] : other.offsets[-1]]
    if not np.array_equal(own, theirs):
        places = np.flatnonzero(own != theirs) + begin
        flags[rows[np.searchsorted(one.offsets, places, side="right") - 1]] = True
    return flags
