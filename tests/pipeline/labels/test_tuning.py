from dataclasses import replace

import numpy as np
import pytest

from neardup import dedup, load_config
from neardup.errors import DataError, ParameterError
from neardup.evaluation.tuning import GRID
from neardup.labels import tune
from neardup.model.labels import LabelledPair
from neardup.pipeline.config import scheme_from, settings_text
from neardup.pipeline.labels.tuning import Stricter, match_rules, ways_to_be_stricter


def labels(number=40, seed=1):
    """Pairs of texts of 60 words: the same if fewer than 20 words differ."""
    random = np.random.default_rng(seed)
    found = []
    for place in range(number):
        text = [f"w{word}" for word in random.integers(0, 10_000, 60)]
        changed = int(random.integers(0, 40))
        other = [*text]
        for position in random.choice(60, changed, replace=False).tolist():
            other[position] = f"x{position}"
        label = "same" if changed < 20 else "different"
        texts = {"text_a": " ".join(text), "text_b": " ".join(other)}
        found.append(LabelledPair(a=f"a{place}", b=f"b{place}", label=label, **texts))
    return found


def test_single_words_explain_labels_by_changed_words():
    found = tune(labels())
    assert found.expected.f1.value > 0.9
    assert found.expected.f1.value >= found.default.shares.f1.value
    one = next(rule for rule in found.rules if rule.name == "resemblance of 1-word shingles")
    assert one.threshold == pytest.approx(0.5, abs=0.06)  # 40 of 80 words
    assert one.shares.f1.value > 0.9


def test_unrelated_pairs_that_represent_most_of_a_collection_leave_no_doubt():
    """Unless their label contradicts their resemblance, or this is not that low, or unknown."""
    known = labels()

    def low(resemblance, label):
        texts = {"text_a": "one text about herons", "text_b": "something else entirely, of boats"}
        return tune([*known, LabelledPair(a="c", b="d", label=label, resemblance=resemblance, weight=1e6, **texts)])

    assert low(0.1, "different").expected.f1.low > 0.7
    for resemblance, label in ((0.3, "different"), (None, "different"), (0.1, "same")):
        assert low(resemblance, label).expected.f1.low < 0.2


def with_short_ones(number, words=10):
    """The labels of ``labels``, and as many of pairs of short texts, which are the same if no word differs."""
    random = np.random.default_rng(4)
    found = labels(number)
    for place in range(number):
        text = [f"w{word}" for word in random.integers(0, 10_000, words)]
        changed = int(random.integers(0, 3))
        other = [*text[: words - changed], *(f"x{word}" for word in random.integers(0, 10_000, changed))]
        texts = {"text_a": " ".join(text), "text_b": " ".join(other).upper()}
        found.append(LabelledPair(a=f"c{place}", b=f"d{place}", label="different" if changed else "same", **texts))
    return found


def test_short_documents_that_need_more_are_found():
    found = tune(with_short_ones(60))
    settings = found.chosen.settings
    assert found.chosen.name.endswith(", stricter for short documents")
    assert settings["threshold"] < 0.6
    assert settings["short_threshold"] > 0.8
    assert found.expected.f1.value > 0.9
    plain = next(rule for rule in found.rules if "short" not in rule.settings)
    assert plain.shares.f1.value < found.chosen.shares.f1.value - 0.05
    scheme = scheme_from(settings)
    assert (scheme.short, scheme.short_threshold) == (settings["short"], settings["short_threshold"])


def test_short_documents_that_need_no_more_have_the_rule_of_the_others():
    assert "short" not in tune(labels()).chosen.settings
    assert "short" not in tune(labels(200)).chosen.settings


def test_the_same_labels_give_the_same_rule():
    assert tune(labels()) == tune(labels(), threads=1) == tune([*labels(), *labels()])


def test_unsure_pairs_are_left_out():
    unsure = LabelledPair(a="x", b="y", label="unsure", text_a="one", text_b="two")
    with_it, without = tune([unsure, *labels()]), tune(labels())
    assert (with_it.unsure, with_it.labels) == (1, without.labels)
    assert with_it.rules == without.rules


def test_texts_that_were_left_out_are_given():
    known = labels()
    texts = {name: text for one in known for name, text in ((one.a, one.text_a), (one.b, one.text_b))}
    bare = [LabelledPair(a=one.a, b=one.b, label=one.label) for one in known]
    assert tune(bare, texts) == tune(known)
    with pytest.raises(DataError, match=r"the labels: no text of 'a0'$"):
        tune(bare)
    with pytest.raises(DataError, match="no text of 'a0', and the documents have no such id"):
        tune(bare, {})


@pytest.mark.parametrize("label", ["same", "different"])
def test_both_kinds_are_needed(label):
    one_kind = [one for one in labels() if one.label == label]
    with pytest.raises(
        DataError, match=r"no pair is labelled '(same|different)' \((25|15) '(same|different)'\); label more"
    ):
        tune(one_kind)
    with pytest.raises(DataError, match="the labels: there are no labels"):
        tune([])
    unsure = [replace(one, label="unsure") for one in labels()]
    with pytest.raises(DataError, match=r"no pair is labelled 'same' \(0 'different', 40 'unsure'\); label more"):
        tune(unsure)


def test_connected_pairs_are_not_enough():
    chain = [
        LabelledPair(a="x", b=one.b, label=one.label, text_a="some text", text_b=one.text_b) for one in labels(number=6)
    ]
    with pytest.raises(
        DataError, match="all labelled pairs are connected by common documents; label pairs of other documents"
    ):
        tune(chain)


@pytest.mark.parametrize("goal", ["f1", "precision>=0.99"])
@pytest.mark.parametrize("texts", [("", ""), ("storm {n} harbour", "!")])
def test_a_rule_that_finds_nothing_is_not_recommended(goal, texts):
    pairs = [
        LabelledPair(a=f"a{n}", b=f"b{n}", label=label, text_a=texts[0].format(n=f"x{n}"), text_b=texts[1].format(n=n))
        for n, label in enumerate(["same", "different"] * 8)
    ]
    with pytest.raises(
        DataError, match=f"no rule for the goal {goal} finds any of the pairs labelled 'same'"
    ) as raised:
        tune(pairs, goal=goal)
    assert raised.value.code == "nothing found"


def test_a_precision_that_no_rule_reaches_has_a_nearest_rule():
    words = " ".join(f"word{n}" for n in range(40))
    pairs = [
        LabelledPair(a=f"a{n}", b=f"b{n}", label=label, text_a=f"{words} {n}", text_b=f"{words} {n} end")
        for n, label in enumerate(["same", "different"] * 10)
    ]
    found = tune(pairs, goal="precision>=0.99")
    assert not found.reaches
    assert found.expected.recall.value > 0


def test_wrong_parameters_are_named():
    with pytest.raises(ParameterError, match="goal"):
        tune(labels(), goal="accuracy")
    with pytest.raises(ParameterError, match="seed"):
        tune(labels(), seed=-1)


@pytest.mark.parametrize(
    ("form", "least"), [(f"{'herons and boats ' * 4} on day {{n}}", 0.75), ("herons " * 12, 0.5), ("{n} " * 12, 0.4)]
)
def test_a_threshold_separates_random_pairs_of_the_labelled_documents(form, least):
    # a fifth of the pairs that are labelled have an unrelated right document, and the others are equal
    texts = [form.format(n=f"w{n}") for n in range(40)]
    labels = [
        LabelledPair(a=f"{n}", b=f"{n}{label}", label=label, weight=weight, text_a=text, text_b=other)
        for n, text in enumerate(texts)
        for label, weight, other in [("same", 1.0, text.upper())]
        + [("different", 1000.0, f"rye bread of oven {n} " * 4)] * (n % 4 == 0)
    ]
    found = tune(labels)
    assert found.expected_same == pytest.approx(40 / 10_040)
    assert found.chosen.name == "resemblance of 3-word shingles"
    assert least <= found.chosen.threshold <= least + 0.25
    is_possible = "{n}" in form
    assert found.indiscriminate != is_possible
    assert found.chosen.unlabelled == (0.0 if is_possible else pytest.approx(0.8, abs=0.05))


@pytest.mark.parametrize("texts", [5, ["a"], {"a0": 5}, {"a0": b"x"}])
def test_texts_must_be_strings_by_id(texts):
    bare = [replace(one, text_a=None, text_b=None) for one in labels()]
    with pytest.raises(ParameterError, match="must map ids to strings") as caught:
        tune(bare, texts)
    assert caught.value.name == "texts"


WORDS = [f"word{number}" for number in range(60)]
BASE = " ".join(WORDS) + ". Another sentence follows here. And one more of them."
TEXTS = [
    BASE,
    BASE.replace("word30", "other"),
    " ".join(WORDS[:20]) + ".",
    "nothing in common with that",
    "",
    BASE.upper(),
]


@pytest.mark.parametrize("rule", match_rules(), ids=lambda rule: rule.name)
def test_scores_decide_as_dedup_does(rule, tmp_path):
    """A pair is dropped by the settings of a rule, stricter or not, if its score reaches the threshold."""
    left, right = (found.ravel() for found in np.triu_indices(len(TEXTS), 1))
    values, smaller = rule.measured(TEXTS, left, right)
    assert values.min() >= 0
    assert values.max() == 1.0  # copies
    cases = [(threshold, threshold, values, {}) for threshold in (0.72, 0.9)]
    if rule.by_length:
        for short, raised, threshold in ((20, 0.5, 0.3), (60, 0.25, 0.61), (60, 0.9, 0.3), (700, 0.75, 0.61)):
            way = Stricter(short, raised)
            cases.append((threshold, threshold - 1e-9, way.scores(values, smaller), way.settings(threshold)))
    for threshold, least, scores, stricter in cases:
        path = tmp_path / "neardup.toml"
        path.write_text(settings_text(rule.at(threshold) | stricter), encoding="utf-8")
        config = load_config(path)
        for one, other, score in zip(left.tolist(), right.tolist(), scores.tolist(), strict=True):
            if "" not in (TEXTS[one], TEXTS[other]):
                dropped = not dedup([TEXTS[one], TEXTS[other]], threads=1, **config.arguments).mask.all()
                assert dropped == (score >= least), (TEXTS[one], TEXTS[other], score)


def test_ways_to_be_stricter_begin_with_the_mildest():
    ways = ways_to_be_stricter(np.arange(1, 1000))
    assert [*ways] == sorted(ways, key=lambda way: (way.raised, way.short))
    assert len({*ways}) == len(ways)
    assert {way.short for way in ways_to_be_stricter(np.zeros(9, np.int64))} == {1}  # no document is short


def test_documents_of_just_the_size_are_not_short():
    assert Stricter(10, 0.5).scores(np.array([0.8, 0.8]), np.array([9, 10])).round(9).tolist() == [0.6, 0.8]


def test_each_rule_has_settings_of_its_own():
    rules = match_rules()
    assert len({rule.name for rule in rules}) == len({settings_text(rule.at(0.8)) for rule in rules}) == len(rules)
    assert scheme_from(rules[0].at(0.6)) == scheme_from({})


@pytest.mark.parametrize("rule", match_rules(), ids=lambda rule: rule.name)
def test_the_settings_of_every_threshold_can_be_used(rule, tmp_path):
    path = tmp_path / "rule.toml"
    for threshold in GRID.tolist():
        for more in ({}, Stricter(9, 0.25).settings(threshold)) if rule.by_length else ({},):
            path.write_text(settings_text(rule.at(threshold) | more), encoding="utf-8")
            load_config(path)
    dedup(TEXTS, threads=1, **load_config(path).arguments)
    if rule.settings["scheme"] == "minhash":
        assert (rule.at(0.05)["permutations"], rule.at(0.06).get("permutations")) == (136, None)


def test_fingerprints_too_far_apart_for_every_distance_of_a_rule_have_no_score():
    for rule in (one for one in match_rules() if one.by_distance):
        scores, _ = rule.measured([BASE, "nothing in common with that"], np.array([0]), np.array([1]))
        assert scores.tolist() == [0.0]
        assert rule.at(0.05)["distance"] == 20
