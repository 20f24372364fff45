import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import radix

WORDS = st.lists(st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 3), st.just(2**64 - 1)), max_size=60)


def by_sort(words, lowest):
    order = sorted(range(len(words)), key=lambda place: words[place] >> lowest)
    return [words[place] for place in order], order


@given(WORDS, st.integers(0, 63))
def test_equals_a_stable_sort_by_the_upper_bits(words, lowest):
    expected, order = by_sort(words, lowest)
    given_words = np.array(words, np.uint64)
    found, places = radix.sort(given_words.copy(), np.arange(len(words), dtype=np.uint32), lowest)
    assert (found.tolist(), places.tolist()) == (expected, order)
    found, places = radix.sort(given_words.copy(), np.empty(0, np.uint32), lowest)
    assert (found.tolist(), places.tolist()) == (expected, [])


@pytest.mark.parametrize("lowest", [0, 1, 32, 48, 56, 63])
def test_many_words_are_sorted_stably(lowest):
    words = np.random.default_rng(lowest).integers(0, 2**64, 5000, np.uint64)
    words[::3] = words[0]
    order = np.argsort(words >> np.uint64(lowest), kind="stable")
    found, places = radix.sort(words.copy(), np.arange(5000, dtype=np.uint32), lowest)
    assert (places == order).all()
    assert (found == words[order]).all()
