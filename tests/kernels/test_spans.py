import re
import unicodedata

import numpy as np
import pytest
from batches import text_batch
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import is_unspaced

from neardup.kernels import spans
from neardup.text.unicode import unicode_tables

TEXTS = st.one_of(
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


def word_spans(text):
    """Letters joined by their classes: a word, or one character of a script without spaces."""
    kinds = "".join(
        "0" if unicodedata.category(letter)[0] not in "LMN" else "2" if is_unspaced(letter) else "1" for letter in text
    )
    return [word.span() for word in re.finditer("1+|2", kinds)]


@needs_unicode_14
@given(TEXTS)
@example("a\ud800b 你好 ok")
@example("")
def test_spans_equal_their_definition(text):
    tables = unicode_tables()
    assert found(spans.spans, text, tables.analysis_index, tables.analysis_data) == word_spans(text)


def unsettled(text):
    tables = unicode_tables()
    return found(spans.unsettled, text, tables.normal_index, tables.normal_data, np.uint16(1 << 8))


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
