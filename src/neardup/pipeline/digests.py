"""Keyed digests of texts, and those that equal documents share.

Runs, states and indexes have the same ones, because an index that is filled from a state copies them. A secret *salt*
(uint64[2]) prevents different texts or features with equal digests.
"""

from typing import Any

import numpy as np

from neardup.index.disk.buffers import checksums, taken
from neardup.kernels.checksum import add_field, digest_words
from neardup.kernels.segments import blank
from neardup.model.arrays import Features, TextBatch, Words
from neardup.text.shingling import Shingling


def keyed(texts: TextBatch, salt: Words) -> Words:
    """Return keyed digests of texts, uint64[n, 2]: their checksums by the *salt*, and by its words exchanged."""
    return np.stack([checksums(texts, key) for key in (salt, exchanged(salt))], axis=1)


def contents(texts: TextBatch, salt: Words, rows: Any = None) -> Words:
    """Return ``keyed`` digests of texts, and of the bytes of their *rows* if given; zero for blank texts."""
    digests = np.ascontiguousarray(keyed(texts, salt).T)
    if rows is not None:
        raw = np.ascontiguousarray(rows).view(np.uint8).reshape(-1)
        bounds = len(raw) // max(len(texts), 1) * np.arange(len(texts) + 1)
        for sums, key in zip(digests, (salt, exchanged(salt)), strict=True):
            add_field(raw, bounds, bounds[1:], key, sums)
    without = np.empty(len(texts), np.bool_)
    blank(texts.data, texts.offsets, without)
    digests[:, without] = 0
    return np.ascontiguousarray(digests.T)


def equals(texts: TextBatch, features: Features, salt: Words, second: Shingling | None = None) -> Words:
    """Return the digests of 128 bits that equal documents share: of their *features*, or without any of their texts.

    With a *second* shingling, its features must be equal, too. Digests are zero for blank texts, which equal none:
    uint64[n, 2].
    """
    digests = np.zeros((len(texts), 2), np.uint64)
    digest_words(features.values, features.offsets, salt, digests)
    lacks = np.diff(features.offsets) == 0
    if second is not None:
        other, further = second.batch_features(texts), np.zeros_like(digests)
        digest_words(other.values, other.offsets, exchanged(salt), further)
        digests ^= further
        lacks |= np.diff(other.offsets) == 0
    without = np.flatnonzero(lacks)
    if len(without):
        digests[without] = contents(taken(texts, without), salt)
    return digests


def exchanged(salt: Words) -> Words:
    """Return a salt with its words exchanged, the key of the second half of a digest."""
    return np.ascontiguousarray(salt[::-1])
