"""The documents and the result of a run in pieces: most of both stays in files, and is read where it is asked for."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.decisions.evidence import COLUMNS
from neardup.model.arrays import Flags, Positions
from neardup.model.changes import is_keyed
from neardup.model.errors import DataError
from neardup.pipeline.corpus.documents import rows_in
from neardup.pipeline.corpus.result import RunResult, Summary, decided_rows, with_places
from neardup.pipeline.spilled.earlier_documents import Earlier
from neardup.pipeline.spilled.job import REVISITS, Job, of_shard
from neardup.pipeline.spilled.outcome import DROPPED, EXACT, REPRESENTATIVES, RULES
from neardup.pipeline.spilled.ranking import thresholds
from neardup.pipeline.spilled.signing import Signed, faults_in
from neardup.sources.formats import display
from neardup.text.columns import gathered
from neardup.text.host_templates import HostTemplates


class StoredDocuments:
    """The documents of a run in pieces, as ``WholeInputs`` has those in memory; *records* are of all shards.

    The documents that are only compared with do not count. Their positions are those after the last one. Their records
    that are rejected, or hold line ends inside quotation marks, are reported.
    """

    def __init__(self, job: Job, records: list[dict[str, Any]]) -> None:
        self._job = job
        self.signed = Signed(job, records)
        self.records = [
            one for one, shard in zip(records, job.shards.shards, strict=True) if shard.source >= job.compared
        ]
        every = faults_in(records)
        own = faults_in(self.records) if job.compared else every
        self.rejected, self.quoted_lines = every.rejected, every.quoted_lines
        self.skipped, self.body_faults, self.ignored = own.skipped, own.body_faults, job.shards.ignored
        self.without_text, self.without_templates = own.without_text, own.without_templates
        self.names = tuple(display(path) for path in job.shards.inputs[job.compared :])
        self.text_bytes: int = sum(record["text"] for record in self.records)
        ids, first = self.signed.ids(), self.signed.first
        self.ids = pa.chunked_array([*ids[first:].chunks, *ids[:first].chunks], ids.type)

    def __len__(self) -> int:
        return len(self.signed) - self.signed.first

    @property
    def revisits(self) -> pa.Table | None:
        """The revisit records of the archives; ``None`` if there are none."""
        first = len(self._job.shards.shards) - len(self.records)
        shards = (shard for shard, one in enumerate(self.records, first) if one["revisits"])
        tables = [self._job.table(of_shard(REVISITS, shard)) for shard in shards]
        return pa.concat_tables(tables) if tables else None

    @property
    def templates(self) -> HostTemplates | None:
        """The templates of hosts that web pages were read with; ``None`` without any."""
        shards = self._job.shards
        return None if shards.extraction is None else shards.request.extraction.templates

    def places(self) -> pa.Table | None:
        """Return columns with the place of each document; ``None`` if its id is enough."""
        return self.signed.places()

    def originals(self, representatives: Positions) -> pa.Table:
        """Return where the records of these documents are, as ``WholeInputs.originals`` does.

        Nulls also represent documents of a state or an index, and those that have no bytes of their own in a file.
        """
        from neardup.sources.archives import originals  # most runs write none

        signed, places = self.signed, self._stored(representatives)
        paths: list[str | None] = [None] * len(places)
        offsets: list[int | None] = [None] * len(places)
        there = np.flatnonzero((representatives >= 0) & (places >= signed.edges[0]))
        shards = np.searchsorted(signed.edges, places[there], side="right") - 1
        for shard in np.unique(shards).tolist():
            rows = there[shards == shard]
            known = signed.offsets(shard, places[rows] - signed.edges[shard])
            sources = signed.sources(shard, places[rows] - signed.edges[shard])
            for row, source, offset in zip(rows.tolist(), sources, known, strict=True):
                paths[row], offsets[row] = self._job.shards.inputs[source], offset
        return originals(paths, offsets)

    def _stored(self, positions: Positions) -> Positions:
        """Return the positions at which the documents are stored: the earlier ones are before the others there."""
        return np.where(positions < len(self), positions + self.signed.first, positions - len(self))

    def raw_texts(self, positions: Positions, map_: Callable[..., Iterable[Any]] = map) -> list[bytes | None]:
        """Return the texts at these positions, as bytes; null for a missing text. Their shards are read again.

        *map_* applies the function that reads a shard, in order. Earlier texts whose file was changed or removed are
        missing, too: what needs them for decisions has read them before.
        """
        signed, earlier = self.signed, self._job.earlier
        places = self._stored(positions)
        found: dict[int, bytes | None] = {}
        wanted: list[tuple[Callable[[], Iterable[pa.ChunkedArray]], Positions, Positions]] = []
        for shard in range(len(earlier.sizes)) if (places < signed.edges[0]).any() else ():
            leaders, rows = earlier.kept_of(shard)
            chosen = np.isin(leaders, places)
            found |= dict.fromkeys(leaders[chosen].tolist())
            wanted.append((partial(_readable, earlier, shard), leaders[chosen], rows[chosen]))
        shards = np.searchsorted(signed.edges, places, side="right") - 1
        for shard in np.unique(shards[shards >= 0]).tolist():
            own = np.unique(places[shards == shard])
            wanted.append((partial(signed.texts, shard), own, own - signed.edges[shard]))
        for some in map_(lambda one: _texts(*one), wanted):
            found |= some
        return [found[place] for place in places.tolist()]


def _readable(earlier: Earlier, shard: int) -> Iterator[pa.ChunkedArray]:
    """Yield the earlier texts of a shard, up to those that cannot be read any more."""
    with suppress(DataError):
        yield from earlier.texts_of(shard)


def _texts(read: Callable[[], Iterable[pa.ChunkedArray]], names: Positions, rows: Positions) -> dict[int, bytes | None]:
    """Return the texts of these rows (ascending) of a shard, by *names*; its other texts are not held any longer."""
    found: dict[int, bytes | None] = {}
    for piece, part, own in rows_in(read(), rows):
        found |= zip(names[part].tolist(), gathered(piece, own).to_pylist(), strict=True)
        if part.stop == len(rows):
            break
    return found


class StoredResult(RunResult):
    """The result of a run in pieces, as ``Result`` has one in memory.

    The documents are numbered from 0, and the earlier ones after them; ``representatives`` is int64[n], the number of
    each one's representative, or -1. ``segment`` is the name of the one that the run adds to its state, if it adds one.
    ``summarizing`` waits for the summary.
    """

    segment: str
    summarizing: Callable[[], Summary]
    source = None

    def __init__(self, job: Job, documents: StoredDocuments, rules: list[str]) -> None:
        """Open the stored decisions on *documents*; *rules* are those that the record of ``decide`` names."""
        self.documents, self._first = documents, documents.signed.first
        every = len(documents.signed)
        self.representatives = job.array(REPRESENTATIVES, np.int64, every)[self._first :]
        if self._first:
            stored = self.representatives
            own = stored + np.where(stored < self._first, len(documents), -self._first)
            self.representatives = np.where(stored < 0, -1, own)
        number = int((self.representatives >= 0).sum())
        self._dropped = job.array(DROPPED, np.int64, number)
        self._exact = job.array(EXACT, np.bool_, number)
        self._codes = job.array(RULES, np.int8, number)
        measures = [*COLUMNS, *(["threshold"] if thresholds(job).vary else [])]  # float64[d] each
        self._measures = {name: job.array(f"{name}.raw", np.float64, number) for name in measures}
        self._rules = np.array(rules, dtype=object)
        self._places = documents.places()
        self.scheme = None if is_keyed(job.scheme.key_identity) else job.scheme

    @cached_property
    def summary(self) -> Summary:  # type: ignore[override]  # it is assigned by no one
        """The run in numbers."""
        return self.summarizing()

    @property
    def exact(self) -> Flags:
        """One bool per document: whether it was dropped for one of the same text."""
        exact = np.zeros(len(self.documents), np.bool_)
        exact[self._dropped[self._exact]] = True
        return exact

    @property
    def decisions(self) -> pa.Table:
        """The whole table of decisions, in memory; see ``Result``."""
        return self.rows(0, len(self.documents))

    def rows(self, begin: int, end: int) -> pa.Table:
        """Return the rows of the table of decisions from *begin* to *end*; earlier documents have no position there."""
        first, last = np.searchsorted(self._dropped, [begin, end]).tolist()
        dropped = np.asarray(self._dropped[first:last])
        evidence: dict[str, Any] = {name: np.asarray(column[first:last]) for name, column in self._measures.items()}
        evidence["rule"] = self._rules[np.asarray(self._codes[first:last])]
        ids = self.documents.ids
        rows = decided_rows(
            ids[begin:end].cast(pa.string()),
            begin,
            len(self.documents),
            np.asarray(self.representatives[begin:end]),
            gathered(ids, self.representatives[dropped]).cast(pa.string()),
            dropped - begin,
            evidence,
            np.asarray(self._exact[first:last]),
        )
        return rows if self._places is None else with_places(rows, self._places[begin:end])
