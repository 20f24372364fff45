import numpy as np
import pytest

from neardup import Checksum, MinHash, NearDuplicates, SameValue, Sentences, SimHash, Trials
from neardup.errors import ParameterError
from neardup.pipeline.query import rules
from neardup.pipeline.query.rules import at_threshold, steps_of
from neardup.urls import host, path_levels

SENTENCES = [" ".join(f"word{(number * 7 + place) % 997}" for place in range(12)) for number in range(60)]
TEXTS = [". ".join(SENTENCES[first:last]) for first in (0, 1, 3) for last in (20, 38, 39, 40)]
TEXTS += [TEXTS[-1].replace("word5", "other"), TEXTS[-1]]


class Unhashable:
    __hash__ = None

    def __call__(self, value):
        return value


@pytest.mark.parametrize(
    "make",
    [
        lambda: NearDuplicates(scheme="minhash"),
        lambda: NearDuplicates(scheme=MinHash),
        lambda: NearDuplicates(text=""),
        lambda: NearDuplicates(text=None),
        lambda: NearDuplicates(keep=0),
        lambda: NearDuplicates(keep=True),
        lambda: NearDuplicates(keep=1.5),
        lambda: SameValue(""),
        lambda: SameValue(7),
        lambda: SameValue("site", of="host"),
        lambda: SameValue("site", of=Unhashable()),
        lambda: SameValue("site", keep=-1),
    ],
)
def test_what_breaks_its_rule_is_refused(make):
    with pytest.raises(ParameterError):
        make()


def test_unknown_names_are_refused():
    with pytest.raises(TypeError):
        NearDuplicates(threshold=0.5)


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (SameValue("site"), "same site"),
        (SameValue("url", of=host), "same host of url"),
        (SameValue("url", of=path_levels(1)), "same first 1 path level of url"),
        (SameValue("url", of=path_levels(3)), "same first 3 path levels of url"),
        (SameValue("url", of=lambda value: value), "same <lambda> of url"),
    ],
)
def test_rules_have_names(rule, name):
    assert rule.name == name


def test_equal_rules_are_one_in_a_cache():
    assert {SameValue("url", of=path_levels(2)), NearDuplicates(scheme=MinHash())} == {
        SameValue("url", of=path_levels(2)),
        NearDuplicates(scheme=MinHash()),
    }


@pytest.mark.parametrize("scheme", [MinHash(), Sentences(), SimHash(bits=128), Trials()], ids=lambda one: one.name)
@pytest.mark.parametrize("threshold", [0.3, 0.7, 0.9, 0.97, 1])
def test_what_matches_is_what_is_estimated_so(scheme, threshold):
    assert scheme.match_estimate is not None
    made = at_threshold(scheme, threshold, by_texts=False)
    assert made.recipe == scheme.recipe
    signatures = scheme.sign(TEXTS)
    left, right = np.triu_indices(len(TEXTS), 1)
    estimates = scheme.estimate_pairs(signatures, left, right)
    matches = made.match_pairs(signatures, left, right)
    sure = np.abs(estimates - threshold) > 1e-6
    assert (matches == (estimates >= threshold))[sure].all()
    assert matches.any()
    assert (matches == (estimates >= made.match_estimate - 1e-9)).all()
    assert made.match_estimate >= threshold - 1e-9


@pytest.mark.parametrize("scheme", [MinHash(), Sentences(), SimHash(), SimHash(rule="cosine"), Trials()], ids=repr)
def test_a_higher_threshold_of_texts_needs_no_less_of_them_and_of_signatures(scheme):
    thresholds = [0.3, 0.5, 0.7, 0.79, 0.8, 0.85, 0.9, 0.91, 0.93, 0.95, 0.99, 1]
    made = [at_threshold(scheme, threshold) for threshold in thresholds]
    assert [one.threshold for one in made] == thresholds
    assert {one.recipe for one in made} == {scheme.recipe}
    least = [one.match_estimate for one in made]
    assert least == sorted(least)
    own = at_threshold(scheme, scheme.threshold)
    assert (own.threshold, own.match_estimate) == (scheme.threshold, scheme.match_estimate)


@pytest.mark.parametrize("threshold", [0, 1.1, -1, True, "0.5", float("nan")])
def test_invalid_thresholds_are_refused(threshold):
    with pytest.raises(ParameterError, match="must be a number above 0 and at most 1"):
        at_threshold(SimHash(), threshold)


def test_schemes_and_layouts_without_this_threshold_refuse_it():
    assert Checksum().match_estimate is None
    with pytest.raises(ParameterError, match="cannot be used with the scheme checksum"):
        at_threshold(Checksum(), 0.5)
    with pytest.raises(ParameterError, match="is too low for the layout of this minhash"):
        at_threshold(MinHash(), 0.001)


@pytest.mark.parametrize(
    "scheme", [MinHash(), MinHash(threshold=0.95), Sentences(), SimHash(), SimHash(distance=0), Trials()]
)
def test_steps_ascend_and_each_can_be_used(scheme):
    steps = steps_of(scheme)
    assert list(steps) == [name for name in ("loose", "default", "strict", "strictest") if name in steps]
    assert list(steps.values()) == sorted(set(steps.values()))
    assert steps["default"] == pytest.approx(scheme.threshold, abs=1e-4)
    for name in set(steps) - {"default"}:
        at_threshold(scheme, steps[name])


def test_a_scheme_without_a_threshold_has_no_steps():
    assert steps_of(Checksum()) == {}


def test_the_steps_of_a_scheme_are_made_once(monkeypatch):
    made = []
    monkeypatch.setattr(rules, "at_threshold", lambda *given: made.append(given))
    for _ in range(3):
        assert len(steps_of(MinHash(threshold=0.7125))) == 4
    assert len(made) == 3
