"""Expected candidates of a document in a large collection, and whether unrelated documents fill the buckets."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from neardup.evaluation.plain_results import AsDict
from neardup.model.arrays import Words
from neardup.model.candidates import ROOM
from neardup.model.errors import require, require_whole

SAMPLE: Final = 1 << 13  # documents; comparing all pairs takes two bytes each
_HALVINGS: Final = 20

_MANY: Final = 10**15


@dataclass(frozen=True, kw_only=True)
class ExpectedCandidates(AsDict):
    """The expected number of *candidates* of a document among this many *documents*.

    Candidates are the other documents that share a key with a document, before buckets are limited. ``bucket`` is the
    mean number of other documents in a bucket of a document; if it ``overflows``, the document is not compared with all
    of them, so that recall falls.
    """

    documents: int
    candidates: float
    bucket: float
    overflows: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "overflows", self.bucket > ROOM)


def expected_candidates(
    keys: Words, documents: int, *, position_independent: bool = False, most: int | None = None
) -> ExpectedCandidates:
    """Estimate the candidates of a document among *documents* from the keys of a random sample of them.

    *keys* is uint64[n, K], of documents with different features; n is at least 2, and of more than 8,192 rows evenly
    spaced ones are used. With *position_independent*, a shared key counts in any column, and a key that a row repeats
    is one. Pairs that share more than *most* keys do not count, because they are related; with *position_independent*,
    unrelated documents share several, so these are pairs that share more than half of the keys of one of them. The
    shares of the pairs that meet, and that meet in a bucket, are those of the sample: both estimates are unbiased and
    grow with ``documents - 1``.

    >>> expected_candidates(np.array([[1, 2], [1, 3], [4, 5]], np.uint64), 7)
    ExpectedCandidates(documents=7, candidates=2.0, bucket=1.0)
    """
    keys = keys[:: -(-len(keys) // SAMPLE)]
    number, columns = keys.shape
    met = np.zeros((number, number), np.uint16)
    for column in [keys.ravel()] if position_independent else keys.T:
        order = np.argsort(column, kind="stable")
        edges = np.flatnonzero(np.diff(column[order], prepend=~column[order[:1]], append=~column[order[-1:]]))
        several = np.flatnonzero(np.diff(edges) > 1)
        for begin, end in zip(edges[several].tolist(), edges[several + 1].tolist(), strict=True):
            bucket = order[begin:end]
            members = np.unique(bucket // columns) if position_independent else bucket
            met[np.ix_(members, members)] += 1
    np.fill_diagonal(met, val=0)
    own = np.full(number, columns)  # keys of each document
    if position_independent:
        own = 1 + np.count_nonzero(np.diff(np.sort(keys, axis=1), axis=1), axis=1)
    if most is not None:
        limits = np.maximum(most, own // 2) if position_independent else np.full(number, most)
        met[(met > limits) | (met > limits[:, None])] = 0
    scale = (documents - 1) / (number - 1) / number
    candidates, shared = int(np.count_nonzero(met)), float((met.sum(axis=1, dtype=np.int64) / own).sum())
    return ExpectedCandidates(documents=documents, candidates=candidates * scale, bucket=shared * scale)


def background_of(scheme: Any, found: ExpectedCandidates) -> float:
    """Return the resemblance of any two documents that would fill the buckets of a scheme with keys as *found*."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        fuller = candidates_by_law(scheme, found.documents, middle).bucket > found.bucket
        low, high = (low, middle) if fuller else (middle, high)
    return high


def candidates_by_law(scheme: Any, documents: int, background: float) -> ExpectedCandidates:
    """Return the expected candidates if any two documents have the resemblance *background* in the scheme's measure."""
    documents = require_whole("documents", documents, 1, _MANY)
    require(scheme.key_count is not None, "documents", documents, f"requires a scheme with keys, not {scheme.name}")
    curves, shared = scheme.curves(np.array([background])), scheme.key_probability(np.array([background]))
    met, shared = (float(law[0]) for law in (curves.get("candidate", curves["match"]), shared))
    others = documents - 1
    return ExpectedCandidates(documents=documents, candidates=others * max(met, shared), bucket=others * shared)
