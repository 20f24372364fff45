"""The words of search, against their definition in plain Python."""

import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from batches import text_batch
from hypothesis import example, given
from hypothesis import strategies as st
from search_oracle import words_of

from neardup.kernels import search_words as kernels
from neardup.text.unicode import unicode_tables

LETTERS = st.text(
    alphabet="ab É.\né京e\u0301\u0e31\u0e32\u0e33\u0e4dㅋ\uffbb"
    "ก-ﬁ¼㍿각\u1100\u1161\u11a8가ㄱ\xad\u200dक\u094dिক\u17d2ក\u1039क\uff8a\uff9eガ",
    max_size=40,
)


def cut(raw, most=1 << 62):
    data, offsets = text_batch(raw)
    out, places = np.zeros(kernels.GROWTH * int(offsets[-1]) + 1, np.uint8), np.zeros(len(raw) + 1, np.int64)
    kernels.cut(data, offsets, *unicode_tables().search, most, out, places)
    return [out[begin:end].tobytes() for begin, end in pairwise(places)]


@given(texts=st.lists(LETTERS, max_size=4))
@example(["\u1112\u1161\u11ab"])
@example(["\u0301a", "\uff9e"])
def test_words_are_as_defined(texts):
    expected = [" ".join(word for _, _, word in words_of(text)) for text in texts]
    assert [own.decode() for own in cut([text.encode() for text in texts])] == expected


@given(text=st.text(max_size=30), most=st.integers(0, 40))
def test_only_the_first_characters_count(text, most):
    assert cut([text.encode(errors="replace")], most) == cut([text[:most].encode(errors="replace")])


@given(raw=st.lists(st.binary(max_size=40), max_size=4))
def test_of_any_bytes_valid_words_are_made(raw):
    for own in cut(raw):
        assert own.decode() == own.decode().strip()


def test_no_character_takes_more_room_than_there_is():
    letters = [chr(code).encode() for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    assert all(len(own) <= kernels.GROWTH * len(raw) for own, raw in zip(cut(letters), letters, strict=True))
    assert kernels.MOST_EXPANDED <= 2 * kernels.ROOM  # by characters of two bytes
    for code in range(128):
        assert len(words_of(chr(code))) <= 1


@pytest.mark.parametrize("text", ["เขาดื่มน้ำทุกวัน", "ນ້ຳ", "재밌다 ㅋㅋㅋ 정말", "ﾋﾟｱﾉ ㄲㄴ", "\uffbb\uffbb"])
def test_words_have_the_letters_of_their_compatibility_forms(text):
    folded = [[word for _, _, word in words_of(own)] for own in (text, unicodedata.normalize("NFKC", text))]
    assert folded[0] == folded[1]


def test_a_vowel_of_two_halves_is_a_mark_of_the_letter_before():
    for text in ("น้ำ", "น้\u0e4d\u0e32", "ນ້ຳ", "ນ້\u0ecd\u0eb2"):
        assert [place[:2] for place in words_of(text)] == [[0, len(text)]]
        assert len(cut([text.encode()])[0].split()) == 1


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composed_and_decomposed_letters_fold_alike(form):
    letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    letters = [own for own in letters if unicodedata.normalize(form, own) != own and unicodedata.category(own) != "Cn"]
    letters = [own for own in letters if unicodedata.category(own)[0] in "LN"]
    other = [unicodedata.normalize(form, own) for own in letters]
    folded = [cut([text.encode() for text in texts]) for texts in (letters, other)]
    assert len(letters) > 100
    differing = [own for own, one, two in zip(letters, *folded, strict=True) if one != two]
    assert differing == []
