import numpy as np
import pyarrow as pa
import pytest

from neardup.model.arrow_types import BINARY, BYTES, STRINGS, filtered, is_one_of, without_views


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (pa.string(), ["STRINGS"]),
        (pa.large_string(), ["STRINGS"]),
        (pa.string_view(), ["STRINGS"]),
        (pa.binary(), ["BINARY", "BYTES"]),
        (pa.large_binary(), ["BINARY", "BYTES"]),
        (pa.binary_view(), ["BINARY", "BYTES"]),
        (pa.binary(16), ["BYTES"]),
        (pa.dictionary(pa.int8(), pa.string()), []),
        (pa.null(), []),
    ],
    ids=str,
)
def test_a_type_is_found_in_all_its_encodings(kind, found):
    encodings = {"STRINGS": STRINGS, "BINARY": BINARY, "BYTES": BYTES}
    assert [name for name, tests in encodings.items() if is_one_of(kind, tests)] == found
    assert not is_one_of(kind, ())


def test_dictionaries_of_views_are_dictionaries_of_large_values():
    for view, wide in ((pa.string_view(), pa.large_string()), (pa.binary_view(), pa.large_binary())):
        values = pa.array([b"x", b"y"], pa.binary()).cast(wide).cast(view)
        chunks = [pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.int8()), values)]
        found = without_views(pa.chunked_array(chunks))
        assert found.type == pa.dictionary(pa.int8(), wide)
        assert [value and value.encode() if isinstance(value, str) else value for value in found.to_pylist()] == [
            b"y",
            None,
            b"x",
        ]
    plain = pa.chunked_array([["a"]])
    assert without_views(plain) is plain


@pytest.mark.parametrize("kind", [pa.string(), pa.string_view(), pa.list_(pa.string_view())], ids=str)
def test_rows_of_types_that_arrow_cannot_filter_are_chosen(kind):
    values = ["a", "b", None, "c"] if not pa.types.is_list(kind) else [["a"], [], None, ["b", "c"]]
    array = pa.array(values, kind)
    table = pa.table({"n": range(4), "x": pa.chunked_array([array[:1], array[1:]])})
    batch = pa.RecordBatch.from_pydict({"n": range(4), "x": array})
    for mask in ([False] * 4, [True] * 4, [False, True, True, False], [True, False, False, True]):
        chosen = np.array(mask)
        expected = [value for value, own in zip(values, mask, strict=True) if own]
        for rows in (table, batch, table["x"], array):
            found = filtered(rows, chosen)
            assert isinstance(found, type(rows))
            assert (found["x"] if hasattr(rows, "schema") else found).to_pylist() == expected
