import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from batches import text_batch
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import INVISIBLE, words

from neardup.kernels import spans
from neardup.text.unicode import unicode_tables

TEXTS = st.one_of(
    st.text(alphabet="a1 :/-*+é\u00ad\u200b😀\u2212°\n!=", max_size=20),
    st.text(alphabet="aB é\u0301\u0323你ไ\ud800\0-5😀か\u3099각\u1100\u1161", max_size=20),
    st.text(st.characters(exclude_categories=["Cn"]), max_size=10),
)
needs_unicode_14 = pytest.mark.skipif(
    unicodedata.unidata_version != "14.0.0", reason="the oracle is this Python's Unicode, the tables are 14.0"
)


def found(kernel, text, *tables):
    data, _ = text_batch([text])
    starts, ends = np.full((2, len(data)), -1, np.int64)
    count = kernel(data, *tables, starts, ends)
    return list(zip(starts[:count].tolist(), ends[:count].tolist(), strict=True))


@needs_unicode_14
@pytest.mark.parametrize("symbols", [False, True])
@given(text=TEXTS)
@example(text="a\ud800b 你好 ok")
@example(text="x http://x.org/a\u200bb?, 3 - 4 😀 \u00ada\u00ad\u00adb\u00ad")
@example(text="")
def test_spans_hold_the_words_in_order(symbols, text):
    tables = unicode_tables()
    places = found(spans.spans, text, *tables.analysis, symbols)
    held = [INVISIBLE.sub("", text[begin:end]).replace("\u2212", "-") for begin, end in places]
    assert held == words(text, fold_case=False, symbols=symbols)
    assert all(not INVISIBLE.match(text[begin]) and not INVISIBLE.match(text[end - 1]) for begin, end in places)
    for one, other in pairwise(places):
        assert one == other or one[1] <= other[0]  # a picture is two words


def unsettled(text):
    tables = unicode_tables()
    return found(spans.unsettled, text, *tables.normal, np.uint16(1 << 8))


@needs_unicode_14
@given(TEXTS)
@example("e\u0301")
@example("か\u3099")
@example("\u1100\u1161\u11a8")
@example("a\u0301\u0323b")
@example("\u0958\uf900x")
def test_text_is_normalised_stretch_by_stretch(text):
    stretches = unsettled(text)
    done, pieces = 0, []
    for begin, end in stretches:
        assert done <= begin < end <= len(text)
        pieces += text[done:begin], unicodedata.normalize("NFC", text[begin:end])
        done = end
    assert "".join([*pieces, text[done:]]) == unicodedata.normalize("NFC", text)


def test_settled_text_has_no_such_stretch():
    assert unsettled("Straße, naïve; 日本語 각") == []
    assert unsettled("xe\u0301, e\u0301") == [(1, 3), (5, 7)]
