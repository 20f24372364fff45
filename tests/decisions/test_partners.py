import numpy as np

from neardup.decisions.partners import Partners
from neardup.model.arrays import Features


def features(sets):
    return Features(np.array([v for one in sets for v in one], np.uint64), np.cumsum([0, *map(len, sets)]))


def test_partners_are_found_by_their_sets():
    found = Partners(features([[1, 2, 3, 1], [7, 8], []])).among(features([[3, 2, 1, 1, 1], [8, 9], [], [5]]), 0.3)
    assert [*zip(found.left.tolist(), found.right.tolist(), strict=True)] == [(0, 0), (1, 1)]
    assert found.common.resemblance.tolist() == [1.0, 1 / 3]
    assert found.common.left_in_right.tolist() == [1.0, 0.5]


def test_the_share_of_the_smaller_set_counts_if_wanted():
    few, many = [[1, 2]], [[1, 2, 3, 4, 5, 6]]
    assert len(Partners(features(few)).among(features(many), 0.5).left) == 0
    assert Partners(features(few), measure="overlap").among(features(many), 0.5).common.of_smaller.tolist() == [1.0]
    assert len(Partners(features(few), measure="containment").among(features(many), 0.5).left) == 1
    assert len(Partners(features(many), measure="containment").among(features(few), 0.5).left) == 0


def test_features_that_were_found_anywhere_are_counted():
    few = Partners(features([[1, 2, 3, 4], [9], []]))
    few.among(features([[1, 7]]), 0.9)
    few.among(features([[2, 9, 9], [5]]), 0.9)
    assert few.met.tolist() == [0.5, 1.0, 0.0]


def test_nothing_has_no_partners():
    found = Partners(features([])).among(features([[1]]), 0.5)
    assert len(found.left) == len(found.right) == 0
    assert len(Partners(features([[1]])).among(features([]), 0.5).left) == 0
