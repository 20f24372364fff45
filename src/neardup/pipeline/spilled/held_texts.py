"""Texts that a run in pieces holds in memory, so that later stages need not read them again."""

from collections.abc import Iterable, Iterator
from threading import Lock

import pyarrow as pa

from neardup.sources.collection import InputPiece


class HeldTexts:
    """The texts of some shards, which fit into *room* bytes together."""

    def __init__(self, room: int = 0) -> None:
        self._room, self._changing = room, Lock()
        self._shards: dict[int, list[pa.ChunkedArray]] = {}

    def of(self, shard: int) -> list[pa.ChunkedArray] | None:
        """Return the texts of a shard, piece by piece; ``None`` if they are not held."""
        return self._shards.get(shard)

    def holding(self, shard: int, pieces: Iterable[InputPiece]) -> Iterator[InputPiece]:
        """Yield the pieces of a shard, and hold their texts if there is room for all of them."""
        texts: list[pa.ChunkedArray] = []
        taken, fits = 0, shard not in self._shards
        for piece in pieces:
            yield piece
            size = piece.texts.get_total_buffer_size() if fits else 0
            if fits and not self._takes(size):
                self._takes(-taken)
                fits = False
                texts.clear()
            elif fits:
                taken += size
                texts.append(piece.texts)
        if fits:
            self._shards[shard] = texts

    def _takes(self, size: int) -> bool:
        """Reserve some bytes, and return whether there was room for them."""
        with self._changing:
            fits = size <= self._room
            self._room -= size if fits else 0
        return fits
