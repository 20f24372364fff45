import json
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup
from neardup import Analysis, Checksum, Field, FracMinHash, MinHash, SimHash, compare, containment, explain
from neardup.errors import DataError, ParameterError
from neardup.evaluation.comparison import default_schemes
from neardup.evaluation.passages import shared_passages

TEXTS = st.lists(st.sampled_from(["a", "B", "é", "e\u0301", "你", "a.", "\ud800", "\0"]), max_size=12).map(" ".join)
STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
EDITED = f"{STORM} on Tuesday"


@given(TEXTS, TEXTS)
def test_measures_are_those_of_the_library(a, b):
    measures = compare(a, b, schemes=()).measures
    assert [(one.shingle, one.bag) for one in measures] == [(q, bag) for q in range(1, 6) for bag in (False, True)]
    for one in measures:
        options = {"shingle": one.shingle, "bag": one.bag}
        assert one.resemblance == neardup.resemblance(a, b, **options)
        assert one.a_in_b == containment(a, b, **options)
        assert one.b_in_a == containment(b, a, **options)


@settings(max_examples=30)
@given(TEXTS, TEXTS)
def test_whatever_the_texts_everything_is_plain_json(a, b):
    compared = compare(a, b)
    assert json.loads(json.dumps(compared.as_dict(), allow_nan=False)) == compared.as_dict()
    explained = explain(a, b)
    assert json.loads(json.dumps(explained.as_dict(), allow_nan=False)) == explained.as_dict()
    assert str(explained)


def test_a_comparison_has_match_decisions_and_passages():
    found = compare(STORM, EDITED)
    assert [one.scheme for one in found.schemes] == [scheme.name for scheme in default_schemes()]
    for said, scheme in zip(found.schemes, default_schemes(), strict=True):
        assert said.matches == scheme.matches(scheme.sign([STORM]), scheme.sign([EDITED]))[0]
    assert [passage.words for passage in found.passages] == [18]
    assert [EDITED[slice(*span)] for span in found.only_in_b] == ["on Tuesday"]
    assert found.only_in_a == ()
    with pytest.raises(FrozenInstanceError):
        found.measures = ()


def test_schemes_can_be_chosen():
    strict = MinHash(threshold=1.0)
    assert [one.matches for one in compare(STORM, EDITED, schemes=[strict, MinHash()]).schemes] == [False, True]


def test_passages_are_of_words_as_they_are_written():
    found = explain("The cats run fast today", "The cat runs fast today", MinHash(analysis=Analysis(stem="english")))
    assert (found.matches, found.resemblance, found.passages) == (True, 1.0, ())
    assert str(found).splitlines()[-1] == "no shared passages; stretches only in a: 1, only in b: 1"


def test_an_explanation_is_the_match_decision_with_its_evidence():
    found = explain(STORM, EDITED)
    assert (found.scheme, found.threshold, found.matches) == ("minhash", 0.6, True)
    assert (found.resemblance, found.a_in_b, found.b_in_a) == (16 / 18, 1.0, 16 / 18)
    assert found.passages == shared_passages(STORM, EDITED).shared
    assert found.as_dict()["only_in_b"] == [[102, 112]]
    assert found.as_dict()["matches"] is True
    assert "1, of 18 words; stretches only in a: 0, only in b: 1" in str(found)


def test_a_sufficient_value_is_rounded_also_if_the_texts_do_not_match():
    text, other = (" ".join(f"w{n}" for n in range(begin, begin + 34)) for begin in (0, 1))
    assert "no match; resemblance 0.9429; the signatures rule it out" in str(explain(text, other, SimHash(distance=3)))


def test_the_evidence_is_of_the_schemes_own_features():
    scheme = MinHash(shingle=1, analysis=Analysis(stem="english"), bag=True)
    found = explain("running houses", "run house house", scheme)
    assert (found.resemblance, found.a_in_b, found.b_in_a) == (2 / 3, 1.0, 2 / 3)
    assert explain(STORM, STORM, Checksum(fields=(Field(name="body"),))).matches


@pytest.mark.parametrize(("a", "b"), [("", ""), ("", STORM), ("...", ".. .")])
def test_texts_without_words_match_nothing_and_the_reason_is_reported(a, b):
    found = explain(a, b)
    assert (found.matches, found.value, found.resemblance) == (False, None, 0.0)
    assert "no signature: no words" in str(found)


@pytest.mark.parametrize(("a", "b"), [("a", None), (None, "a"), (b"a", "a"), (["a"], "a"), ("a", 1)])
def test_invalid_texts_are_data_errors(a, b):
    for asked in (compare, explain):
        with pytest.raises(DataError, match="must be a str"):
            asked(a, b)


def test_an_invalid_scheme_is_a_parameter_error():
    with pytest.raises(ParameterError, match="scheme"):
        explain("a", "b", scheme="minhash")
    with pytest.raises(ParameterError, match="scheme"):
        compare("a", "b", schemes=["minhash"])


def test_passages_are_runs_of_words_for_a_scheme_of_letters():
    scheme = MinHash(shingle=9, analysis=Analysis(unit="letter"))
    assert explain("one two three four", "so one two three", scheme).run == 3
    assert explain("one two three four", "so one two three", MinHash(shingle=2)).run == 2


def test_both_containments_name_their_direction():
    lines = str(explain(STORM, EDITED, FracMinHash(scaled=1))).splitlines()
    assert "; containment of b in a 0.8" in lines[0]
    assert "; estimated containment of b in a 0.8" in lines[1]
