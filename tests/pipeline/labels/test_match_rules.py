import numpy as np
import pytest

from neardup import dedup, load_config
from neardup.evaluation.tuning import GRID
from neardup.pipeline.config import scheme_from, settings_text
from neardup.pipeline.labels.match_rules import Stricter, match_rules, ways_to_be_stricter

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
    """A pair is dropped by the settings of a rule if its score reaches the threshold."""
    left, right = (found.ravel() for found in np.triu_indices(len(TEXTS), 1))
    scores, _ = rule.measured(TEXTS, left, right)
    assert scores.min() >= 0
    assert scores.max() == 1.0  # copies
    for threshold in (0.72, 0.9):
        path = tmp_path / f"{threshold}.toml"
        path.write_text(settings_text(rule.at(threshold)), encoding="utf-8")
        config = load_config(path)
        for one, other, score in zip(left.tolist(), right.tolist(), scores.tolist(), strict=True):
            if "" not in (TEXTS[one], TEXTS[other]):
                dropped = not dedup([TEXTS[one], TEXTS[other]], threads=1, **config.arguments).mask.all()
                assert dropped == (score >= threshold), (TEXTS[one], TEXTS[other], score)


@pytest.mark.parametrize("rule", [rule for rule in match_rules() if rule.by_length], ids=lambda rule: rule.name)
def test_stricter_scores_decide_as_dedup_does(rule, tmp_path):
    left, right = (found.ravel() for found in np.triu_indices(len(TEXTS), 1))
    values, smaller = rule.measured(TEXTS, left, right)
    for short, raised, threshold in ((20, 0.5, 0.3), (60, 0.25, 0.61), (60, 0.9, 0.3), (700, 0.75, 0.61)):
        way = Stricter(short, raised)
        scores = way.scores(values, smaller)
        path = tmp_path / "neardup.toml"
        path.write_text(settings_text(rule.at(threshold) | way.settings(threshold)), encoding="utf-8")
        config = load_config(path)
        for one, other, score in zip(left.tolist(), right.tolist(), scores.tolist(), strict=True):
            if "" not in (TEXTS[one], TEXTS[other]):
                dropped = not dedup([TEXTS[one], TEXTS[other]], threads=1, **config.arguments).mask.all()
                assert dropped == (score >= threshold - 1e-9), (TEXTS[one], TEXTS[other], score)


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
