import numpy as np
import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import english_stems
from neardup.text import stems as module
from neardup.text.stems import has_kernel, may_change, stem_languages, stems, zero_ended


def stemmed(words, language):
    folded, _ = zero_ended(words)
    starts = np.cumsum([0, *(len(word) + 1 for word in words)])[:-1].astype(np.int64)
    found, (begin, end) = stems(folded, starts, language)
    return [stem for stem in found[begin:end].tobytes().split(b"\0") if stem]


@pytest.fixture(params=["kernel", "PyStemmer"])
def either(request, monkeypatch):
    """Both ways to stem English."""
    if request.param == "PyStemmer":
        monkeypatch.setattr(module, "has_kernel", lambda _: False)


@pytest.mark.usefixtures("either")
def test_words_are_stemmed_but_not_addresses_nor_words_with_an_empty_stem():
    assert Stemmer.Stemmer("english").stemWord("''s") == ""
    stay = [b"''s", b"''s'", b"https://a.example/setups", b"http://a.example/running"]
    words = [b"running", b"runs", b"house", b"houses", b"setups"]
    assert stemmed([*words, *stay], "english") == [b"run", b"run", b"hous", b"hous", b"setup", *stay]


def test_words_of_other_scripts():
    words = ["häuser", "straße", "книги", "你"]
    found = stemmed([word.encode() for word in words], "german")
    assert [stem.decode() for stem in found] == Stemmer.Stemmer("german").stemWords(words)


def test_only_english_of_the_tested_release_has_a_kernel(monkeypatch):
    assert [language for language in stem_languages() if has_kernel(language)] == ["english"]
    monkeypatch.setattr(module, "stemmer_version", lambda: "3.0.1")
    assert not has_kernel("english")
    kernel = []
    monkeypatch.setattr(english_stems, "stem", lambda *_: kernel.append("called"))
    assert stemmed([b"running", b"runs"], "english") == [b"run", b"run"]
    assert kernel == []


def test_the_kernel_is_tested_against_the_installed_release():
    """Otherwise the tests below are vacuous, and English is as slow as other languages."""
    assert Stemmer.version() == english_stems.VERSION


@given(words=st.lists(st.text(alphabet="aesly't你", min_size=1, max_size=6), max_size=9))
@pytest.mark.parametrize("language", ["english", "german"])
def test_only_words_that_may_change_do(words, language):
    folded, _ = zero_ended([word.encode() for word in words])
    starts = np.cumsum([0, *(len(word.encode()) + 1 for word in words)])[:-1].astype(np.int64)
    chosen = may_change(folded, starts, language).tolist()
    stemmer = Stemmer.Stemmer(language)
    changed = [place for place, word in enumerate(words) if stemmer.stemWord(word) not in {word, ""}]
    assert {*changed} <= {*chosen} <= {*range(len(words))}


def test_languages_are_sorted_and_known():
    languages = stem_languages()
    assert list(languages) == sorted(languages)
    assert {"english", "german", "french", "russian"} <= {*languages}
