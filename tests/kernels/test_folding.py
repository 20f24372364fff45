import time
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from batches import folded, text_batch
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import words

from neardup.kernels.folding import GROWTH, MOST_MARKS, PADDING, may_change
from neardup.text.normalizing import BITS, leads
from neardup.text.unicode import unicode_tables

needs_unicode_14 = pytest.mark.skipif(
    unicodedata.unidata_version != "14.0.0", reason="the oracle is this Python's Unicode, the tables are 14.0"
)
SYMBOLS = (
    "a1 \n!#$%&*+-/<=>@^|~.,:()?\"'\\_\u00ad\u200b\ufe0f\u2212\u25a0😀✔⭐°→€\ufffd\u201c\u2019"
    "\uff0a\uff0d\uff0f\uff5c\uff5e你가\u02bc฿"
)
ALPHABETS = st.one_of(
    st.text(max_size=200),
    st.text(alphabet="aB1 .ßİΐé\u0301你す ก\u0e31\u1000", max_size=200),
    st.text(alphabet="abC .", min_size=60, max_size=300),
    st.text(alphabet=SYMBOLS, max_size=40),
    st.text(alphabet="a1 \n.=**--//\uff0a\uff0d\uff0f你가฿", max_size=30),
    st.lists(st.text(alphabet="aB1 " + SYMBOLS, max_size=9), max_size=30).map(("abcdefg " * 8).join),
    st.lists(
        st.sampled_from([*"aé7 \n-*/.$😀\u200b:", "https://", "://", "x.org", "/a?b=1", "https:", "word "]), max_size=40
    ).map("".join),
)


def split(target, bounds):
    return [
        [word.decode() for word in target[begin:end].tobytes().split(b"\0") if word] for begin, end in pairwise(bounds)
    ]


@needs_unicode_14
@given(st.lists(ALPHABETS, max_size=4), st.booleans(), st.booleans())
@example(["# # # # # # # # # # # # # # # # # # # # # # a"], True, True)
@example(["http://x.org/a?b=1, ftp://é http://. ://x h\u00ad://x h:/\u00ad/x a://b\u200bc.é"], True, True)
@example(["3 - 4", "3 \u2212 4", "-5", "x -5", "(-5", "a-5", "3 -\u00ad5", "-$5", "-.5", "3 - $4"], True, True)
def test_equals_its_definition(texts, fold_case, symbols):
    expected = [words(text, fold_case=fold_case, symbols=symbols) for text in texts]
    assert split(*folded(texts, fold_case=fold_case, symbols=symbols)) == expected


@needs_unicode_14
def test_every_code_point():
    """All that are characters; of the planes without any, some of each block of the tables."""
    codes = [*range(0xD800), *range(0xE000, 0x40000), *range(0x40000, 0xE0000, 31), *range(0xE0000, 0xE1000)]
    letters = [chr(code) for code in [*codes, *range(0xE1000, 0x110000, 31)]]
    texts = ["x".join(letters[start : start + 256]) for start in range(0, len(letters), 256)]
    for symbols in (False, True):
        assert split(*folded(texts, symbols=symbols)) == [words(text, symbols=symbols) for text in texts]


def test_rulers_take_linear_time():
    assert split(*folded(["ab" + "=" * 200])) == [["ab"]]
    begin = time.process_time()
    folded(["ab" + "=" * 800_000])
    assert time.process_time() - begin < 5  # half a minute, if each block looks for the end of the ruler


@given(st.lists(st.binary(max_size=100), max_size=4))
def test_invalid_bytes_separate(texts):
    expected = [raw.decode("utf-8", "replace") for raw in texts]
    assert split(*folded(texts)) == split(*folded(expected))


@pytest.mark.parametrize(
    "raw",
    [b"a\xffb", b"a\xc0\xafb", b"a\xed\xa0\x80b", b"a\xf4\x90\x80\x80b", b"a\xe4\xbdb", b"a\x80b"],
    ids=["no start", "overlong", "surrogate", "beyond Unicode", "cut", "stray"],
)
def test_invalid_utf8_is_a_separator(raw):
    assert split(*folded([raw])) == [["a", "b"]]


def test_a_document_ends_where_it_ends():
    assert split(*folded([b"ab\xe4", b"\xbd\xa0cd"])) == [["ab"], ["cd"]]


def test_no_documents():
    target, bounds = folded([])
    assert bounds.tolist() == [0]
    assert not target[:PADDING].any()


@needs_unicode_14
def test_growth_is_enough_for_every_code_point():
    for code in range(0x80, 0x110000):
        if not 0xD800 <= code < 0xE000:
            source = len(chr(code).encode())
            assert len(chr(code).casefold().encode()) + 2 * (source > 2) <= GROWTH * source


def flagged(texts, form):
    data, offsets = text_batch(texts)
    flags = np.full(len(texts), 9, np.uint8)
    may_change(data, offsets, *unicode_tables().normal, BITS[form], leads(form), flags)
    return flags.astype(bool).tolist()


def checked(text, form):
    """Return whether the quick check flags a text, code point by code point."""
    index, data = unicode_tables().normal
    flag, last, marks = False, 0, 0
    for code in map(ord, text):
        entry = int(data[int(index[code >> 7]) << 7 | code & 127])
        mark = entry & 0xFF
        flag |= bool(entry & int(BITS[form])) or 0 < mark < last
        last, marks = mark, marks + 1 if mark else 0
        if marks > MOST_MARKS:
            return False
    return flag


SETTLED = ("", "a", "plain " * 20, "\u0434\u0430 " * 31, "\u6f22" * 43, "a\u0e01\u0302\u0327" * 9)


@given(
    st.lists(st.sampled_from(SETTLED), max_size=3),
    st.text(
        st.characters(exclude_categories=("Cs",)) | st.sampled_from("\u0301\u0323\u0300\u0345\u3099e\u0434"),
        max_size=60,
    ),
    st.lists(st.sampled_from(SETTLED), max_size=3),
    st.sampled_from(["NFC", "NFKC"]),
)
def test_the_quick_check_equals_its_definition(before, text, after, form):
    whole = "".join([*before, text, *after])
    assert flagged([whole], form) == [checked(whole, form)]


@needs_unicode_14
@given(st.text(max_size=60), st.sampled_from(["NFC", "NFKC"]))
def test_what_is_not_flagged_is_normalised(text, form):
    assert flagged([text], form) == [True] or unicodedata.normalize(form, text) == text


def test_plain_texts_are_not_flagged():
    assert flagged(["plain", "déjà vu", "你好", "Привет", "नमस्ते", ""], "NFC") == [False] * 6


def test_decomposed_texts_are_flagged():
    assert flagged(["e\u0301", "a\u0323\u0301", "a\u0301\u0323"], "NFC") == [True, True, True]
    assert flagged(["ﬁ", "\uff26"], "NFC") == [False, False]
    assert flagged(["ﬁ", "\uff26"], "NFKC") == [True, True]


def test_a_bomb_of_marks_is_not_flagged():
    assert flagged(["e" + "\u0301\u0323" * MOST_MARKS, "e" + "\u0301" * MOST_MARKS], "NFC") == [False, True]
