"""Which documents count as different, and what is left of them, against the definitions in plain sets."""

import numpy as np
from batches import lists, ragged
from hypothesis import given
from hypothesis import strategies as st
from oracles import different_documents, sequence_hash

from neardup.kernels import common_shingles
from neardup.model.arrays import Features
from neardup.text.common_shingles import different, least_own, prefix_bounds

UINT64 = st.integers(0, 2**64 - 1)
FEATURES = st.integers(0, 40) | UINT64


def counted_by_kernel(documents, size):
    values, bounds = ragged([list(document) * 2 for document in documents])
    features = Features(values, bounds)
    counted = different(features, size)
    assert lists(features.values, features.offsets) == [sorted(document) for document in documents]
    return np.flatnonzero(counted).tolist()


@st.composite
def families(draw):
    """Documents that are made of a few blocks and edited copies of each other."""
    documents = []
    for _ in range(draw(st.integers(0, 14))):
        made = set(range(draw(st.sampled_from([0, 4, 30])))) | draw(st.sets(st.integers(100, 160), max_size=12))
        if documents and draw(st.booleans()):
            made = set(draw(st.sampled_from(documents)))
            made -= draw(st.sets(st.integers(0, 160), max_size=6))
            made |= draw(st.sets(st.integers(100, 200), max_size=6))
        documents.append(made)
    return documents


@given(families(), st.sampled_from([1, 2, 3]))
def test_what_counts_equals_its_definition(documents, size):
    assert counted_by_kernel(documents, size) == different_documents(documents, least_own(size))


def test_a_full_bucket_lists_its_first_documents_only():
    block = set(range(20))
    different_ones = [block | set(range(1000 * n, 1000 * n + 9)) for n in range(1, 20)]
    copy = [different_ones[15] | {5}, different_ones[2] | {5}]
    documents = [*different_ones, *copy]
    assert counted_by_kernel(documents, 3) == different_documents(documents, 4)


@given(st.lists(st.lists(FEATURES, max_size=12), max_size=6), st.sets(FEATURES, max_size=20))
def test_what_is_left_equals_its_definition(documents, listed):
    values, bounds = ragged(documents)
    terms = np.array(sorted(listed), np.uint64)
    terms.setflags(write=False)
    left = common_shingles.leave_out(values, bounds, terms, prefix_bounds(terms))
    expected = [[value for value in one if value not in listed] or (one and [sequence_hash(one)]) for one in documents]
    assert lists(values[:left], bounds) == expected


@given(st.lists(st.lists(FEATURES, max_size=12), max_size=6))
def test_values_are_sorted_without_repeats(documents):
    values, bounds = ragged(documents)
    left = common_shingles.sort_sets(values, bounds)
    assert lists(values[:left], bounds) == [sorted({*one}) for one in documents]
