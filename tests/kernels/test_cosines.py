from collections import Counter

import numpy as np
from batches import ragged
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import cosines as kernels
from neardup.text.common_shingles import prefix_bounds

DOCUMENTS = st.lists(st.lists(st.integers(0, 9), max_size=20), min_size=1, max_size=5)
TABLES = st.dictionaries(st.integers(0, 9), st.integers(1, 2**20), max_size=8)


@given(DOCUMENTS, TABLES, st.integers(1, 100))
def test_cosines_equal_their_definition(documents, table, otherwise):
    documents = [[value << 60 for value in one] for one in documents]
    table = dict(sorted((value << 60, weight) for value, weight in table.items()))
    values, offsets = ragged(documents)
    starts, sizes = offsets[:-1], np.diff(offsets)
    terms, units = np.array([*table], np.uint64), np.array([*table.values()], np.uint32)
    weights, norms, number = np.empty(len(values)), np.zeros(len(documents)), len(documents)
    given_weights = terms, prefix_bounds(terms), units, np.uint32(otherwise)
    everybody = np.arange(number)
    kernels.make_weighted(
        (values, starts, sizes), everybody, np.zeros(number, np.bool_), *given_weights, weights, norms
    )
    vectors = [
        {value: count * table.get(value, otherwise) for value, count in Counter(one).items()} for one in documents
    ]
    for place, vector in enumerate(vectors):
        span = slice(starts[place], starts[place] + sizes[place])
        assert dict(zip(values[span].tolist(), weights[span].tolist(), strict=True)) == vector
        assert [*vector] == values[span].tolist()  # first occurrences stay
    left, right = (found.ravel() for found in np.indices((number, number)))
    shares = np.empty(len(left))
    kernels.cosines((values, starts, sizes), weights, norms, left, right, shares)
    for share, one, other in zip(shares, left, right, strict=True):
        assert abs(share - cosine(vectors[one], vectors[other])) < 1e-9
        assert 0 <= share <= 1


def cosine(one, other):
    whole = np.sqrt(float(sum(weight**2 for weight in one.values()) * sum(weight**2 for weight in other.values())))
    return sum(weight * other.get(value, 0) for value, weight in one.items()) / whole if whole else 0.0
