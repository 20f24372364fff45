"""The memory of a run over a corpus, estimated by a simple model before the run begins."""

import warnings
from typing import Final

import numpy as np
import pyarrow as pa

from neardup.engines.resources import available_memory
from neardup.model.arrays import Corpus
from neardup.schemes.scheme import Scheme
from neardup.text.columns import batches

EACH: Final = 280  # bytes per document: its ranks, digests, candidates, decisions
ANY: Final = 1 << 25  # bytes of any run: batches of text in progress
_FEATURE: Final = 8  # bytes of a feature
_JOINED: Final = 1 / 4  # features per byte of text, above which they are copied
_LARGE: Final = 1 << 28  # bytes: smaller runs are not estimated


def needed_memory(scheme: Scheme, texts: pa.ChunkedArray, *, exact: bool = True, times: float = 1.0) -> int:
    """Return an estimate of the bytes that ``dedup`` needs at its peak, in addition to the documents.

    It is the sum of ``ANY``, 8 bytes per feature, and for each document ``EACH`` bytes, its signature and its keys. The
    number of features is estimated from the first megabyte of text. With more than one feature per 4 bytes of text,
    such as letters, features count twice, because they are copied together. *exact* is whether documents are verified
    exactly. A run over documents that share keys with very many others needs somewhat more. No documents need nothing.
    The documents are *times* as many as these.
    """
    first = next(batches(texts), None)
    if first is None:
        return 0
    features = scheme.shingling.batch_features(first)
    per_byte = len(features.values) / max(1, int(first.offsets[-1] - first.offsets[0]))
    copies = 2 if per_byte > _JOINED else 1
    each = EACH + (
        2 * _FEATURE if scheme.columns else _of_signature(scheme, Corpus(features, None, texts), exact=exact)
    )
    return ANY + int(times * (_FEATURE * per_byte * copies * texts.nbytes + len(texts) * each))


def warn_if_short(scheme: Scheme, texts: pa.ChunkedArray, *, exact: bool = True) -> None:
    """Warn if a run needs more memory than is available to this process."""
    if len(texts) * EACH <= _LARGE and 2 * _FEATURE * texts.nbytes <= _LARGE:
        return  # it is not worth an estimate
    needed, there = needed_memory(scheme, texts, exact=exact), available_memory()
    if there is not None and needed > there:
        rule = f"in addition to the documents, but only {there / 1e9:,.1f} GB are available"
        ways = "to use less, run in pieces, pass fewer documents at a time, or choose a scheme with smaller signatures"
        warnings.warn(f"about {needed / 1e9:,.1f} GB of memory will be needed {rule}; {ways}", RuntimeWarning, 1)


def _of_signature(scheme: Scheme, corpus: Corpus, *, exact: bool) -> int:
    """Return the bytes of one document's signature and keys in a run."""
    one = np.zeros(1, np.int64)
    if scheme.shortened is not None and exact:
        return int(scheme.sign_short_at(corpus, one).rows.nbytes)
    signatures = scheme.sign_at(corpus, one)
    keys = scheme.keys(signatures).nbytes
    if scheme.position_independent:  # only distinct ones are stored, twice during sorting
        keys = min(keys, 2 * _FEATURE * len(corpus.features.values) // max(1, len(corpus.features)))
    return signatures.rows.nbytes + keys
