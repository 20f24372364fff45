import numpy as np
from batches import lists, ragged
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from oracles import labelled, mix, sequence_hash
from oracles import shingles as defined

from neardup.kernels import shingles

compiled_mix = njit(shingles.mix.py_func)  # parts of kernels cannot be called from Python
UINT64 = st.integers(0, 2**64 - 1)


@given(st.lists(st.lists(UINT64, max_size=12), max_size=5), st.integers(1, 6))
def test_shingles_equal_their_definition(documents, size):
    tokens, offsets = ragged(documents)
    values, bounds = np.empty(len(tokens), np.uint64), np.empty(len(offsets), np.int64)
    count = shingles.shingles(tokens, offsets, size, values, bounds)
    assert lists(values[:count], bounds) == [defined(document, size) for document in documents]


@given(st.lists(st.lists(st.integers(0, 5), max_size=12), max_size=5))
def test_bags_equal_their_definition(documents):
    values, bounds = ragged(documents)
    shingles.label_repeats(values, bounds)
    assert lists(values, bounds) == [labelled(document) for document in documents]


@given(st.lists(st.lists(st.lists(UINT64, max_size=4), max_size=4), max_size=4))
def test_sequences_equal_their_definition(documents):
    tokens, offsets = ragged([part for document in documents for part in document])
    parts = np.cumsum([0, *map(len, documents)]).astype(np.int64)
    hashes, bounds = np.empty(len(offsets), np.uint64), np.empty(len(parts), np.int64)
    count = shingles.sequences(tokens, offsets, parts, hashes, bounds)
    expected = [[sequence_hash(part) for part in document if part] for document in documents]
    assert lists(hashes[:count], bounds) == expected


@given(UINT64)
def test_mix_equals_its_definition(value):
    assert compiled_mix(np.uint64(value)) == mix(value)
