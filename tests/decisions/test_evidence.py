import numpy as np
from batches import ragged
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.evidence import FeatureSets, Shared, count_shared
from neardup.model.arrays import Features

DOCUMENTS = st.lists(st.lists(st.integers(0, 8), max_size=10), min_size=1, max_size=6)


def measured(sets, left, right):
    return Shared(count_shared(sets, left, right), sets.sizes[left], sets.sizes[right])


def share(part, whole):
    return len(part) / len(whole) if whole else 0.0


@given(DOCUMENTS, st.data())
def test_measures_equal_their_definition(documents, data):
    number = len(documents)
    order = np.array(data.draw(st.permutations(range(number))), np.int64)
    by_rank = [{*documents[position]} for position in order]
    sets = FeatureSets(Features(*ragged(documents)), order)
    left, right = (found.ravel() for found in np.indices((number, number)))
    sets.make_distinct(np.arange(number))
    common = measured(sets, left, right)
    pairs = [(by_rank[a], by_rank[b]) for a, b in zip(left, right, strict=True)]
    assert common.resemblance.tolist() == [share(a & b, a | b) for a, b in pairs]
    assert common.left_in_right.tolist() == [share(a & b, a) for a, b in pairs]
    assert common.right_in_left.tolist() == [share(a & b, b) for a, b in pairs]
    assert sets.smaller(left, right).tolist() == [min(len(a), len(b)) for a, b in pairs]
    assert common.of_smaller.tolist() == [share(a & b, min(a, b, key=len)) for a, b in pairs]


@given(DOCUMENTS, st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=4))
def test_repeats_are_removed_where_somebody_asks_and_nowhere_else(documents, asked):
    sets = FeatureSets(Features(*ragged(documents)), np.arange(len(documents)))
    done = set()
    for some in asked:
        chosen = [document for document in some if document < len(documents)]
        named = sets.repeating(np.array(chosen, np.int64))
        assert named.tolist() == sorted({*chosen} - done)
        sets.make_distinct(named)
        done |= {*chosen}
        for place, document in enumerate(documents):
            start, size = sets.starts[place], sets.sizes[place]
            expected = list(dict.fromkeys(document)) if place in done else document
            assert sets.values[start : start + size].tolist() == expected


def test_documents_without_features_share_nothing():
    sets = FeatureSets(Features(*ragged([[], [], [1]])), np.arange(3))
    common = measured(sets, np.array([0, 0, 2]), np.array([1, 2, 0]))
    assert common.resemblance.tolist() == [0, 0, 0]
    assert common.left_in_right.tolist() == [0, 0, 0]
