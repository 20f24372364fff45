import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.model.recipe import Hashing
from neardup.text.analysis import Analysis
from neardup.text.columns import text_column, whole_batch
from neardup.text.spans import word_spans
from neardup.text.tokenizer import tokenizer

TEXTS = st.one_of(
    st.text(alphabet="aB é\u0301\u0323你ไ\ud800\0-5😀か\u3099각\u1100\u1161\u11a8ßﬁİ", max_size=20),
    st.text(st.characters(exclude_categories=["Cn"]), max_size=10),
)


def tokens(text):
    return tokenizer(Analysis(), Hashing())(whole_batch(text_column([text]))).values.tolist()


def words(text):
    found = word_spans(text)
    return [text[begin:end] for begin, end in zip(found.starts, found.ends, strict=True)]


@given(TEXTS)
@example("\ud800\ud801a")
@example("=\u0338b a\u0301\u0302c")
@example("か\u3099き\u3099")
@example("a" + "\u0301" * 40 + "e\u0301")
@example("\uf900\uf901 \u0958\u0958 x")
def test_words_are_those_of_the_tokenizer(text):
    found = word_spans(text)
    assert found.hashes.tolist() == tokens(text)
    assert len(found) == len(found.starts) == len(found.ends)


@given(TEXTS)
@example("か\u3099き\u3099")
def test_a_span_holds_its_word_and_words_stand_in_order(text):
    found = word_spans(text)
    assert (found.starts < found.ends).all()
    assert (np.diff(found.starts) >= 0).all()
    assert (np.diff(found.ends) >= 0).all()
    if len(found):
        assert found.starts[0] >= 0
        assert found.ends[-1] <= len(text)
    for word, hashed in zip(words(text), found.hashes.tolist(), strict=True):
        if any(letter.isalnum() for letter in word):  # a symbol counts or not by what is around it
            assert hashed in tokens(word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" .,\0", []),
        ("The cat's 2nd", ["The", "cat", "s", "2nd"]),
        ("Straße", ["Straße"]),
        ("日本go", ["日", "本", "go"]),
        ("a\ud800b", ["a", "b"]),
        ("a\0b", ["a", "b"]),
        ("😀 one 3 + 4", ["😀", "😀", "one", "3", "+", "4"]),
        ("well-known http://x.org/a?b=1, C++", ["well", "known", "http://x.org/a?b=1", "C", "+", "+"]),
        ("\u200bin\xadter\xad \ufeff-5", ["in\xadter", "-", "5"]),
        ("e\u0301\u200d + a\xad\u0301", ["e\u0301", "+", "a\xad\u0301"]),
        ("x Cafe\u0301 e\u0301te\u0301 y", ["x", "Cafe\u0301", "e\u0301te\u0301", "y"]),
        ("か\u3099き", ["か\u3099", "き"]),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8 ok", ["\u1112\u1161\u11ab\u1100\u116e\u11a8", "ok"]),
    ],
)
def test_words_are_cut_from_the_text_as_it_is_given(text, expected):
    assert words(text) == expected


def test_composed_and_decomposed_text_have_the_same_words():
    text = "Đây là một đoạn văn bản tiếng Việt, が 각"
    other = unicodedata.normalize("NFD", text)
    assert other != text
    assert word_spans(other).hashes.tolist() == word_spans(text).hashes.tolist()
    assert [unicodedata.normalize("NFC", word) for word in words(other)] == words(text)
