import Stemmer

from neardup.text.stems import stem_languages, stems


def test_words_are_stemmed():
    assert stems([b"running", b"runs", b"house", b"houses"], "english") == [b"run", b"run", b"hous", b"hous"]


def test_words_of_other_scripts():
    found = stems(["häuser".encode(), "straße".encode(), "книги".encode(), "你".encode()], "german")
    assert [word.decode() for word in found] == Stemmer.Stemmer("german").stemWords(["häuser", "straße", "книги", "你"])


def test_a_word_with_an_empty_stem_is_not_changed():
    assert Stemmer.Stemmer("english").stemWord("''s") == ""
    assert stems([b"runs", b"''s"], "english") == [b"run", b"''s"]


def test_no_words():
    assert stems([], "english") == []


def test_languages_are_sorted_and_known():
    languages = stem_languages()
    assert list(languages) == sorted(languages)
    assert {"english", "german", "french", "russian"} <= {*languages}
