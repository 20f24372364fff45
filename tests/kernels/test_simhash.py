import numpy as np
import pytest
from batches import ragged
from hypothesis import given
from hypothesis import strategies as st
from oracles import MASK, SPREAD, fingerprint, mix

from neardup.kernels import simhash

UINT64 = st.integers(0, MASK)
DOCUMENTS = st.lists(st.lists(UINT64, max_size=40), max_size=4)
WORDS = st.integers(1, 3)
GROUP, BLOCK = simhash.GROUP, simhash.BLOCK
SIZES = sorted(
    {edge + more for edge in (0, GROUP, 2 * GROUP, 3 * GROUP, BLOCK, 3 * BLOCK) for more in (-1, 0, 1)} - {-1}
)


def signed(documents, words=1):
    values, bounds = ragged(documents)
    rows = np.full((len(documents), words), 7, np.uint64)
    simhash.fingerprints(values, bounds[:-1], bounds[1:], rows)
    return rows.tolist()


def table_of(weights):
    """Terms, bounds of a prefix of one bit, and units, read-only as ``TermWeights`` has them."""
    terms = np.array(sorted(weights), np.uint64)
    bounds = np.searchsorted(terms, np.array([0, 1 << 63], np.uint64)).tolist()
    units = np.array([weights[term] for term in sorted(weights)], np.uint32)
    arrays = [terms, np.array([*bounds, len(terms)], np.int64), units]
    for array in arrays:
        array.setflags(write=False)
    return arrays


def weighed(documents, weights, otherwise, words=1):
    values, bounds = ragged(documents)
    rows = np.full((len(documents), words), 7, np.uint64)
    table = table_of(weights)
    simhash.weighted_fingerprints(values, bounds[:-1], bounds[1:], *table, np.uint32(otherwise), rows)
    return rows.tolist()


@given(DOCUMENTS, WORDS)
def test_equals_its_definition(documents, words):
    assert signed(documents, words) == [fingerprint(document, [1] * len(document), words) for document in documents]


@pytest.mark.parametrize("size", SIZES)
def test_any_number_of_features(size):
    """Sizes around whole groups and blocks; few distinct hashes make ties and counts far from half."""
    random = np.random.default_rng(size)
    for distinct in (2, 3, size + 1):
        document = random.choice(random.integers(0, 2**64, distinct, np.uint64), size).tolist()
        assert signed([document, document[:5]], 2) == [
            fingerprint(document, [1] * size, 2),
            fingerprint(document[:5], [1] * min(size, 5), 2),
        ]


@pytest.mark.parametrize("number", [1, 2, 7, 8, 16, 17, 100, 256, 300])
def test_a_tie_gives_0_and_one_more_gives_1(number):
    assert signed([[MASK] * number + [0] * number]) == [[0]]
    assert signed([[MASK] * (number + 1) + [0] * number]) == [[MASK]]
    assert signed([[MASK] * number + [0] * (number + 1)]) == [[0]]


@pytest.mark.parametrize("number", [2**16 - 1, 2**16, 2**16 + 1, 2**17 + 5])
def test_counts_pass_every_boundary(number):
    """Long documents, counted by columns: bit i is in every (i + 1)-th feature; and all equal features."""
    columns = np.arange(64, dtype=np.uint64)
    places = np.arange(number, dtype=np.uint64)[:, None]
    bits = (places % (columns + np.uint64(1)) == 0).astype(np.uint64)
    document = (bits << columns).sum(axis=1, dtype=np.uint64)
    expected = sum(1 << bit for bit, count in enumerate(bits.sum(axis=0).tolist()) if 2 * count > number)
    values = np.concatenate([document, np.full(number, MASK, np.uint64)])
    rows = np.empty((2, 1), np.uint64)
    simhash.fingerprints(values, np.array([0, number]), np.array([number, 2 * number]), rows)
    assert rows.tolist() == [[expected], [MASK]]


WEIGHTS = st.one_of(st.integers(1, 40), st.integers(1, 2**32 - 1), st.sampled_from([2**31, 2**32 - 1, 2**16]))


@given(
    st.lists(UINT64, min_size=1, max_size=5, unique=True).flatmap(
        lambda pool: st.tuples(
            st.lists(st.lists(st.sampled_from(pool), max_size=40), max_size=3),
            st.dictionaries(st.sampled_from(pool), WEIGHTS),
        )
    ),
    WEIGHTS,
    WORDS,
)
def test_weighted_equals_its_definition(drawn, otherwise, words):
    documents, weights = drawn
    expected = [
        fingerprint(document, [weights.get(value, otherwise) for value in document], words) for document in documents
    ]
    assert weighed(documents, weights, otherwise, words) == expected


@pytest.mark.parametrize("size", SIZES)
def test_any_number_of_weighted_features(size):
    random = np.random.default_rng(size)
    pool = random.integers(0, 2**64, 50, np.uint64).tolist()
    weights = dict(zip(pool[:40], random.integers(1, 300, 40).tolist(), strict=True))
    document = [pool[place] for place in random.integers(0, 50, size)]
    expected = fingerprint(document, [weights.get(value, 16) for value in document], 2)
    assert weighed([document], weights, 16, 2) == [expected]


@pytest.mark.parametrize("weight", [1, 3, 2**16, 2**31, 2**32 - 1])
@pytest.mark.parametrize("number", [1, 16, 257])
def test_a_weighted_tie_gives_0_and_a_little_more_gives_1(weight, number):
    document = [MASK] * number + [0] * number
    assert weighed([document], {MASK: weight}, weight) == [[0]]
    assert weighed([[*document, 1]], {MASK: weight, 1: 1}, weight) == [[1]]
    if weight > 1:
        assert weighed([document], {MASK: weight}, weight - 1) == [[MASK]]


def test_many_features_of_the_greatest_weight():
    number = 2**16 + 1
    values = np.full(2 * number, 1, np.uint64)
    values[number:] = 2
    values[0] = 2
    rows = np.empty((1, 1), np.uint64)
    table = (*table_of({}), np.uint32(2**32 - 1))
    simhash.weighted_fingerprints(values, np.array([0]), np.array([len(values)]), *table, rows)
    assert rows.tolist() == [[2]]


@given(st.lists(st.lists(UINT64, min_size=2, max_size=2), min_size=1, max_size=4))
def test_distances_equal_their_definition(rows):
    fingerprints = np.array(rows, np.uint64)
    left, right = (found.ravel() for found in np.indices((len(rows), len(rows))))
    counts = np.empty(len(left), np.int64)
    simhash.distances(fingerprints, fingerprints, left, right, counts)
    assert counts.tolist() == [
        sum((a ^ b).bit_count() for a, b in zip(rows[i], rows[j], strict=True))
        for i, j in zip(left, right, strict=True)
    ]


@given(
    st.lists(st.lists(UINT64, min_size=2, max_size=2), max_size=3),
    st.lists(st.lists(UINT64, min_size=2, max_size=2), min_size=1, max_size=3),
)
def test_block_keys_equal_their_definition(rows, masks):
    keys = np.empty((len(rows), len(masks)), np.uint64)
    simhash.block_keys(np.array(rows, np.uint64).reshape(-1, 2), np.array(masks, np.uint64), keys)
    expected = []
    for row in rows:
        expected.append([])
        for number, mask in enumerate(masks):
            key = number + 1
            for word, chosen in zip(row, mask, strict=True):
                key = mix((key * SPREAD + (word & chosen)) % 2**64)
            expected[-1].append(key)
    assert keys.tolist() == expected
