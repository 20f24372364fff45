import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.weights import weigh

UINT64 = st.integers(0, 2**64 - 1)
NEAR = st.sampled_from([0, 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1, 2**62])


def looked_up(values, weights, otherwise, width):
    terms = sorted(weights)
    edges = [prefix << (64 - width) for prefix in range(2**width)]
    bounds = [*(sum(term < edge for term in terms) for edge in edges), len(terms)]
    arrays = [np.array(terms, np.uint64), np.array(bounds), np.array([weights[term] for term in terms], np.uint32)]
    for array in arrays:
        array.setflags(write=False)
    found = np.zeros(len(values), np.uint32)
    weigh(np.array(values, np.uint64), *arrays, np.uint32(otherwise), found)
    return found.tolist()


@given(
    st.dictionaries(UINT64 | NEAR, st.integers(1, 2**32 - 1), max_size=12),
    st.lists(UINT64 | NEAR, max_size=8),
    st.integers(1, 6),
)
def test_equals_a_dictionary(weights, others, width):
    values = [*weights, *others, *weights]
    assert looked_up(values, weights, 9, width) == [weights.get(value, 9) for value in values]


@pytest.mark.parametrize("width", [1, 3])
def test_terms_that_share_a_prefix_are_all_found(width):
    weights = {value: value + 1 for value in range(0, 2000, 2)}
    assert looked_up(range(2000), weights, 5, width) == [weights.get(value, 5) for value in range(2000)]
    high = {2**64 - 1 - value: value + 1 for value in range(10)}
    assert looked_up([*high, 0], high, 5, width) == [*high.values(), 5]


def test_an_empty_table():
    assert looked_up([0, 2**64 - 1], {}, 5, 1) == [5, 5]
    assert looked_up([], {}, 5, 1) == []
