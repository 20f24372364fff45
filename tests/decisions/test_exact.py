from itertools import permutations

import numpy as np
from batches import ragged
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.exact import (
    count_repeats,
    leaders_by_content,
    leaders_by_features,
    leaders_by_key,
    repeats,
    spread,
)
from neardup.kernels.sets import digests
from neardup.model.arrays import Features, TextBatch

DOCUMENTS = st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=10)


def leaders(documents, order, sums=None):
    features = Features(*ragged(documents))
    if sums is None:
        sums = np.empty(len(documents), np.uint64)
        digests(features.values, features.offsets, sums)
    return leaders_by_features(features, np.asarray(sums, np.uint64), np.asarray(order, np.int64)).tolist()


def first_equal(documents, order):
    by_rank = [documents[position] for position in order]
    return [by_rank.index(document) if document else rank for rank, document in enumerate(by_rank)]


@given(
    st.lists(st.lists(st.sampled_from([1, 10, 100, 1000]).map(lambda n: n << 40), max_size=3), max_size=10), st.data()
)
def test_leaders_are_the_best_ranked_equals(documents, data):
    """Where digests tell sets apart: what has the same sum here has the same members."""
    documents = [sorted(document) for document in documents]
    order = data.draw(st.permutations(range(len(documents))))
    assert leaders(documents, order) == first_equal(documents, order)


@given(DOCUMENTS, st.data())
def test_equal_digests_only_suggest(documents, data):
    """All digests alike: whoever is led equals the leader, who is better-ranked and leads itself."""
    order = data.draw(st.permutations(range(len(documents))))
    found = leaders(documents, order, np.zeros(len(documents)))
    by_rank = [documents[position] for position in order]
    for rank, leader in enumerate(found):
        assert leader <= rank
        assert found[leader] == leader
        assert by_rank[leader] == by_rank[rank]


def test_equals_are_found_among_many_orders_of_the_same_features():
    features = [value << 40 for value in (1, 10, 100, 1000, 10_000)]
    documents = [list(order) for order in permutations(features)]
    assert leaders(documents * 2, range(240)) == [*range(120), *range(120)]


def test_order_and_repeats_of_features_tell_documents_apart():
    assert leaders([[1, 2], [2, 1], [1, 2, 2], [1, 2]], range(4)) == [0, 1, 2, 0]


@given(st.lists(st.none() | st.integers(0, 3), max_size=10))
def test_equal_contents_have_the_first_as_their_leader(contents):
    ranks = [2 * place + 1 for place in range(len(contents))]
    found = np.arange(2 * len(contents) + 1)
    leaders_by_content(contents, ranks, found)
    expected = np.arange(2 * len(contents) + 1)
    for place, content in enumerate(contents):
        if content is not None:
            expected[ranks[place]] = ranks[contents.index(content)]
    assert found.tolist() == expected.tolist()


def test_equals_go_where_their_head_goes():
    leaders = np.array([0, 1, 3, 6])  # their ranks: kept, dropped for the first, kept, dropped for the third
    matched = np.array([-1, 0, -1, 2])
    leader_of = np.array([0, 1, 0, 2, 1, 2, 3, 3])
    assert spread(matched, leaders, leader_of).tolist() == [-1, 0, 0, -1, 0, 3, 3, 3]


@given(st.data())
def test_a_group_has_one_destination(data):
    """Every equal of a kept leader goes to it, every member of a dropped group to the leader that it matched."""
    number = data.draw(st.integers(0, 12))
    leaders = []
    for rank in range(number):
        earlier = [leader for leader in leaders if leaders[leader] == leader]
        leaders.append(data.draw(st.sampled_from([*earlier, rank])))
    ranks = [rank for rank, leader in enumerate(leaders) if rank == leader]
    kept, matched = [], []
    for number in range(len(ranks)):
        matched.append(data.draw(st.sampled_from([-1, *kept])))
        kept += [number] if matched[-1] < 0 else []
    leader_of = [ranks.index(leader) for leader in leaders]
    found = spread(np.array(matched, np.int64), np.array(ranks, np.int64), np.array(leader_of, np.int64)).tolist()
    for rank, leader in enumerate(leaders):
        chosen = matched[ranks.index(leader)]
        expected = ranks[chosen] if chosen >= 0 else leader
        assert found[rank] == (-1 if expected == rank else expected)


@given(st.lists(st.binary(max_size=2), max_size=12))
def test_repeats_are_all_but_the_distinct(contents):
    offsets = np.cumsum([0, *map(len, contents)]).astype(np.int64)
    data = np.frombuffer(b"".join(contents) + b"\0", np.uint8)
    known = len(contents) - len({*contents})
    assert count_repeats([TextBatch(data, offsets)]) == known
    half = len(contents) // 2
    assert count_repeats([TextBatch(data, offsets[: half + 1]), TextBatch(data, offsets[half:])]) == known


@given(st.lists(st.tuples(st.sampled_from([1 << 62, 2 << 62, 3 << 62]), st.integers(0, 2)), max_size=12))
def test_digests_repeat_earlier_ones(digests):
    """Few digests have the same first word, as of random ones."""
    expected = [digest in digests[:row] for row, digest in enumerate(digests)]
    assert repeats(np.array(digests, np.uint64).reshape(-1, 2)).tolist() == expected


@given(st.lists(st.sampled_from([(0, 0), (1 << 40, 5), (1 << 40, 6), (2 << 40, 5)]), max_size=12))
def test_leaders_by_key_are_the_best_ranks_of_a_digest(digests):
    ranks = np.array([rank for rank, own in enumerate(digests) if any(own)], np.int64)
    found = leaders_by_key(np.array(digests, np.uint64).reshape(-1, 2), ranks)
    assert found.tolist() == [digests.index(own) if any(own) else rank for rank, own in enumerate(digests)]
