"""Filling an index from a state, without comparing the kept documents of earlier runs again.

If the state has their whole signatures, they are copied; otherwise, and for texts and fields, the inputs are read.
"""

from collections.abc import Collection as Container
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import numpy as np
import pyarrow as pa

from neardup.decisions.exact import repeats
from neardup.engines.local import LocalEngine
from neardup.index.disk.columns import Batch, encoded
from neardup.model.arrays import Positions, TextBatch, Words
from neardup.model.errors import FieldMissing
from neardup.model.moments import moment_of_text
from neardup.pipeline.corpus.documents import rows_in
from neardup.pipeline.digests import keyed
from neardup.pipeline.index.fields import HOST, URL
from neardup.pipeline.index.inputs import Given, microseconds
from neardup.pipeline.index.page_terms import addresses_for, require_extraction
from neardup.pipeline.index.records import RecordReader
from neardup.pipeline.progress import Progress
from neardup.pipeline.spilled.earlier_documents import Earlier, WholeRows
from neardup.pipeline.spilled.state import State
from neardup.sources.addresses import MOST_ID_BYTES, Addresses
from neardup.sources.collection import InputPiece
from neardup.sources.record_faults import Rejected
from neardup.text.columns import chunk_batch, gathered, whole_batch

if TYPE_CHECKING:
    from neardup.pipeline.index.index import Index

_DIGESTS: Final = {"content": ("text", "text_high"), "equal": ("equal", "equal_high")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The result of filling an index from a state.

    *documents* is the number of kept documents in the state. Of these, *repeated* ones have the id of a later one,
    which is in the index instead, and *rejected* ones have an id or a field that an index cannot have. *total* is the
    number of documents in the index.
    """

    documents: int
    repeated: int
    rejected: list[Rejected]
    total: int


class Transfer:
    """Yields the kept documents of a state as columns of an index, in the order of its inputs.

    The decisions of the state are final: each of these documents is its own representative in the index.
    """

    def __init__(self, index: "Index", state: State, url: str | None, addresses: Addresses) -> None:
        self._store, self._scheme, self._kinds = index.store, index.scheme, index.fields
        self._url, self._addresses = url, addresses
        self._reader = RecordReader(
            kinds=index.fields,
            signed=index.scheme.columns,
            url=url,
            addresses=addresses,
            sites=not index.scheme.columns,
        )
        store, scheme = self._store, self._scheme
        wanted = [*scheme.columns, *self._kinds, *([url] if url else [])]
        self._earlier = state.earlier().with_fields([*dict.fromkeys(wanted)])
        self._added = [microseconds(moment_of_text(part.added), "at") for part in state.segments]
        self._ids = pa.chunked_array(self._earlier.ids(), pa.large_string())
        rows = self._earlier.whole_rows(store.columns.row_kind, store.columns.row_width)
        self.signed_before = None if scheme.columns or rows is None else _SignedBefore(self._earlier, rows)
        self._reads = bool(store.columns.texts or store.columns.fields or url)
        self._keys: list[Words] = []
        self.documents = int((self._earlier.representatives < 0).sum())
        self.rejected: list[Rejected] = []

    def batches(self, engine: LocalEngine, progress: Progress, required: Container[str] = ()) -> Iterator[Batch]:
        """Return the documents, reading and signing them if necessary, a few shards ahead.

        Raises ``DataError`` for an input that was changed after the run that added it, and ``FieldMissing`` for
        *required* fields that no record has.
        """
        shards = [shard for shard in range(len(self._earlier.sizes)) if len(self._earlier.kept_of(shard)[0])]
        missing: dict[str, FieldMissing] = {}
        existing: set[str] = set()
        ordinal = done = 0
        for found in engine.map(self._signed, shards, most=engine.threads):
            missing |= found.missing
            existing |= found.existing
            self.rejected += found.rejected
            for batch in found.batches:
                self._keys.append(keyed(cast("TextBatch", batch["id"]), self._store.salt))
                ordinals = ordinal + np.arange(len(self._keys[-1]))
                ordinal += len(ordinals)
                yield batch | dict.fromkeys(("ordinal", "representative", "decided", "reported"), ordinals)
            done += found.documents
            progress("sign", done, self.documents)
        for name in required:
            if name in missing and name not in existing:
                raise missing[name]

    def _signed(self, shard: int) -> "_Signed":
        leaders, places = self._earlier.kept_of(shard)
        moment = self._added[self._earlier.segment_of(shard)]
        found = _Signed([], [], {}, set(), len(places))
        normal = self._url is None and self._earlier.has_addresses(shard)
        if not self._reads and (copied := self._copied(leaders, normal=normal)):
            found.batches.append(copied | _times(moment, len(leaders)))
            return found
        for piece, inside, rows in rows_in(self._earlier.pieces(shard), places):
            if len(rows) and (batch := self._batch(piece, rows, leaders[inside], found, normal=normal)):
                found.batches.append(batch | _times(moment, len(batch["leads"])))
        return found

    def _copied(self, leaders: Positions, *, normal: bool) -> Batch | None:
        """Return the columns of some documents from the state alone, except times and ordinals.

        *normal* makes ids of the normal forms of their ids, which are addresses. Return ``None`` if the state lacks
        signatures, or an id is too long: that is reported with its place in the input.
        """
        if self.signed_before is None:
            return None
        known = gathered(self._ids, leaders).cast(pa.large_string())
        ids = encoded([*map(self._addresses.id_of, known.to_pylist())]) if normal else chunk_batch(known)
        return self.signed_before.at(leaders) | {"id": ids} if (np.diff(ids.offsets) <= MOST_ID_BYTES).all() else None

    def _batch(
        self, piece: InputPiece, rows: Positions, leaders: Positions, of: "_Signed", *, normal: bool
    ) -> Batch | None:
        """Return the columns of some documents of a piece, but for times and ordinals; ``None`` if all are rejected."""
        known = gathered(self._ids, leaders).cast(pa.string()).to_pylist()
        found = self._reader.read(piece, rows, known, known if normal else None)
        of.missing.update(found.missing)
        of.existing.update(found.fields.column_names, (URL, HOST) if normal else ())
        if self._url and self._url not in found.missing:
            of.existing.add(self._url)
        of.rejected.extend(found.rejected)
        if not len(named := found.named):
            return None
        ids, texts, fields = found.at(self._kinds, named)
        given = Given(self._scheme, self._store.columns, self._store.digest_salt, texts, fields)
        if self.signed_before is None:
            signed = given.at(slice(0, len(given))).columns(np.ones(len(given), np.bool_))
        else:
            signed = self.signed_before.at(leaders[named])
        batch: Batch = {**signed, "id": encoded(ids), **given.columns}
        if self._store.columns.texts:
            batch["text"] = whole_batch(given.documents(slice(0, len(ids))))
        return batch

    def repeated(self) -> Positions:
        """Return the ordinals of the documents with the id of a later one, once all documents were taken."""
        keys = np.concatenate([np.empty((0, 2), np.uint64), *self._keys])
        return np.flatnonzero(repeats(keys[::-1])[::-1])


class _SignedBefore:
    """The signatures and digests of the kept documents of a state."""

    def __init__(self, earlier: Earlier, rows: WholeRows) -> None:
        self._rows, self._present = rows, earlier.column("present", np.bool_)
        self._digests = {
            name: [earlier.column(one, np.uint64) for one in columns] for name, columns in _DIGESTS.items()
        }

    def at(self, leaders: Positions) -> Batch:
        return {
            **{name: np.stack([one[leaders] for one in columns], axis=1) for name, columns in self._digests.items()},
            "leads": np.ones(len(leaders), np.bool_),
            "present": self._present[leaders],
            "rows": self._rows.at(leaders),
        }


class _Signed(NamedTuple):
    """The columns of the *documents* of a shard but for ordinals, and which fields its records have and lack."""

    batches: list[Batch]
    rejected: list[Rejected]
    missing: dict[str, FieldMissing]
    existing: set[str]
    documents: int


def fill(  # noqa: PLR0913 - what is filled, and from what
    index: "Index",
    state: State,
    *,
    url: str | None = None,
    addresses: Addresses | None = None,
    threads: int | None = None,
    progress: Progress,
    required: Container[str] = (),
) -> Filled:
    """Fill an index without documents; see ``Index.fill``. Some record must have each of the *required* fields."""
    store = index.store
    store.require_new()
    state.require(index.scheme)
    extraction = state.extraction  # the texts of pages are extracted again
    if extraction is not None:
        require_extraction(index, extraction)
    transfer = Transfer(index, state, url, addresses_for(index, addresses))
    with LocalEngine(threads) as engine:
        terms = {"digests": state.header.salt} if transfer.signed_before else {}  # those of the state are copied
        batches = transfer.batches(engine, progress, [*required, *([url] if url else [])])
        store.fill(batches, transfer.documents, transfer.repeated, **terms)
    documents, rejected, total = transfer.documents, transfer.rejected, len(store)
    repeated = documents - len(rejected) - total
    return Filled(documents=documents, repeated=repeated, rejected=rejected, total=total)


def _times(moment: int, number: int) -> Batch:
    return {name: np.full(number, moment) for name in ("first", "time", "seen")}
