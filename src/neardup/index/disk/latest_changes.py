"""What has changed in an index lately, for those who keep a copy of it up to date."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final, Self

import numpy as np

from neardup.index.disk.arrays import Array, ArraysWriter, StoredArrays, expect
from neardup.index.disk.columns import decoded, encoded, flattened, ordinals_of, strings_of
from neardup.model.arrays import Positions, TextBatch

MOST: Final = 1 << 17


class Removals:
    """The last ``MOST`` removed ids that were not admitted again, each with the next ordinal at its removal.

    All removals from the ordinal *complete_from* on are known.
    """

    def __init__(self, removed: Mapping[str, int] | None = None, complete_from: int = 0) -> None:
        self._removed = OrderedDict(removed or {})  # a plain dict passes all that were taken out to find its first one
        self.complete_from = complete_from

    def __bool__(self) -> bool:
        return bool(self._removed or self.complete_from)

    def since(self, ordinal: int) -> list[str]:
        """Return the ids that were removed when the next ordinal was at least this."""
        return [own for own, clock in self._removed.items() if clock >= ordinal]

    def add(self, ids: Sequence[str], clock: int) -> None:
        """Record removals."""
        for own in ids:
            self._removed.pop(own, None)
            self._removed[own] = clock
        while len(self._removed) > MOST:
            _, oldest = self._removed.popitem(last=False)
            self.complete_from = oldest + 1

    def discard(self, ids: "Array | TextBatch") -> None:
        """Forget ids that were admitted again."""
        if self._removed and isinstance(ids, TextBatch):
            for own in decoded(ids):
                self._removed.pop(own, None)

    def write(self, writer: ArraysWriter) -> None:
        """Write the removals to a file of arrays."""
        clocks = np.array([*self._removed.values(), self.complete_from], np.int64)
        for name, array in {"removed.at": clocks, **flattened({"removed": encoded([*self._removed])})}.items():
            writer.add(name, array)

    @classmethod
    def of(cls, file: StoredArrays) -> Self:
        """Read the removals of a file; for use in ``understood``."""
        clocks = ordinals_of(file.whole("removed.at"))
        expect(len(clocks) > 0 and bool((clocks >= 0).all()), "invalid removals")
        ids = decoded(strings_of("removed", file.whole, len(clocks) - 1)) if len(clocks) > 1 else []
        return cls(dict(zip(ids, clocks[:-1].tolist(), strict=True)), int(clocks[-1]))


class LatestChanges:
    """How often documents have changed, in steps, and the documents of the steps after the first *before* ones."""

    def __init__(self, before: int) -> None:
        self._before = before
        self._steps: list[Positions] = []

    @property
    def number(self) -> int:
        """The number of all steps."""
        return self._before + len(self._steps)

    def add(self, ordinals: Positions) -> None:
        """Record a step that changed documents with these ordinals."""
        self._steps.append(ordinals)

    def since(self, number: int) -> Positions | None:
        """Return the ordinals of the documents that changed after a *number* of steps; ``None`` if they are unknown."""
        if number < self._before:
            return None
        return np.unique(np.concatenate([np.empty(0, np.int64), *self._steps[number - self._before :]]))
