"""The largest clusters of a run, and what their documents share: copies of one text, or one template.

A template may also be spread over many small clusters: if its documents resemble each other by about the threshold.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress, islice, pairwise
from operator import itemgetter
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup.model.arrays import Flags, Positions
from neardup.schemes.scheme import Scheme
from neardup.schemes.terms import common_of
from neardup.text.columns import chunk_batch
from neardup.text.common_shingles import LEAST, different

CLUSTERS: Final = 3
LARGE: Final = 100  # documents of a cluster that is examined in any collection
LARGE_SHARE: Final = 0.05  # share of all documents in one cluster that is examined in a small collection
SAMPLE: Final = 32  # documents of a cluster that are examined; a run in pieces reads the shards of all these again
NEARLY_ALL: Final = 0.9
BEGINNING: Final = 80  # shown characters of a shared passage
SPREAD: Final = 10  # clusters that a template spreads over
HALF: Final = 0.5  # of the documents of different clusters have a feature of their template, and of their features

_STEPS: Final = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001)
_READ: Final = 1 << 16  # bytes of a text that are examined


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeCluster:
    """One of the largest clusters of a run, and what its documents share.

    ``representative``
        the id of its kept document.
    ``documents``, ``share_of_drops``
        its size including the kept document, and its share of all dropped documents, from 0 to 1.
    ``shared``
        the number of features that nearly all of its different documents have (at least ``NEARLY_ALL`` of them),
        counted in up to ``SAMPLE`` documents, evenly spread over the input; 0 if they were not counted.
    ``template``
        whether most of these are different documents that share features, not copies and edited copies of one text (see
        ``neardup.kernels.common_shingles.count_once``).
    ``beginning``
        for a template, the beginning of the longest passage that two of its documents share; otherwise, and if the run
        has left out common features, empty.
    ``ignore_common``
        for a template, a share for ``dedup(ignore_common=...)`` that leaves it out; otherwise, and if the run has left
        out what is in this share of the documents, ``None``.
    """

    representative: str
    documents: int
    share_of_drops: float
    shared: int = 0
    template: bool = False
    beginning: str = ""
    ignore_common: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadTemplate:
    """A block that the near duplicates of many clusters share.

    ``documents``, ``clusters``
        the number of near duplicates, and of their clusters.
    ``shared``
        the number of features that at least ``HALF`` of the near duplicates have, counted in up to ``SAMPLE`` of them,
        each of another cluster and different from the others; ``HALF`` of these have mostly such features.
    ``beginning``, ``ignore_common``
        as of a ``LargeCluster``.
    """

    documents: int
    clusters: int
    shared: int
    beginning: str
    ignore_common: float | None


def what_is_shared(
    ids: pa.ChunkedArray,
    raw_texts: Callable[[Positions], list[bytes | None]],
    representatives: Positions,
    exact: Flags,
    scheme: Scheme,
) -> dict[str, Any]:
    """Return the largest clusters and, if none of them has a template, one of many clusters, as parts of a summary."""
    found = largest_clusters(ids, raw_texts, representatives, exact, scheme)
    known = any(cluster.template for cluster in found)
    spread = None if known else spread_template(raw_texts, representatives, exact, scheme)
    return {"largest_clusters": found, "spread_template": spread}


def largest_clusters(
    ids: pa.ChunkedArray,
    raw_texts: Callable[[Positions], list[bytes | None]],
    representatives: Positions,
    exact: Flags,
    scheme: Scheme,
) -> tuple[LargeCluster, ...]:
    """Describe the largest clusters of two or more documents, the largest first, ties by position.

    *raw_texts* returns the texts at some positions as bytes, null for a missing text.
    *representatives* has the position of the kept document for each dropped document, and -1 for a kept document;
    *exact* is whether a dropped document equals it byte by byte. Shared features are only counted in clusters with
    ``LARGE`` documents or ``LARGE_SHARE`` of all of them, and ``LEAST`` different texts.
    """
    dropped = np.flatnonzero(representatives >= 0)
    sizes = np.bincount(representatives[dropped], minlength=len(representatives))
    kept = np.argsort(-sizes, kind="stable")[:CLUSTERS]
    kept = kept[sizes[kept] > 0]
    members = [dropped[representatives[dropped] == one] for one in kept.tolist()]
    least = min(LARGE, LARGE_SHARE * len(representatives))
    samples = [
        _sample(np.append(one, own)) if 1 + len(own) >= least and 1 + int((~exact[own]).sum()) >= LEAST else own[:0]
        for one, own in zip(kept.tolist(), members, strict=True)
    ]
    texts = iter(raw_texts(np.concatenate([dropped[:0], *samples])))  # at once: files may have to be read
    return tuple(
        LargeCluster(
            representative=str(ids[one].as_py()),
            documents=1 + len(own),
            share_of_drops=len(own) / len(dropped),
            **_looked_into([*islice(texts, len(sample))], 1 + len(own), len(representatives), scheme),
        )
        for one, own, sample in zip(kept.tolist(), members, samples, strict=True)
    )


def spread_template(
    raw_texts: Callable[[Positions], list[bytes | None]], representatives: Positions, exact: Flags, scheme: Scheme
) -> SpreadTemplate | None:
    """Return the template that the near duplicates of different clusters share, if there is one.

    The parameters are those of ``largest_clusters``. Near duplicates are examined if they are of ``SPREAD`` clusters,
    and ``LARGE`` or ``LARGE_SHARE`` of all documents.
    """
    near = np.flatnonzero((representatives >= 0) & ~exact)
    kept, first = np.unique(representatives[near], return_index=True)
    number = len(representatives)
    if scheme.columns or len(kept) < SPREAD or len(near) < min(LARGE, LARGE_SHARE * number):
        return None
    found = _Features(raw_texts(_sample(near[first])), scheme)
    common = found.terms[found.counts >= HALF * found.distinct]
    shares = [np.isin(own, common).mean() for own in found.different]
    if found.distinct < SPREAD or np.median(shares) < HALF:
        return None
    return SpreadTemplate(
        documents=len(near),
        clusters=len(kept),
        shared=len(common),
        beginning=found.beginning(),
        ignore_common=_fitting(HALF * (len(near) + len(kept)) / number, scheme),
    )


def _sample(members: Positions) -> Positions:
    members = np.sort(members)
    return members[np.unique(np.linspace(0, len(members) - 1, SAMPLE).astype(np.int64))]


def _looked_into(raw: Sequence[bytes | None], members: int, number: int, scheme: Scheme) -> dict[str, Any]:
    """Describe a cluster of *members* documents, of *number* in the collection, by some of its texts."""
    if not any(raw):
        return {}
    found = _Features(raw, scheme)
    shared = int((found.counts >= NEARLY_ALL * found.distinct).sum())
    if scheme.columns or not shared or found.distinct < LEAST or 2 * found.distinct < found.sets:
        return {"shared": shared}
    return {
        "shared": shared,
        "template": True,
        "beginning": found.beginning(),
        "ignore_common": _fitting(members * found.distinct / len(found.texts) / number, scheme),
    }


def _fitting(share: float, scheme: Scheme) -> float | None:
    """Return the share to leave out what is in this *share* of the documents; ``None`` if that was done."""
    fitting = next((step for step in _STEPS if step <= share / 2), _STEPS[-1])
    common = common_of(scheme)
    return fitting if common is None or fitting < common.share else None


class _Features:
    """The features of some texts, and of the different documents among them.

    *different* are the features of each of these documents, *terms* all of these features, distinct, and *counts* the
    numbers of these documents that have each of them. *sets* is the number of different sets of features of all texts.
    """

    def __init__(self, raw: Sequence[bytes | None], scheme: Scheme) -> None:
        """Read the beginnings of texts, without missing and empty ones."""
        self._scheme = scheme
        self.texts = [text[:_READ] for text in raw if text]
        features = scheme.shingling.batch_features(chunk_batch(pa.array(self.texts, pa.large_binary())))
        self._counted = different(features, getattr(scheme.shingling, "size", 1))
        values = [features.values[begin:end] for begin, end in pairwise(features.offsets)]
        self.different = list(compress(values, self._counted.tolist()))
        every = np.concatenate([features.values[:0], *self.different])
        self.terms, self.counts = np.unique(every, return_counts=True)
        self.sets = len({own.tobytes() for own in values})

    @property
    def distinct(self) -> int:
        """The number of different documents."""
        return len(self.different)

    def beginning(self) -> str:
        """Return the beginning of the longest passage of the first and the last different text, on one line.

        It is empty if common features are left out: they may be that passage.
        """
        if common_of(self._scheme) is not None:
            return ""
        from neardup.evaluation.passages import shared_passages  # loaded for templates only

        places = np.flatnonzero(self._counted)[[0, -1]]
        one, other = (self.texts[place].decode("utf-8", "replace") for place in places)
        found = [(passage.words, one[slice(*passage.a)]) for passage in shared_passages(one, other).shared]
        _, passage = max(found, key=itemgetter(0), default=(0, ""))
        return " ".join(passage.split())[:BEGINNING]
