import numpy as np
import pytest

from neardup.index.disk.arrays import ArraysWriter, StoredArrays
from neardup.index.disk.files import Disk
from neardup.index.disk.postings import Chains, SortedLists, document_bits, write_lists
from neardup.model.errors import StorageDamaged

NO_FLAGS = np.empty(0, np.bool_)


def stored(path, keys, bits, documents):
    """Write the keys of documents, uint64[documents, columns], as an index does."""
    low = np.uint64((1 << bits) - 1)
    lists = [
        np.sort((keys[:, column] & ~low) | np.arange(len(keys), dtype=np.uint64)) for column in range(keys.shape[1])
    ]
    with ArraysWriter(Disk(), path, "lists") as writer:
        write_lists(writer, "key", lists, keys.shape[1], len(keys))
        writer.finish({})
    return SortedLists(StoredArrays(Disk(), path, "lists"), "key", bits, documents)


def brute(keys, asked, alive, room, low):
    """Find by definition, row by row: the first documents of each key in its column, together, ascending."""
    found = []
    for row in asked & ~low:
        own = set()
        for column, key in enumerate(row):
            own |= {*[place for place in np.flatnonzero(keys[:, column] & ~low == key).tolist() if alive[place]][:room]}
        found.append(sorted(own))
    return found


@pytest.mark.parametrize("room", [2, 64])
@pytest.mark.parametrize("gone", [(), (3, 4, 10)])
def test_lists_and_chains_find_as_defined(tmp_path, room, gone):
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 8, (40, 3)).astype(np.uint64) << np.uint64(60)
    asked = rng.integers(0, 9, (20, 3)).astype(np.uint64) << np.uint64(60)
    alive = np.ones(40, np.bool_)
    alive[list(gone)] = False
    bits = document_bits(40)
    expected = brute(keys, asked, alive, room, np.uint64((1 << bits) - 1))
    chains = Chains(pooled=False)
    chains.find_and_add(keys, np.ones(40, np.bool_), 0, np.ones(40, np.bool_))
    asking = np.ones(20, np.bool_)
    for hits in (
        stored(tmp_path / "lists", keys, bits, 40).find(asked, asking, alive, room=room),
        chains.find(asked, asking, alive, room),
    ):
        assert [sorted(part.tolist()) for part in np.split(hits.documents, hits.bounds[1:-1])] == expected
        assert hits.rows.tolist() == [row for row, part in enumerate(expected) for _ in part]


def test_rows_find_those_before_them(tmp_path):
    keys = np.array([[5], [5], [6], [5]], np.uint64)
    hits = Chains(pooled=False).find_and_add(keys, np.array([True, True, True, True]), 0, np.ones(4, np.bool_))
    assert [part.tolist() for part in np.split(hits.documents, hits.bounds[1:-1])] == [[], [0], [], [0, 1]]


def test_lists_that_contradict_are_damage(tmp_path):
    keys = np.arange(8, dtype=np.uint64).reshape(4, 2) << np.uint64(50)
    lists = stored(tmp_path / "lists", keys, 2, 4)
    with pytest.raises(StorageDamaged, match="is of other keys"):
        lists.find(keys[:, :1].repeat(3, axis=1), np.ones(4, np.bool_), NO_FLAGS)
    fewer = SortedLists(StoredArrays(Disk(), tmp_path / "lists", "lists"), "key", 2, 3)
    with pytest.raises(StorageDamaged, match="has documents that are not there"):
        fewer.find(keys, np.ones(4, np.bool_), NO_FLAGS)


@pytest.mark.parametrize(("documents", "bits"), [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (1 << 20, 20)])
def test_bits_that_number_documents(documents, bits):
    assert document_bits(documents) == bits
