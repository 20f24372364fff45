"""Values that are spared, and cosines by one look at each value, against plain bags."""

from collections import Counter
from math import sqrt

import numpy as np
import pytest

from neardup.kernels.partners import enter
from neardup.kernels.weighted_partners import spared, weighted_partners


def test_common_values_are_spared_while_their_squares_are_too_few_for_a_partner():
    numbers, weights = np.array([0, 1, 5, 0, 2, 3, 4]), np.array([2.0, 1, 2, 3, 1, 1, 1])
    bounds, norms, counts = np.array([0, 3, 3, 7]), np.array([9.0, 0, 12]), np.array([9, 8, 7, 6, 1, 1])
    chosen = np.zeros(7, np.bool_)
    spared(numbers, weights, bounds, norms, counts, 6, 0.8, chosen)
    assert chosen.tolist() == [True, True, False, False, False, False, False]  # 4 + 1 < 5.76, but 9 > 7.68
    chosen[:] = False
    spared(numbers, weights, bounds, norms, counts, 6, 0.95, chosen)
    assert chosen.tolist() == [True, True, False, True, True, False, False]  # 6 sets are too few for the last two
    chosen[:] = False
    spared(numbers, weights, bounds, norms, counts, 6, 0.0, chosen)
    assert not chosen.any()


@pytest.mark.parametrize("least", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("spare", [0, 2])
def test_cosines_by_definition(least, spare):
    random = np.random.default_rng(5)
    few, many = ([Counter(random.integers(0, 9, random.integers(0, 12)).tolist()) for _ in range(9)] for _ in "ab")
    many[3:6] = [few[0], few[1] + Counter([1]), few[2]]
    values = sorted({value for one in few for value in one})  # by their numbers, of which the first ones are spared
    keys, numbers = np.zeros(64, np.uint64), np.full(64, -1, np.int32)
    table = keys, numbers
    enter(np.array(values, np.uint64), table)
    lists = [[(owner, one[value]) for owner, one in enumerate(few) if value in one] for value in values]
    unlisted = [[*filter(few[owner].__contains__, values[:spare])] for owner in range(len(few))]
    lists[:spare] = [[]] * spare
    flat = [entry for one in lists for entry in one]
    resting = [(values.index(value), few[owner][value]) for owner, own in enumerate(unlisted) for value in own]
    norms = [np.array([sum(n * n for n in one.values()) for one in bags], np.float64) for bags in (few, many)]
    sizes = np.array([len(one) for one in many])
    found, arrays, first = {}, (np.empty(9, np.int64), np.empty(9, np.int64), np.empty(9)), 0
    chosen = np.arange(1, 9)
    while first < len(chosen):
        values_of_many = np.array([value for one in many for value in one], np.uint64)
        arrays_of_lists = (
            np.cumsum([0, *map(len, lists)]),
            np.array([owner for owner, _ in flat], np.int64),
            np.array([weight for _, weight in flat], np.float64),
            np.cumsum([0, *map(len, unlisted)]),
            np.array([number for number, _ in resting], np.int64),
            np.array([weight for _, weight in resting], np.float64),
        )
        first, number = weighted_partners(
            (values_of_many, np.cumsum(sizes) - sizes, sizes),
            np.array([weight for one in many for weight in one.values()], np.float64),
            *(norms[1], chosen, first, table, arrays_of_lists, norms[0], least, *arrays),
        )
        found |= {
            (int(left), int(right)): share for left, right, share in zip(*(a[:number] for a in arrays), strict=True)
        }
    listed = [{*one} - {*own} for one, own in zip(few, unlisted, strict=True)]
    for left, one in enumerate(few):
        for right, other in enumerate(many[1:]):
            share = sum(one[value] * other[value] for value in one) / (sqrt(norms[0][left] * norms[1][right + 1]) or 1)
            met = bool(listed[left] & {*other})
            assert found.get((left, right)) == (min(1.0, share) if met and share >= least else None)
    assert found
