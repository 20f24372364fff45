"""Which pairs are worth an exact comparison, against the definition pair by pair."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import Combined, MinHash, Sentences, SimHash, Trials
from neardup.schemes.plausibility import PlausiblePairs, plausible_tests, share_a_key

KEYS = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 5), min_size=width, max_size=width), max_size=8)
)
SCHEMES = [
    MinHash(permutations=16, shingle=1, recall=0.9, threshold=0.5),
    Trials(words=1, hashes=2),
    Sentences(size=4, min_length=1),
    SimHash(distance=12),
    Combined(MinHash(permutations=16, shingle=1, recall=0.9), SimHash(distance=12)),
]
WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=8).map(". ".join)


@given(KEYS, st.booleans(), st.booleans())
def test_a_key_is_shared_in_one_column_or_position_independent_in_any(rows, position_independent, shuffled):
    keys = np.array(rows, np.uint64).reshape(len(rows), -1 if rows else 1)
    left, right = np.triu_indices(len(rows), 1)
    if shuffled:
        order = np.random.default_rng(1).permutation(len(left))
        left, right = left[order], right[order]
    expected = [
        bool({*rows[a]} & {*rows[b]})
        if position_independent
        else any(x == y for x, y in zip(rows[a], rows[b], strict=True))
        for a, b in zip(left.tolist(), right.tolist(), strict=True)
    ]
    scheme = SimpleNamespace(keys=lambda _: keys, position_independent=position_independent)
    assert share_a_key(scheme, None, left, right).tolist() == expected


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
@given(texts=st.lists(WORDS, max_size=9), before=st.sets(st.integers(0, 8)), begin=st.integers(0, 9))
def test_plausible_pairs_are_signed_pass_every_test_and_share_a_key(scheme, texts, before, begin):
    signed = scheme.sign(texts)
    keys = scheme.keys(signed).tolist()

    def plausible(later, better):
        pair = np.array([later]), np.array([better])
        one, other = keys[later], keys[better]
        shared = (
            {*one} & {*other} if scheme.position_independent else any(x == y for x, y in zip(one, other, strict=True))
        )
        tests = plausible_tests(scheme, signed)
        return all(signed.present[[later, better]]) and all(test(*pair)[0] for test in tests) and bool(shared)

    documents, known = range(begin, len(texts)), sorted(own for own in before if own < min(begin, len(texts)))
    given = (np.array(own, np.int64) for own in (documents, known))
    found = zip(*(side.tolist() for side in PlausiblePairs(scheme, signed).of(*given)), strict=True)
    pairs = [(one, other) for one in documents for other in (*known, *range(begin, one))]
    assert [*found] == [pair for pair in pairs if plausible(*pair)]


def test_without_the_estimate_only_filters_are_asked():
    scheme = MinHash()
    signed = scheme.sign(["a b c d"])
    assert len(plausible_tests(scheme, signed)) == 1
    assert plausible_tests(scheme, signed, by_estimate=False) == []
    assert len(plausible_tests(SimHash(), SimHash().sign(["a"]), by_estimate=False)) == 1
