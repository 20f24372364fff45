import numpy as np
import pytest
from documents import COLUMNS, batch
from hypothesis import given
from hypothesis import strategies as st

from neardup import Index, MinHash, Sentences, SimHash
from neardup.index.disk.columns import decoded, encoded, flattened, unflattened
from neardup.model.errors import StorageDamaged
from neardup.model.tables import TableDesign


@given(st.lists(st.text()))
def test_strings_are_the_same_again(strings):
    assert decoded(encoded(strings)) == strings


@pytest.mark.parametrize("strange", [None, True, 3, 1.5, b"ab", ["a"], {"a": 1}])
def test_values_that_are_not_strings_are_refused(strange):
    for given_ in ([strange], ["a", strange, "b"]):
        with pytest.raises(TypeError):
            encoded(given_)


def test_lone_surrogates_are_not_read_again():
    half = encoded(["a\ud800"])
    with pytest.raises(StorageDamaged):
        decoded(half)


def test_columns_are_the_same_again():
    whole = batch()
    again = unflattened(COLUMNS, flattened(whole))
    assert set(again) == set(whole) == {*COLUMNS.fixed, *COLUMNS.strings}
    assert decoded(again["field.host"]) == ["id 0", "id 1", "id 2"]
    assert again["rows"] is whole["rows"]


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("ordinal", np.array([7, 6, 8])),
        ("ordinal", np.array([-1, 6, 8])),
        ("rows", np.ones((3, 1), np.uint64)),
        ("present", np.ones(2, np.bool_)),
        ("id.offsets", np.array([0, 1, 2])),
        ("id.offsets", np.array([0, 9, 2, 12])),
        ("id.data", np.zeros(3, np.int8)),
    ],
)
def test_columns_that_cannot_be(name, column):
    flat = flattened(batch())
    flat[name] = column
    with pytest.raises(ValueError, match=r"column|ordinals|order|cut"):
        unflattened(COLUMNS, flat)


@pytest.mark.parametrize("parts", [0, 1, 3])
def test_parts_of_a_column_are_joined(parts):
    whole = batch()
    hosts = COLUMNS.joined("field.host", [whole["field.host"]] * parts)
    assert decoded(hosts) == ["id 0", "id 1", "id 2"] * parts
    rows = COLUMNS.joined("rows", [whole["rows"]] * parts)
    assert (rows.dtype, rows.shape) == (np.uint64, (3 * parts, 2))
    assert set(COLUMNS.changing) >= {"seen", "known.host", "field.host", "field.rank"}


@pytest.mark.parametrize(
    ("scheme", "position_independent", "tabled"),
    [
        (MinHash(), False, False),
        (Sentences(), True, False),
        (SimHash(), False, True),
        (SimHash(bits=128), False, False),
    ],
    ids=["minhash", "sentences", "simhash", "simhash of 128 bits"],
)
def test_each_scheme_is_found_in_its_way(tmp_path, scheme, position_independent, tabled):
    with Index.create(tmp_path / "index", scheme) as index:
        lookup = index._store.lookup
        signed = scheme.sign(["one two three four. Five six seven."])
        assert lookup.keyed(signed.rows, signed.present).tolist() == scheme.keys(signed).tolist()
        assert lookup.position_independent == position_independent
        assert (lookup.design is not None) == tabled
        if tabled:
            assert lookup.design(1000) == TableDesign.choose(distance=3, fingerprints=1000)
