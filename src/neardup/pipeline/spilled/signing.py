"""Signing: each shard is read once, and what later stages need to know of its documents is stored."""

import time
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, Final, cast

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.index.disk.buffers import checksums
from neardup.kernels.segments import blank
from neardup.model.arrays import Corpus, Positions, Signatures, Words
from neardup.model.recipe import Hashing
from neardup.pipeline.corpus.address_ranks import WRITTEN, written_fields
from neardup.pipeline.corpus.documents import placed
from neardup.pipeline.corpus.result import with_places
from neardup.pipeline.digests import equals, exchanged
from neardup.pipeline.spilled.earlier_documents import SITE, TEXT_HIGH, WHOLE, rows_of, stored_rows
from neardup.pipeline.spilled.job import ID, IDS, REVISITS, SIGNED, Job, of_shard
from neardup.schemes.checksum import BODY
from neardup.sources.collection import Extent, InputPiece
from neardup.sources.compression import within_memory
from neardup.sources.record_faults import LackingFields, RecordFaults
from neardup.text.columns import batches, text_lengths
from neardup.text.sites import NO_SITES, separate

_RANKING: Final = "ranking-"  # columns of fields that rank by their values
_WRITTEN: Final = "written-"  # columns of fields that rank as they are written
_ADDRESS: Final = "address"
_OFFSET: Final = "warc_record_offset"


class Signed:
    """What is known of all documents, by position; every property reads the shards' files one after the other.

    The earlier documents come first: the leaders that a state has, and the documents of indexes and inputs that are
    only compared with. ``first`` is the position of the first other one. Those before the position ``ordered`` are in
    order: the leaders of a state, and the documents of indexes.

    ``equal`` is uint64[n, 2], a keyed digest that documents share if they have equal features, or without features the
    same text; zero for those that equal none. Other columns are ``text``, a keyed digest of the text, the numbers of
    ``features``, ``length`` (bytes of text), ``blank`` and ``present`` (whether there is a signature).
    """

    def __init__(self, job: Job, records: Sequence[dict[str, Any]]) -> None:
        """Describe the documents of the first shards, with their *records*; usually of all."""
        self._job, numbers = job, [record["documents"] for record in records]
        self._numbers = [record["numbers"] for record in records]
        self.edges: Positions = len(job.earlier) + np.concatenate([[0], np.cumsum(numbers, dtype=np.int64)])
        """Where each shard's documents begin, and the number of all at last."""
        own = job.shards.shards[: len(numbers)]
        self.first = int(self.edges[sum(shard.source < job.compared for shard in own)])
        self.ordered = int(self.edges[sum(shard.source < job.shards.texts for shard in own)])

    def __len__(self) -> int:
        return int(self.edges[-1])

    def column(self, name: str, kind: type) -> npt.NDArray[Any]:
        """Return one column of all documents."""
        whole: npt.NDArray[Any] = np.empty(len(self), kind)
        whole[: self.edges[0]] = self._job.earlier.column(name, kind)
        for shard, (begin, end) in enumerate(pairwise(self.edges.tolist())):
            whole[begin:end] = self._table(SIGNED, shard).column(name).to_numpy(zero_copy_only=False)
        return whole

    @property
    def equal(self) -> Words:
        """The digests that equal documents share."""
        return np.stack([self.column("equal", np.uint64), self.column("equal_high", np.uint64)], axis=1)

    @property
    def sites(self) -> Words:
        """The sites of all documents, if the job has sites; otherwise none."""
        found: Words = self.column(SITE, np.uint64) if self._job.has_sites else NO_SITES
        return found

    def ranking(self, field: str) -> list[pa.ChunkedArray]:
        """Return the stored values of a field that ranks, of each shard; documents before ``ordered`` need none."""
        columns = self._of_shards(_RANKING + field)
        ends = self.edges[1:].tolist()
        return [column if end > self.ordered else column.slice(0, 0) for column, end in zip(columns, ends, strict=True)]

    def written(self, field: str) -> pa.ChunkedArray:
        """Return one of the ``written_fields`` of all documents; the leaders of a state need none."""
        return self._joined(_WRITTEN + field, WRITTEN[field])

    def _of_shards(self, column: str, kind: pa.DataType | None = None) -> list[pa.ChunkedArray]:
        nothing = pa.chunked_array([], kind or pa.large_binary())
        return [table.column(column) if len(table) else nothing for table in self._tables(SIGNED)]

    def _joined(self, column: str, kind: pa.DataType) -> pa.ChunkedArray:
        return pa.chunked_array([chunk for own in self._of_shards(column, kind) for chunk in own.chunks], kind)

    def addresses(self) -> pa.ChunkedArray:
        """Return the addresses of all documents, if they rank: see ``Collection``; the leaders of a state need none."""
        return self._joined(_ADDRESS, pa.large_binary())

    def sample(self, number: int) -> Words:
        """Return the keys of about this many different documents that have a signature, evenly spaced."""
        chosen = np.flatnonzero(self.column("present", np.bool_))
        _, firsts = np.unique(self.equal[chosen], axis=0, return_index=True)
        chosen = chosen[np.sort(firsts)]
        chosen = chosen[:: -(-len(chosen) // number) or 1]
        rows = np.concatenate([self.rows(shard) for shard in range(len(self.edges) - 1)])[chosen]
        scheme = self._job.scheme
        return np.asarray(scheme.keys(Signatures(rows, np.ones(len(rows), np.bool_), scheme.recipe)))

    def rows(self, shard: int, *, whole: bool = False) -> npt.NDArray[Any]:
        """Return the signature rows of a shard's documents, or the *whole* ones if they are stored, too."""
        nothing, name = self._job.no_rows(whole=whole), WHOLE if whole else "row"
        return rows_of(self._table(SIGNED, shard).column(name).combine_chunks(), nothing.dtype, nothing.shape[1:])

    def ids(self) -> pa.ChunkedArray:
        """Return the ids of all documents, mapped."""
        chunks = [chunk for table in self._tables(IDS) for chunk in table.column("id").chunks]
        return pa.chunked_array([*self._job.earlier.ids(), *chunks], pa.large_string())

    def places(self) -> pa.Table | None:
        """Return where the documents are from that are not earlier ones; ``None`` if their ids are enough."""
        every = zip(self._tables(IDS), self._job.shards.shards, strict=False)
        own = [table for table, shard in every if shard.source >= self._job.compared]
        whole = pa.concat_tables(own, promote_options="default") if own else pa.table({"id": []})
        return whole.drop_columns("id") if whole.num_columns > 1 else None

    def extents(self, sources: Sequence[int]) -> Iterator[tuple[Extent, int, int]]:
        """Yield the extents of some neighbouring inputs, and the positions where their documents begin and end."""
        for number, own in self._job.shards.shard_parts(sources):
            edges = [*pairwise(self._inside(number))]
            for extent, places in zip(self._job.shards.shards[number].extents[own], edges[own], strict=True):
                yield extent, *places

    def sources(self, shard: int, rows: Positions) -> list[int]:
        """Return the inputs that some documents of a shard are from."""
        extents = self._job.shards.shards[shard].extents
        places = np.searchsorted(self._inside(shard), self.edges[shard] + rows, side="right") - 1
        return [extents[place].source for place in places.tolist()]

    def _inside(self, shard: int) -> list[int]:
        """Return where the documents of each extent of a shard begin, and the end of the last."""
        return [*accumulate(self._numbers[shard], initial=int(self.edges[shard]))]

    def offsets(self, shard: int, rows: Positions) -> list[int | None]:
        """Return the bytes that the records of some documents of a shard begin at; nulls where there are none."""
        table = self._table(IDS, shard)
        if _OFFSET not in table.column_names:
            return [None] * len(rows)
        found: list[int | None] = table.column(_OFFSET).take(pa.array(rows)).to_pylist()
        return found

    def pieces(self, shard: int) -> Iterator[InputPiece]:
        """Yield the documents of a shard again, as ``Shards.pieces`` does; they may be without ids."""
        documents = int(self.edges[shard + 1] - self.edges[shard])
        return self._job.shards.pieces(self._job.shards.shards[shard], documents=documents)

    def texts(self, shard: int) -> Iterator[pa.ChunkedArray]:
        """Yield the texts of a shard, some at a time; they are read again unless they are held."""
        self._job.shards.check_unchanged(self._job.shards.shards[shard])
        held = self._job.held.of(shard)
        yield from (piece.texts for piece in self.pieces(shard)) if held is None else held

    def _table(self, kind: str, shard: int) -> pa.Table:
        return self._job.table(of_shard(kind, shard))

    def _tables(self, kind: str) -> list[pa.Table]:
        return [self._table(kind, shard) for shard in range(len(self.edges) - 1)]


def sign(job: Job, task: int, *, body: bool = False) -> dict[str, Any]:
    """Read a shard, digest and sign its documents; return their ``RecordFaults``, and what later stages need.

    ``lacking`` maps each field that no record of the shard has to the fields that there are; without records, these are
    the columns. With *body*, the text replaces the field of this name.
    """
    started = time.thread_time()
    tables: list[pa.Table] = []
    ids: list[pa.Table] = []
    revisits: list[pa.Table] = []
    faults = RecordFaults()
    lacking = LackingFields(fields_of(job))
    shard = job.shards.shards[task]
    numbers = [0] * len(shard.extents)

    def pieces() -> Iterator[InputPiece]:
        for place, extent in enumerate(shard.extents):
            for piece in job.shards.pieces_of(extent):
                numbers[place] += len(piece)
                yield piece

    with within_memory(" to ".join(dict.fromkeys(job.shards.inputs[one] for one in (shard.source, shard.last)))):
        for piece in job.held.holding(task, pieces()):
            faults.add(piece)
            own = lacking.add(piece)
            if len(piece):
                tables.append(_of_piece(job, piece, own, body=body))
            ids.append(with_places(pa.table({"id": piece.ids.cast(pa.large_string())}), piece.places()))
            revisits += [piece.revisits] if piece.revisits is not None and len(piece.revisits) else []
    no_table = _signed(job, pa.chunked_array([], pa.large_string()), None, NO_SITES, {})
    table = pa.concat_tables(tables or [no_table], promote_options="default")  # pieces may lack a field
    files = job.save_table(of_shard(SIGNED, task), table)
    names = pa.concat_tables(ids or [pa.schema(ID).empty_table()], promote_options="default")
    files |= job.save_table(of_shard(IDS, task), names.combine_chunks())  # to look some up, all chunks are passed
    files |= job.save_table(of_shard(REVISITS, task), pa.concat_tables(revisits)) if revisits else {}
    return {
        **msgspec.to_builtins(faults),
        "seconds": time.thread_time() - started,
        "text": int(table.column("length").to_numpy().sum()),
        "features": int(table.column("features").to_numpy().sum()),
        "revisits": len(revisits) > 0,
        "numbers": numbers,
        "lacking": lacking.found,
        "files": files,
    }


def faults_in(records: Sequence[dict[str, Any]]) -> RecordFaults:
    """Return the faults of all records of shards with these *records*."""
    return RecordFaults.of(msgspec.convert(record, RecordFaults) for record in records)


def fields_of(job: Job) -> list[str]:
    """Return the fields that some record must have."""
    request = job.shards.request
    return [*dict.fromkeys([*request.required_fields, *request.columns])]


def _of_piece(job: Job, piece: InputPiece, lacking: Container[str], *, body: bool) -> pa.Table:
    values: dict[str, Any] = {_WRITTEN + field: own for field, own in written_fields(piece, job.policy).items()}
    values |= {_RANKING + field: piece.raw_column(field) for field in job.policy.value_fields}
    if job.policy.ranks_addresses:
        values[_ADDRESS] = piece.addresses.cast(pa.large_string()).cast(pa.large_binary())
    fields = None
    if job.scheme.columns:
        nulls = pa.chunked_array([pa.nulls(len(piece), pa.large_string())])
        text = job.shards.request.text
        columns: dict[str, Any] = {
            name: piece.texts if name == text else nulls if name in lacking else piece.column(name, literal=True)
            for name in job.scheme.columns
        }
        fields = pa.table(columns | ({BODY: piece.texts} if body else {}))
    sites = np.zeros(len(piece), np.uint64) if piece.sites is None else piece.sites.to_numpy()
    return _signed(job, piece.texts, fields, sites, values)


def _signed(
    job: Job, texts: pa.ChunkedArray, fields: pa.Table | None, sites: Words, values: dict[str, Any]
) -> pa.Table:
    """Return the columns of some documents: see ``Signed``. Thin pages are signed by features of their site."""
    scheme = job.scheme
    number = len(texts)
    equal = np.zeros((number, 2), np.uint64)
    text, text_high = np.zeros((2, number), np.uint64)
    features = np.zeros(number, np.int64)
    blanks = np.empty(number, np.bool_)
    parts: list[Signatures] = []
    wholes: list[Signatures] = []
    for begin, batch in placed(batches(texts)):
        part = slice(begin, begin + len(batch))
        blank(batch.data, batch.offsets, blanks[part])
        text[part] = checksums(batch, job.salt)
        if job.for_index:
            text_high[part] = checksums(batch, exchanged(job.salt))
        own = scheme.shingling.batch_features(batch)
        features[part] = np.diff(own.offsets)
        if fields is None:
            equal[part] = equals(batch, own, job.salt, scheme.second_shingling)
            separate(own, sites[part], np.arange(len(batch)))
            corpus = Corpus(own, None, texts[part.start : part.stop])
            parts.append(_signatures(job, corpus, np.arange(len(batch)), wholes))
    if fields is not None:
        parts = [scheme.sign(fields)]
        exact = job.policy.verify == "exact"  # otherwise no documents are equal
        for column, key in enumerate((job.salt, exchanged(job.salt)) if exact else ()):
            keyed = replace(cast("Any", scheme), seed=Hashing().seed, key=key.tobytes())  # it has a seed or a key
            equal[parts[0].present, column] = keyed.sign(fields).rows[parts[0].present, 0]
    rows = np.concatenate([part.rows for part in parts]) if parts else job.no_rows()
    columns = {
        "equal": equal[:, 0],
        "equal_high": equal[:, 1],
        "text": text,
        "features": features,
        "length": text_lengths(texts),
        "blank": blanks,
        "present": np.concatenate([np.empty(0, np.bool_), *(part.present for part in parts)]),
        "row": stored_rows(rows),
    }
    if job.for_index:
        columns[TEXT_HIGH] = text_high
    if job.stores_whole:
        columns[WHOLE] = stored_rows(np.concatenate([job.no_rows(whole=True), *(part.rows for part in wholes)]))
    if job.has_sites:
        columns[SITE] = sites
    return pa.table(columns | values)


def _signatures(job: Job, corpus: Corpus, positions: Positions, wholes: list[Signatures]) -> Signatures:
    """Sign as a run in memory does, with short rows if these are enough; append whole ones if they are stored."""
    scheme: Any = job.scheme
    if not job.is_short:
        return cast("Signatures", scheme.sign_at(corpus, positions))
    if not job.stores_whole:
        return cast("Signatures", scheme.sign_short_at(corpus, positions))
    wholes.append(scheme.sign_at(corpus, positions))
    return cast("Signatures", scheme.shortened(wholes[-1]))
