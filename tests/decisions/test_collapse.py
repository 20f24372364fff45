import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import collapsed as by_definition

from neardup import SimHash
from neardup.decisions.collapse import alone, collapse
from neardup.kernels.collapse import HEADS
from neardup.model.arrays import Signatures


def groups_of(outcome):
    groups = outcome.members(range(outcome.groups))
    assert outcome.members(range(outcome.groups)[1::2]) == groups[1::2]
    for number in range(outcome.groups + 1):
        assert outcome.firsts(number) == [ranks[0] for ranks in groups[:number]]
    return groups


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2)), max_size=12), st.integers(1, 3), st.integers(1, 3))
def test_equal_values_collapse_as_defined(hits, keep, other):
    codes = [[hit[rule] % max(len(hits), 1) if hit[rule] >= 0 else -1 for hit in hits] for rule in range(2)]
    outcome = collapse(len(hits), [keep, other], [np.array(own, np.int64) for own in codes])
    of, by, heads = by_definition(
        len(hits), [keep, other], lambda rule, better, hit: codes[rule][better] == codes[rule][hit] >= 0
    )
    assert (outcome.of.tolist(), outcome.by.tolist(), outcome.table[HEADS].tolist()) == (of, by, heads)
    assert outcome.kept == [rank for rank, better in enumerate(of) if better < 0]
    assert outcome.hidden == [rank for rank, better in enumerate(of) if better >= 0]
    firsts = sorted(set(heads))
    assert groups_of(outcome) == [[rank for rank, own in enumerate(heads) if own == head] for head in firsts]
    assert (outcome.hits, outcome.groups, outcome.stay) == (len(hits), len(firsts), len(outcome.kept))


def test_the_worked_example():
    """A and C match B, not each other; D has the value of A: a hit is removed only for a better hit that stays."""
    rows = np.array([[0b000], [0b011], [0b111], [2**60 - 1]], np.uint64)
    scheme = SimHash(distance=2)
    ranked = scheme.ranked_rule(Signatures(rows, np.ones(4, np.bool_), scheme.recipe))
    outcome = collapse(4, [1, 1], [None, np.array([0, 1, 2, 0])], ranked, np.ones(4, np.bool_))
    assert outcome.of.tolist() == [-1, 0, -1, 0]  # B is removed for A, so C, which matches B only, stays
    assert outcome.by.tolist() == [-1, 0, -1, 1]
    assert groups_of(outcome) == [[0, 1, 3], [2]]


@pytest.mark.parametrize("number", [0, 1, 5])
def test_alone_all_stay(number):
    outcome = alone(number)
    assert outcome.kept == list(range(number))
    assert outcome.hidden == []
    assert groups_of(outcome) == [[rank] for rank in range(number)]


@pytest.mark.parametrize("cut", [slice(None, None, 2), slice(None, None, -1), slice(0, 0)])
def test_rows_may_lie_in_any_way(cut):
    rows = np.repeat(np.arange(0, 5, dtype=np.uint64) << np.uint64(20), 4)[:, np.newaxis]
    scheme, present = SimHash(distance=0), np.arange(20) % 3 > 0
    signatures = Signatures(rows[cut], present[cut], scheme.recipe)
    strided = collapse(len(signatures), [1], [None], scheme.ranked_rule(signatures), signatures.present)
    copied = Signatures(rows[cut].copy(), present[cut].copy(), scheme.recipe)
    assert (strided.of == collapse(len(copied), [1], [None], scheme.ranked_rule(copied), copied.present).of).all()
    read_only = rows.copy()
    read_only.flags.writeable = False
    outcome = collapse(20, [1], [None], scheme.ranked_rule(Signatures(read_only, present, scheme.recipe)), present)
    assert len(outcome.hidden) == 8
