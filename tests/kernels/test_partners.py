"""Partners by one look at each value, against plain sets."""

import numpy as np
import pytest
from batches import ragged, set_arrays

from neardup.kernels.partners import enter, partners
from neardup.kernels.sets import CONTAINMENT, OVERLAP, RESEMBLANCE


def found(few, many, least, measure, room):
    values = sorted({value for one in few for value in one})
    lists = [[number for number, one in enumerate(few) if value in one] for value in values]
    bits = 2 + len(values).bit_length()
    keys, numbers = np.zeros(1 << bits, np.uint64), np.full(1 << bits, -1, np.int32)
    table = keys, numbers
    enter(np.array(values, np.uint64), table)
    assert sorted(keys[numbers >= 0].tolist()) == values
    owners, begins = ragged(lists, np.int64)
    arrays = [np.empty(room, np.int64) for _ in range(3)]
    met = np.zeros(len(values), np.bool_)
    own = np.array([len(one) for one in few], np.int64)
    pairs, first, calls = [], 0, 0
    while first < len(many):
        lists = begins, owners, np.zeros(len(few) + 1, np.int64), owners[:0]
        first, number = partners(set_arrays(many), first, table, lists, own, least, measure, met, *arrays)
        pairs += zip(*(array[:number].tolist() for array in arrays), strict=True)
        calls += 1
    everywhere = {value for one in many for value in one}
    assert met.tolist() == [value in everywhere for value in values]
    return sorted(pairs), calls


def expected(few, many, least, measure):
    pairs = []
    for left, one in enumerate(few):
        for right, other in enumerate(many):
            shared = len(one & other)
            whole = (one | other, min(one, other, key=len), one)[measure]
            if shared and shared / len(whole) >= least:
                pairs.append((left, right, shared))
    return sorted(pairs)


@pytest.mark.parametrize("measure", [RESEMBLANCE, OVERLAP, CONTAINMENT])
@pytest.mark.parametrize("least", [0.05, 0.3, 1.0])
def test_all_pairs_are_found_whatever_room_there_is(measure, least):
    rng = np.random.default_rng(7)
    few = [{*rng.integers(0, 40, rng.integers(1, 25)).tolist()} for _ in range(9)]
    many = [{*rng.integers(0, 60, rng.integers(0, 25)).tolist()} for _ in range(50)] + few
    want = expected(few, many, least, measure)
    assert len(want) > 5
    for room, several in ((9, True), (10_000, False)):
        pairs, calls = found(few, many, least, measure, room)
        assert pairs == want
        assert (calls > 1) == several


def test_no_sets_have_no_partners():
    assert found([{1}], [], 0.5, RESEMBLANCE, 4) == ([], 0)
    assert found([{1, 2}], [set(), {3}], 0.5, RESEMBLANCE, 4)[0] == []
