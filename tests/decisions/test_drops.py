from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from batches import ragged
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.drops import ExactResemblance, GivenMatches, represented
from neardup.decisions.evidence import SET_MEASURES, FeatureSets
from neardup.engines.local import LocalEngine
from neardup.kernels.thresholds import Thresholds
from neardup.model.arrays import Features
from neardup.model.candidates import Candidates

SETS = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=12), max_size=10)
THRESHOLDS = st.sampled_from([0.1, 0.25, 0.5, 0.55, 0.6, 0.75, 0.9, 1.0])


def resembles(one, other, threshold):
    shared, union = len({*one} & {*other}), len({*one} | {*other})
    return shared > 0 and shared / union >= threshold


def overlaps(one, other, threshold):
    shared, smaller = len({*one} & {*other}), min(len({*one}), len({*other}))
    return shared > 0 and shared / smaller >= threshold


def contains(one, other, threshold):
    shared = len({*one} & {*other})
    return shared > 0 and shared / len({*one}) >= threshold


RULES = {"resemblance": resembles, "overlap": overlaps, "containment": contains}


def greedy(sets, threshold, rule=resembles):
    matched = []
    for rank, members in enumerate(sets):
        kept = [better for better in range(rank) if matched[better] < 0 and rule(members, sets[better], threshold)]
        matched.append(min(kept, default=-1))
    return matched


def measure(one, other, rule):
    wholes = {"resemblance": {*one} | {*other}, "overlap": min({*one}, {*other}, key=len), "containment": {*one}}
    return Fraction(len({*one} & {*other}), len(wholes[rule]))


def closest(sets, threshold, rule="resemblance"):
    matched = greedy(sets, threshold, RULES[rule])
    for rank, match in enumerate([*matched]):
        if match >= 0:
            kept = [b for b in range(rank) if matched[b] < 0 and RULES[rule](sets[rank], sets[b], threshold)]
            matched[rank] = max(kept, key=lambda better: (measure(sets[rank], sets[better], rule), -better))
    return matched


def components(sets, threshold, rule=resembles):
    graph = nx.Graph()
    graph.add_nodes_from(range(len(sets)))
    pairs = [(a, b) for b in range(len(sets)) for a in range(b)]
    graph.add_edges_from((a, b) for a, b in pairs if rule(sets[b], sets[a], threshold))
    best = {member: min(group) for group in nx.connected_components(graph) for member in group}
    return [-1 if best[member] == member else best[member] for member in range(len(sets))]


def blocks(number, size):
    """Every document asks about all better ones, *size* documents a block."""
    for begin in range(0, number, size):
        asking = np.arange(begin, min(begin + size, number), dtype=np.int32)
        candidates = [np.arange(rank, dtype=np.int32) for rank in asking]
        yield Candidates(
            asking=asking, bounds=np.cumsum([0, *map(len, candidates)]), candidates=np.concatenate(candidates)
        )


def feature_sets(sets):
    return FeatureSets(Features(*ragged(sets)), np.arange(len(sets)))


def given_matcher(sets, threshold):
    def holds(left, right):
        return np.array([resembles(sets[a], sets[b], threshold) for a, b in zip(left, right, strict=True)], np.bool_)

    return GivenMatches(holds)


def exact_matcher(sets, threshold):
    return ExactResemblance(feature_sets(sets), Thresholds(threshold))


def settled(matcher, number, size):
    matched = np.full(number, -1, np.int64)
    for block in blocks(number, size):
        matcher.settle(block, matched)
    return matched.tolist()


def connected(matcher, number, size):
    parents = np.arange(number)
    for block in blocks(number, size):
        matcher.connect(block, parents)
    return represented(parents).tolist()


@pytest.fixture(scope="module", params=[exact_matcher, given_matcher], ids=["exact", "given"])
def make(request):
    return request.param


@given(sets=SETS, threshold=THRESHOLDS, size=st.integers(1, 11))
def test_the_kept_follow_the_greedy_rule(make, sets, threshold, size):
    assert settled(make(sets, threshold), len(sets), size) == greedy(sets, threshold)


@given(SETS, THRESHOLDS, st.integers(1, 11), st.sampled_from(sorted(SET_MEASURES)), st.sampled_from([1, 3]))
def test_the_closest_of_the_kept_matches(sets, threshold, size, rule, threads):
    with LocalEngine(threads) as engine:
        matcher = ExactResemblance(feature_sets(sets), Thresholds(threshold), measure=rule, closest=True, engine=engine)
        assert settled(matcher, len(sets), size) == closest(sets, threshold, rule)
    for rank, match in enumerate(closest(sets, threshold, rule)):
        assert match < 0 or matcher.common[rank] == len({*sets[rank]} & {*sets[match]})


@given(SETS, THRESHOLDS, st.integers(1, 11))
def test_the_closest_of_given_matches(sets, threshold, size):
    def closeness(left, right):
        return np.array([float(measure(sets[a], sets[b], "resemblance")) for a, b in zip(left, right, strict=True)])

    holds = given_matcher(sets, threshold)._holds
    assert settled(GivenMatches(holds, closeness=closeness), len(sets), size) == closest(sets, threshold)


@given(sets=SETS, threshold=THRESHOLDS, size=st.integers(1, 11))
def test_components_are_those_of_the_graph(make, sets, threshold, size):
    assert connected(make(sets, threshold), len(sets), size) == components(sets, threshold)


@given(sets=SETS, threshold=THRESHOLDS, size=st.integers(1, 11))
def test_threads_and_blocks_settle_the_same_with_the_same_work(sets, threshold, size):
    alone = exact_matcher(sets, threshold)
    with LocalEngine(3) as engine:
        together = ExactResemblance(feature_sets(sets), Thresholds(threshold), engine=engine)
        assert settled(together, len(sets), size) == settled(alone, len(sets), 11)
    assert together.compared == alone.compared


@pytest.mark.parametrize("rule", ["overlap", "containment"])
@given(sets=SETS, threshold=THRESHOLDS, size=st.integers(1, 11))
def test_a_part_matches_its_whole(sets, threshold, size, rule):
    def matcher():
        return ExactResemblance(feature_sets(sets), Thresholds(threshold), measure=rule)

    assert settled(matcher(), len(sets), size) == greedy(sets, threshold, RULES[rule])
    assert connected(matcher(), len(sets), size) == components(sets, threshold, RULES[rule])


@pytest.mark.parametrize("whole", [3, 7, 10, 20, 25, 40, 100])
def test_a_part_that_reaches_the_threshold_exactly_matches(whole):
    """The share k / n is at least the threshold k / n, whatever k / n * n rounds to."""
    full = [value * 7919 for value in range(whole)]
    for part in range(1, whole + 1):
        for sets in ([full, full[:part]], [full[:part], full]):
            assert settled(exact_matcher(sets, part / whole), 2, 2) == [-1, 0]
            assert connected(exact_matcher(sets, part / whole), 2, 2) == [-1, 0]
            above = np.nextafter(part / whole, 2)
            assert settled(exact_matcher(sets, above), 2, 2) == [-1, -1]


def test_nothing_proposed_nothing_compared(make):
    block = Candidates(asking=np.empty(0, np.int32), bounds=np.zeros(1, np.int64), candidates=np.empty(0, np.int32))
    matcher = make([[1], [1]], 0.5)
    matched = np.full(2, -1, np.int64)
    matcher.settle(block, matched)
    assert (matched.tolist(), matcher.compared) == ([-1, -1], 0)


def test_only_what_may_match_is_compared():
    sets = [list(range(100)), [1], list(range(100, 200)), list(range(100))]
    matcher = exact_matcher(sets, 0.5)
    assert settled(matcher, 4, 4) == [-1, -1, -1, 0]
    assert matcher.compared == 2  # the third with the first, the fourth with the first: the small one is passed over


def test_a_pair_connected_already_is_not_compared():
    matcher = exact_matcher([[1, 2, 3]] * 50, 0.5)
    assert connected(matcher, 50, 7) == [-1, *[0] * 49]
    assert matcher.compared == 49


def test_documents_of_one_group_need_its_threshold():
    sets = [[*range(10)], [*range(8)], [*range(9)], [*range(10)]]  # 0.8, 0.9 and 1 of the first
    stricter = np.array([0.8, 0.9])
    for groups, expected in (
        ([0, 0, 0, 0], [-1, 0, 0, 0]),
        ([2, 2, 2, 2], [-1, 0, 0, 0]),
        ([3, 3, 3, 3], [-1, -1, 0, 0]),
        ([3, 5, 3, 3], [-1, 0, 0, 0]),
    ):
        for ways in ({}, {"closest": True}):
            thresholds = Thresholds(0.6, np.array(groups, np.uint64), stricter)
            matcher = ExactResemblance(feature_sets(sets), thresholds, **ways)
            assert settled(matcher, 4, 2) == expected


@pytest.mark.parametrize("rule", ["overlap", "containment"])
def test_short_sets_are_looked_up_in_long_ones(rule):
    """Sets of more than 1,024 values ascend, and the values of much shorter ones are searched in them."""
    random = np.random.default_rng(3)
    wholes = [random.integers(0, 2**64, 5_000, np.uint64).tolist() for _ in range(3)]
    wholes[2] = [value >> 8 for value in wholes[2]]  # not spread evenly
    sets = [*wholes]
    for whole in wholes:
        for common in (0, 7, 8, 9, 10):
            sets.append(random.permutation([*random.choice(whole, common, replace=False).tolist()]).tolist())
            sets[-1] = [*sets[-1], *random.integers(0, 2**64, 10 - common, np.uint64).tolist()]
        sets.append([min(whole), max(whole), 0, 2**64 - 1])
    for threshold in (0.4, 0.8, 1.0):
        matcher = ExactResemblance(feature_sets(sets), Thresholds(threshold), measure=rule)
        assert settled(matcher, len(sets), 4) == greedy(sets, threshold, RULES[rule])
