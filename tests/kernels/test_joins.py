"""The rarest values of sets, and joins by them, against plain sets."""

from itertools import pairwise

import numpy as np
import pytest
from batches import set_arrays

from neardup.kernels.joins import add_occurrences, lists, occurrences, parities, rarest_first

SHIFT = np.uint64(56)  # values of one highest byte count together


def test_values_are_counted_by_their_highest_bits():
    sets = [[1 << 56, 5], [2 << 56, (1 << 56) + 1]]
    counts = np.zeros(256, np.uint8)
    occurrences(set_arrays(sets), SHIFT, counts)
    assert (counts[0], counts[1], counts[2], counts[3]) == (1, 2, 1, 0)


@pytest.mark.parametrize(("number", "expected"), [(127, 127), (128, 127), (129, 128), (1_000, 194), (9_000, 255)])
def test_many_sets_are_counted_in_steps(number, expected):
    counts, count = np.zeros(256, np.uint8), 0
    occurrences(set_arrays([[7]] * number), SHIFT, counts)
    for one in range(number):
        if count < 127 or (count < 191 and one % 8 == 0) or (count < 255 and one % 128 == 0):
            count += 1
    assert counts[0] == count == expected


def test_the_rarest_values_come_first_and_those_of_one_set_before_all():
    counts = np.full(256, 3, np.uint8)
    counts[[4, 9]] = 1
    counts[7] = 2
    sets = [[one << 56 for one in (8, 4, 7, 1, 9)], [], [4 << 56]]
    values, starts, sizes = set_arrays(sets)
    alone = np.full(3, -1)
    rarest_first((values, starts, sizes), SHIFT, counts, np.array([0, 1]), sizes, alone)
    assert {*(values[:2] >> SHIFT).tolist()} == {4, 9}
    assert (values[2:5] >> SHIFT).tolist() == [7, 1, 8]
    assert alone.tolist() == [2, 0, -1]


def test_the_sets_of_each_value_are_listed_with_its_positions():
    sets = set_arrays([[5, 6, 7], [], [8, 7, 9], [6, 0]])
    distinct, numbers, begins = np.empty(6, np.uint64), np.full(8, -1, np.int32), np.empty(8, np.int64)
    owners, at = np.empty(6, np.uint32), np.empty(6, np.uint32)
    ends = np.array([3, 0, 2, 2])
    table = distinct, numbers
    known = lists(sets, np.array([1, 0, 0, 0]), ends, table, begins, owners, at)
    assert distinct[:known].tolist() == [6, 7, 8, 0]
    found = [slice(*pair) for pair in pairwise(begins[: known + 1].tolist())]
    assert [owners[one].tolist() for one in found] == [[0, 3], [0, 2], [2], [3]]
    assert [at[one].tolist() for one in found] == [[1, 0], [2, 1], [0], [1]]
    assert sorted(numbers.tolist()) == [-1] * 4 + [0, 1, 2, 3]


def test_no_sets_have_no_lists():
    none, begins = np.empty(0, np.int64), np.empty(2, np.int64)
    words, places = np.empty(0, np.uint64), np.empty(0, np.uint32)
    table = words, np.full(8, -1, np.int32)
    assert lists((words, none, none), none, none, table, begins, places, places) == 0
    assert begins[0] == 0


def test_counts_are_added_up_to_those_that_are_estimates():
    counts, others = np.array([1, 100, 130, 255, 0], np.uint8), np.array([2, 100, 255, 7, 0], np.uint8)
    add_occurrences(others, counts)
    assert counts.tolist() == [3, 127, 255, 255, 0]


def test_many_values_are_sorted_like_few():
    values = np.random.default_rng(1).integers(0, 2**64, 500, dtype=np.uint64)
    counts = np.full(256, 3, np.uint8)
    for chosen in (values, values[:7]):
        found, alone = chosen.copy(), np.zeros(1, np.int64)
        wanted = np.array([len(found)])
        rarest_first((found, np.array([0]), wanted), SHIFT, counts, np.array([0]), wanted, alone)
        assert found.tolist() == sorted(chosen.tolist())


def test_a_bit_is_one_if_an_odd_number_of_values_have_it():
    sets = [[0, 1, 3 << 56, 255 << 56], [], [64 << 56]]
    bits = np.ones((3, 4), np.uint64)
    parities(set_arrays(sets), np.array([0, 1, 2]), bits)
    whole = [sum(int(word) << (64 * place) for place, word in enumerate(row)) for row in bits]
    assert whole == [1 << 3 | 1 << 255, 0, 1 << 64]
