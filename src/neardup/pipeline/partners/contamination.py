"""Contamination: which items of a test set are in a training set."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.decisions.partners import Partners
from neardup.engines.local import LocalEngine
from neardup.evaluation.passages import RUN, longest_passage
from neardup.model.arrays import Features, Positions, TextBatch, Values
from neardup.model.errors import require_kind, require_paths, require_share, require_whole
from neardup.pipeline.corpus.documents import Documents, placed
from neardup.pipeline.progress import Progress, followed
from neardup.sources.formats import AnyPath
from neardup.sources.inputs import inputs_of
from neardup.sources.record_faults import QuotedLines, RecordFaults, Rejected, WithoutText, in_total
from neardup.sources.request import Request
from neardup.sources.shards import local_shards
from neardup.text.analysis import Analysis
from neardup.text.columns import batches, gathered, readable_text, text_column, whole_batch
from neardup.text.shingling import Shingling, shingle_filter

WORDS: Final = 13
THRESHOLD: Final = 0.8
_SHORT: Final = 3  # words of a run in items that are shorter than a run
_READ: Final = 200_000  # characters of a document that are searched for passages
_ANY: Final = 1e-12  # the least share of an item: one run that both have
_DOCUMENTS: Final = pa.schema(
    [("id", pa.large_string()), ("position", pa.int64()), ("items", pa.int64()), ("share", pa.float64())]
)


@dataclass(frozen=True, slots=True, eq=False)
class Contamination:
    """The result of ``contamination``.

    ``items`` has one row per item of the test set:

    ``id``, ``position``, ``words``
        the item, its place (int64), and the number of its words (int64).
    ``share``, ``document``, ``document_position``
        the largest share of its runs of words that one training document has, and which document; null without any.
    ``documents``
        how many training documents have at least the threshold.
    ``anywhere``
        the share of its runs that any training document has.
    ``contaminated``
        whether ``share`` reaches the threshold.
    ``passage``
        if it is contaminated, the longest run of words that it shares with the first 200,000 characters of the
        document; null without any. These are words of the default ``Analysis``, at least three, or all of an item that
        has fewer.

    ``documents``: one row per training document with at least the threshold of some item, which may be dropped: ``id``,
    ``position``, ``items`` (how many) and ``share`` (the largest). *read* documents were compared; *rejected* are the
    records that are not documents. *without_text* are the documents, and *items_without_text* the items, of files whose
    text is missing or null. *quoted_lines* describes records of both with line ends inside quotes, if there are any and
    quoting was not requested.
    """

    items: pa.Table
    documents: pa.Table
    read: int
    rejected: Sequence[Rejected] = ()
    without_text: WithoutText | None = None
    items_without_text: WithoutText | None = None
    quoted_lines: QuotedLines | None = None

    def __repr__(self) -> str:
        """Return the counts in one line: the tables may have millions of rows."""
        counts = f"contaminated={self.contaminated:,}, documents={len(self.documents):,}, read={self.read:,}"
        return f"Contamination(items={len(self.items):,}, {counts})"

    @property
    def contaminated(self) -> int:
        """The number of contaminated items."""
        return int(self.items["contaminated"].to_numpy().sum())


def contamination(  # noqa: PLR0913 - every one a keyword with a default
    training: Any,
    items: Any,
    *,
    words: int = WORDS,
    threshold: float = THRESHOLD,
    text: str = "text",
    id: str | None = "id",  # noqa: A002 - the word users know
    analysis: Analysis | None = None,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> Contamination:
    """Find which *items* of a test set are in *training* documents; both are containers as in ``dedup``.

    An item is contaminated if one document has at least the share *threshold* of its runs of *words* words; an item of
    fewer words is compared by runs of three words, and one of fewer than three by all of its words, which must be all
    of the document's. Words are those of *analysis*, so that case and punctuation do not count. Items without words are
    never contaminated. Raises ``ParameterError`` and ``DataError``.
    """
    documents, asked = Documents.of(training, text, id), Documents.of(items, text, id)
    found = _ItemSearch(asked.texts, words, threshold, analysis)
    with followed(progress) as follow, LocalEngine(threads) as engine:
        found.scan(documents.texts, documents.ids, engine)
        follow("compare", len(documents.texts), len(documents.texts))
    return found.result(asked.ids)


def contamination_in_files(  # noqa: PLR0913 - every one an option of the command line
    training: Sequence[AnyPath],
    items: Sequence[AnyPath],
    *,
    words: int = WORDS,
    threshold: float = THRESHOLD,
    text: str = "text",
    id: str = "id",  # noqa: A002 - the field's name, as everywhere
    analysis: Analysis | None = None,
    threads: int | None = None,
    progress: bool | Progress | None = None,
    **reading: Any,
) -> Contamination:
    """Find which items of files are in training files, which are read in pieces: they may be larger than memory.

    *reading* are parameters of ``neardup.sources.read``; everything else is as in ``contamination``. ``rejected`` of
    the result are the records that are not documents. Raises ``ParameterError`` and ``DataError``; also if all records
    of the training files, or of the items, are rejected.
    """
    for name, paths in (("training", training), ("items", items)):
        require_paths(name, paths)
    read, of_items = RecordFaults(), RecordFaults()
    request = Request(text=text, id=id, **reading)
    columns = pa.schema(dict.fromkeys(("text", "id"), pa.large_string()))
    with local_shards(inputs_of(items, request, training), request) as shards:
        tables = []
        for one in shards.every_piece():
            of_items.add(one)
            tables.append(pa.table({"text": one.texts, "id": one.ids}).cast(columns))
        of_items.require_documents(shards.names)
    asked = pa.concat_tables([columns.empty_table(), *tables])
    found = _ItemSearch(asked["text"], words, threshold, analysis)
    with (
        followed(progress) as follow,
        LocalEngine(threads) as engine,
        local_shards(inputs_of(training, request, items), request) as shards,
    ):
        for piece in shards.every_piece(partial(follow, "read")):
            read.add(piece)
            if len(piece):
                found.scan(piece.texts, piece.ids, engine)
        read.require_documents(shards.names)
    return replace(
        found.result(asked["id"]),
        rejected=of_items.rejected + read.rejected,
        without_text=read.without_text,
        items_without_text=of_items.without_text,
        quoted_lines=in_total([of_items.quoted_lines, read.quoted_lines]),
    )


class _ItemSearch:
    """The items, long and short, and what was found of them so far."""

    def __init__(self, texts: Any, words: int, threshold: float, analysis: Analysis | None) -> None:
        words = require_whole("words", words, 1, 1000)
        self._run, self._threshold = words, require_share("threshold", threshold)
        analysis = Analysis() if analysis is None else analysis
        require_kind("analysis", analysis, Analysis)
        self._texts = text_column(texts)
        number = len(self._texts)
        self._shingling = Shingling(analysis=analysis)
        self._words = np.diff(self._shingling.tokens(whole_batch(self._texts)).offsets)
        long = self._words >= words
        self._kinds = [
            _Kind(replace(self._shingling, size=size), self._texts, np.flatnonzero(chosen))
            for size, chosen in ((words, long), (_SHORT, ~long & (self._words > 0)))
            if chosen.any()
        ]
        self._share, self._documents = np.zeros(number), np.zeros(number, np.int64)
        self._best = np.full(number, -1, np.int64)
        self._found: dict[int, tuple[str, str | None]] = {}  # ids of the best documents, and contaminating passages
        self._listed = [_DOCUMENTS.empty_table()]  # the training documents with items
        self.read = 0

    def scan(self, texts: Any, ids: Any, engine: LocalEngine) -> None:
        """Compare some more training documents."""
        texts = text_column(texts)
        nothing = np.empty(0, np.int64)
        listed = [(nothing, nothing, np.empty(0))]
        before = self._best.copy()
        for start, every in engine.map(self._look, placed(batches(texts))):
            for kind, found in zip(self._kinds, every, strict=True):
                self._documents[kind.items] += found.documents
                better = np.flatnonzero(found.share > self._share[kind.items])
                own = kind.items[better]
                self._share[own], self._best[own] = found.share[better], self.read + start + found.row[better]
                listed += [(rows + start, items, shares) for rows, items, shares in found.listed]
        self._read_best(np.flatnonzero(self._best != before), texts, ids)
        rows, items, shares = map(np.concatenate, zip(*listed, strict=True))
        distinct, at = np.unique(rows, return_inverse=True)
        counts, largest = np.zeros(len(distinct), np.int64), np.zeros(len(distinct))
        np.add.at(counts, at, items)
        np.maximum.at(largest, at, shares)
        names = ids.take(pa.array(distinct)).cast(pa.large_string())
        self._listed.append(pa.table([names, self.read + distinct, counts, largest], schema=_DOCUMENTS))
        self.read += len(texts)

    def _read_best(self, items: Positions, texts: pa.ChunkedArray, ids: Any) -> None:
        """Note the ids of the best documents of some items, and the passages of contaminated ones."""
        last, document = -1, ""
        for own in items[np.argsort(self._best[items], kind="stable")].tolist():
            place = int(self._best[own]) - self.read
            contaminated = self._share[own] >= self._threshold
            if contaminated and place != last:
                last, document = place, readable_text(texts, place)[:_READ]
            self._found[own] = str(ids[place].as_py()), self._passage(own, document) if contaminated else None

    def _look(self, one: tuple[int, TextBatch]) -> tuple[int, list["_Found"]]:
        """Return what a batch of documents has of the items of each kind, and the position of its first document."""
        start, batch = one
        tokens = self._shingling.tokens(batch)
        return start, [kind.among(tokens, self._threshold) for kind in self._kinds]

    def result(self, ids: Any) -> Contamination:
        number = len(self._share)
        anywhere = np.zeros(number)
        for kind in self._kinds:
            anywhere[kind.items] = kind.partners.met
        found = [self._found.get(own, (None, None)) for own in range(number)]
        items = pa.table(
            {
                "id": ids,
                "position": np.arange(number),
                "words": self._words,
                "share": self._share,
                "document": pa.array([name for name, _ in found], pa.large_string()),
                "document_position": pa.array(self._best, mask=self._best < 0),
                "documents": self._documents,
                "anywhere": anywhere,
                "contaminated": self._share >= self._threshold,
                "passage": pa.array([passage for _, passage in found], pa.large_string()),
            }
        )
        return Contamination(items, pa.concat_tables(self._listed).combine_chunks(), self.read)

    def _passage(self, own: int, document: str) -> str | None:
        item = readable_text(self._texts, own)
        least = min(RUN, self._run, int(self._words[own]))
        found = longest_passage(item, document, least=least)
        return None if found is None else item[slice(*found)]


class _Found(NamedTuple):
    """What documents have of each item: the largest share, the first row with it, and how many have enough of it.

    *listed* are the rows of documents with enough of an item: of how many items, and their largest shares.
    """

    share: Values
    row: Positions
    documents: Positions
    listed: list[tuple[Positions, Positions, Values]]


class _Kind:
    """Items that are compared by runs of one length: their positions, and what finds their partners."""

    def __init__(self, shingling: Shingling, texts: pa.ChunkedArray, items: Positions) -> None:
        self._shingling, self.items = shingling, items
        own = shingling.batch_features(whole_batch(pa.chunked_array([gathered(texts, items)])))
        self._filter = shingle_filter(own.values)
        self.partners = Partners(own, _ANY, measure="overlap")

    def among(self, tokens: Features, threshold: float) -> _Found:
        """Return what the documents with these *tokens* have of the items: most runs of words are in no item."""
        number = len(self.items)
        found = _Found(np.zeros(number), np.zeros(number, np.int64), np.zeros(number, np.int64), [])
        for step in self.partners.steps(self._shingling.features_among(tokens, self._filter)):
            item, row, share = step.left, step.right, step.common.left_in_right
            order = np.lexsort((row, -share, item))
            firsts = order[np.diff(item[order], prepend=-1) > 0]
            better = firsts[share[firsts] > found.share[item[firsts]]]
            found.share[item[better]], found.row[item[better]] = share[better], row[better]
            enough = share >= threshold
            np.add.at(found.documents, item[enough], 1)
            rows, at, items = np.unique(row[enough], return_inverse=True, return_counts=True)
            largest = np.zeros(len(rows))
            np.maximum.at(largest, at, share[enough])
            found.listed.append((rows, items, largest))
        return found
