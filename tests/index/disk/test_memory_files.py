"""An index in memory: the same class and the same answers, without a folder."""

import tracemalloc

import pytest

from neardup import Index, MinHash, Search
from neardup.index.disk.memory_files import FOLDER
from neardup.model.errors import StorageRefused
from neardup.verdicts import New

TEXTS = [f"the storm number {number} broke over the harbour at dawn and nobody was hurt" for number in range(300)]


@pytest.fixture
def ids():
    return [f"d{number}" for number in range(len(TEXTS))]


def life(index, ids):
    """Do to an index what can be done, and tell all that it answers."""
    answers = [index.admit(ids[:200], TEXTS[:200], {"rank": range(200)}, at=5)]
    index.flush()
    answers += [index.admit(ids[200:], TEXTS[200:], at=6), index.judge(TEXTS[:3]), index.remove(["d0", "d7"])]
    index.flush()
    index.compact()
    answers += [index.admit(["d1"], ["Another text by now"], at=7), index.expire(6), index.get(ids)]
    answers += [index.check().problems, len(index), index.stats().kept, [*index.ids()], index.refresh()]
    index.sync()
    return answers


@pytest.mark.parametrize("scheme", [MinHash(), MinHash(permutations=16, recall=0.9)])
@pytest.mark.parametrize("texts", [False, True])
def test_it_answers_as_one_in_a_folder(tmp_path, monkeypatch, ids, scheme, texts):
    monkeypatch.chdir(tmp_path)
    options = {"fields": {"rank": int}, "texts": texts, "memory": 1 << 20}
    with Index.create(tmp_path / "index", scheme, **options) as one, Index.create(scheme=scheme, **options) as other:
        assert life(other, ids) == life(one, ids)
        assert repr(other) == f"<Index of {len(other):,} documents in memory, minhash>"
    assert repr(other) == "<Index closed in memory, minhash>"
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_indexes_in_memory_are_apart(ids):
    with Index.create() as one, Index.create() as other:
        one.admit(ids[:1], TEXTS[:1])
        assert other.judge(TEXTS[:1]) == [New()]
    assert not FOLDER.exists()
    with pytest.raises(StorageRefused, match="is closed, and its documents are removed; create a new one"):
        one.judge(TEXTS[:1])


def test_merged_files_leave_the_memory(ids):
    with Index.create(texts=True) as index:
        tracemalloc.start()
        try:
            index.admit(ids, TEXTS)
            for _ in range(5):
                index.compact()
                index.admit(ids[:1], TEXTS[:1])
                index.flush()
            assert len(index.store.disk._files) <= 5  # two manifests, a log, a segment, and updates at most
        finally:
            tracemalloc.stop()


def test_it_has_no_search_table(ids):
    with Index.create(texts=True) as index:
        index.admit(ids, TEXTS)
        for search in (lambda: Search.open(index, make=True), lambda: Search.rebuild(index)):
            with pytest.raises(
                StorageRefused, match=r"^the index in memory cannot be searched by words; create the index in"
            ):
                search()
