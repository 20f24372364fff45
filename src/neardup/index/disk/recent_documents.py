"""The documents that were admitted last: in memory, and in the log."""

from collections.abc import Iterable
from itertools import chain
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
        self._equals: dict[bytes | None, list[int]] = {}  # the existing documents, by group
        self._repeats: dict[bytes | None, list[int]] = {}  # those that were not the first of their group, by content

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
        repeats: list[int] = []
        for place, group in enumerate(as_bytes(cast("Words", batch["equal"])), first):
            if group is not None:
                places = self._equals.setdefault(group, [])
                if places:
                    repeats.append(place)
                places.append(place)
        for place, content in zip(repeats, as_bytes(self.take("content", np.array(repeats, np.int64))), strict=True):
            self._repeats.setdefault(content, []).append(place)
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
        _remove(positions, as_bytes(self.take("equal", positions)), self._equals)
        _remove(positions, as_bytes(self.take("content", positions)), self._repeats)

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
        asked = zip(self._groups(equals), as_bytes(contents), besides.tolist(), strict=True)
        for row, (group, content, own) in enumerate(asked):
            if group:
                same = (self.take("content", np.array(group[:1])) == contents[row]).all()
                found[row] = _first_besides(chain(group[:1] if same else (), self._repeats.get(content, ())), own)
        return found

    def _groups(self, equals: Words) -> list[list[int]]:
        return [self._equals.get(group, []) for group in as_bytes(equals)]

    @property
    def kept(self) -> int:
        """The number of kept documents."""
        return int((self.alive & (self._fixed["representative"].values == self._fixed["ordinal"].values)).sum())

    def kept_by(self, representatives: Positions) -> Positions:
        """Return the documents with these representatives."""
        own = self._fixed["representative"].values
        return np.flatnonzero(self.alive & (own != self.ordinals) & np.isin(own, representatives))


def _remove(positions: AnyPositions, keys: list[bytes | None], listed: dict[bytes | None, list[int]]) -> None:
    """Remove documents from the lists of their *keys*."""
    removed: dict[bytes | None, set[int]] = {}
    for place, key in zip(positions.tolist(), keys, strict=True):
        if key in listed:
            removed.setdefault(key, set()).add(place)
    for key, places in removed.items():
        if left := [place for place in listed[key] if place not in places]:
            listed[key] = left
        else:
            del listed[key]


def _first_besides(places: Iterable[int], own: int) -> int:
    return next((place for place in places if place != own), -1)
