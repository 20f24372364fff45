import numpy as np
import pytest

from neardup import MinHash, Sentences, SimHash
from neardup.engines.local import LocalEngine
from neardup.index.memory.buckets import Buckets
from neardup.model.policy import Policy
from neardup.pipeline.corpus.comparison import LeaderComparison, SignatureKeys
from neardup.schemes.thresholds import thresholds_of

TEXTS = [f"one two three four five six seven eight {word}" for word in "abcabcdd"]
TEXTS += ["nine ten eleven", "", "nine ten eleven"]


@pytest.mark.parametrize("scheme", [MinHash(), Sentences()])
def test_unverified_candidates_are_decided_by_their_keys(scheme):
    policy, signatures = Policy(verify="none"), scheme.sign(TEXTS)
    with LocalEngine(1) as engine:
        comparison = LeaderComparison(scheme, policy, signatures, engine, thresholds_of(scheme))
        decided = comparison.decide(comparison.unverified, lambda *_: None)
    keys = scheme.keys(signatures)
    matched = []
    for one in range(len(TEXTS)):
        alike = [
            other
            for other in range(one)
            if matched[other] < 0
            and signatures.present[[one, other]].all()
            and (
                np.isin(keys[one], keys[other]).any()
                if scheme.position_independent
                else (keys[one] == keys[other]).any()
            )
        ]
        matched.append(alike[0] if alike else -1)
    assert decided.matched.tolist() == matched
    assert decided.compared == 0


@pytest.mark.parametrize("scheme", [MinHash(), Sentences(), SimHash()])
def test_keys_are_those_of_the_signatures(scheme):
    signatures = scheme.sign(TEXTS)
    keys, whole = SignatureKeys(scheme, signatures), scheme.keys(signatures)
    some = np.array([4, 1])
    assert keys.columns == whole.shape[1]
    assert (keys.rows(some) == whole[some]).all()
    assert (keys.column(1, some) == whole[some, 1]).all()
    assert any(Buckets(keys, signatures.present, position_independent=scheme.position_independent).proposed())
