"""All pairs of documents with a measure of at least a threshold, of one collection or between two."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.decisions.evidence import COSINE, FeatureSets, Shared, WeightedSets
from neardup.decisions.pairs import Join, clusters_of
from neardup.decisions.weighted_partners import CosineJoin
from neardup.engines.local import LocalEngine
from neardup.kernels.radix import sort
from neardup.model.arrays import Features, Positions, Values, Words
from neardup.model.engine import silent
from neardup.model.errors import require, require_choice, require_flag, require_share
from neardup.pipeline.corpus.documents import Documents
from neardup.pipeline.corpus.run import scheme_of_texts
from neardup.pipeline.progress import Progress, followed
from neardup.schemes.scheme import Scheme
from neardup.schemes.simhash import SimHash
from neardup.text.columns import batches
from neardup.text.shingling import FeatureBuffer

PairMeasure = Literal["resemblance", "containment", "overlap", "cosine"]
PAIRS_OF_TEXTS: Final = "pairs compares texts; choose another scheme"

_PARTS: Final = 64  # of the documents, one at a time on each thread
_FEW: Final = 1 << 11  # documents of a part; every part looks at all others


class PairRule:
    """Which pairs are found: those whose *measure* is at least *threshold*; *between* two collections, or of one."""

    def __init__(self, measure: str, threshold: float, *, clusters: bool, between: bool) -> None:
        """Check the rule of a call of ``pairs``; raises ``ParameterError``."""
        known = "must be resemblance, containment, overlap or cosine"
        require_choice("measure", measure, get_args(PairMeasure), known)
        self.measure, self.threshold, self.between = measure, require_share("threshold", threshold), between
        require_flag("clusters", clusters)
        rule = "cannot be used with two collections, as clusters are those of one; name all documents as one collection"
        require(not (clusters and between), "clusters", clusters, rule)

    def sets(self, scheme: Scheme, features: Features) -> FeatureSets:
        """Return the features of documents, with the weights of the scheme if cosines are measured."""
        everything = np.arange(len(features))
        if self.measure == COSINE:
            return WeightedSets(features, everything, getattr(scheme, "weight_table", SimHash().weight_table))
        return FeatureSets(features, everything)

    def join(self, sets: FeatureSets, sides: Words | None, engine: LocalEngine) -> Join | CosineJoin:
        """Prepare finding the pairs of documents with these features, of two *sides* if these are given."""
        ways: dict[str, Any] = {"sides": sides, "engine": engine}
        if isinstance(sets, WeightedSets):
            return CosineJoin(sets, self.threshold, **ways)
        measure = "resemblance" if self.measure == "resemblance" else "overlap"
        return Join(sets, self.threshold, measure=measure, **ways)

    def found(
        self, join: Join | CosineJoin, engine: LocalEngine, progress: Progress = silent
    ) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the left and the right documents of pairs, ``left < right``, and what they share, some at a time."""
        number = len(join)
        most = max(2 * engine.threads, number // _FEW) if isinstance(join, CosineJoin) else _PARTS
        edges = np.linspace(0, number, min(number, most) + 1).astype(np.int64).tolist()
        parts = (slice(*part) for part in pairwise(edges))
        for done, joined in zip(edges[1:], engine.map(lambda part: list(join.pairs(part)), parts), strict=True):
            for one in joined:
                left, right, shared = rows = np.array([one.left, one.right, one.shared], np.int32)  # half the memory
                if self.between and self.measure == "containment":
                    rows = np.stack([left, right, shared])[:, shared / join.sizes[left] >= self.threshold]
                yield rows
            progress("compare", done, number)


def pairs(  # noqa: PLR0913 - every one a keyword with a default
    documents: Any,
    others: Any = None,
    *,
    measure: PairMeasure = "resemblance",
    threshold: float | None = None,
    clusters: bool = False,
    text: str = "text",
    id: str | None = "id",  # noqa: A002 - the word users know
    scheme: Scheme | None = None,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> pa.Table:
    """Return all pairs of documents whose exact *measure* is at least *threshold*: none is missed.

    Without *others*, these are the pairs of one collection; with them, those of a document and one of the *others*.
    *measure* is ``"resemblance"``; ``"overlap"``, of the smaller one; ``"containment"``: of the left document in the
    right one or, in one collection, in either direction; or ``"cosine"``, of the features weighted by how often they
    occur, times the weights of a ``SimHash`` scheme. The features are those of *scheme* (default: ``MinHash()``), as
    sets or bags; its signatures are not used. The default *threshold* is that of the scheme, 0.6 with ``MinHash()``,
    for every measure. Containers and *id* are as in ``dedup``.

    The columns are ``left`` and ``right``, the ids (dictionaries of strings); ``left_position`` and ``right_position``
    (int64), by which the rows ascend; ``resemblance``, ``left_in_right`` and ``right_in_left``; ``cosine`` if that is
    measured; and with *clusters*, which needs one collection, ``cluster`` (int64): the smallest position of the
    documents that are connected by pairs.
    Documents without features are in no pair. No documents have no pairs.

    Everything is in memory, also all pairs: *n* copies of one text are *n* (*n* - 1) / 2 pairs. Raises
    ``ParameterError`` and ``DataError``.
    """
    chosen = scheme_of_texts(scheme, PAIRS_OF_TEXTS)
    least = chosen.threshold if threshold is None else threshold
    rule = PairRule(measure, least, clusters=clusters, between=others is not None)
    collections = [Documents.of(one, text, id) for one in (documents, *([others] if rule.between else []))]
    with followed(progress) as follow, LocalEngine(threads) as engine:
        features = _features(collections, chosen, engine, follow)
        number, first = len(features.offsets) - 1, len(collections[0].texts)
        sides = (np.arange(number) >= first).astype(np.uint64) if rule.between else None
        sets = rule.sets(chosen, features)
        join = rule.join(sets, sides, engine)
        rows = np.concatenate([np.empty((3, 0), np.int32), *rule.found(join, engine, follow)], axis=1)
        connected = clusters_of([rows[:2].astype(np.int64)], first) if clusters else None
        ids = [one.ids.cast(pa.large_string()).combine_chunks().dictionary_encode() for one in collections]
        named = [lambda positions, own=own: own.take(pa.array(positions)) for own in ids]

        def table(part: slice) -> pa.Table:
            some = rows[:, (rows[0] >= part.start) & (rows[0] < part.stop)]
            both = some[0].astype(np.uint64) << np.uint64(32) | some[1].astype(np.uint64)
            order = np.argsort(both) if len(both) >> 32 else sort(both, np.arange(len(both), dtype=np.uint32), 0)[1]
            left, right, shared = some[:, order].astype(np.int64)
            found = Shared(shared, join.sizes[left], join.sizes[right])
            cosines = sets.cosines(left, right) if isinstance(sets, WeightedSets) else None
            return pair_table(left, right, found, named, first, cosines, connected)

        return pa.concat_tables(engine.map(table, engine.parts(first) or [slice(0, 0)]))


def _features(collections: list[Documents], scheme: Scheme, engine: LocalEngine, progress: Progress) -> Features:
    buffer = FeatureBuffer(sum(scheme.shingling.usual_features(one.texts.nbytes) for one in collections))
    total, done = sum(len(one.texts) for one in collections), 0
    progress("shingle", 0, total)
    every = (batch for one in collections for batch in batches(one.texts))
    for features in engine.map(scheme.shingling.batch_features, every):
        buffer.append(features)
        done += len(features.offsets) - 1
        progress("shingle", done, total)
    return buffer.features()


def pair_table(  # noqa: PLR0913, PLR0917 - what the columns are made of
    left: Positions,
    right: Positions,
    common: Shared,
    named: Sequence[Callable[[Positions], pa.Array]],
    first: int,
    cosines: Values | None,
    clusters: Positions | None,
) -> pa.Table:
    """Return the table of pairs; see ``pairs``.

    *named* return the ids of documents of each collection. With two, *first* is the first document of the second one.
    *clusters* are those of all documents.
    """
    right = right - first if len(named) > 1 else right
    columns: dict[str, Any] = {
        "left": named[0](left),
        "right": named[-1](right),
        "left_position": left,
        "right_position": right,
        "resemblance": common.resemblance,
        "left_in_right": common.left_in_right,
        "right_in_left": common.right_in_left,
    }
    if cosines is not None:
        columns["cosine"] = cosines
    if clusters is not None:
        columns["cluster"] = clusters[left]
    return pa.table(columns)
