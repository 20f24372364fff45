"""The largest clusters of a run, and what their documents share: copies of one text, or one template."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup.model.arrays import Flags, Positions
from neardup.model.protocols import Scheme
from neardup.text.columns import text_column, whole_batch
from neardup.text.common_shingles import LEAST, different

CLUSTERS: Final = 3
LARGE: Final = 100  # documents of a cluster that is examined in any collection
LARGE_SHARE: Final = 0.05  # share of all documents in one cluster that is examined in a small collection
SAMPLE: Final = 64  # documents of a cluster that are examined
NEARLY_ALL: Final = 0.9
BEGINNING: Final = 80  # shown characters of a shared passage

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
        whether most of these are different documents with one block in common, not copies and edited copies of one text
        (see ``neardup.kernels.common_shingles.count_once``).
    ``beginning``
        for a template, the beginning of the longest passage that two of its documents share, otherwise empty.
    ``ignore_common``
        for a template, a share for ``dedup(ignore_common=...)`` that leaves it out, otherwise ``None``.
    """

    representative: str
    documents: int
    share_of_drops: float
    shared: int = 0
    template: bool = False
    beginning: str = ""
    ignore_common: float | None = None


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
    heads = np.argsort(-sizes, kind="stable")[:CLUSTERS] if len(dropped) else dropped
    heads = heads[sizes[heads] > 0]
    members = [dropped[representatives[dropped] == head] for head in heads.tolist()]
    least = min(LARGE, LARGE_SHARE * len(representatives))
    samples = [
        _sample(np.append(head, own)) if 1 + len(own) >= least and 1 + int((~exact[own]).sum()) >= LEAST else own[:0]
        for head, own in zip(heads.tolist(), members, strict=True)
    ]
    texts = iter(raw_texts(np.concatenate([dropped[:0], *samples])))  # at once: files may have to be read
    return tuple(
        LargeCluster(
            representative=str(ids[head].as_py()),
            documents=1 + len(own),
            share_of_drops=len(own) / len(dropped),
            **_looked_into([*islice(texts, len(sample))], 1 + len(own), len(representatives), scheme),
        )
        for head, own, sample in zip(heads.tolist(), members, samples, strict=True)
    )


def _sample(members: Positions) -> Positions:
    members = np.sort(members)
    return members[np.unique(np.linspace(0, len(members) - 1, SAMPLE).astype(np.int64))]


def _looked_into(raw: Sequence[bytes | None], members: int, number: int, scheme: Scheme) -> dict[str, Any]:
    """Describe a cluster of *members* documents, of *number* in the collection, by some of its texts."""
    texts = [text[:_READ].decode("utf-8", "ignore") for text in raw if text]
    if not texts:
        return {}
    features = scheme.shingling.batch_features(whole_batch(text_column(texts)))
    counted = different(features, getattr(scheme.shingling, "size", 1))
    bounds = features.offsets
    sets = [features.values[begin:end].tobytes() for begin, end in pairwise(bounds)]
    values = features.values[: bounds[-1]][np.repeat(counted, np.diff(bounds))]
    _, counts = np.unique(values, return_counts=True)
    distinct = int(counted.sum())
    shared = int((counts >= NEARLY_ALL * distinct).sum())
    if scheme.columns or distinct < LEAST or 2 * distinct < len(set(sets)):
        return {"shared": shared}
    one, other = (texts[place] for place in np.flatnonzero(counted)[[0, -1]])
    share = members * distinct / len(texts) / number
    fitting = [step for step in _STEPS if step <= share / 2]
    return {
        "shared": shared,
        "template": True,
        "beginning": _beginning(one, other),
        "ignore_common": fitting[0] if fitting else _STEPS[-1],
    }


def _beginning(one: str, other: str) -> str:
    """Return the beginning of the longest passage that two texts share, on one line."""
    from neardup.evaluation.passages import shared_passages  # loaded for templates only

    passages = shared_passages(one, other).shared
    longest = max(passages, key=lambda passage: passage.words, default=None)
    if longest is None:
        return ""
    begin, end = longest.a
    return " ".join(one[begin:end].split())[:BEGINNING]
