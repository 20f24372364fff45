import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.pipeline import documents
from neardup.pipeline.documents import Documents
from neardup.text.columns import gathered

TEXTS = st.lists(st.sampled_from(["", None, "a", "b", "ab", "é", "a longer text"]), min_size=1, max_size=12)


def chunked(texts, cuts):
    edges = sorted({0, len(texts), *(min(cut, len(texts)) for cut in cuts)})
    chunks = [pa.array(texts[begin:end], pa.string()) for begin, end in itertools.pairwise(edges)]
    return pa.chunked_array(chunks, pa.string())


@given(TEXTS, st.lists(st.integers(0, 12), max_size=4), st.integers(1, 6), st.data())
def test_texts_are_equal_byte_by_byte_whatever_the_chunks_and_blocks(texts, cuts, copied, data):
    positions = st.lists(st.integers(0, len(texts) - 1), min_size=8, max_size=8)
    left, right = np.array(data.draw(positions)), np.array(data.draw(positions))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "_COPIED", copied)
        same = Documents.of(chunked(texts, cuts), "text", None).same_text(left, right)
    assert same.tolist() == [bool(texts[i]) and texts[i] == texts[j] for i, j in zip(left, right, strict=True)]


def test_the_work_of_comparing_texts_does_not_grow_with_the_chunks(monkeypatch):
    texts = [f"text {place % 50}" for place in range(1000)]
    calls = []
    monkeypatch.setattr(documents, "gathered", lambda *side: calls.append(side) or gathered(*side))
    column = chunked(texts, range(0, 1000, 10))
    left, right = np.arange(50, 1000), np.arange(50, 1000) % 50
    assert Documents.of(column, "text", None).same_text(left, right).all()
    assert len(calls) == 2  # once each side
