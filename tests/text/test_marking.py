import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.index.disk.columns import encoded
from neardup.model.answers import Marked
from neardup.model.arrays import TextBatch
from neardup.model.query import terms_of
from neardup.text.marking import MOST_SHOWN, Marker


def marked(query, text, words=32):
    return Marker(terms_of(query)).mark(encoded([text]), words)[0]


def pieces(shown):
    return [shown.text[begin:end] for begin, end in shown.spans]


def test_what_is_marked():
    assert marked("storm harbour", "Storm over the harbour") == Marked("Storm over the harbour", ((0, 5), (15, 22)))
    shown = marked("storm harbour", "The storm broke over the harbour at dawn. Nobody was hurt.")
    assert pieces(shown) == ["storm", "harbour"]
    assert marked("東京", "東京の天気") == Marked("東京の天気", ((0, 2),))
    assert pieces(marked("東京", "今日は東京で雨が降ります。ABC東京XYZ")) == ["東京", "東京"]
    assert pieces(marked("cafe E-MAIL", "Un café à l'aube, e-mail inclus")) == ["café", "e-mail"]
    assert pieces(marked('"at dawn" harb*', "The harbours are at dawn as they are at night")) == ["harbours", "at dawn"]


def test_of_a_text_that_fits_nothing_is_left_out():
    assert marked("storms", "Opinion: Why storms matter", 4) == Marked("Opinion: Why storms matter", ((13, 19),))
    assert marked("storms", "Opinion: Why storms matter", 3).text == "…Why storms matter"


def test_where_something_is_left_out_stands_an_ellipsis():
    text = " ".join(f"w{number}" for number in range(100))
    assert marked("w50", text, 5).text == "…w48 w49 w50 w51 w52…"
    assert marked("w0", text, 3) == Marked("w0 w1 w2…", ((0, 2),))
    assert marked("w99 w98", text, 3) == Marked("…w97 w98 w99", ((5, 8), (9, 12)))
    assert marked("nowhere", text, 2) == Marked("w0 w1…", ())


def test_shown_is_where_most_of_what_was_looked_for_stands_together():
    text = "storm a b c storm storm d e f storm rain g h i rain storm"
    assert marked("storm rain", text, 4).text == "…f storm rain g…"
    assert marked("storm", text, 4).text == "…c storm storm d…"


def test_many_are_marked_as_one_by_one():
    texts = [f"number {number} of a storm" * (number % 3) for number in range(250)]
    marker = Marker(terms_of("storm"))
    assert marker.mark(encoded(texts), 32) == [marker.mark(encoded([text]), 32)[0] for text in texts]
    assert marker.mark(encoded([]), 32) == []


def test_a_text_cannot_mark_itself_and_nothing_is_lost_behind_a_nul():
    shown = marked("storm", "\ufdd0x\ufdd1 \x1f<b>storm</b>\x00 behind \ud800 it \ue000")
    assert pieces(shown) == ["storm"]
    assert shown.text == "\ufdd0x\ufdd1 \x1f<b>storm</b>  behind \ufffd\ufffd\ufffd it \ue000"


def test_what_is_shown_is_short_however_long_words_are():
    text = "a" * 5_000 + " storm " + "b" * 5_000
    for query, found in (("storm", "storm"), ("a" * 4_000 + "*", "a" * MOST_SHOWN)):
        shown = marked(query, text)
        assert len(shown.text) <= MOST_SHOWN + 2
        assert pieces(shown) == [found]


def test_nothing_is_marked_by_no_words():
    for query in ("", "*", "🎉", '"- -"'):
        assert marked(query, "🎉 storm - -") == Marked("🎉 storm - -", ())


def test_of_a_phrase_of_more_words_than_are_shown_the_beginning_is_shown():
    text = "before " * 50 + " ".join(f"w{number}" for number in range(60))
    shown = marked('"' + " ".join(f"w{number}" for number in range(40)) + '"', text)
    assert shown.text.startswith("…w0 w1 ")
    assert pieces(shown) == [" ".join(f"w{number}" for number in range(32))]
    assert pieces(marked("東京" * 20, "京" + "東京" * 30)) == ["東京" * 16]


def test_terms_that_fold_to_the_same_are_one():
    text = "storm " + "x " * 50 + "rain harbour"
    assert pieces(marked("storm STORM Störm rain harbour", text, 4)) == ["rain", "harbour"]
    assert pieces(marked("storm storm* rain", text, 4)) == ["storm"]


@pytest.mark.parametrize("raw", [b"\xe2\x82 storm x", b"\xf0\x9f\x98 " * 3 + b"storm", b"\xff\xc3storm\xed\xa0\x80"])
def test_invalid_utf_8_moves_no_mark(raw):
    texts = TextBatch(np.frombuffer(raw, np.uint8), np.array([0, len(raw)]))
    (shown,) = Marker(terms_of("storm")).mark(texts, 32)
    assert pieces(shown) == ["storm"]
    assert shown.text == raw.decode(errors="replace")


@given(text=st.text(), query=st.text(), words=st.integers(1, 40))
def test_no_text_and_no_query_raises(text, query, words):
    require_sound(marked(query, text, words))


@given(raw=st.binary(), query=st.text(), words=st.integers(1, 40))
def test_no_bytes_raise(raw, query, words):
    texts = TextBatch(np.frombuffer(raw or b"\0", np.uint8), np.array([0, len(raw)]))
    require_sound(Marker(terms_of(query)).mark(texts, words)[0])


def require_sound(shown):
    bounds = [place for span in shown.spans for place in span]
    assert bounds == sorted(bounds)
    assert not bounds or bounds[-1] <= len(shown.text)


@pytest.mark.parametrize("words", [1, 100])
def test_texts_may_lie_anywhere(words):
    texts = encoded(["before", "the storm", "behind"])
    some = TextBatch(texts.data, texts.offsets[1:3].copy())
    assert Marker(terms_of("storm")).mark(some, words)[0] == marked("storm", "the storm", words)
    assert np.array_equal(some.offsets, texts.offsets[1:3])
