import pytest

from neardup.index.disk.columns import encoded
from neardup.model.query import Term
from neardup.text.search_words import query_words, search_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        (" - 🎉", ""),
        ("Straße, ŒUVRE ﬃ", "strasse oeuvre ffi"),
        ("Donau\u00addampf\u200bschiff", "donaudampfschiff"),
        ("राम रोम", "राम रोम"),
        ("ﾊﾞｽ バス", "ハ\u3099 ス ハ\u3099 ス"),
        ("서울은 \u1109\u1165", "서 울 은 서"),
        ("\u0301a x\ud800y", "a x y"),
    ],
)
def test_words_are_folded(text, words):
    assert search_words(encoded([text, text])) == [words, words]


def test_texts_may_be_anywhere_and_only_their_beginnings_count():
    texts = encoded(["before", "the storm", "ééé", ""])
    texts = type(texts)(texts.data, texts.offsets[1:].copy())
    assert search_words(texts) == ["the storm", "eee", ""]
    assert search_words(texts, 5) == ["the s", "eee", ""]
    assert search_words(encoded([])) == []


def test_terms_of_a_query_are_folded_and_equal_ones_are_one():
    assert query_words("Störm STORM storm* “É e” 🎉 -") == (Term("storm"), Term("storm", begins=True), Term("e e"))
