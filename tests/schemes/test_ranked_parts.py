"""Ranked hits in parts, against all pairs at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.collapse import collapse
from neardup.model.ranked_rule import RankedRule
from neardup.schemes import ranked_parts
from neardup.schemes.ranked_parts import matched_in_parts, pairs_of

SETS = st.sets(st.integers(0, 40)).map(sorted)


@pytest.mark.parametrize("tested", [1, 7, 1 << 18])
@given(SETS, SETS)
def test_all_pairs_with_better_hits_are_tested(tested, hits, before):
    before = [hit - 100 for hit in before]
    expected = [(later, better) for place, later in enumerate(hits) for better in (*before, *hits[:place])]
    tests = [lambda later, better: (later + better) % 3 > 0, lambda later, _: later % 2 > 0]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ranked_parts, "_TESTED", tested)
        for chosen in ([], tests[:1], tests):
            found = pairs_of(np.array(hits, np.int64), np.array(before, np.int64), chosen)
            pairs = [pair for pair in expected if all(test(*pair) for test in chosen)]
            assert [*zip(*(side.tolist() for side in found), strict=True)] == pairs


@pytest.mark.parametrize("keep", [1, 3])
@given(st.integers(0, 20), st.integers(0, 1 << 32))
def test_parts_decide_like_the_whole(keep, number, seed):
    rng = np.random.default_rng(seed)
    matches, present = rng.random((number, number)) < 0.2, rng.random(number) < 0.9
    asked = set()

    def match(later, better):
        asked.update(zip(later.tolist(), better.tolist(), strict=True))
        return matches[later, better] & present[later] & present[better]

    found = []
    with pytest.MonkeyPatch.context() as patched:
        for together in (256, 3):
            patched.setattr(ranked_parts, "_TOGETHER", together)
            asked.clear()
            rule = RankedRule(matched_in_parts(match, number), np.zeros((number, 1), np.uint64), np.zeros(1, np.int64))
            done = collapse(number, [keep], [None], rule, present)
            found.append((done.of.tolist(), done.groups, done.stay))
    assert found[0] == found[1]
    assert {pair for pair in asked if pair[1] < pair[0] // 3 * 3} == {
        (later, better) for later in range(number) for better in done.kept if better < later // 3 * 3
    }
