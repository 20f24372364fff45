import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.evaluation.agreement import compare_labels
from neardup.model.errors import DataError, ParameterError
from neardup.model.labels import LABELS, LabelledPair


def labels(*told):
    return [
        LabelledPair(a="a", b=str(one), label=label, resemblance=one / 100) for one, label in enumerate(told) if label
    ]


@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=30))
def test_it_equals_its_definition(told):
    found = compare_labels(*(labels(*side) for side in zip(*told, strict=True)))
    decided = [pair for pair in told if "unsure" not in pair]
    assert (found.both, found.unsure, found.single) == (len(decided), len(told) - len(decided), 0)
    assert found.agreed.found == sum(one == other for one, other in decided)
    assert len(found.disagreements) == sum(one != other for one, other in told)
    if not decided:
        assert found.kappa is None
        return
    observed = found.agreed.found / len(decided)
    chance = (
        sum(sum(pair[0] == label for pair in decided) * sum(pair[1] == label for pair in decided) for label in LABELS)
        / len(decided) ** 2
    )
    if chance == 1:
        assert found.kappa is None
    else:
        assert found.kappa == pytest.approx((observed - chance) / (1 - chance))
        assert found.kappa_low <= found.kappa <= found.kappa_high <= 1


def test_an_example_of_the_literature():
    # 20 both yes, 15 both no, 5 and 10 differ: kappa 0.4
    told = [("same", "same")] * 20 + [("same", "different")] * 5 + [("different", "same")] * 10
    told += [("different", "different")] * 15
    found = compare_labels(*(labels(*side) for side in zip(*told, strict=True)))
    assert found.kappa == pytest.approx(0.4)
    assert (found.first_same, found.second_same) == (25, 30)
    assert found.agreed.low < 0.7 < found.agreed.high
    assert 0.1 < found.kappa_low < 0.2
    assert repr(found) == "Agreement(both=50, agreed=35, kappa=0.40)"


def test_disagreements_by_falling_resemblance_and_pairs_of_one_only():
    found = compare_labels(labels("same", "unsure", "same", "same"), labels("different", "same", "same", None))
    assert [(one.b, one.first, one.second) for one in found.disagreements] == [
        ("1", "unsure", "same"),
        ("0", "same", "different"),
    ]
    assert found.single == 1
    assert found.as_dict()["disagreements"][0]["resemblance"] == 0.01


def test_directions_and_repeated_answers():
    ours = [LabelledPair(a="1", b="2", label="different"), LabelledPair(a="2", b="1", label="same")]
    assert compare_labels(ours, [LabelledPair(a="1", b="2", label="same")]).disagreements == ()


def test_labels_without_a_common_pair():
    with pytest.raises(DataError, match="no pair is in both"):
        compare_labels(labels("same"), [])
    for wrong in ("labels.jsonl", [{"a": 1}], None):
        with pytest.raises(ParameterError):
            compare_labels(labels("same"), wrong)
