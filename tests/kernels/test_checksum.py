import numpy as np
from batches import ragged, text_batch
from hypothesis import given
from hypothesis import strategies as st
from oracles import SPREAD, siphash13

from neardup.kernels import checksum

KEY = (0x0706050403020100, 0x0F0E0D0C0B0A0908)
TEXTS = st.lists(st.text(alphabet="ab\0é你😀", max_size=12), max_size=5)


def ends_of(texts, limit):
    data, offsets = text_batch(texts)
    ends = np.empty(len(texts), np.int64)
    checksum.cut(data, offsets, limit, ends)
    return data, offsets, ends


def cut(text, limit):
    kept = ""
    for letter in text:
        if limit >= 0 and len((kept + letter).encode()) > limit:
            break
        kept += letter
    return kept.encode()


@given(TEXTS, st.integers(-1, 20))
def test_cut_equals_its_definition(texts, limit):
    data, offsets, ends = ends_of(texts, limit)
    kept = [data[begin:end].tobytes() for begin, end in zip(offsets[:-1], ends, strict=True)]
    assert kept == [cut(text, limit) for text in texts]


@given(st.lists(st.binary(max_size=8), max_size=4), st.integers(0, 9))
def test_bytes_that_are_no_utf8_are_cut_within_bounds(texts, limit):
    _, offsets, ends = ends_of(texts, limit)
    assert (ends >= offsets[:-1]).all()
    assert (ends <= offsets[1:]).all()
    assert (ends - offsets[:-1] <= limit).all()


@given(TEXTS, TEXTS, st.integers(-1, 6))
def test_sums_equal_their_definition(first, second, limit):
    number = min(len(first), len(second))
    sums = np.zeros(number, np.uint64)
    for column in (first[:number], second[:number]):
        checksum.add_field(*ends_of(column, limit), np.array(KEY, np.uint64), sums)
    hashed = [[siphash13(cut(text, limit), *KEY) for text in column[:number]] for column in (first, second)]
    assert sums.tolist() == [(a * SPREAD + b) % 2**64 for a, b in zip(*hashed, strict=True)]


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=40), max_size=4))
def test_digests_equal_their_definition(documents):
    values, bounds = ragged(documents)
    digests = np.full((len(documents), 2), 5, np.uint64)
    checksum.digest_words(values, bounds, np.array(KEY, np.uint64), digests)
    written = [np.array(own, "<u8").tobytes() for own in documents]
    expected = [siphash13(data, *KEY, wide=True) if data else (5, 5) for data in written]
    assert [*map(tuple, digests.tolist())] == expected
