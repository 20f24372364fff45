"""All pairs, against every pair of plain sets."""

from itertools import pairwise

import numpy as np
import pytest
from batches import ragged, set_arrays

from neardup.decisions import pairs as module
from neardup.decisions.evidence import FeatureSets
from neardup.decisions.pairs import Join, families_of
from neardup.engines.local import LocalEngine
from neardup.model.arrays import Features


def collection(seed):
    random = np.random.default_rng(seed)
    first = [random.integers(0, 200, random.integers(0, 40)).tolist() for _ in range(40)]
    others = [[*one[: random.integers(0, len(one) + 1)], *random.integers(0, 300, 4).tolist()] for one in first]
    spread = np.uint64(0x9E3779B97F4A7C15)
    return [(np.array(one, np.uint64) * spread).tolist() for one in first + others + first[:5]]


def joined(sets, threshold, parts=1, engine=None, **ways):
    features = Features(*ragged(sets))
    ways |= {} if engine is None else {"engine": engine}
    join = Join(FeatureSets(features, np.arange(len(sets))), threshold, **ways)
    edges = np.linspace(0, len(join), parts + 1).astype(int).tolist()
    found = [one for part in pairwise(edges) for one in join.pairs(slice(*part))]
    sizes = join.sizes.tolist()
    return [
        (left, right, shared, sizes[left], sizes[right])
        for one in found
        for left, right, shared in zip(one.left.tolist(), one.right.tolist(), one.shared.tolist(), strict=True)
    ]


def expected(sets, threshold, measure, sides):
    found = []
    for right, two in enumerate(map(set, sets)):
        for left, one in enumerate(map(set, sets[:right])):
            shared = len(one & two)
            whole = min(len(one), len(two)) if measure == "overlap" else len(one | two)
            if shared and shared / whole >= threshold and (sides is None or sides[left] != sides[right]):
                found.append((left, right, shared, len(one), len(two)))
    return found


@pytest.mark.parametrize("measure", ["resemblance", "overlap"])
@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.6, 0.8, 1.0])
def test_no_pair_is_missed_and_none_is_too_many(monkeypatch, measure, threshold):
    sets = collection(1)
    for sides in (None, (np.arange(len(sets)) < 40).astype(np.uint64)):
        want = expected(sets, threshold, measure, sides)
        found = joined(sets, threshold, measure=measure, sides=sides)
        assert sorted(found) == sorted(want)
        assert joined(sets, threshold, parts=7, measure=measure, sides=sides) == found
    assert want
    monkeypatch.setattr(module, "_ROOM", 1)
    assert joined(sets, threshold, measure=measure, sides=sides) == found


def pages(seed):
    """Make pages of two templates, equal ones and others, whose numbers of words differ."""
    random = np.random.default_rng(seed)
    own = [
        [first + each for each in range(30) if random.random() < 0.9]
        + (5000 + random.integers(0, 400, random.integers(0, 25))).tolist()
        for first in (0, 1000)
        for _ in range(45)
    ]
    spread = np.uint64(0x9E3779B97F4A7C15)
    return [(np.array(one, np.uint64) * spread).tolist() for one in own + own[:40:13] * 3] + collection(seed)


@pytest.mark.parametrize("least", [2, 32])
@pytest.mark.parametrize("measure", ["resemblance", "overlap"])
@pytest.mark.parametrize("threshold", [0.05, 0.5, 0.8, 1.0])
def test_pairs_of_families_are_those_of_plain_sets(monkeypatch, least, measure, threshold):
    monkeypatch.setattr(module, "_LEAST", least)
    sets = pages(2)
    for sides in (None, (np.arange(len(sets)) % 3 == 0).astype(np.uint64)):
        found = joined(sets, threshold, measure=measure, sides=sides)
        assert sorted(found) == sorted(expected(sets, threshold, measure, sides))
        monkeypatch.setattr(module, "_ROOM", 1)
        assert joined(sets, threshold, parts=5, measure=measure, sides=sides) == found
        monkeypatch.undo()
        monkeypatch.setattr(module, "_LEAST", least)


def test_the_collection_has_families():
    features = pages(2)
    join = Join(FeatureSets(Features(*ragged(features)), np.arange(len(features))), 0.05)
    assert len(join.families.members) > 80
    assert (join.families.medians >= 20).sum() > 1


@pytest.mark.parametrize("threads", [1, 3])
def test_the_threads_do_not_matter(threads):
    with LocalEngine(threads) as engine:
        assert joined(pages(3), 0.5, engine=engine) == joined(pages(3), 0.5)


def test_features_that_others_lack_are_not_looked_up():
    """Work, counted: of texts with nothing in common, none are compared."""
    sets = [[1000 * one + each for each in range(50)] for one in range(100)]
    spread = np.uint64(0x9E3779B97F4A7C15)
    values = np.array([v for one in sets for v in one], np.uint64) * spread
    join = Join(FeatureSets(Features(values, np.arange(0, 5001, 50)), np.arange(100)), 0.6)
    assert sum(one.compared for one in join.pairs(slice(0, 100))) == 0


def test_nothing_has_no_pairs():
    assert joined([], 0.5) == joined([[], []], 0.5) == joined([[1], []], 0.5) == []


def made(sets, lists):
    values, starts, sizes = set_arrays(sets)
    owners, begins = ragged(lists, np.uint32)
    return families_of((values * np.uint64(0x9E3779B97F4A7C15), starts, sizes), begins, owners)


def test_many_documents_that_share_a_feature_are_a_family():
    sets = [[1, 2, 3, 100 + one] for one in range(40)] + [[1]]
    found = made(sets, [[40], range(40), range(31)])
    assert found.family.tolist() == [0] * 40 + [-1]
    assert found.places.tolist() == [*range(40), 0]
    assert found.only.tolist() == [-1, 0, 0]
    assert (found.medians.tolist(), found.lacking.tolist(), len(found.deviating)) == ([3], [0] * 40, 0)
    assert made(sets, [range(31)]).family.tolist() == [-1] * 41


def test_documents_that_share_little_else_are_not_pairs():
    halves = [[1, *range(10 + 50 * (one % 2), 50 + 50 * (one % 2))] for one in range(40)]
    found = made(halves, [range(40)])
    assert found.family.tolist() == [-1] * 40
    assert found.only.tolist() == [-1]
