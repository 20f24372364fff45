import pytest

from neardup import Index, MinHash, NearDuplicate, SimHash, TermWeights

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"


@pytest.mark.parametrize(
    ("made", "given"),
    [
        (MinHash(), MinHash(recall=0.5)),
        (SimHash(), SimHash(blocks=9)),
        (SimHash(weights=TermWeights.fitted([STORM])), SimHash(weights=TermWeights.fitted([STORM]), blocks=8)),
    ],
)
def test_an_index_keeps_its_layout_whatever_scheme_it_is_opened_with(tmp_path, made, given):
    with Index.create(tmp_path / "seen", made) as index:
        index.admit(["a"], [STORM])
        index.flush()
    with Index.open(tmp_path / "seen", "w", scheme=given) as index:
        assert isinstance(index.admit(["b"], [f"{STORM}!"])[0], NearDuplicate)
        index.flush()
    with Index.open(tmp_path / "seen", scheme=made) as index:
        assert index.judge([f"{STORM}?"])[0].of == "a"
