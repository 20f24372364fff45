from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracles import SPREAD

from neardup.kernels import trials

TRIALS = st.sampled_from([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 1])
ROWS = st.lists(st.lists(TRIALS, min_size=5, max_size=5), min_size=1, max_size=6)
UINT64 = st.integers(0, 2**64 - 1)


def chosen(number, needed):
    return np.array([*combinations(range(number), needed)], np.int64)


@given(st.lists(UINT64, min_size=4, max_size=4), st.integers(1, 4))
def test_keys_equal_their_definition(row, needed):
    choices = chosen(4, needed)
    keys = np.empty((1, len(choices)), np.uint64)
    trials.choice_keys(np.array([row], np.uint64), choices, keys)
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
    trials.choice_keys(np.array(rows, np.uint64), choices, keys)
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            agreeing = sum(map(int.__eq__, one, other))
            assert (keys[i] == keys[j]).any() == (agreeing >= needed)
            assert len({*keys[i].tolist()} & {*keys[j].tolist()}) == (keys[i] == keys[j]).sum()
