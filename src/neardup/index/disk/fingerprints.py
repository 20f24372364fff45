"""Documents with a near fingerprint: tables by Hamming distance, with the interface of lists of keys."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from neardup.index.disk.arrays import ArraysWriter, StoredArrays
from neardup.index.disk.postings import KeyHits
from neardup.index.hamming.tables import HammingTables
from neardup.model.arrays import Flags, Words
from neardup.model.tables import TableDesign

PREFIX: Final = "tables."


def write_tables(writer: ArraysWriter, fingerprints: Words, design: Callable[[int], TableDesign]) -> dict[str, Any]:
    """Write tables of the documents' fingerprints, in the order of the documents."""
    cut = design(len(fingerprints))
    return HammingTables.build(fingerprints, cut.distance, cut).write(writer, PREFIX)


class NearbyTables:
    """Fingerprints of the documents of a file, found by their distance; see ``write_tables``."""

    def __init__(self, arrays: StoredArrays, meta: Any) -> None:
        self._tables = HammingTables.read(arrays, PREFIX, meta)

    def __len__(self) -> int:
        return len(self._tables)

    def find(self, fingerprints: Words, asking: Flags, there: Flags | None, room: int) -> KeyHits:
        """Find the first documents, by number, within the distance of each row that asks, at most *room* of each.

        *there* marks the documents that can be found; ``None`` means all.
        """
        rows = np.flatnonzero(asking)
        index, documents, _ = self._tables.lookup(np.ascontiguousarray(fingerprints[rows]), room + 1, there)
        places = np.arange(len(index)) - np.searchsorted(index, index)
        oversized = int((places == room).sum())
        index, documents = index[places < room], documents[places < room]
        bounds = np.searchsorted(rows[index], np.arange(len(asking) + 1))
        return KeyHits(bounds, documents.astype(np.int32), oversized)
