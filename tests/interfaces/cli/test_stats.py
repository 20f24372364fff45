import pytest

from neardup import Combined, Index, MinHash, Sentences, SimHash, TermWeights, Trials

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
BAKER = "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf"
KEY = bytes(range(16))
WEIGHTS = TermWeights.fitted([STORM, BAKER], key=KEY)


@pytest.mark.parametrize(
    "scheme",
    [MinHash(), Trials(), Sentences(), Combined(), SimHash(weights=WEIGHTS, key=KEY)],
    ids=lambda scheme: type(scheme).__name__,
)
def test_it_needs_no_key_and_no_scheme(neardup, tmp_path, scheme):
    with Index.create(tmp_path / "seen", scheme, key=KEY) as index:
        index.admit(["a", "b", "c", "empty"], [STORM, STORM, BAKER, ""])
        index.flush()
        index.remove(["a"])
        index.admit(["d", "e"], [STORM, "Seven herons stood in the shallow water below the weir"])
        expected = index.stats()
    shown = neardup("stats", "seen", "--json").json
    assert shown == {name: getattr(expected, name) for name in expected.__slots__}


def test_people_read_it_too(neardup, tmp_path):
    with Index.create(tmp_path / "seen") as index:
        index.admit(["a", "b", "c"], [STORM, STORM, BAKER])
        index.flush()
        index.remove(["c"])
        generation = index.changes().generation
    shown = neardup("stats", "seen").out
    assert shown.splitlines()[0].split() == ["2", "documents"]
    assert "1  kept; " in shown
    assert "1  removed, but still in the files; `neardup compact` purges them" in shown
    assert "scheme minhash, recipe " in shown
    assert f", generation {generation}\n" in shown


def test_where_there_is_no_index(neardup, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "to create an index: neardup index INPUT --to DIR" in neardup("stats", "empty", code=2).err
