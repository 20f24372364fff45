"""Partners and pairs by cosine, against the cosine of every pair in plain Python."""

from itertools import pairwise
from math import sqrt

import numpy as np
import pytest
from batches import ragged

from neardup.decisions import partners as shared
from neardup.decisions import weighted_partners as module
from neardup.decisions.evidence import WeightedSets
from neardup.decisions.weighted_partners import CosineJoin, WeightedPartners
from neardup.model.arrays import Features
from neardup.schemes.simhash import SimHash

SPREAD = 0x9E3779B97F4A7C15
EVEN = SimHash().weight_table


def bags(seed, number=40):
    """Bags with common and rare values, near copies of some, and copies."""
    random = np.random.default_rng(seed)
    first = [(random.zipf(1.3, random.integers(0, 40)) % 300).tolist() for _ in range(number)]
    others = [[*one[: random.integers(0, len(one) + 1)], *random.integers(0, 300, 3).tolist()] for one in first]
    return first + others + first[:5]


def weighted(bags):
    features = Features(*ragged([[value * SPREAD % 2**64 for value in one] for one in bags]))
    return WeightedSets(features, np.arange(len(bags)), EVEN)


def cosine(one, other):
    product = sum(one.count(value) * other.count(value) for value in {*one} & {*other})
    norms = [sum(bag.count(value) ** 2 for value in {*bag}) for bag in (one, other)]
    return min(1.0, product / sqrt(norms[0] * norms[1])) if product else 0.0


@pytest.mark.parametrize("least", [0.05, 0.4, 0.8, 1.0])
def test_partners_are_all_with_that_cosine(monkeypatch, least):
    few, many = bags(1), bags(2) + bags(1)[:30]
    monkeypatch.setattr(module, "LONG", 1)  # common values are spared, also of few documents
    partners = WeightedPartners(weighted(few), np.arange(len(few)), least)
    asked = np.arange(3, len(many))
    found = partners.among(weighted(many), asked)
    want = {
        (left, right): cosine(few[left], many[right + 3])
        for left in range(len(few))
        for right in range(len(asked))
        if cosine(few[left], many[right + 3]) >= least
    }
    assert dict(zip(zip(found.left.tolist(), found.right.tolist()), found.values.tolist())) == want  # noqa: B905
    assert len(found.left) == len(want) > 10
    monkeypatch.setattr(shared, "_ROOM", 1)
    again = partners.among(weighted(many), asked)
    assert (again.left.tolist(), again.right.tolist()) == (found.left.tolist(), found.right.tolist())


@pytest.mark.parametrize("threshold", [0.1, 0.6, 0.9])
def test_no_pair_is_missed_and_none_is_too_many(threshold):
    every = bags(3)
    mixed = np.random.default_rng(4).integers(0, 2, len(every)).astype(np.uint64)
    for sides in (None, mixed, np.sort(mixed)):
        want = sorted(
            (left, right, len({*every[left]} & {*every[right]}))
            for right in range(len(every))
            for left in range(right)
            if cosine(every[left], every[right]) >= threshold and (sides is None or sides[left] != sides[right])
        )
        join = CosineJoin(weighted(every), threshold, sides=sides)
        for parts in (1, 5):
            edges = np.linspace(0, len(join), parts + 1).astype(int).tolist()
            found = [one for part in pairwise(edges) for one in join.pairs(slice(*part))]
            listed = [row for one in found for row in zip(one.left, one.right, one.shared, strict=True)]
            assert sorted(tuple(map(int, row)) for row in listed) == want
        assert want


def test_values_that_are_everywhere_are_spared():
    """Work, counted: documents that share only what all of them have are not even found by it."""
    every = [[1] * 5 + [10 * number + each for each in range(2, 9)] for number in range(50)]
    partners = WeightedPartners(weighted(every), np.arange(50), 0.9)
    assert np.diff(partners._lists[0]).max() == 1
    assert len(partners.among(weighted(every), np.arange(50)).left) == 50


def test_nothing_has_no_partners():
    assert len(WeightedPartners(weighted([]), np.arange(0), 0.5).among(weighted([[1]]), np.arange(1)).left) == 0
    assert len(WeightedPartners(weighted([[1], []]), np.arange(2), 0.5).among(weighted([[]]), np.arange(1)).left) == 0
    assert [*CosineJoin(weighted([]), 0.5).pairs(slice(0, 0))] == []
