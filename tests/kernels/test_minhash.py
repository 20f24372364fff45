from itertools import combinations

import numpy as np
import pytest
from batches import ragged
from hypothesis import given
from hypothesis import strategies as st
from oracles import EMPTY, SPREAD
from oracles import sketch as defined

from neardup.kernels import minhash

UINT64 = st.integers(0, 2**64 - 1)
BINS = 8
TRIALS = st.sampled_from([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 1])
ROWS = st.lists(st.lists(TRIALS, min_size=5, max_size=5), min_size=1, max_size=6)


def signed(documents, multipliers, addends, kind=np.uint32):
    values, bounds = ragged(documents)
    minima = np.empty((len(documents), len(multipliers) // 2), kind)
    minhash.sketch(
        values, bounds[:-1], bounds[1:], np.array(multipliers, np.uint64), np.array(addends, np.uint64), minima
    )
    return minima


@given(
    st.lists(st.lists(UINT64, max_size=2 * BINS), max_size=4),
    st.lists(UINT64, min_size=2 * BINS, max_size=2 * BINS),
    st.lists(UINT64, min_size=2 * BINS, max_size=2 * BINS),
)
def test_equals_its_definition(documents, multipliers, addends):
    expected = [defined(document, multipliers, addends) for document in documents]
    assert signed(documents, multipliers, addends).tolist() == expected


@given(
    st.lists(st.lists(UINT64, max_size=2 * BINS), max_size=4),
    st.lists(UINT64, min_size=2 * BINS, max_size=2 * BINS),
    st.lists(UINT64, min_size=2 * BINS, max_size=2 * BINS),
)
def test_short_rows_have_the_low_bits(documents, multipliers, addends):
    expected = [
        [min(minimum % 2**16, 0xFFFE) if document else 0xFFFF for minimum in defined(document, multipliers, addends)]
        for document in documents
    ]
    assert signed(documents, multipliers, addends, np.uint16).tolist() == expected


def test_the_largest_hash_is_not_mistaken_for_empty():
    row = signed([[5]], [0] * (2 * BINS), [EMPTY] * (2 * BINS))
    assert (row == EMPTY - 1).all()


@pytest.mark.parametrize("bins", [1, 40])
@pytest.mark.parametrize("different", [1, 7, 129, 700])
@pytest.mark.parametrize("number", [9, 5_000])
def test_repetitive_texts_have_the_row_of_their_different_features(bins, different, number):
    random = np.random.default_rng(bins + different)
    multipliers, addends = random.integers(0, 2**64, (2, 2 * bins), np.uint64)
    features = random.integers(0, 2**64, different, np.uint64)
    repeated = np.concatenate([features, features[random.integers(0, different, number)]])
    rows = np.empty((2, bins), np.uint32)
    values = np.concatenate([features, repeated])
    starts, ends = np.array([0, different]), np.array([different, len(values)])
    minhash.sketch(values, starts, ends, multipliers | np.uint64(1), addends, rows)
    assert (rows[0] == rows[1]).all()


@pytest.mark.parametrize("size", [3, 30, 100, 1000, 20_000])
@pytest.mark.parametrize("resemblance", [0.3, 0.8])
def test_the_estimate_is_unbiased_and_its_spread_follows_the_law(size, resemblance):
    """Mean within four standard errors; spread never above the law, and near it for large sets."""
    random = np.random.default_rng(size)
    bins, trials = 64, 400 if size <= 1000 else 100
    shared = round(size * resemblance)
    true = shared / size
    only = size - shared
    estimates = np.empty(trials)
    for trial in range(trials):
        union = random.integers(0, 2**64, size, np.uint64)
        multipliers = random.integers(0, 2**64, 2 * bins, np.uint64) | np.uint64(1)
        addends = random.integers(0, 2**64, 2 * bins, np.uint64)
        values, bounds = np.concatenate([union[: size - only // 2], union[only // 2 :]]), None
        half = size - only // 2
        bounds = np.array([0, half, len(values)], np.int64)
        true = len(np.intersect1d(values[:half], values[half:])) / size
        minima = np.empty((2, bins), np.uint32)
        minhash.sketch(values, bounds[:-1], bounds[1:], multipliers, addends, minima)
        estimates[trial] = (minima[0] == minima[1]).mean()
    law = np.sqrt(true * (1 - true) / bins)
    error = estimates.std(ddof=1) / np.sqrt(trials)
    assert abs(estimates.mean() - true) <= 4 * max(error, 1e-9)
    sampling = 4 / np.sqrt(2 * trials)  # four standard errors of a measured spread
    assert estimates.std(ddof=1) <= law * (1 + sampling)
    if size >= 20 * bins:
        assert estimates.std(ddof=1) >= law * (1 - sampling) * 0.95


@given(st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1, max_size=4))
@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
@pytest.mark.parametrize("absent", [0, 3, EMPTY])
def test_agreements_equal_their_definition(absent, kind, rows):
    minima = np.array(rows, kind)
    left, right = (places.ravel() for places in np.indices((len(rows), len(rows))))
    counts = np.full(len(left), -1, np.int32)
    minhash.agreements(minima, minima, left, right, kind(absent), counts)
    assert counts.tolist() == [
        0 if absent in {rows[i][0], rows[j][0]} else sum(map(int.__eq__, rows[i], rows[j]))
        for i, j in zip(left, right, strict=True)
    ]


@given(st.lists(st.integers(0, EMPTY), min_size=7, max_size=7), st.sampled_from([EMPTY, 0xFFFF]))
def test_band_keys_equal_their_definition(row, mask):
    edges = [0, 2, 4, 7]
    keys = np.empty((1, 3), np.uint64)
    minhash.band_keys(np.array([row], np.uint32), np.array(edges), np.uint32(mask), keys)
    expected = []
    for band in range(3):
        key = band + 1
        for minimum in row[edges[band] : edges[band + 1]]:
            key = (key ^ min(minimum & mask, mask - 1)) * SPREAD % 2**64
            key ^= key >> 32
        expected.append(key)
    assert keys.tolist() == [expected]


@given(st.lists(st.lists(st.integers(0, 0xFFFE), min_size=7, max_size=7), min_size=1, max_size=4), st.data())
@pytest.mark.parametrize("kind", [np.uint16, np.uint32])
@pytest.mark.parametrize("mask", [np.uint32(EMPTY), np.uint32(0xFFFF)])
def test_a_column_of_band_keys_is_one_of_all(mask, kind, rows, data):
    edges = np.array([0, 2, 4, 7])
    minima = np.array(rows, kind)
    documents = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=6)), np.int64)
    keys, column = np.empty((len(rows), 3), np.uint64), np.empty(len(documents), np.uint64)
    minhash.band_keys(minima, edges, mask, keys)
    for band in range(3):
        minhash.band_column(minima, documents, band, edges, mask, column)
        assert column.tolist() == keys[documents, band].tolist()


def chosen(number, needed):
    return np.array([*combinations(range(number), needed)], np.int64)


@given(st.lists(UINT64, min_size=4, max_size=4), st.integers(1, 4))
def test_keys_of_choices_equal_their_definition(row, needed):
    choices = chosen(4, needed)
    keys = np.empty((1, len(choices)), np.uint64)
    minhash.choice_keys(np.array([row], np.uint64), choices, keys)
    expected = []
    for number, choice in enumerate(combinations(row, needed)):
        key = number + 1
        for trial in choice:
            key = (key ^ trial) * SPREAD % 2**64
            key ^= key >> 32
        expected.append(key)
    assert keys[0].tolist() == expected


@given(ROWS, st.integers(1, 5))
def test_documents_share_a_key_in_some_column_exactly_if_enough_trials_agree(rows, needed):
    choices = chosen(5, needed)
    keys = np.empty((len(rows), len(choices)), np.uint64)
    minhash.choice_keys(np.array(rows, np.uint64), choices, keys)
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            agreeing = sum(map(int.__eq__, one, other))
            assert (keys[i] == keys[j]).any() == (agreeing >= needed)
            assert len({*keys[i].tolist()} & {*keys[j].tolist()}) == (keys[i] == keys[j]).sum()
