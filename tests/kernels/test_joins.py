"""The rarest values of sets, and joins by them, against plain sets."""

import numpy as np

from neardup.kernels.joins import add_occurrences, occurrences, parities, rarest, rarest_first

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


def test_counts_are_added_up_to_the_limit():
    counts, others = np.array([1, 200, 255, 0], np.uint8), np.array([2, 100, 255, 0], np.uint8)
    add_occurrences(others, counts)
    assert counts.tolist() == [3, 255, 255, 0]


def test_many_values_are_sorted_like_few():
    values = np.random.default_rng(1).integers(0, 2**64, 500, dtype=np.uint64)
    counts = np.full(256, 3, np.uint8)
    for chosen in (values, values[:7]):
        found, alone = chosen.copy(), np.zeros(1, np.int64)
        wanted = np.array([len(found)])
        rarest_first(found, np.array([0]), wanted, SHIFT, counts, np.array([0]), wanted, alone)
        assert found.tolist() == sorted(chosen.tolist())


def test_a_bit_is_one_if_an_odd_number_of_values_have_it():
    sets = [[0, 1, 3 << 56, 255 << 56], [], [64 << 56]]
    values, starts, sizes = arrays(sets)
    bits = np.ones((3, 4), np.uint64)
    parities(values, starts, sizes, np.array([0, 1, 2]), bits)
    whole = [sum(int(word) << (64 * place) for place, word in enumerate(row)) for row in bits]
    assert whole == [1 << 3 | 1 << 255, 0, 1 << 64]
