from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from batches import lists, ragged
from hypothesis import given
from hypothesis import strategies as st
from oracles import labelled, public_hash, shingles, siphash13, words

from neardup.model.arrays import Features
from neardup.model.errors import DataError, ParameterError
from neardup.model.recipe import Hashing
from neardup.text import shingling as module
from neardup.text.analysis import Analysis
from neardup.text.columns import batches, text_column, whole_batch
from neardup.text.shingling import FeatureBuffer, Shingling, shingle_filter

KEY = bytes(range(16))
TEXTS = st.lists(
    st.none() | st.lists(st.sampled_from(["a", "b", "Ä", "你", "1", "-"]), max_size=12).map(" ".join), max_size=6
)
CORPUS = [" ".join(f"w{(n * place) % 50}" for place in range(n % 40)) for n in range(200)]


def features_of(texts, **parameters):
    found = Shingling(**parameters).features(texts)
    return lists(found.values, found.offsets)


def expected(text, *, size, bag, hashing):
    numbers = [int.from_bytes(hashing.derive("tokens", 16)[at : at + 8], "little") for at in (0, 8)]
    raw = [word.encode() for word in words(text or "")]
    tokens = [siphash13(word, *numbers) if hashing.keyed else public_hash(word, numbers[0]) for word in raw]
    values = shingles(tokens, size)
    return labelled(values) if bag else values


@given(TEXTS, st.integers(1, 5), st.booleans(), st.sampled_from([Hashing(), Hashing(seed=7), Hashing(key=KEY)]))
def test_features_equal_their_definition(texts, size, bag, hashing):
    found = features_of(texts, size=size, bag=bag, hashing=hashing)
    assert found == [expected(text, size=size, bag=bag, hashing=hashing) for text in texts]


@pytest.mark.parametrize("bag", [False, True])
@pytest.mark.parametrize("unit", ["letter", "word", "line", "sentence"])
def test_a_text_of_few_tokens_is_equal_only_to_a_text_of_the_same_tokens(unit, bag):
    def features(text):
        (found,) = features_of([text], analysis=Analysis(unit=unit), size=9, bag=bag)
        return {*found}

    assert features("New York") == features(" new york.") != features("York New")
    assert features("New York").isdisjoint(features("In New York\n" * 20))
    assert features("New").isdisjoint(features("New York"))


@pytest.mark.parametrize(
    "parameters", [{}, {"bag": True, "size": 2}, {"analysis": Analysis(unit="letter"), "size": 5}], ids=str
)
def test_batches_and_threads_change_nothing(parameters, monkeypatch):
    shingling = Shingling(**parameters)
    column = text_column(pa.chunked_array([CORPUS[:77], CORPUS[77:]]))
    whole = features_of(CORPUS, **parameters)
    for size in (1, 300, 4000):
        monkeypatch.setattr(module, "batches", partial(batches, size=size))
        assert features_of(CORPUS, **parameters) == whole
        for threads in (1, 3):
            with ThreadPoolExecutor(threads) as pool:
                parts = list(pool.map(shingling.batch_features, batches(column, size)))
            assert [values for part in parts for values in lists(part.values, part.offsets)] == whole


def test_keys_and_seeds_change_every_feature():
    hashings = [Hashing(), Hashing(seed=2), Hashing(key=KEY), Hashing(key=KEY[::-1])]
    found = [{*features_of(CORPUS[-1:], hashing=hashing)[0]} for hashing in hashings]
    assert all(found)
    assert sum(map(len, found)) == len(set.union(*found))


def test_a_key_is_neither_shown_nor_part_of_the_identity():
    key = b"secret key 16 by"
    shingling = Shingling(hashing=Hashing(key=key))
    for shown in (repr(shingling), str(shingling), repr(shingling.identity)):
        assert "secret" not in shown
        assert key.hex() not in shown


@pytest.mark.parametrize(
    "change", [{"size": 4}, {"bag": True}, {"analysis": Analysis(unit="letter")}, {"hashing": Hashing(seed=2)}], ids=str
)
def test_whatever_decides_bits_is_in_the_identity(change):
    assert Shingling(**change).identity != Shingling().identity


@pytest.mark.parametrize("size", [0, -1, 1001, 2.0, "3", None, True])
def test_the_size_has_a_rule(size):
    with pytest.raises(ParameterError) as caught:
        Shingling(size=size)
    assert (caught.value.name, caught.value.value) == ("shingle", size)


def test_the_analysis_has_a_rule():
    with pytest.raises(ParameterError, match="analysis"):
        Shingling(analysis="word")


def test_invalid_texts_are_data_errors():
    with pytest.raises(DataError):
        Shingling().features([1, 2])


@pytest.mark.parametrize("unit", ["letter", "word"])
def test_the_features_of_prose_take_one_array(unit):
    texts = ["The ferry left the harbour early, and nobody was hurt. " * 40] * 50
    shingling = Shingling(analysis=Analysis(unit=unit), size=5)
    buffer = FeatureBuffer(shingling.usual_features(sum(map(len, texts))))
    for batch in batches(text_column(texts), 1000):
        buffer.append(shingling.batch_features(batch))
    assert len(buffer._full) == 0  # what is in several arrays must be joined, which takes as much memory again


@given(st.lists(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=5), max_size=4), max_size=5), st.integers(0, 60))
def test_a_buffer_keeps_batches_in_order(parts, guess):
    buffer = FeatureBuffer(guess)
    for part in parts:
        buffer.append(Features(*ragged(part)))
    found = buffer.features()
    assert lists(found.values, found.offsets) == [document for part in parts for document in part]
    assert found.values.dtype == np.uint64
    assert found.offsets.dtype == np.int64


def test_shingles_among_others_are_found_in_the_tokens_of_a_batch():
    shingling = Shingling(size=2)
    batch = whole_batch(text_column(["the herons left the harbour", "rye bread", "", "bread"]))
    every = shingling.batch_features(batch)
    wanted = every.values[[1, 4]]
    found = shingling.features_among(shingling.tokens(batch), shingle_filter(wanted))
    assert found.values.tolist() == wanted.tolist()
    assert found.offsets.tolist() == [0, 1, 2, 2, 2]
    assert len(shingling.features_among(shingling.tokens(batch), shingle_filter(wanted[:0])).values) == 0
