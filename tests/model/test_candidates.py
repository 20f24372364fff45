import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.model.candidates import chained

WORDS = st.integers(0, 2**64 - 1)


@given(WORDS, WORDS)
def test_chained_keys_are_as_defined(key, further):
    expected = (key * 0x9E3779B97F4A7C15 % 2**64 ^ further) * 0xD6E8FEB86659FD93 % 2**64
    assert int(chained(np.array([key], np.uint64), np.array([further], np.uint64))[0]) == expected


def test_equal_keys_are_divided_by_the_further_ones():
    keys = chained(np.full(1000, 5, np.uint64), np.arange(1000, dtype=np.uint64))
    assert len(np.unique(keys)) == 1000
