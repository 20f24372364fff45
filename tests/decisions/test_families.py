"""Families of documents that share a feature."""

import numpy as np

from neardup.decisions.families import families_of


def made(sets, lists):
    values = np.array([value for one in sets for value in one], np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    sizes = np.array([*map(len, sets)])
    begins = np.cumsum([0, *map(len, lists)])
    owners = np.array([each for one in lists for each in one], np.uint32)
    return families_of((values, np.cumsum(sizes) - sizes, sizes), begins, owners)


def test_many_documents_that_share_a_feature_are_a_family():
    sets = [[1, 2, 3, 100 + one] for one in range(40)] + [[1]]
    found = made(sets, [[40], range(40), range(31)])
    assert found.family.tolist() == [0] * 40 + [-1]
    assert found.places.tolist() == [*range(40), 0]
    assert found.only.tolist() == [-1, 0, 0]
    assert (found.medians.tolist(), found.lacking.tolist(), len(found.deviating)) == ([3], [0] * 40, 0)
    assert made(sets, [range(31)]).family.tolist() == [-1] * 41


def test_documents_that_share_little_else_are_none():
    halves = [[1, *range(10 + 50 * (one % 2), 50 + 50 * (one % 2))] for one in range(40)]
    found = made(halves, [range(40)])
    assert found.family.tolist() == [-1] * 40
    assert found.only.tolist() == [-1]
