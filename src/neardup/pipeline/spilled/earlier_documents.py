"""The documents of earlier runs, as a later run in pieces knows them: the leaders, with the decisions on them."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.engines.files import naming
from neardup.index.disk.arrays import expect
from neardup.model.arrays import Positions
from neardup.model.errors import DataError, StorageDamaged, StorageFailed
from neardup.sources.collection import InputPiece, ranges
from neardup.sources.formats import WARC
from neardup.sources.request import DEFAULT_ID
from neardup.sources.shards import SMALL, Shards
from neardup.text.arrow_files import open_arrow
from neardup.text.host_templates import HostTemplates

LEADERS: Final = "leaders.arrow"  # one row for each: equal, equal_high, present, row, representative; perhaps site
KEPT: Final = "kept.arrow"  # one row for each kept leader: text, length, features, position; for an index, more
DROPPED: Final = "dropped.arrow"  # one row for each dropped leader: common, size, size_of_representative
IDS: Final = "ids.arrow"
TEXT_HIGH: Final = "text_high"  # for an index: the second half of a digest of the text, and whole rows, unless all are
WHOLE: Final = "whole"
SITE: Final = "site"  # the column of the sites of documents: see ``neardup.text.sites``
ROWS: Final = 1 << 16  # leaders that are written together
_OF_KEPT: Final = ("text", TEXT_HIGH, "length", "features", "position")
COUNTS: Final[tuple[str, ...]] = ("common", "size", "size_of_representative")
_TYPES = {
    LEADERS: {"equal": pa.uint64(), "equal_high": pa.uint64(), "present": pa.bool_(), "representative": pa.int32()},
    KEPT: {"text": pa.uint64(), "length": pa.uint32(), "features": pa.uint32(), "position": pa.uint32()},
    DROPPED: dict.fromkeys(COUNTS, pa.int32()),
    IDS: {"id": pa.large_string()},
}
_ALSO = {LEADERS: {SITE: pa.uint64()}, KEPT: {TEXT_HIGH: pa.uint64()}}
_BYTES = {LEADERS: ("row",), KEPT: (WHOLE,)}
_OTHER = (
    "its content is not that of a state, although its checksum is right; restore the state from a copy, or delete it"
)


def mapped_table(path: Path) -> pa.Table:
    """Map the table in a file; ``StorageFailed`` if the system refuses that, ``StorageDamaged`` for another file."""
    with naming(path, doing="read"):
        try:
            return open_arrow(pa.memory_map(os.fsencode(path))).read_all()
        except MemoryError:  # that of Arrow is an ``ArrowException``, too
            raise
        except (pa.ArrowException, ValueError) as error:
            if type(error) is pa.ArrowException:  # not of the file: for example, no thread can be started
                raise StorageFailed(str(path), f"cannot be read: {error}") from error
            raise StorageDamaged(str(path), "it is not a table, or is cut short") from error


class RunInputs(NamedTuple):
    """The inputs of one run; the documents of shard *i* have the positions from ``edges[i]`` to ``edges[i + 1]``."""

    shards: Shards
    edges: Positions

    @property
    def templates(self) -> HostTemplates | None:
        """The templates that their pages were read with, if any."""
        return self.shards.request.extraction.templates

    def with_templates(self, templates: HostTemplates | None) -> "RunInputs":
        """Return the same inputs with other templates."""
        request = self.shards.request
        request = replace(request, extraction=replace(request.extraction, templates=templates))
        return self._replace(shards=replace(self.shards, request=request))


class RecordedRuns:
    """Turns the inputs of runs into plain values and back, one run after the other.

    They follow the runs *before* them. Of the templates of a run, only those that no run before it had are recorded, so
    that a state of many runs has each once.
    """

    def __init__(self, before: Sequence[RunInputs] = ()) -> None:
        known = (one.templates for one in reversed(before))
        self._before = next((templates for templates in known if templates is not None), None)

    def recorded(self, runs: Sequence[RunInputs]) -> Iterator[dict[str, Any]]:
        """Yield the following runs as plain values."""
        for one in runs:
            own, before = one.templates, self._before
            new = None if own is None or before is None else own.since(before)
            written = one if new is None else one.with_templates(new)
            yield {
                "shards": written.shards.to_dict(),
                "edges": one.edges.tolist(),
                "adds_templates": new is not None,
            }
            self._before = before if own is None else own

    def read(self, given: Sequence[dict[str, Any]]) -> Iterator[RunInputs]:
        """Yield the following runs from what ``recorded`` yielded."""
        for one in given:
            run = RunInputs(Shards.from_dict(one["shards"]), np.array(one["edges"], np.int64))
            fit = run.edges.shape == (len(run.shards.shards) + 1,) and run.edges[0] >= 0
            expect(bool(fit and (np.diff(run.edges) >= 0).all()), "documents of other shards")
            own, before = run.templates, self._before
            if one["adds_templates"] and own is not None and before is not None:
                run = run.with_templates(own.added_to(before))
            self._before = before if own is None else run.templates
            yield run


class Rows(NamedTuple):
    """Some leaders: *leaders* and *ids* have a row for each, *kept* for each kept leader, *dropped* for each other."""

    leaders: pa.Table
    kept: pa.Table
    dropped: pa.Table
    ids: pa.Table


@dataclass(frozen=True, eq=False)
class StoredSegment:
    """The leaders that were added by one run, or by several, in a folder."""

    folder: Path
    texts: Sequence[RunInputs]

    def table(self, name: str) -> pa.Table:
        """Map a table."""
        return mapped_table(self.folder / name)

    @property
    def has_sites(self) -> bool:
        """Whether its leaders may belong to sites."""
        return SITE in self.table(LEADERS).column_names

    def rows(self, *, sites: bool) -> Iterator[Rows]:
        """Yield all leaders, some at a time, with or without their *sites*; without leaders, empty tables."""
        leaders, kept, dropped, ids = (self.table(name) for name in (LEADERS, KEPT, DROPPED, IDS))
        if sites and not self.has_sites:
            leaders = leaders.append_column(SITE, pa.array(np.zeros(len(leaders), np.uint64)))
        own = others = 0
        for begin in range(0, max(len(leaders), 1), ROWS):
            part = leaders.slice(begin, ROWS)
            number = int((part.column("representative").to_numpy() < 0).sum())
            yield Rows(part, kept.slice(own, number), dropped.slice(others, len(part) - number), ids.slice(begin, ROWS))
            own, others = own + number, others + len(part) - number


class Earlier:
    """The leaders in segments, numbered from best to worst."""

    def __init__(self, segments: Sequence[StoredSegment] = ()) -> None:
        self._segments = segments
        self.edges: Positions = np.cumsum([0, *(len(table) for table in self._tables(LEADERS))], dtype=np.int64)
        """Where the leaders of each segment begin, and the number of all at last."""
        self._shards = [
            (segment, texts, shard)
            for segment, one in enumerate(segments)
            for texts in one.texts
            for shard in range(len(texts.shards.shards))
        ]
        self.sizes = [texts.shards.shards[shard].size for _, texts, shard in self._shards]
        """The bytes of each shard of their inputs."""
        self.groups = ranges(self.sizes, SMALL) if self.sizes else []
        """The ranges of shards that one task gathers, because each task costs a run some files."""

    def __len__(self) -> int:
        return int(self.edges[-1])

    def column(self, name: str, kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return a column of all leaders; columns of kept leaders are 0 for the others."""
        whole = np.zeros(len(self), kind)
        if name in _OF_KEPT:
            whole[self.representatives < 0] = self._column(KEPT, name)
        elif name != "blank":  # no leader is
            for part, begin in zip(self._tables(LEADERS), self.edges[:-1].tolist(), strict=True):
                if name == SITE and name not in part.column_names:
                    continue
                whole[begin : begin + len(part)] = part.column(name).to_numpy(zero_copy_only=False)
        return whole

    @property
    def texts(self) -> list[RunInputs]:
        """The inputs of all runs."""
        return [texts for segment in self._segments for texts in segment.texts]

    @property
    def has_sites(self) -> bool:
        """Whether leaders of some segment belong to sites."""
        return any(segment.has_sites for segment in self._segments)

    @cached_property
    def representatives(self) -> Positions:
        """The number of the kept leader that each is dropped for, or -1: int64[n]."""
        return self._column(LEADERS, "representative").astype(np.int64)

    def signatures(self, kind: npt.DTypeLike, shape: tuple[int, ...]) -> Iterator[npt.NDArray[Any]]:
        """Yield the signature rows of all leaders, each of this type and *shape*, some at a time."""
        width = np.dtype((kind, shape)).itemsize
        for segment in self._segments:
            column = segment.table(LEADERS).column("row")
            if column.type.byte_width != width:
                rule = f"has signatures of {column.type.byte_width} bytes, but its scheme makes those of {width}"
                raise StorageDamaged(str(segment.folder / LEADERS), rule)
            for chunk in column.chunks:
                yield rows_of(chunk, kind, shape)

    def whole_rows(self, kind: npt.DTypeLike, width: int) -> "WholeRows | None":
        """Return the rows of kept leaders as an index has them; ``None`` for a state that is not for an index."""
        numbers, name, tables = np.arange(len(self)), "row", self._tables(LEADERS)
        kept = self._tables(KEPT)
        if not all(TEXT_HIGH in part.column_names for part in kept):
            return None
        if any(WHOLE in part.column_names for part in kept):
            numbers, name, tables = np.cumsum(self.representatives < 0) - 1, WHOLE, kept
        chunks = [rows_of(chunk, kind, (width,)) for part in tables for chunk in part.column(name).chunks]
        return WholeRows(numbers, [np.empty((0, width), kind), *chunks])

    def ids(self) -> list[pa.Array]:
        """Return the ids of all leaders."""
        return [chunk for table in self._tables(IDS) for chunk in table.column("id").chunks]

    def settled(self) -> Positions:
        """Return the dropped leaders with what they share with their representatives; see ``blocks.settled_name``."""
        dropped = np.flatnonzero(self.representatives >= 0)
        counts = (self._column(DROPPED, name) for name in COUNTS)
        return np.stack([dropped, self.representatives[dropped], *counts])

    @cached_property
    def _kept(self) -> list[tuple[Positions, Positions]]:
        """The kept leaders of each segment, and their positions among the texts, which ascend."""
        found = []
        for segment, (begin, end) in zip(self._segments, pairwise(self.edges.tolist()), strict=True):
            leaders = begin + np.flatnonzero(self.representatives[begin:end] < 0)
            positions = segment.table(KEPT).column("position").to_numpy().astype(np.int64)
            order = np.argsort(positions)
            found.append((leaders[order], positions[order]))
        return found

    def kept_of(self, shard: int) -> tuple[Positions, Positions]:
        """Return the kept leaders whose texts are in a shard, and their places in it, ascending."""
        segment, texts, own = self._shards[shard]
        leaders, positions = self._kept[segment]
        edges = texts.edges[own : own + 2]
        inside = slice(*np.searchsorted(positions, edges))
        return leaders[inside], positions[inside] - int(edges[0])

    def pieces(self, shard: int) -> Iterator[InputPiece]:
        """Yield the documents of a shard, as ``Shards.pieces`` does; they may be without ids.

        Raises ``DataError`` if its input was changed after the run that added it.
        """
        _, texts, own = self._shards[shard]
        documents = int(texts.edges[own + 1] - texts.edges[own])
        try:
            yield from texts.shards.pieces(texts.shards.shards[own], documents=documents)
        except DataError as error:
            rule = "its texts are needed again, but it was moved or changed since they were added"
            raise DataError(error.where, rule, "earlier input") from error

    def texts_of(self, shard: int) -> Iterator[pa.ChunkedArray]:
        """Yield the texts of a shard, some at a time."""
        yield from (piece.texts for piece in self.pieces(shard))

    def segment_of(self, shard: int) -> int:
        """Return the number of the segment that a shard's documents are in."""
        return self._shards[shard][0]

    def has_addresses(self, shard: int) -> bool:
        """Return whether the ids of a shard's documents are addresses: in archives, unless others were requested."""
        _, texts, own = self._shards[shard]
        shards = texts.shards
        return shards.kinds[shards.shards[own].source].format == WARC and shards.request.id == DEFAULT_ID

    def with_fields(self, names: Sequence[str]) -> "Earlier":
        """Return the same leaders; ``pieces`` then have these fields, too."""
        segments = []
        for segment in self._segments:
            texts = [one._replace(shards=one.shards.of_texts(names)) for one in segment.texts]
            segments.append(StoredSegment(segment.folder, texts))
        return Earlier(segments)

    def _tables(self, name: str) -> list[pa.Table]:
        return [segment.table(name) for segment in self._segments]

    def _column(self, table: str, name: str) -> npt.NDArray[Any]:
        parts = [part.column(name).to_numpy() for part in self._tables(table)]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)


class WholeRows:
    """Signature rows in several arrays; *numbers* are the places of leaders among them."""

    def __init__(self, numbers: Positions, chunks: Sequence[npt.NDArray[Any]]) -> None:
        self._numbers, self._chunks = numbers, chunks
        self._edges = np.cumsum([0, *map(len, chunks)])

    def at(self, leaders: Positions) -> npt.NDArray[Any]:
        """Copy the rows of some leaders."""
        places = self._numbers[leaders]
        found = np.empty((len(places), *self._chunks[0].shape[1:]), self._chunks[0].dtype)
        of = np.searchsorted(self._edges, places, side="right") - 1
        for chunk in np.unique(of).tolist():
            own = of == chunk
            found[own] = self._chunks[chunk][places[own] - self._edges[chunk]]
        return found


def stored_rows(rows: npt.NDArray[Any]) -> pa.Array:
    """Return signature rows as a column."""
    raw = pa.py_buffer(np.ascontiguousarray(rows))
    return pa.Array.from_buffers(pa.binary(rows.dtype.itemsize * prod(rows.shape[1:])), len(rows), [None, raw])


def rows_of(column: pa.Array, kind: npt.DTypeLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return stored signature rows as an array of this type; *shape* is that of one row."""
    width = column.type.byte_width
    found = np.frombuffer(column.buffers()[1] or b"", np.uint8)[column.offset * width :][: len(column) * width]
    return found.view(kind).reshape(len(column), *shape)


def check_segments(segments: Sequence[StoredSegment]) -> None:
    """Raise ``StorageDamaged`` unless the tables fit each other, and each representative is a kept leader.

    Compiled code uses these numbers as places in arrays.
    """
    own = [_representatives(segment) for segment in segments]
    whole = np.concatenate([np.empty(0, np.int32), *own])
    begin = 0
    for segment, found in zip(segments, own, strict=True):
        begin += len(found)
        named = found[found >= 0]
        if (found < -1).any() or (named >= begin).any() or (whole[named] >= 0).any():
            raise _damaged(segment.folder / LEADERS)


def _representatives(segment: StoredSegment) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Return the representatives of a segment whose tables have the right columns, and fit each other."""
    tables = {name: _table(segment.folder / name) for name in _TYPES}
    found: np.ndarray[tuple[int], np.dtype[np.int32]] = tables[LEADERS]["representative"].to_numpy()
    kept = int((found < 0).sum())
    sizes = {LEADERS: len(found), KEPT: kept, DROPPED: len(found) - kept, IDS: len(found)}
    for name, size in sizes.items():
        if len(tables[name]) != size:
            raise _damaged(segment.folder / name)
    documents = int(segment.texts[-1].edges[-1]) if segment.texts else 0
    if kept and int(tables[KEPT]["position"].to_numpy().max()) >= documents:
        raise _damaged(segment.folder / KEPT)
    return found


def _table(path: Path) -> pa.Table:
    """Return a table of a segment; ``StorageDamaged`` unless it has its columns, without nulls."""
    name, table = path.name, mapped_table(path)
    try:
        table.validate(full=True)
    except (pa.ArrowException, ValueError) as error:
        raise _damaged(path) from error
    wanted, also = _TYPES[name], _ALSO.get(name, {})
    types = dict(zip(table.column_names, table.schema.types, strict=True))
    others = {key: kind for key, kind in types.items() if key not in wanted and also.get(key) != kind}
    fit = all(key in _BYTES.get(name, ()) and pa.types.is_fixed_size_binary(kind) for key, kind in others.items())
    complete = wanted.items() <= types.items() and (name != LEADERS or "row" in types)
    if not fit or not complete or len(types) < table.num_columns or any(one.null_count for one in table.columns):
        raise _damaged(path)
    return table


def _damaged(path: Path) -> StorageDamaged:
    return StorageDamaged(str(path), _OTHER)
