import numpy as np
import pytest

from neardup.kernels.thresholds import Thresholds

OF_GROUPS = np.array([0.8, 0.9])


def oracle(thresholds, one, other, smaller):
    least = [thresholds.base]
    groups = thresholds.groups.tolist()
    if groups and groups[one] == groups[other] > 0:
        least.append(thresholds.of_groups[groups[one] % 2])
    if smaller < thresholds.short:
        least.append(thresholds.of_short)
    return max(least)


@pytest.mark.parametrize("base", [0.5, 0.85, 0.95])
@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("short", [0, 1, 7])
def test_each_pair_needs_the_highest_threshold_that_counts(base, groups, short):
    random = np.random.default_rng(5)
    left, right, smaller = random.integers(0, 40, (3, 500))
    smaller %= 12
    own = random.integers(0, 6, 40).astype(np.uint64) if groups else np.empty(0, np.uint64)
    found = Thresholds(base, own, OF_GROUPS, short, 0.87)
    assert found.vary == (groups or short > 0)
    expected = [oracle(found, *pair) for pair in zip(left.tolist(), right.tolist(), smaller.tolist(), strict=True)]
    assert found.of(left, right, smaller).tolist() == expected
    alone = found._replace(short=0)
    assert found.of(left, right, None).tolist() == alone.of(left, right, smaller).tolist()  # no length is known
    some = random.permutation(40)[:30]
    pairs = random.integers(0, 30, (2, 100))
    assert found.at(some).of(*pairs, smaller[:100]).tolist() == found.of(*some[pairs], smaller[:100]).tolist()


def test_the_same_for_all_pairs():
    everywhere = Thresholds(0.6)
    assert not everywhere.vary
    assert everywhere.at(np.arange(3)) is everywhere
    assert everywhere.of(np.arange(5), np.arange(5), np.arange(5)).tolist() == [0.6] * 5
