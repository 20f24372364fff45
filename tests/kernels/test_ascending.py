"""Sorting, searching and comparing ascending values, against the standard library."""

from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.ascending import common, first_from, merge_runs, sort
from neardup.kernels.compile import kernel


@kernel
def first(ascending, begin, end, least):
    return first_from(ascending, begin, end, least)


@kernel
def shared(one, other, enough):
    return common(one, other, enough)


@kernel
def sorted_in_place(values):
    sort(values)


@kernel
def merged_in_place(values, other):
    merge_runs(values, other)


VALUES = st.lists(st.integers(0, 20) | st.integers(0, 99), max_size=60)


@given(VALUES, st.integers(0, 21), st.data())
def test_the_first_value_that_is_large_enough(values, least, data):
    values = np.array(sorted(values), np.uint64)
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, len(values))] * 2)))
    expected = bisect_left(values.tolist(), least, begin, end)
    assert first(values, begin, end, np.uint64(least)) == expected


@given(st.integers(0, 200), st.integers(1, 2**64 - 1), st.randoms(use_true_random=False))
def test_values_are_sorted(size, largest, random):
    values = np.array([random.randint(0, largest) for _ in range(size)], np.uint64)
    expected = np.sort(values)
    sorted_in_place(values)
    assert values.tolist() == expected.tolist()


@pytest.mark.parametrize("size", [1024, 1025, 70_000])
@pytest.mark.parametrize("largest", [0, 1, 1000, 2**63, 2**64 - 1])
def test_many_values_are_sorted(size, largest):
    values = np.random.default_rng(1).integers(0, largest, size, np.uint64, endpoint=True)
    expected = np.sort(values)
    sorted_in_place(values)
    assert values.tolist() == expected.tolist()


@given(st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=70), max_size=9), st.booleans())
def test_ascending_runs_are_merged(runs, in_order):
    values = np.array([value for run in runs for value in (sorted(run) if in_order else run)], np.int32)
    expected = np.sort(values)
    merged_in_place(values, np.empty_like(values))
    assert values.tolist() == expected.tolist()


@given(VALUES, VALUES, st.integers(0, 21))
def test_common_values_are_counted_unless_they_are_few(one, other, enough):
    found = shared(*(np.array(sorted({*values}), np.uint64) for values in (one, other)), enough)
    exact = len({*one} & {*other})
    assert found == exact or found <= exact < enough
