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


@given(
    st.lists(st.lists(UINT64, max_size=12), max_size=5), st.integers(1, 6), st.sets(st.integers(0, 60)), st.booleans()
)
def test_filtered_shingles_are_those_in_the_filter(documents, size, chosen, full):
    tokens, offsets = ragged(documents)
    wanted = [defined(document, size) for document in documents]
    every = [value for one in wanted for value in one]
    among = {value for place, value in enumerate(every) if place in chosen}
    bits = np.full(1, 2**64 - 1, np.uint64) if full else np.zeros(1 << 16, np.uint64)
    shingles.enter(np.array([*among], np.uint64), bits)
    values, bounds = np.empty(len(tokens) + 1, np.uint64), np.empty(len(offsets), np.int64)
    count = shingles.filtered(tokens, offsets, size, bits, values, bounds)
    found = lists(values[:count], bounds)
    if full:
        assert found == wanted
    for own, kept in zip(wanted, found, strict=True):
        assert [value for value in kept if value in among] == [value for value in own if value in among]


@given(UINT64)
def test_mix_equals_its_definition(value):
    assert compiled_mix(np.uint64(value)) == mix(value)
