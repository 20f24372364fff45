import numpy as np
import pytest
from batches import ragged

from neardup.decisions import partners as partners_module
from neardup.decisions.partners import Partners
from neardup.model.arrays import Features


def features(sets):
    return Features(*ragged(sets))


def test_partners_are_found_by_their_sets():
    found = Partners(features([[1, 2, 3, 1], [7, 8], []]), 0.3).among(features([[3, 2, 1, 1, 1], [8, 9], [], [5]]))
    assert [*zip(found.left.tolist(), found.right.tolist(), strict=True)] == [(0, 0), (1, 1)]
    assert found.common.resemblance.tolist() == [1.0, 1 / 3]
    assert found.common.left_in_right.tolist() == [1.0, 0.5]


def test_the_share_of_the_smaller_set_counts_if_wanted():
    few, many = [[1, 2]], [[1, 2, 3, 4, 5, 6]]
    assert len(Partners(features(few), 0.5).among(features(many)).left) == 0
    assert Partners(features(few), 0.5, measure="overlap").among(features(many)).common.of_smaller.tolist() == [1.0]
    assert len(Partners(features(few), 0.5, measure="containment").among(features(many)).left) == 1
    assert len(Partners(features(many), 0.5, measure="containment").among(features(few)).left) == 0


@pytest.mark.parametrize("measure", ["resemblance", "containment", "overlap"])
@pytest.mark.parametrize("least", [0.1, 0.5, 0.8, 1.0])
def test_features_that_much_of_the_sample_has(measure, least):
    random = np.random.default_rng(5)
    common = list(range(30))
    few = [
        [*random.permutation(common)[: random.integers(1, 31)].tolist(), *random.integers(100, 200, 4)]
        for _ in range(60)
    ]
    few += [common, common[:12]]
    many = [[*random.permutation(common)[:20].tolist(), *random.integers(100, 200, 6)] for _ in range(80)]
    many += [common, [], [0]]
    wanted = []
    for right, two in enumerate(map(set, many)):
        for left, one in enumerate(map(set, few)):
            whole = {"resemblance": len(one | two), "containment": len(one), "overlap": min(len(one), len(two))}[
                measure
            ]
            if one & two and len(one & two) / whole >= least:
                wanted.append((left, right, len(one & two)))
    found = Partners(features(few), least, measure=measure).among(features(many))
    pairs = [*zip(found.left.tolist(), found.right.tolist(), found.common.shared.tolist(), strict=True)]
    assert sorted(pairs) == sorted(wanted)
    assert wanted


def test_features_that_were_found_anywhere_are_counted():
    few = Partners(features([[1, 2, 3, 4], [9], []]), 0.9)
    few.among(features([[1, 7]]))
    few.among(features([[2, 9, 9], [5]]))
    assert few.met.tolist() == [0.5, 1.0, 0.0]


def test_nothing_has_no_partners():
    found = Partners(features([]), 0.5).among(features([[1]]))
    assert len(found.left) == len(found.right) == 0
    assert len(Partners(features([[1]]), 0.5).among(features([])).left) == 0


def test_steps_have_the_same_pairs_some_documents_at_a_time(monkeypatch):
    few, many = [[1, 2], [2, 3], [1, 3]], [[1, 2, 3]] * 20
    every = Partners(features(few), 0.1).among(features(many))
    monkeypatch.setattr(partners_module, "_ROOM", 2)
    steps = [*Partners(features(few), 0.1).steps(features(many))]
    assert max(len(step.left) for step in steps) <= 2 + len(few)
    for name in ("left", "right"):
        assert np.concatenate([getattr(step, name) for step in steps]).tolist() == getattr(every, name).tolist()
    firsts = [int(step.right[0]) for step in steps]
    assert firsts == sorted(set(firsts))
