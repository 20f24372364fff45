"""Families of sets, their medians and deviations, against plain sets."""

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from batches import ragged, set_arrays

from neardup.kernels.families import deviations, gather

SPREAD = 0x9E3779B97F4A7C15


def gathered(owned, sizes, most):
    """Return the number of families of at least two sets, the family of each set, the members, and their bounds."""
    family, members = np.full(len(sizes), -1, np.int32), np.zeros(len(sizes), np.int64)
    bounds = np.zeros(len(sizes) // 2 + 1, np.int64)
    owners, begins = ragged(owned, np.uint32)
    count = gather(begins, owners, np.array(sizes), np.arange(len(owned)), 2, most, family, members, bounds)
    return count, family.tolist(), members[: bounds[count]].tolist(), bounds[: count + 1].tolist()


def test_the_owners_of_a_list_become_a_family_unless_they_have_one_or_are_too_few():
    found = gathered([[0, 1, 2, 5], [1, 2, 3], [3, 4, 6], [4]], [10] * 7, 40)
    assert found == (2, [0, 0, 0, 1, 1, 0, 1], [0, 1, 2, 5, 3, 4, 6], [0, 4, 7])


def test_a_family_has_a_limited_number_of_values():
    found = gathered([range(8)], [10, 10, 10, 10, 50, 10, 10, 10], 30)
    # one alone before a large set, and that set, have no family
    assert found == (2, [0, 0, 0, -1, -1, 1, 1, 1], [0, 1, 2, 5, 6, 7], [0, 3, 6])


def families(seed):
    """Make two families with templates, and sets between them that belong to none."""
    random = np.random.default_rng(seed)
    sets, bounds = [], [0]
    for first in (0, 1000):
        for _ in range(random.integers(2, 9)):
            template = {first + each for each in range(20) if random.random() < 0.8}
            sets.append(sorted(template | {*random.integers(first, first + 60, random.integers(0, 9)).tolist()}))
        bounds.append(len(sets))
    return sets, np.array(bounds)


@pytest.mark.parametrize("seed", range(8))
def test_what_two_members_share_follows_from_median_and_deviations(seed):
    plain, bounds = families(seed)
    sets = [[one * SPREAD % 2**64 for one in each] for each in plain]
    places = np.random.default_rng(seed).permutation(len(sets))  # the sets are not in the order of members
    stored = [sets[place] for place in np.argsort(places)]
    medians, lacking, begins, deviating, list_begins, deviants = deviations(set_arrays(stored), places, bounds, 1000)
    for family, (first, end) in enumerate(pairwise(bounds.tolist())):
        counts = Counter(value for one in sets[first:end] for value in one)
        median = {value for value, count in counts.items() if 2 * count > end - first}
        assert medians[family] == len(median)
        own = [{*deviating[begins[one] : begins[one + 1]].tolist()} for one in range(first, end)]
        for one in range(first, end):
            assert lacking[one] == len(median - {*sets[one]})
            for number in own[one - first]:
                members = deviants[list_begins[number] : list_begins[number + 1]].tolist()
                assert members == [each for each in range(end - first) if number in own[each]]
                assert len(members) > 1
        for one, other in combinations(range(first, end), 2):
            shared = medians[family] - lacking[one] - lacking[other] + len(own[one - first] & own[other - first])
            assert shared == len({*sets[one]} & {*sets[other]})


def test_a_family_whose_members_deviate_in_too_much_has_no_median():
    values = np.arange(1, 5, dtype=np.uint64)
    stored = np.concatenate([values, values, values + np.uint64(9), values + np.uint64(9)])
    starts, sizes = np.arange(0, 16, 4), np.full(4, 4)
    members, bounds = np.arange(4), np.array([0, 4])  # of 6 pairs, 2 deviate in 4 values: 4 / 3 on average
    assert deviations((stored, starts, sizes), members, bounds, 1)[0].tolist() == [-1]
    assert deviations((stored, starts, sizes), members, bounds, 2)[0].tolist() == [0]


def test_no_families_have_nothing():
    nothing = np.empty(0, np.int64)
    found = deviations((np.empty(0, np.uint64), nothing, nothing), nothing, np.zeros(1, np.int64), 8)
    assert [len(each) for each in found] == [0, 0, 1, 0, 1, 0]
