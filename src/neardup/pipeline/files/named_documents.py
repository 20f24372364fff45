"""The documents of inputs that an index is to admit, piece by piece; of several with one id, the last one counts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from secrets import token_bytes
from typing import Final

import numpy as np

from neardup.model.arrays import Flags, Positions, Words, run_starts
from neardup.model.engine import StageProgress, silent
from neardup.model.errors import DataError, FieldMissing
from neardup.pipeline.digests import keyed
from neardup.pipeline.index.records import NamedRecords, RecordReader
from neardup.sources.collection import SITE, InputPiece
from neardup.sources.record_faults import Rejected, nothing_left
from neardup.sources.shards import Shards
from neardup.text.columns import text_column, whole_batch

_NONE: Final = (np.empty((0, 2), np.uint64), np.empty(0, np.int64))


class NamedDocuments:
    """The documents of inputs, which are found before they are taken; inputs that are small enough are read only once.

    After ``find``, ``number`` counts the documents, and ``admitted`` those that are taken; ``rejected`` are the other
    records, and ``has_pages`` is whether there are web pages.
    """

    def __init__(self, shards: Shards, reader: RecordReader) -> None:
        self.shards, self._reader = shards, reader
        self._held: list[NamedRecords] | None = []
        self._last: Flags = np.empty(0, np.bool_)
        self.number, self.admitted, self.has_pages = 0, 0, False
        self.rejected: list[Rejected] = []

    def find(
        self,
        required: Sequence[str],
        optional: Iterable[str],
        most: int,
        progress: StageProgress = silent,
    ) -> None:
        """Find the last document of each id; hold the pieces if all of them take at most *most* bytes of memory.

        Optional fields with lists or objects are left out of ``kinds``. Raises the errors of reading, ``NothingRead``
        if every record was rejected, and ``FieldMissing`` if no record has a required field.
        """
        request, parts, held, length = self.shards.request, [_NONE], 0, 0
        salt = np.frombuffer(token_bytes(16), np.uint64)
        pieces = self.shards.every_piece(progress=progress, markup=lambda: self._held is None, required=required)
        for piece in pieces:
            unfit = {name for name in optional if name in self.kinds and not _is_plain(piece, name)}
            if unfit:
                kinds = {name: kind for name, kind in self.kinds.items() if name not in unfit}
                self._reader = replace(self._reader, kinds=kinds)
            one = self._reader.read(piece)
            self.rejected += sorted([*piece.rejected, *one.rejected], key=attrgetter("source", "position"))
            self.has_pages |= len(piece) > 0 and (piece.has_pages or request.html is not None)
            parts.append(_digests(one.ids, length, salt))
            self.number += len(piece) - len(one.rejected)
            length += len(piece)
            held += piece.held_bytes
            if held > most:
                self._held = None
            elif self._held is not None:
                self._held.append(one)
        if self.rejected and not length:
            raise nothing_left(self.shards.names, self.rejected)
        self._last = _last(parts, length)
        self.admitted = int(self._last.sum())

    @property
    def kinds(self) -> Mapping[str, str]:
        """The fields of the index."""
        return self._reader.kinds

    def take(self) -> Iterator[tuple[NamedRecords, Positions]]:
        """Yield the pieces, each with the rows of those documents that are the last ones of their ids."""
        done, wanted = 0, {*self.kinds, *self._reader.signed, *([SITE] if self.has_pages else [])}
        for one in map(self._reader.read, self.shards.every_piece()) if self._held is None else self._held:
            fields = one.fields.select([name for name in one.fields.column_names if name in wanted])
            yield replace(one, fields=fields), np.flatnonzero(self._last[done : done + len(one.piece)])
            done += len(one.piece)


def _is_plain(piece: InputPiece, name: str) -> bool:
    """Return whether a field contains only strings and numbers."""
    try:
        piece.column(name, literal=True)
    except FieldMissing:
        return True
    except DataError:
        return False
    return True


def _digests(ids: Sequence[str | None], begin: int, salt: Words) -> tuple[Words, Positions]:
    """Return the keyed digests of ids, and the numbers of their documents, which begin with *begin*."""
    there = [own for own in ids if own is not None]
    numbers = np.array([row for row, own in enumerate(ids, begin) if own is not None], np.int64)
    return keyed(whole_batch(text_column(there)), salt), numbers


def _last(parts: Sequence[tuple[Words, Positions]], number: int) -> Flags:
    """Mark the last document of each digest."""
    digests, numbers = (np.concatenate(side) for side in zip(*parts, strict=True))
    order = np.lexsort((numbers, digests[:, 1], digests[:, 0]))
    last = np.zeros(number, np.bool_)
    if len(order):
        one, other = (run_starts(digests[order[::-1], half]) for half in (0, 1))
        last[numbers[order[::-1]][one | other]] = True
    return last
