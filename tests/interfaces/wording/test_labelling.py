from types import SimpleNamespace

from neardup.evaluation.agreement import compare_labels
from neardup.interfaces.wording.labelling import agreement_lines, counts_of, place_of
from neardup.model.labels import LabelledPair


def labels(*told, name="a"):
    return [
        LabelledPair(a=name, b=str(one), label=label, resemblance=one / 100) for one, label in enumerate(told) if label
    ]


def test_the_place_of_a_pair_names_its_number_and_its_earlier_label():
    assert place_of(SimpleNamespace(number=3, wanted=None, given=None)) == "Pair 3"
    assert place_of(SimpleNamespace(number=1_000, wanted=2_000, given="same")) == "Pair 1,000 of 2,000, labelled same"


def test_labels_are_counted_by_kind():
    assert counts_of([]) == "0 pairs labelled: 0 same, 0 different, 0 unsure"
    assert counts_of(labels("same", "same", "unsure")) == "3 pairs labelled: 2 same, 0 different, 1 unsure"


def test_an_agreement_in_words():
    first = labels(*["same"] * 20, *["different"] * 18, "same", "unsure", "same")
    second = labels(*["same"] * 20, *["different"] * 17, "same", "different", "same", None)
    assert agreement_lines(compare_labels(first, second)) == [
        "agreement 94.87 % (84.07 % to 99.13 %): 37 of 39 pairs",
        "Cohen's kappa 0.90 (0.68 to 0.98)",
        "in parentheses: intervals with a confidence of 95 %",
        "labelled same: 21 by the first person, 21 by the second",
        "1 pair is left out: at least one person was unsure",
        "1 pair is left out: labelled by one person only",
        "pairs with different labels:",
        "  a and 39: unsure, same (resemblance 0.39)",
        "  a and 38: same, different (resemblance 0.38)",
        "  a and 37: different, same (resemblance 0.37)",
    ]


def test_agreements_without_a_kappa():
    one = agreement_lines(compare_labels(labels("same", "same"), labels("same", "same")))
    assert one[1] == "Cohen's kappa unknown: both used one label only"
    none = agreement_lines(compare_labels(labels("unsure"), labels("same")))
    assert none[:2] == [
        "agreement unknown: 0 of 0 pairs",
        "Cohen's kappa unknown: no pair is labelled same or different by both",
    ]


def test_opposite_labels_and_many_disagreements_with_hostile_names():
    first = labels(*["same", "different"] * 20, name="\x1b[2J")
    lines = agreement_lines(compare_labels(first, labels(*["different", "same"] * 20, name="\x1b[2J")))
    assert "kappa -1.00" in lines[1]
    assert lines[-1] == "  and 20 more"
    assert "\x1b" not in "".join(lines)
