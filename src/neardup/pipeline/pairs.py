"""All pairs of documents with a measure of at least a threshold, of one collection or between two."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal, get_args

import numpy as np
import pyarrow as pa

from neardup.decisions.evidence import FeatureSets, Shared
from neardup.decisions.pairs import Join
from neardup.engines.local import LocalEngine
from neardup.kernels.sets import connect_given, roots
from neardup.model.arrays import Features, Positions
from neardup.model.errors import require, require_flag, require_share
from neardup.model.protocols import FieldScheme, Scheme
from neardup.pipeline.corpus import chosen_scheme
from neardup.pipeline.documents import Documents
from neardup.pipeline.progress import Progress, followed
from neardup.text.columns import batches
from neardup.text.shingling import FeatureBuffer

PairMeasure = Literal["resemblance", "containment", "overlap"]

_PARTS: Final = 64  # of the documents, one at a time on each thread


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """Pairs by position, ascending by *left* and *right*, and what they share."""

    left: Positions
    right: Positions
    common: Shared


def pairs(  # noqa: PLR0913 - every one a keyword with a default
    documents: Any,
    others: Any = None,
    *,
    measure: PairMeasure = "resemblance",
    threshold: float = 0.6,
    clusters: bool = False,
    text: str = "text",
    id: str | None = "id",  # noqa: A002 - the word users know
    scheme: Scheme | None = None,
    threads: int | None = None,
    progress: bool | Progress | None = None,
) -> pa.Table:
    """Return all pairs of documents whose exact *measure* is at least *threshold*: none is missed.

    Without *others*, these are the pairs of one collection; with them, those of a document and one of the *others*.
    *measure* is ``"resemblance"``; ``"overlap"``, of the smaller one; or ``"containment"``: of the left document in the
    right one or, in one collection, in either direction. The features are those of *scheme* (default: ``MinHash()``),
    as sets or bags; its signatures are not used. Containers and *id* are as in ``dedup``.

    The columns are ``left`` and ``right``, the ids (dictionaries of strings); ``left_position`` and ``right_position``
    (int64), by which the rows ascend; ``resemblance``, ``left_in_right`` and ``right_in_left``; and with *clusters*,
    which needs one collection, ``cluster`` (int64): the smallest position of the documents that are connected by pairs.
    Documents without features are in no pair. No documents have no pairs.

    Everything is in memory, also all pairs: *n* copies of one text are *n* (*n* - 1) / 2 pairs. Raises
    ``ParameterError`` and ``DataError``.
    """
    require(measure in get_args(PairMeasure), "measure", measure, "must be resemblance, containment or overlap")
    threshold = require_share("threshold", threshold)
    require_flag("clusters", clusters)
    require(not (clusters and others is not None), "clusters", clusters, "cannot be used with two collections")
    chosen, _ = chosen_scheme(scheme, None, None, None)
    rule = "signs fields, not texts: pairs are those of texts"
    require(not isinstance(chosen, FieldScheme), "scheme", chosen.name, rule)
    collections = [Documents.of(one, text, id) for one in (documents, others) if one is not None]
    with followed(progress) as follow, LocalEngine(threads) as engine:
        features = _features(collections, chosen, engine, follow)
        number = len(features.offsets) - 1
        join = Join(
            FeatureSets(features, np.arange(number)),
            threshold,
            measure="resemblance" if measure == "resemblance" else "overlap",
            sides=None if others is None else (np.arange(number) >= len(collections[0].texts)).astype(np.uint64),
            parts=engine.parts,
            map=engine.map,
        )
        least_contained = threshold if measure == "containment" and others is not None else 0.0
        found = _joined(join, least_contained, engine, follow)
    return _table(collections, found, clusters=clusters)


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


def _joined(join: Join, least_contained: float, engine: LocalEngine, progress: Progress) -> _Found:
    """Return the pairs whose left document is in the right one by a share of *least_contained* or more."""
    number = len(join)
    edges = np.linspace(0, number, min(number, _PARTS) + 1).astype(np.int64).tolist()
    rows = [np.empty((3, 0), np.int32)]  # half the memory
    parts = (slice(*part) for part in pairwise(edges))
    for done, joined in zip(edges[1:], engine.map(lambda part: list(join.pairs(part)), parts), strict=True):
        rows += [np.array([one.left, one.right, one.shared], np.int32) for one in joined]
        progress("compare", done, number)
    left, right, shared = np.concatenate(rows, axis=1)
    order = np.argsort(left * np.int64(number) + right)  # no pair is there twice
    if least_contained > 0:
        order = order[(shared / join.sizes[left])[order] >= least_contained]
    left, right = left[order].astype(np.int64), right[order].astype(np.int64)
    return _Found(left, right, Shared(shared[order].astype(np.int64), join.sizes[left], join.sizes[right]))


def _table(collections: list[Documents], found: _Found, *, clusters: bool) -> pa.Table:
    first = len(collections[0].texts)
    right = found.right - first if len(collections) > 1 else found.right
    columns = {
        "left": _named(collections[0], found.left),
        "right": _named(collections[-1], right),
        "left_position": found.left,
        "right_position": right,
        "resemblance": found.common.resemblance,
        "left_in_right": found.common.left_in_right,
        "right_in_left": found.common.right_in_left,
    }
    if clusters:
        columns["cluster"] = _clusters(found, first)[found.left]
    return pa.table(columns)


def _named(documents: Documents, positions: Positions) -> pa.Array:
    """Return the ids at these positions, as a dictionary: many pairs name few documents."""
    ids = documents.ids.cast(pa.large_string()).combine_chunks().dictionary_encode()
    return ids.take(pa.array(positions))


def _clusters(found: _Found, number: int) -> Positions:
    """Return the smallest position of the documents that are connected with each one."""
    parents = np.arange(number)
    bounds = np.arange(len(found.left) + 1)
    connect_given(found.left, bounds, found.right, np.ones(len(found.left), np.bool_), parents)
    roots(parents)
    return parents
