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


@pytest.mark.parametrize("language", ["english", "german"])
def test_known_words_are_not_stemmed_again(monkeypatch, language):
    stemmed = []
    original = vocabulary.stems

    def counted(folded, starts, language):
        stemmed.extend(starts)
        return original(folded, starts, language)

    monkeypatch.setattr(vocabulary, "stems", counted)
    known = Vocabulary(KEY, keyed=False, stop_words=[[b"walking7"]], language=language)
    stemmer = Stemmer.Stemmer(language)
    words = [f"{stem}{number}ing" for number in range(1000) for stem in ("walk", "talk")]
    for begin in range(0, len(words), 1500):
        part = words[begin : begin + 1500]
        expected = [expected_hash(stem, keyed=False) for stem in stemmer.stemWords(part)]
        assert translated(part, known) == expected
    again = [*words[::-1], *words]
    first = len(stemmed)
    assert first == len(words)
    expected = [expected_hash(stem, keyed=False) for stem in stemmer.stemWords(again)]
    for _ in range(vocabulary._TURNS if language == "english" else 1):
        first = len(stemmed)
        assert translated(again, known) == expected
    assert len(stemmed) - first < len(again) // 10  # two words may have to share a place
    assert translated(["walking7"], known) == [DROPPED]


def test_where_words_are_new_those_that_no_step_changes_are_not_stemmed(monkeypatch):
    known = Vocabulary(KEY, keyed=False, stop_words=[], language="english")
    translated(["new", "words"], known)
    monkeypatch.setattr(vocabulary, "stems", None)
    monkeypatch.setattr(vocabulary, "_TURNS", 1)
    words = ["h4sh", "x86", "你", "words"]
    assert translated(words, known) == [expected_hash(word, keyed=False) for word in ("h4sh", "x86", "你", "word")]


def test_it_decides_nothing_whether_words_are_new():
    known = Vocabulary(KEY, keyed=False, stop_words=[], language="english")
    stemmer = Stemmer.Stemmer("english")
    new = [f"new{number}{end}" for number in range(60) for end in ("ing", "s", "x")]
    for words in (["running"] * 20, new[:60], ["running", "runs"] * 20, [*new, "running"], new, new):
        expected = [expected_hash(stem, keyed=False) for stem in stemmer.stemWords(words)]
        assert translated(words, known) == expected


def test_a_stop_word_of_several_tokens_goes_where_they_stand_in_a_row():
    stop = [[b"don", b"t"], [b"don", b"t", b"you"], [b"won", b"t"], [b"the"]]
    known = Vocabulary(KEY, keyed=False, stop_words=stop, language="english")
    text = ["don", "t", "won", "t", "the", "don", "won", "x", "don", "t", "you", "don", "t", "don", "t", "you", "t"]
    stays = {5: "don", 6: "won", 7: "x", 16: "t"}
    expected = [expected_hash(stays[place], keyed=False) if place in stays else DROPPED for place in range(17)]
    assert translated(text, known) == expected


@pytest.mark.parametrize("language", ["english", "german"])
@pytest.mark.parametrize("most", [2, 8, 128])
def test_what_is_remembered_is_bounded_and_decides_nothing(monkeypatch, most, language):
    monkeypatch.setattr(vocabulary, "MOST", most)
    monkeypatch.setattr(vocabulary, "_TOGETHER", 7)
    known = Vocabulary(KEY, keyed=False, stop_words=[[b"the"]], language=language)
    words = [f"{stem}{number % 60}ing" for number in range(200) for stem in ("walk", "the")]
    stemmer = Stemmer.Stemmer(language)
    expected = [expected_hash(stem, keyed=False) for stem in stemmer.stemWords(words)]
    assert translated([*words, "the"], known) == [*expected, DROPPED]
    assert known._own.cache.shape == (most // 2, 4)


def test_a_thread_takes_what_it_learned_with_it():
    known = Vocabulary(KEY, keyed=False, stop_words=[], language="english")
    tables = []

    def learn():
        translated(["running"], known)
        tables.append(weakref.ref(known._own.cache))

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
