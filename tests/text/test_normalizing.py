# ruff: noqa: RUF001 - letters that look like others are the point
import unicodedata

import numpy as np
import pytest
from batches import text_batch
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.model.arrays import TextBatch
from neardup.text import normalizing
from neardup.text.normalizing import normalize, normalized
from neardup.text.spans import word_spans

NORMALIZE = unicodedata.normalize
FORMS = ["NFC", "NFKC"]
TEXTS = st.lists(
    st.one_of(st.text(max_size=30), st.text(alphabet="eÅ\u0301\u0323ﬁＦ가\u1100\u1161 ", max_size=20)), max_size=5
)
needs_unicode_14 = pytest.mark.skipif(
    unicodedata.unidata_version != "14.0.0", reason="the oracle is this Python's Unicode, the tables are 14.0"
)


def texts_of(batch):
    return [batch.bytes_at(document).decode("utf-8", "replace") for document in range(len(batch))]


@needs_unicode_14
@given(TEXTS, st.sampled_from(FORMS))
def test_equals_the_standard_library(texts, form):
    batch = TextBatch(*text_batch(texts))
    assert texts_of(normalized(batch, form)) == [unicodedata.normalize(form, text) for text in texts]


def later(form, text):
    """Normalise as a later Unicode may: what 14.0 does not assign is a mark that is ordered before all others."""
    out = []
    for letter in NORMALIZE(form, text):
        place = len(out)
        while unassigned(letter) and place and unicodedata.combining(out[place - 1]):
            place -= 1
        out.insert(place, letter)
    return "".join(out)


def unassigned(letter):
    return letter in "\u0378\U00010efd\U000105c9"


@needs_unicode_14
@given(st.text(alphabet="xe\u0301\u0323ﬁ\u0378\U00010efd\U000105c9", max_size=12), st.sampled_from(FORMS))
@example("x\u0301\U00010efd b c d", "NFC")
def test_a_later_unicode_changes_nothing(text, form):
    expected = unicodedata.normalize(form, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(normalizing.unicodedata, "normalize", later)
        assert normalize(text, form) == expected


def test_the_interpreter_never_sees_what_its_version_may_know(monkeypatch):
    seen = []
    monkeypatch.setattr(normalizing.unicodedata, "normalize", lambda _, text: seen.append(text) or text)
    data, offsets = text_batch(["x\u0301\U00010efd\u0301 b", "\u0378", "e\u0301"])
    normalized(TextBatch(data, offsets), "NFC")
    word_spans("x\u0301\U00010efd\u0301 b")
    assert seen
    assert not any(unassigned(letter) for text in seen for letter in text)


def test_characters_that_all_versions_know_are_looked_up_once(monkeypatch):
    looked_up = []

    class Unassigned:
        def search(self, text):
            looked_up.append(sorted(text))

    monkeypatch.setattr(normalizing, "_unassigned", Unassigned)
    assert normalize("e\u0301a " * 100, "NFC") == "éa " * 100
    assert looked_up == [[" ", "a", "e", "\u0301"]]


@pytest.mark.parametrize("form", FORMS)
def test_a_normalised_batch_comes_back_as_it_is(form):
    batch = TextBatch(*text_batch(["plain", "déjà", "你好", ""]))
    assert normalized(batch, form) is batch


def test_only_the_batch_is_read():
    data, offsets = text_batch(["e\u0301", "plain", "e\u0301", "e\u0301"])
    assert texts_of(normalized(TextBatch(data, offsets[1:4]), "NFC")) == ["plain", "é"]


def test_bytes_that_are_no_utf8_stay_separators():
    batch = TextBatch(*text_batch([b"e\xcc\x81\xffa", b"\xffa"]))
    result = normalized(batch, "NFC")
    assert texts_of(result) == ["é\ufffda", "\ufffda"]
    assert result.bytes_at(1) == b"\xffa"


@pytest.mark.timeout(120)  # ordering the marks would take hours
@pytest.mark.parametrize("form", FORMS)
def test_a_bomb_of_marks_is_left_as_it_is(form):
    bomb = "e" + "\u0301\u0323" * 500_000
    result = normalized(TextBatch(*text_batch([bomb, "e\u0301"])), form)
    assert texts_of(result) == [bomb, "é"]


@pytest.mark.parametrize("marks", [30, 31])
def test_up_to_thirty_marks_are_normalised(marks):
    text = "e" + "\u0301" * marks
    expected = unicodedata.normalize("NFC", text) if marks <= 30 else text
    assert texts_of(normalized(TextBatch(*text_batch([text])), "NFC")) == [expected]


def test_no_documents():
    batch = TextBatch(np.frombuffer(b"\0", np.uint8), np.zeros(1, np.int64))
    assert len(normalized(batch, "NFC")) == 0
