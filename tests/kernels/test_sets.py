import numpy as np
import pytest
from batches import ragged
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import sets
from neardup.kernels.thresholds import Thresholds

# Multiples of a power of two fall on one place of every table: long runs of collisions.
VALUES = st.one_of(st.integers(0, 9), st.integers(0, 9).map(lambda value: value << 40))
DOCUMENTS = st.lists(st.lists(VALUES, max_size=12), min_size=1, max_size=5)


def distinct(documents):
    values, offsets = ragged(documents)
    starts, sizes = offsets[:-1].copy(), np.diff(offsets)
    sets.make_distinct((values, starts, sizes), np.arange(len(documents)), np.zeros(len(documents), np.bool_))
    return values, starts, sizes


@given(DOCUMENTS)
def test_make_distinct_keeps_first_occurrences(documents):
    values, starts, sizes = distinct(documents)
    kept = [values[start : start + size].tolist() for start, size in zip(starts, sizes, strict=True)]
    assert kept == [list(dict.fromkeys(document)) for document in documents]


@pytest.mark.parametrize("different", [1, 700, 2**64 - 1])
def test_long_sets_are_sorted(different):
    random = np.random.default_rng(different)
    long = random.integers(0, different, sets.LONG + 1, np.uint64, endpoint=True)
    values, starts, sizes = distinct([[3, 1, 3], long.tolist(), [2, 1]])
    kept = [values[start : start + size].tolist() for start, size in zip(starts, sizes, strict=True)]
    assert kept == [[3, 1], sorted({*long.tolist()}), [2, 1]]


@given(DOCUMENTS)
def test_intersections_equal_those_of_sets(documents):
    values, starts, sizes = distinct(documents)
    left = np.repeat(np.arange(len(documents)), len(documents))
    right = np.tile(np.arange(len(documents)), len(documents))
    shared = np.empty(len(left), np.int64)
    sets.intersections((values, starts, sizes), left, right, shared)
    assert shared.tolist() == [len({*documents[i]} & {*documents[j]}) for i, j in zip(left, right, strict=True)]


@given(DOCUMENTS)
def test_digests_are_sums_that_depend_on_the_order(documents):
    values, offsets = ragged(documents)
    sums = np.empty(len(documents), np.uint64)
    sets.digests(values, offsets, sums)
    expected = [sum(value * (2 * place + 1) for place, value in enumerate(document)) for document in documents]
    assert sums.tolist() == [total % 2**64 for total in expected]


@given(DOCUMENTS)
def test_ranges_are_equal_if_their_values_are(documents):
    values, offsets = ragged(documents)
    left = np.repeat(np.arange(len(documents)), len(documents))
    right = np.tile(np.arange(len(documents)), len(documents))
    equal = np.empty(len(left), np.bool_)
    ends = offsets[:-1], offsets[1:]
    sets.equal_ranges(values, *ends, values, *ends, left, right, equal)
    assert equal.tolist() == [documents[i] == documents[j] for i, j in zip(left, right, strict=True)]


MEASURES = st.sampled_from([sets.RESEMBLANCE, sets.OVERLAP, sets.CONTAINMENT])


def matches(one, other, threshold, measure=sets.RESEMBLANCE):
    shared = {*one} & {*other}
    whole = ({*one} | {*other}, min({*one}, {*other}, key=len), {*one})[measure]
    return bool(shared) and len(shared) / len(whole) >= threshold


STRICTER = np.array([0.7, 0.9])
GROUPS = st.one_of(st.just([]), st.lists(st.sampled_from([0, 2, 3, 4, 5]), min_size=5, max_size=5))


SHORT, OF_SHORT = 4, 0.75


def least(thresholds, documents, one, other):
    """What the measure of two documents must reach."""
    groups = thresholds.groups.tolist()
    same = len(groups) and groups[one] == groups[other] > 0
    few = min(len({*documents[one]}), len({*documents[other]})) < thresholds.short
    return max([thresholds.base, *([STRICTER[groups[one] % 2]] if same else []), *([OF_SHORT] if few else [])])


def of(threshold, groups, short=0):
    return Thresholds(threshold, np.array(groups, np.uint64), STRICTER, short, OF_SHORT)


def all_earlier(number):
    """Every document asks about all before it."""
    bounds = np.cumsum([0, *range(number)]).astype(np.int64)
    candidates = np.array([earlier for document in range(number) for earlier in range(document)], np.int32)
    return np.arange(number, dtype=np.int32), bounds, candidates


@given(DOCUMENTS, st.sampled_from([0.2, 0.5, 0.6, 0.8, 1.0]), GROUPS, MEASURES, st.sampled_from([0, SHORT]))
def test_first_matches_follow_the_rule(documents, threshold, groups, measure, short):
    values, starts, sizes = distinct(documents)
    matched, common = np.full((2, len(documents)), -1, np.int64)
    limits = (0, len(documents))
    everybody = all_earlier(len(documents))
    thresholds = of(threshold, groups, short)
    rule = (thresholds, measure)
    sets.first_matches(*everybody, *limits, (values, starts, sizes), *rule, matched, matched, common)
    expected = []
    for place, document in enumerate(documents):
        kept = [
            i
            for i in range(place)
            if expected[i] < 0 and matches(document, documents[i], least(thresholds, documents, place, i), measure)
        ]
        expected.append(min(kept, default=-1))
    assert matched.tolist() == expected
    shared = [len({*documents[i]} & {*documents[j]}) if j >= 0 else -1 for i, j in enumerate(expected)]
    assert common.tolist() == shared


@given(DOCUMENTS, st.sampled_from([0.2, 0.5, 0.8]))
def test_first_matches_may_be_removed_ones(documents, threshold):
    removed, matched, common = np.full((3, len(documents)), -1, np.int64)
    rule = (of(threshold, []), sets.RESEMBLANCE)
    limits = (0, len(documents))
    sets.first_matches(*all_earlier(len(documents)), *limits, distinct(documents), *rule, removed, matched, common)
    every = [
        [i for i in range(own) if matches(documents[own], documents[i], threshold)] for own in range(len(documents))
    ]
    assert matched.tolist() == [min(earlier, default=-1) for earlier in every]


@given(st.lists(st.integers(-1, 30), max_size=30), st.data())
def test_first_matches_decide_unless_they_are_removed_or_undecided(drawn, data):
    firsts = np.array([first if first < own else -1 for own, first in enumerate(drawn)], np.int64)
    undecided = np.array([data.draw(st.booleans()) for _ in firsts], np.bool_)
    before, matched = undecided.copy(), np.full(len(firsts), -1, np.int64)
    asking = np.flatnonzero(~before)
    sets.known_matches(asking, firsts[asking], undecided, matched)
    for own, first in enumerate(firsts.tolist()):
        follows = first >= 0 and (undecided[first] or matched[first] >= 0)
        assert undecided[own] == (before[own] or follows)
        assert matched[own] == (-1 if before[own] or follows else first)


@given(DOCUMENTS, st.sampled_from([0.2, 0.5, 0.8]))
def test_given_matches_follow_the_same_rule(documents, threshold):
    asking, bounds, candidates = all_earlier(len(documents))
    pairs = zip(np.repeat(asking, np.diff(bounds)), candidates, strict=True)
    holds = np.array([matches(documents[i], documents[j], threshold) for i, j in pairs], np.bool_)
    given_, computed, common = np.full((3, len(documents)), -1, np.int64)
    sets.first_given(asking, bounds, candidates, holds, given_)
    values, starts, sizes = distinct(documents)
    limits = (0, len(documents))
    rule = (of(threshold, []), sets.RESEMBLANCE)
    sets.first_matches(asking, bounds, candidates, *limits, (values, starts, sizes), *rule, computed, computed, common)
    assert given_.tolist() == computed.tolist()


def components(number, edges):
    names = list(range(number))
    for i, j in edges:
        old, new = max(names[i], names[j]), min(names[i], names[j])
        names = [new if name == old else name for name in names]
    return names


@given(DOCUMENTS, st.sampled_from([0.2, 0.5, 0.8]), GROUPS, MEASURES, st.sampled_from([0, SHORT]))
def test_connect_finds_the_components(documents, threshold, groups, measure, short):
    number = len(documents)
    asking, bounds, candidates = all_earlier(number)
    pairs = list(zip(np.repeat(asking, np.diff(bounds)), candidates, strict=True))
    thresholds = of(threshold, groups, short)
    holds = [matches(documents[i], documents[j], least(thresholds, documents, i, j), measure) for i, j in pairs]
    expected = components(number, [pair for pair, hold in zip(pairs, holds, strict=True) if hold])
    values, starts, sizes = distinct(documents)
    parents = np.arange(number)
    sets.connect(asking, bounds, candidates, (values, starts, sizes), thresholds, measure, parents)
    sets.roots(parents)
    assert parents.tolist() == expected
    parents = np.arange(number)
    sets.connect_given(asking, bounds, candidates, np.array(holds, np.bool_), parents)
    sets.roots(parents)
    assert parents.tolist() == expected


def test_a_pair_already_connected_is_not_compared():
    documents = [[1, 2, 3, 4]] * 10
    values, starts, sizes = distinct(documents)
    compared = sets.connect(*all_earlier(10), (values, starts, sizes), of(0.5, []), sets.RESEMBLANCE, np.arange(10))
    assert compared == 9


def test_a_chain_of_a_hundred_thousand_has_one_root():
    parents = np.maximum(np.arange(100_000) - 1, 0)
    sets.roots(parents)
    assert not parents.any()
