"""Arrays that grow at their end, in amortised constant time per entry."""

from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.kernels.blocks import INTACT
from neardup.kernels.strings import WHOLE, copy, locate
from neardup.model.arrays import AnyPositions, Positions, TextBatch

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
        return taken(TextBatch(self.data.values, self.offsets.values), positions, most)


def some(strings: TextBatch, rows: AnyPositions | slice) -> TextBatch:
    """Return some of the strings; a slice (from a start to a stop) copies nothing."""
    if isinstance(rows, slice):
        return TextBatch(strings.data, strings.offsets[rows.start : rows.stop + 1])
    return taken(strings, rows)


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
