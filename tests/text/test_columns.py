import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from arrow_streams import OnlyStream
from hypothesis import given
from hypothesis import strategies as st

from neardup.model.errors import DataError
from neardup.text import columns
from neardup.text.columns import (
    batches,
    gathered,
    is_mixed,
    readable_text,
    readable_values,
    text_bytes,
    text_column,
    typed_parts,
    whole_batch,
)

TEXTS = ["one", None, "", "zwei é", "三", "four"]
RAW = [b"" if text is None else text.encode() for text in TEXTS]


def contents(column, size=columns.BATCH_BYTES):
    return [batch.bytes_at(document) for batch in batches(column, size) for document in range(len(batch))]


def whole(column):
    batch = whole_batch(column)
    return [batch.bytes_at(document) for document in range(len(batch))]


class OnlyArray:
    def __init__(self, array):
        self._array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self._array.__arrow_c_array__(requested_schema)


KINDS = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int32(), pa.large_binary()),
]
SHAPES = {
    "array": lambda array: array,
    "slice": lambda array: pa.concat_arrays([array[2:4], array, array[:3]])[2 : 2 + len(array)],
    "chunks": lambda array: pa.chunked_array([array[:1], array[:0], array[1:4], array[4:]]),
    "sliced chunks": lambda array: pa.chunked_array([array[3:], array, array[:1]])[3 : 3 + len(array)],
    "stream": lambda array: OnlyStream(pa.chunked_array([array[:2], array[2:]])),
    "C array": OnlyArray,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_type_in_every_shape(kind, shape):
    plain = pa.array([None if text is None else text.encode() for text in TEXTS], pa.binary())
    array = plain.cast(kind) if not pa.types.is_dictionary(kind) else plain.cast(kind.value_type).dictionary_encode()
    column = text_column(SHAPES[shape](array))
    assert contents(column) == RAW
    assert contents(column, 1) == RAW
    assert whole(column) == RAW


def test_strings_stay_as_they_lie():
    array = pa.array(["a long enough text", "another"])
    (batch,) = batches(text_column(array))
    assert batch.data.__array_interface__["data"][0] == array.buffers()[2].address
    assert not batch.data.flags.writeable


def test_null_slots_with_text_in_them_are_empty():
    data = pa.py_buffer(b"onetwothree")
    offsets = pa.py_buffer(np.array([0, 3, 6, 11], np.int32).tobytes())
    validity = pa.py_buffer(bytes([0b101]))
    for kind in (pa.string(), pa.binary()):
        array = pa.Array.from_buffers(kind, 3, [validity, offsets, data])
        assert array.null_count == 1
        assert contents(text_column(array)) == [b"one", b"", b"three"]
        assert contents(text_column(array[1:])) == [b"", b"three"]
        assert whole(text_column(array)) == [b"one", b"", b"three"]


def test_offsets_need_not_begin_at_zero():
    data = pa.py_buffer(b"xxonetwo")
    offsets = pa.py_buffer(np.array([2, 5, 8], np.int64).tobytes())
    array = pa.Array.from_buffers(pa.large_string(), 2, [None, offsets, data])
    assert contents(text_column(array)) == [b"one", b"two"]


@pytest.mark.parametrize("kind", KINDS[:6], ids=str)
def test_columns_of_nothing(kind):
    assert contents(text_column(pa.array([], kind))) == []
    assert contents(text_column(pa.chunked_array([], kind))) == []
    assert whole(text_column(pa.chunked_array([], kind))) == []
    assert contents(text_column(pa.array(["", None], kind))) == [b"", b""]
    assert contents(text_column(pa.nulls(3, kind))) == [b""] * 3


@pytest.mark.parametrize("kind", [pa.null(), pa.float64(), pa.list_(pa.string()), pa.dictionary(pa.int8(), pa.int64())])
def test_a_column_of_nulls(kind):
    assert contents(text_column(pa.nulls(2, kind))) == [b"", b""]
    assert contents(text_column(pa.nulls(0, kind))) == []


def test_missing_values_of_pandas_are_null():
    texts = ["a", float("nan"), np.float64("nan"), pd.NA, pd.NaT, None]
    assert text_column(texts).to_pylist() == ["a", None, None, None, None, None]
    with pytest.raises(DataError, match=r"text 2 of 'text' must be a string or None, not an int"):
        text_column(["a", float("nan"), 3])
    assert contents(text_column([None, None])) == [b"", b""]
    assert contents(text_column([])) == []


@pytest.mark.parametrize("make", [list, tuple, iter, np.array], ids=["list", "tuple", "iterator", "NumPy"])
def test_sequences_of_strings(make):
    assert contents(text_column(make(["one", "", "三"]))) == [b"one", b"", "三".encode()]


def test_lone_surrogates_become_bytes_that_are_no_utf8():
    column = text_column(["fine", None, "a\ud800b", "\udfff"])
    assert contents(column) == [b"fine", b"", b"a\xed\xa0\x80b", b"\xed\xbf\xbf"]


@pytest.mark.parametrize(
    "texts",
    [
        "one text",
        b"one text",
        5,
        None,
        ["a", 5],
        ["a", b"b"],
        ["a", ["b"]],
        {"text": ["a"]},
        pa.array([1, 2]),
        pa.array([True]),
        pa.array([["a"]]),
        pa.array([{"a": "b"}]),
        pa.array([1, 2]).dictionary_encode(),
        pa.chunked_array([[1.5]]),
        OnlyStream(pa.table({"text": ["a"]})),
    ],
    ids=lambda texts: type(texts).__name__,
)
def test_invalid_texts_are_data_errors_that_name_the_column(texts):
    with pytest.raises(DataError, match="'body'"):
        text_column(texts, "body")


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars"])
def test_a_table_in_the_place_of_its_column_is_refused_with_the_way_out(library):
    columns = {"text": ["a"]}
    table = pa.table(columns) if library == "pyarrow" else pytest.importorskip(library).DataFrame(columns)
    with pytest.raises(DataError, match=r"must be one column, not a (Table|DataFrame): pass one column of it"):
        text_column(table)
    if library == "polars":
        with pytest.raises(DataError, match=r"a LazyFrame is not computed yet: call .collect\(\) first"):
            text_column(table.lazy())


def test_values_of_several_types_are_parted():
    codes = pa.array([0, 1, 1, 0], pa.int8())
    mixed = pa.UnionArray.from_sparse(codes, [pa.array([5, 0, 0, None]), pa.array(["", "6", "7", ""]), pa.nulls(4)])
    assert is_mixed(mixed.type)
    assert not is_mixed(codes.type)
    assert [part.to_pylist() for part in typed_parts(mixed)] == [[5, None, None, None], [None, "6", "7", None]]
    assert [part.to_pylist() for part in typed_parts(mixed.slice(2))] == [["7", None]]
    assert typed_parts(mixed.slice(3)) == []


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 20), st.lists(st.integers(0, 30), max_size=3))
def test_batches_are_cut_as_documented(lengths, size, cuts):
    """Whole documents in order; more than *size* bytes only for a document by itself; no smaller than need be."""
    texts = [chr(97 + place % 26) * length for place, length in enumerate(lengths)]
    edges = sorted({0, len(texts), *(min(cut, len(texts)) for cut in cuts)})
    chunks = [pa.array(texts[a:b], pa.string()) for a, b in itertools.pairwise(edges)]
    column = pa.chunked_array(chunks, pa.string())
    found = list(batches(column, size))
    assert contents(column, size) == [text.encode() for text in texts]
    ends = set(np.cumsum([len(chunk) for chunk in chunks]).tolist())
    begin = 0
    for batch in found:
        total = int(batch.offsets[-1] - batch.offsets[0])
        assert len(batch) >= 1
        assert total <= size or len(batch) == 1
        begin += len(batch)
        if begin not in ends:
            assert total + len(texts[begin]) > size


def test_batches_of_tiny_documents_are_limited_too():
    found = list(batches(pa.chunked_array([[""] * (columns.BATCH_DOCUMENTS + 5)])))
    assert [len(batch) for batch in found] == [columns.BATCH_DOCUMENTS, 5]


@pytest.mark.parametrize("positions", [[], [0], [0, 2, 5], [1, 1, 4], [5, 0, 3, 0], [3, 4, 5, 2]])
@pytest.mark.parametrize("cuts", [[0, 6], [0, 2, 2, 5, 6]])
def test_texts_are_gathered_in_the_order_of_their_positions(positions, cuts):
    column = pa.chunked_array([pa.array(TEXTS[a:b], pa.string()) for a, b in itertools.pairwise(cuts)])
    found = gathered(column, np.array(positions, np.int64))
    assert found.type == pa.large_binary()
    assert found.to_pylist() == [None if TEXTS[own] is None else TEXTS[own].encode() for own in positions]


INVALID = [b"a\xffb", None, b"", "三".encode()]


def of_bytes(kind):
    """Return a column with bytes that are not valid UTF-8, which Arrow does not check here."""
    wide = pa.array(INVALID, pa.large_binary())
    if "string" not in str(kind):
        return pa.chunked_array([wide.cast(kind)])
    return pa.chunked_array([pa.Array.from_buffers(pa.large_string(), len(wide), wide.buffers()).cast(kind)])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_texts_are_read_as_people_read_them(kind):
    column = of_bytes(kind)
    assert [text_bytes(column, row) for row in range(4)] == [b"a\xffb", b"", b"", "三".encode()]
    assert [readable_text(column, row) for row in range(4)] == ["a\ufffdb", "", "", "三"]
    strings = ["a\ufffdb", None, "", "三"]
    assert readable_values(column) == (strings if "string" in str(kind) else INVALID)


def test_lists_of_invalid_strings_have_no_values():
    lists = pa.ListArray.from_arrays([0, 4], of_bytes(pa.string()).chunk(0))
    with pytest.raises(UnicodeDecodeError):
        readable_values(pa.chunked_array([lists]))
    assert readable_values(pa.chunked_array([[1, None]])) == [1, None]


def test_types_of_others_are_refused():
    class Own(pa.ExtensionType):
        def __init__(self):
            super().__init__(pa.string(), "own")

        def __arrow_ext_serialize__(self):
            return b""

    array = pa.ExtensionArray.from_storage(Own(), pa.array(["a"]))
    with pytest.raises(DataError, match="must contain strings, not extension"):
        text_column(array)
