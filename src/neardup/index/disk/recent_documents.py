"""The documents that were admitted last: in memory, and in the log."""

from typing import Any, cast

import numpy as np

from neardup.index.disk.arrays import Array
from neardup.index.disk.buffers import ChangedStrings
from neardup.index.disk.columns import Batch, Columns, Lookup, as_bytes, decoded
from neardup.index.disk.growing_part import GrowingPart
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
        self._equals: dict[bytes, list[int]] = {}  # the existing documents, by group

    @property
    def nbytes(self) -> int:
        """The memory that it takes, approximately."""
        return super().nbytes + self._chains.nbytes + 300 * self.documents  # ids and groups, as Python objects

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
        for place, group in enumerate(as_bytes(cast("Words", batch["equal"])), first):
            if group is not None:
                self._equals.setdefault(group, []).append(place)
        return hits

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
        removed: dict[bytes, set[int]] = {}
        for place, group in zip(positions.tolist(), as_bytes(self.take("equal", positions)), strict=True):
            if group is not None:
                removed.setdefault(group, set()).add(place)
        for group, places in removed.items():
            if left := [place for place in self._equals[group] if place not in places]:
                self._equals[group] = left
            else:
                del self._equals[group]

    def with_ids(self, ids: list[str]) -> Positions:
        """Return the document of each id, or -1."""
        if not self._ids:
            return np.full(len(ids), -1)
        return np.array([self._ids.get(own, -1) for own in ids], np.int64)

    def leaders(self, equals: Words, besides: Positions) -> Positions:
        """Return the first document of each group of equals that is not *besides*, or -1."""
        pairs = zip(self._groups(equals), besides.tolist(), strict=True)
        return np.array([_first_besides(places[:2], own) for places, own in pairs], np.int64)

    def copies(self, contents: Words, equals: Words, besides: Positions) -> Positions:
        """Return the first document of each content, among its equals, that is not *besides*, or -1."""
        found = np.full(len(contents), -1)
        for row, places in enumerate(self._groups(equals)):
            same = (self.take("content", np.array(places, np.int64)) == contents[row]).all(axis=1)
            found[row] = _first_besides(np.array(places, np.int64)[same].tolist(), int(besides[row]))
        return found

    def _groups(self, equals: Words) -> list[list[int]]:
        return [[] if group is None else self._equals.get(group, []) for group in as_bytes(equals)]

    @property
    def kept(self) -> int:
        """The number of kept documents."""
        return int((self.alive & (self._fixed["representative"].values == self._fixed["ordinal"].values)).sum())

    def kept_by(self, representatives: Positions) -> Positions:
        """Return the documents with these representatives."""
        own = self._fixed["representative"].values
        return np.flatnonzero(self.alive & (own != self.ordinals) & np.isin(own, representatives))


def _first_besides(places: list[int], own: int) -> int:
    return next((place for place in places if place != own), -1)
