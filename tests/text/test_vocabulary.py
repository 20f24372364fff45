import gc
import threading
import weakref

import numpy as np
import pytest
import Stemmer
from batches import folded
from oracles import public_hash, siphash13

from neardup.kernels import tokens as kernels
from neardup.kernels.vocabulary import DROPPED
from neardup.text import vocabulary
from neardup.text.vocabulary import Vocabulary

KEY = np.array([5, 6], np.uint64)


def expected_hash(word, *, keyed):
    return siphash13(word.encode(), 5, 6) if keyed else public_hash(word.encode(), 5)


def translated(words, known, *, keyed=False):
    """Hash a text of these words and translate the tokens."""
    target, bounds = folded([" ".join(words)])
    found = np.empty(len(target), np.uint64)
    starts = np.empty(len(target), np.int64)
    count = kernels.words(target, bounds, KEY, keyed, found, np.empty(2, np.int64), starts)
    known.translate(found[:count], np.array([0, count]), starts[:count], target)
    return found[:count].tolist()


@pytest.mark.parametrize("keyed", [False, True])
def test_words_become_stems_and_stop_words_nothing(keyed):
    known = Vocabulary(KEY, keyed=keyed, stop_words=[[b"the"], [b"running"]], language="english")
    found = translated(["the", "houses", "running", "runs", "you"], known, keyed=keyed)
    expected = [expected_hash(word, keyed=keyed) for word in ("hous", "run", "you")]
    assert found == [DROPPED, expected[0], DROPPED, expected[1], expected[2]]


def test_without_a_language_only_stop_words_go():
    known = Vocabulary(KEY, keyed=False, stop_words=[[b"the"]], language=None)
    assert translated(["the", "houses"], known) == [DROPPED, expected_hash("houses", keyed=False)]


def test_a_stem_that_is_a_stop_word_stays():
    """Stop words are compared before stemming."""
    known = Vocabulary(KEY, keyed=False, stop_words=[[b"hous"]], language="english")
    assert translated(["houses", "hous"], known) == [expected_hash("hous", keyed=False), DROPPED]


def test_it_grows_over_many_words_and_learns_each_once(monkeypatch):
    looked_up = []
    original = vocabulary.stems

    def counted(words, language):
        looked_up.extend(words)
        return original(words, language)

    monkeypatch.setattr(vocabulary, "stems", counted)
    known = Vocabulary(KEY, keyed=False, stop_words=[[b"walking7"]], language="english")
    stemmer = Stemmer.Stemmer("english")
    words = [f"{stem}{number}ing" for number in range(4000) for stem in ("walk", "talk")]
    for begin in range(0, len(words), 1500):
        part = words[begin : begin + 1500]
        expected = [expected_hash(stem, keyed=False) for stem in stemmer.stemWords(part)]
        assert translated(part, known) == expected
    assert translated([*words[::-1], *words], known) == [
        expected_hash(stem, keyed=False) for stem in stemmer.stemWords([*words[::-1], *words])
    ]
    assert sorted(looked_up) == sorted(word.encode() for word in words)
    assert translated(["walking7"], known) == [DROPPED]


def test_a_stop_word_of_several_tokens_goes_where_they_stand_in_a_row():
    stop = [[b"don", b"t"], [b"don", b"t", b"you"], [b"won", b"t"], [b"the"]]
    known = Vocabulary(KEY, keyed=False, stop_words=stop, language="english")
    text = ["don", "t", "won", "t", "the", "don", "won", "x", "don", "t", "you", "don", "t", "don", "t", "you", "t"]
    stays = {5: "don", 6: "won", 7: "x", 16: "t"}
    expected = [expected_hash(stays[place], keyed=False) if place in stays else DROPPED for place in range(17)]
    assert translated(text, known) == expected


@pytest.mark.parametrize("most", [0, 8, 100])
def test_what_is_remembered_is_bounded_and_decides_nothing(monkeypatch, most):
    monkeypatch.setattr(vocabulary, "MOST", most)
    monkeypatch.setattr(vocabulary, "_TOGETHER", 7)
    monkeypatch.setattr(vocabulary, "_SMALLEST", 4)
    known = Vocabulary(KEY, keyed=False, stop_words=[[b"the"]], language="english")
    words = [f"{stem}{number % 60}ing" for number in range(200) for stem in ("walk", "the")]
    stemmer = Stemmer.Stemmer("english")
    expected = [expected_hash(stem, keyed=False) for stem in stemmer.stemWords(words)]
    assert translated([*words, "the"], known) == [*expected, DROPPED]
    assert known._own.known.count <= max(most, 1 + 7)
    assert len(known._own.known.keys) <= 4 * max(most, 1 + 7)


def test_a_table_in_use_is_not_copied(monkeypatch):
    known = Vocabulary(KEY, keyed=False, stop_words=[], language="english")
    translated([f"word{number}" for number in range(300)], known)
    before = known._own.known.keys
    for number in range(50):
        translated([f"new{number}"], known)
    assert known._own.known.keys is before


def test_a_thread_takes_what_it_learned_with_it():
    known = Vocabulary(KEY, keyed=False, stop_words=[], language="english")
    tables = []

    def learn():
        translated(["running"], known)
        tables.append(weakref.ref(known._own.known))

    thread = threading.Thread(target=learn)
    thread.start()
    thread.join()
    gc.collect()
    assert tables[0]() is None


def test_long_words_are_read_whole():
    word = "x" * 5000 + "ing"
    known = Vocabulary(KEY, keyed=False, stop_words=[], language="english")
    assert translated([word], known) == [expected_hash(Stemmer.Stemmer("english").stemWord(word), keyed=False)]


def test_hashes_are_those_of_the_tokeniser():
    words = ["a", "abcdefgh", "straße", "x" * 100]
    for keyed in (False, True):
        known = Vocabulary(KEY, keyed=keyed, stop_words=[], language=None)
        found = known.hashes([word.encode() for word in words]).tolist()
        assert found == [expected_hash(word, keyed=keyed) for word in words]
    assert known.hashes([]).tolist() == []
