"""The documents that were admitted last: in memory, and in the log."""

from typing import Any, cast

import numpy as np

from neardup.index.disk.arrays import Array
from neardup.index.disk.buffers import ChangedStrings
from neardup.index.disk.columns import Batch, Columns, Lookup, decoded
from neardup.index.disk.growing_part import GrowingPart
from neardup.index.disk.part import DIGESTS
from neardup.index.disk.postings import Chains, Division, KeyHits, LateChains, Query
from neardup.kernels.strings import WHOLE
from neardup.model.arrays import AnyPositions, Flags, Positions, TextBatch, Words
from neardup.model.candidates import ROOM


class Recent(GrowingPart):
    """The documents that were admitted last: they are found, and change."""

    def __init__(self, columns: Columns, lookup: Lookup, salt: Words) -> None:
        super().__init__(columns, lookup, salt)
        self._changed: dict[str, ChangedStrings] = {}
        self._chains = Chains(position_independent=lookup.position_independent)
        self._late = LateChains(position_independent=lookup.position_independent)  # documents that became leaders
        self._ids: dict[str, int] = {}
        self._digests = Chains(position_independent=True)

    @property
    def nbytes(self) -> int:
        """The memory that it takes, approximately."""
        chains = self._chains.nbytes + self._digests.nbytes
        return super().nbytes + chains + 200 * self.documents  # ids, as Python objects

    def propose(self, _: Array, query: Query) -> KeyHits:
        """Find the documents that share a key with each asking row."""
        return self._late.with_found(self._chains.find(query, self.alive), query, self.alive)

    def divide(self, division: Division) -> KeyHits:
        """Find the documents in the divisions of oversized keys: key *i* is row *i* of the hits."""
        return self._chains.divide(division, self.alive)

    def asked(self, batch: Batch) -> Query:
        """Return the query for the documents that share a key with each leader of a batch."""
        rows, asking = cast("Any", batch["rows"]), cast("Flags", batch["present"]) & cast("Flags", batch["leads"])
        return Query.of(self._lookup.keyed(rows, asking), asking, ROOM)

    def append(self, batch: Batch, query: Query | None = None) -> KeyHits:
        """Add documents in order; return for each leader the earlier documents that share a key."""
        first = self.documents
        query = query or self.asked(batch)
        self.extend(batch)
        hits = self._late.with_found(self._chains.find_and_add(query, first, self._alive.room), query, self.alive)
        for place, own in enumerate(decoded(cast("TextBatch", batch["id"])), first):
            self._ids[own] = place
        digests = np.stack([cast("Words", batch[name])[:, 0] for name in DIGESTS], axis=1)
        self._digests.find_and_add(Query.of(digests, np.asarray(digests.any(axis=1)), 0), first, self._alive.room)
        return hits

    def find(self, _: str, query: Query) -> KeyHits:
        """Find the documents with a digest, or another one that begins alike, by its first half."""
        return self._digests.find(query, self.alive)

    def strings(self, name: str, positions: AnyPositions, most: int = WHOLE) -> TextBatch:
        """Copy the first *most* bytes of the values of a column of strings for some documents."""
        if name in self._changed:
            return self._changed[name].over(self._strings[name].take, positions, most)
        return super().strings(name, positions, most)

    def change(self, name: str, positions: AnyPositions, values: Array | TextBatch) -> None:
        """Replace the values of different documents in one of the ``changing`` columns."""
        if isinstance(values, TextBatch):
            self._changed.setdefault(name, ChangedStrings()).change(positions, values)
            return
        if name == "leads":
            found = positions[self.take("present", positions) & (values > self.take(name, positions))]
            self._late.add(self._lookup.keyed(self.take("rows", found), np.ones(len(found), np.bool_)), found)
        self._fixed[name].values[positions] = values

    def remove(self, positions: AnyPositions) -> None:
        """Mark documents as removed."""
        self._alive.values[positions] = False
        for place, own in zip(positions.tolist(), decoded(self.strings("id", positions)), strict=True):
            if self._ids.get(own) == place:
                del self._ids[own]

    def with_ids(self, ids: list[str]) -> Positions:
        """Return the document of each id, or -1."""
        if not self._ids:
            return np.full(len(ids), -1)
        return np.array([self._ids.get(own, -1) for own in ids], np.int64)

    @property
    def kept(self) -> int:
        """The number of kept documents."""
        return int((self.alive & (self._fixed["representative"].values == self._fixed["ordinal"].values)).sum())

    def kept_by(self, representatives: Positions) -> Positions:
        """Return the documents with these representatives."""
        own = self._fixed["representative"].values
        return np.flatnonzero(self.alive & (own != self.ordinals) & np.isin(own, representatives))
