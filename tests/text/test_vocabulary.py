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
    known.translate(found[:count], starts[:count], target)
    return found[:count].tolist()


@pytest.mark.parametrize("keyed", [False, True])
def test_words_become_stems_and_stop_words_nothing(keyed):
    known = Vocabulary(KEY, keyed=keyed, stop_words=[b"the", b"running"], language="english")
    found = translated(["the", "houses", "running", "runs", "you"], known, keyed=keyed)
    expected = [expected_hash(word, keyed=keyed) for word in ("hous", "run", "you")]
    assert found == [DROPPED, expected[0], DROPPED, expected[1], expected[2]]


def test_without_a_language_only_stop_words_go():
    known = Vocabulary(KEY, keyed=False, stop_words=[b"the"], language=None)
    assert translated(["the", "houses"], known) == [DROPPED, expected_hash("houses", keyed=False)]


def test_a_stem_that_is_a_stop_word_stays():
    """Stop words are compared before stemming."""
    known = Vocabulary(KEY, keyed=False, stop_words=[b"hous"], language="english")
    assert translated(["houses", "hous"], known) == [expected_hash("hous", keyed=False), DROPPED]


def test_it_grows_over_many_words_and_learns_each_once(monkeypatch):
    looked_up = []
    original = vocabulary.stems

    def counted(words, language):
        looked_up.extend(words)
        return original(words, language)

    monkeypatch.setattr(vocabulary, "stems", counted)
    known = Vocabulary(KEY, keyed=False, stop_words=[b"walking7"], language="english")
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
