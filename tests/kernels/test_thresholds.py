import numpy as np
import pytest

from neardup.kernels.thresholds import Thresholds

OF_GROUPS = np.array([0.8, 0.9])


@pytest.mark.parametrize("base", [0.5, 0.85, 0.95])
def test_only_pairs_of_one_group_need_more(base):
    random = np.random.default_rng(5)
    groups = random.integers(0, 6, 40).astype(np.uint64)
    left, right = random.integers(0, 40, (2, 500))
    expected = [
        max(base, OF_GROUPS[groups[a] % 2]) if groups[a] == groups[b] and groups[a] else base
        for a, b in zip(left.tolist(), right.tolist(), strict=True)
    ]
    found = Thresholds(base, groups, OF_GROUPS)
    assert found.vary
    assert found.of(left, right).tolist() == expected
    some = np.flatnonzero(groups % 3)
    assert (
        found.at(some).of(*np.searchsorted(some, [some[::2], some[1::2]])).tolist()
        == found.of(some[::2], some[1::2]).tolist()
    )


def test_without_groups_all_pairs_need_the_same():
    everywhere = Thresholds(0.6)
    assert not everywhere.vary
    assert everywhere.at(np.arange(3)) is everywhere
    assert everywhere.of(np.arange(5), np.arange(5)).tolist() == [0.6] * 5
