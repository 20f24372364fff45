"""Batches for kernels, made of lists."""

from itertools import pairwise

import numpy as np

from neardup.kernels import folding
from neardup.text.unicode import unicode_tables

U64 = 2**64 - 1


def ragged(segments, dtype=np.uint64):
    """Flat values and offsets."""
    offsets = np.cumsum([0, *map(len, segments)]).astype(np.int64)
    return np.array([value for segment in segments for value in segment], dtype), offsets


def set_arrays(sets):
    """The values of sets, where those of each begin, and how many they are."""
    values, offsets = ragged(sets)
    return values, offsets[:-1], np.diff(offsets)


def lists(values, offsets):
    return [values[begin:end].tolist() for begin, end in pairwise(offsets)]


def text_batch(texts):
    """UTF-8 bytes of several texts, read-only as Arrow buffers are."""
    raw = [text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass") for text in texts]
    return np.frombuffer(b"".join(raw) or b"\0", np.uint8), np.cumsum([0, *map(len, raw)]).astype(np.int64)


def folded(texts, *, fold_case=True, symbols=True):
    data, offsets = text_batch(texts)
    tables = unicode_tables()
    target = np.full(folding.GROWTH * int(offsets[-1]) + len(texts) + folding.PADDING, 7, np.uint8)
    bounds = np.empty(len(texts) + 1, np.int64)
    folding.fold(data, offsets, *tables.analysis, tables.expansions, fold_case, symbols, target, bounds)
    return target, bounds
