import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import words

from neardup import Analysis
from neardup.errors import DataError, ParameterError
from neardup.evaluation.measures import containment, resemblance

TEXTS = st.lists(st.sampled_from(["a", "B", "é", "你", "5", "a."]), max_size=10).map(" ".join)


def shingled(text, size, *, bag):
    tokens = words(text)
    if 0 < len(tokens) < size:
        tokens = [None] * (size - len(tokens)) + tokens
    found = [tuple(tokens[start : start + size]) for start in range(len(tokens) - size + 1)]
    if bag:
        found = [(shingle, found[:place].count(shingle)) for place, shingle in enumerate(found)]
    return {*found}


@given(TEXTS, TEXTS, st.integers(1, 4), st.booleans(), st.integers(0, 2**64 - 1))
def test_measures_equal_their_definition(a, b, size, bag, seed):
    left, right = shingled(a, size, bag=bag), shingled(b, size, bag=bag)
    options = {"shingle": size, "bag": bag, "seed": seed}
    assert resemblance(a, b, **options) == (len(left & right) / len(left | right) if left | right else 0.0)
    assert containment(a, b, **options) == (len(left & right) / len(left) if left else 0.0)


def test_texts_without_words_resemble_nothing():
    for a, b in [("", ""), ("...", "..."), ("", "a b c d")]:
        assert resemblance(a, b) == 0.0
        assert containment(a, b) == 0.0


def test_an_analysis_decides_what_is_equal():
    assert resemblance("running houses walk", "run house walks") == 0.0
    assert resemblance("running houses walk", "run house walks", analysis=Analysis(stem="english")) == 1.0


@pytest.mark.parametrize("measure", [resemblance, containment])
@pytest.mark.parametrize(("a", "b"), [("a", None), (None, "a"), (b"a", "a"), (["a"], "a")])
def test_invalid_texts_are_data_errors(measure, a, b):
    with pytest.raises(DataError):
        measure(a, b)


@pytest.mark.parametrize("measure", [resemblance, containment])
def test_parameters_have_rules(measure):
    with pytest.raises(ParameterError, match="shingle"):
        measure("a", "b", shingle=0)
    with pytest.raises(ParameterError, match="seed"):
        measure("a", "b", seed=-1)


def test_lone_surrogates_separate():
    assert resemblance("a\ud800b c d", "a b c d") == 1.0
