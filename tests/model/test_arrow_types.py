import pyarrow as pa
import pytest

from neardup.model.arrow_types import BINARY, BYTES, STRINGS, is_one_of


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
