"""The rarest values of sets, and joins by them, against plain sets."""

import numpy as np

from neardup.kernels.joins import occurrences, rarest, rarest_first

SHIFT = np.uint64(56)  # values of one highest byte count together


def arrays(sets):
    sizes = np.array([len(one) for one in sets], np.int64)
    return np.array([value for one in sets for value in one], np.uint64), np.cumsum(sizes) - sizes, sizes


def test_values_are_counted_by_their_highest_bits_up_to_a_limit():
    sets = [[1 << 56, 5], [2 << 56, (1 << 56) + 1]] + [[7]] * 300
    counts = np.zeros(256, np.uint8)
    occurrences(*arrays(sets), SHIFT, counts)
    assert (counts[0], counts[1], counts[2], counts[3]) == (255, 2, 1, 0)


def test_the_rarest_values_come_first_and_those_of_one_set_before_all():
    counts = np.full(256, 3, np.uint8)
    counts[[4, 9]] = 1
    counts[7] = 2
    sets = [[one << 56 for one in (8, 4, 7, 1, 9)], [], [4 << 56]]
    values, starts, sizes = arrays(sets)
    alone = np.full(3, -1)
    rarest_first(values, starts, sizes, SHIFT, counts, np.array([0, 1]), sizes, alone)
    assert {*(values[:2] >> SHIFT).tolist()} == {4, 9}
    assert (values[2:5] >> SHIFT).tolist() == [7, 1, 8]
    assert alone.tolist() == [2, 0, -1]


def test_the_rarest_values_are_listed_with_their_sets_and_positions():
    values, starts, _ = arrays([[5, 6, 7], [], [8, 9]])
    found, owners, at = np.empty(3, np.uint64), np.empty(3, np.uint32), np.empty(3, np.uint32)
    rarest(values, starts, np.array([1, 0, 0]), np.array([3, 0, 1]), found, owners, at)
    assert (found.tolist(), owners.tolist(), at.tolist()) == ([6, 7, 8], [0, 0, 2], [1, 2, 0])
