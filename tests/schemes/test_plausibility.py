"""Which pairs are worth an exact comparison, against the definition pair by pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import Combined, MinHash, Sentences, SimHash, Trials
from neardup.schemes import plausibility
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
def test_a_key_is_shared_in_one_column_or_pooled_in_any(rows, pooled, shuffled):
    keys = np.array(rows, np.uint64).reshape(len(rows), -1 if rows else 1)
    left, right = np.triu_indices(len(rows), 1)
    if shuffled:
        order = np.random.default_rng(1).permutation(len(left))
        left, right = left[order], right[order]
    expected = [
        bool({*rows[a]} & {*rows[b]}) if pooled else any(x == y for x, y in zip(rows[a], rows[b], strict=True))
        for a, b in zip(left.tolist(), right.tolist(), strict=True)
    ]
    assert share_a_key(keys, left, right, pooled=pooled).tolist() == expected


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("together", [1, 3, 256])
@given(texts=st.lists(WORDS, max_size=9), entered=st.sets(st.integers(0, 8)))
def test_plausible_pairs_are_signed_pass_every_test_and_share_a_key(scheme, together, texts, entered):
    signed = scheme.sign(texts)
    keys = scheme.keys(signed).tolist()

    def plausible(later, better):
        pair = np.array([later]), np.array([better])
        one, other = keys[later], keys[better]
        shared = {*one} & {*other} if scheme.pooled else any(x == y for x, y in zip(one, other, strict=True))
        tests = plausible_tests(scheme, signed)
        return all(signed.present[[later, better]]) and all(test(*pair)[0] for test in tests) and bool(shared)

    found = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(plausibility, "_TOGETHER", together)
        pairs = PlausiblePairs(scheme, signed)
        for begin, end in pairs.parts():
            found += zip(*(side.tolist() for side in pairs.of(begin, end)), strict=True)
            pairs.enter(np.array([rank for rank in range(begin, end) if rank in entered], np.int64))
    expected = [(one, other) for one in range(len(texts)) for other in range(one) if plausible(one, other)]
    assert found == [pair for pair in expected if pair[1] in entered or pair[0] // together == pair[1] // together]


def test_without_the_estimate_only_filters_are_asked():
    scheme = MinHash()
    signed = scheme.sign(["a b c d"])
    assert len(plausible_tests(scheme, signed)) == 1
    assert plausible_tests(scheme, signed, by_estimate=False) == []
    assert len(plausible_tests(SimHash(), SimHash().sign(["a"]), by_estimate=False)) == 1
