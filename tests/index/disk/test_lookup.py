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
        finding = index._store._finding
        signed = scheme.sign(["one two three four. Five six seven."])
        assert finding.keyed(signed.rows, signed.present).tolist() == scheme.keys(signed).tolist()
        assert finding.pooled == position_independent
        assert (finding.design is not None) == tabled
        if tabled:
            assert finding.design(1000) == TableDesign.choose(distance=3, fingerprints=1000)
