import math
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import Analysis, SimHash, TermWeights
from neardup.errors import ParameterError
from neardup.schemes import weights as module
from neardup.text.shingling import Shingling

KEY = bytes(range(16))
DOCUMENTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8).map(" ".join), max_size=12)


def weight_of(table, texts):
    return table.weights(table.shingling.features(texts)).tolist()


@given(DOCUMENTS)
def test_fitted_weights_equal_their_definition(texts):
    table = TermWeights.fitted(texts)
    documents = [set(text.split()) for text in texts if text]
    frequencies = Counter(word for document in documents for word in document)
    assert len(table) == len(frequencies)
    for word in "abcdefg":
        idf = math.log((1 + len(documents)) / (1 + frequencies[word])) + 1
        assert weight_of(table, [word]) == [round(16 * idf) / 16]
    assert table.otherwise == round(16 * (math.log(1 + len(documents)) + 1))


@given(DOCUMENTS)
def test_the_order_of_documents_and_their_batches_change_nothing(texts):
    table = TermWeights.fitted(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "batches", lambda column: (one for text in column for one in _batches_of(text)))
        assert TermWeights.fitted(texts[::-1]) == table


def _batches_of(text):
    from neardup.text.columns import batches, text_column

    return batches(text_column([text.as_py()]))


def test_shingles_are_fitted_too():
    table = TermWeights.fitted(["a b c", "a b", "c d", "a"], shingle=2)
    assert table.shingling == Shingling(size=2)
    assert len(table) == 4  # the last text is too short for two words, and is one feature
    assert weight_of(table, ["a b"]) == [round(16 * (math.log(5 / 3) + 1)) / 16]


@pytest.mark.parametrize("texts", [[], ["", None, "!"]])
def test_without_documents_every_weight_is_1(texts):
    table = TermWeights.fitted(texts)
    assert len(table) == 0
    assert weight_of(table, ["a b"]) == [1.0, 1.0]


def test_given_weights():
    table = TermWeights.given({"Rose": 2.5, "the": 1 / 16, "你": 65536}, otherwise=3)
    assert weight_of(table, ["the ROSE is 你 rose"]) == [1 / 16, 2.5, 3, 65536, 2.5]
    assert len(table) == 3
    assert weight_of(TermWeights.given({}), ["any"]) == [1.0]
    pairs = TermWeights.given({"New York": 4.0}, shingle=2)
    assert weight_of(pairs, ["a new york"]) == [1.0, 4.0]
    assert weight_of(TermWeights.given({"runs": 2.0}, analysis=Analysis(stem="english")), ["running"]) == [2.0]


@pytest.mark.parametrize(("weight", "units"), [(1.03, 16), (1.04, 17), (1.03125, 16), (1.09375, 18), (0.09, 1)])
def test_weights_are_rounded_to_sixteenths_and_ties_to_even(weight, units):
    assert TermWeights.given({"a": weight}).units.tolist() == [units]
    assert TermWeights.given({}, otherwise=weight).otherwise == units


@pytest.mark.parametrize(
    "weight", [0, -1.0, 0.06, 65536.1, math.inf, -math.inf, math.nan, "2", None, True, 10**400, 1j], ids=repr
)
def test_a_weight_has_a_rule(weight):
    with pytest.raises(ParameterError, match="1/16") as caught:
        TermWeights.given({"a": weight})
    assert caught.value.name == "weights"
    with pytest.raises(ParameterError, match="1/16"):
        TermWeights.given({}, otherwise=weight)


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (["two words"], {}),
        ([""], {}),
        (["!"], {}),
        (["\ud800"], {}),
        (["one"], {"shingle": 2}),
        (["one two three"], {"shingle": 2}),
        (["the"], {"analysis": Analysis(stop_words=("the",))}),
        (["你好"], {}),
        ([5], {}),
    ],
)
def test_a_word_is_exactly_one_feature(words, change):
    with pytest.raises(ParameterError) as caught:
        TermWeights.given(dict.fromkeys(words, 2.0), **change)
    assert caught.value.value == words[0]


def test_two_words_that_are_one_feature_are_refused():
    with pytest.raises(ParameterError, match="must be another feature than 'Rose'"):
        TermWeights.given({"a": 1.0, "Rose": 2.0, "rose": 2.0})
    assert len(TermWeights.given({"Rose": 2.0, "rose": 2.0}, analysis=Analysis(fold_case=False))) == 2


def test_weights_must_be_a_mapping():
    with pytest.raises(ParameterError, match="must map words"):
        TermWeights.given(["a"])


ARRAYS = {
    "shingling": Shingling(),
    "terms": np.array([1, 2], np.uint64),
    "units": np.array([1, 2], np.uint32),
    "otherwise": 16,
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shingling", None),
        ("terms", np.array([2, 1], np.uint64)),
        ("terms", np.array([1, 1], np.uint64)),
        ("terms", np.array([1, 2], np.int64)),
        ("terms", np.array([[1, 2]], np.uint64)),
        ("units", np.array([1], np.uint32)),
        ("units", np.array([0, 1], np.uint32)),
        ("units", np.array([1, 2**20 + 1], np.uint32)),
        ("units", np.array([1, 1], np.int64)),
        ("otherwise", 0),
        ("otherwise", 1.5),
        ("otherwise", 2**20 + 1),
    ],
)
def test_every_part_has_a_rule(name, value):
    assert len(TermWeights(**ARRAYS)) == 2
    with pytest.raises(ParameterError) as caught:
        TermWeights(**(ARRAYS | {name: value}))
    assert caught.value.name == name


def test_it_is_immutable():
    arrays = ARRAYS | {"units": np.array([1, 2], np.uint32)}
    table = TermWeights(**arrays)
    arrays["units"][0] = 9
    assert table.units.tolist() == [1, 2]
    again = pickle.loads(pickle.dumps(table))  # noqa: S301 - what was pickled a moment ago
    for one in (table, again):
        for array in (one.terms, one.units, one.table[1]):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
    assert again == table
    assert hash(again) == hash(table)


def test_a_table_is_made_again_of_its_parts():
    table = TermWeights.fitted(["a b", "a"], shingle=2, key=KEY)
    shingling = SimHash(shingle=2, key=KEY).shingling
    again = TermWeights(shingling=shingling, terms=table.terms, units=table.units, otherwise=table.otherwise)
    assert again == table
    assert SimHash(shingle=2, key=KEY, weights=again).recipe == SimHash(shingle=2, key=KEY, weights=table).recipe


def test_equal_tables_say_the_same():
    one = TermWeights.given({"a": 2.0, "b": 3.0})
    assert one == TermWeights.given({"b": 3.0, "A": 2.0})
    assert hash(one) == hash(TermWeights.given({"b": 3.0, "A": 2.0}))
    others = [TermWeights.given({"a": 2.0}), TermWeights.given({"a": 2.0, "b": 3.0}, otherwise=2.0), "tf", None]
    assert one not in others
    assert TermWeights.given({}) != TermWeights.given({}, key=KEY)


@pytest.mark.parametrize("number", [1, 2, 3, 100, 1023, 1024, 1025])
def test_tables_of_any_size_are_looked_up(number):
    words = [f"w{place}" for place in range(number)]
    table = TermWeights.given({word: 1 + place / 16 for place, word in enumerate(words)})
    assert weight_of(table, [" ".join([*words, "other"])]) == [*(1 + place / 16 for place in range(number)), 1.0]
