import pytest

from neardup import Index, MinHash, Sentences, SimHash
from neardup.model.tables import TableDesign


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
        lookup = index._store._lookup
        signed = scheme.sign(["one two three four. Five six seven."])
        assert lookup.keyed(signed.rows, signed.present).tolist() == scheme.keys(signed).tolist()
        assert lookup.pooled == position_independent
        assert (lookup.design is not None) == tabled
        if tabled:
            assert lookup.design(1000) == TableDesign.choose(distance=3, fingerprints=1000)
