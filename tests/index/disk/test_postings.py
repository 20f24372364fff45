import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.index.disk.arrays import ArraysWriter, StoredArrays
from neardup.index.disk.files import Disk
from neardup.index.disk.postings import (
    Chains,
    KeyHits,
    LateChains,
    Query,
    SortedLists,
    beyond_room,
    divided,
    document_bits,
    prefix_starts,
    write_finer,
    write_lists,
)
from neardup.model.errors import StorageDamaged

NO_FLAGS = np.empty(0, np.bool_)


def stored(path, keys, bits, documents):
    """Write the keys of documents, uint64[documents, columns], as an index does."""
    low = np.uint64((1 << bits) - 1)
    lists = [
        np.sort((keys[:, column] & ~low) | np.arange(len(keys), dtype=np.uint64)) for column in range(keys.shape[1])
    ]
    with ArraysWriter(Disk(), path, "lists") as writer:
        write_lists(writer, "key", lists)
        writer.finish({})
    return SortedLists("key", StoredArrays(Disk(), path, "lists"), bits, documents)


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
    chains = Chains(position_independent=False)
    chains.find_and_add(Query.of(keys, np.ones(40, np.bool_), room), 0, np.ones(40, np.bool_))
    asking = np.ones(20, np.bool_)
    for hits in (
        stored(tmp_path / "lists", keys, bits, 40).find(Query.of(asked, asking, room), alive),
        chains.find(Query.of(asked, asking, room), alive),
    ):
        assert [sorted(part.tolist()) for part in np.split(hits.documents, hits.bounds[1:-1])] == expected
        assert hits.rows.tolist() == [row for row, part in enumerate(expected) for _ in part]


def test_all_documents_of_a_key_are_those_of_the_first_list(tmp_path):
    keys = np.random.default_rng(4).integers(0, 16, (2_000, 2)).astype(np.uint64) << np.uint64(60)
    keys[:3] = ~np.uint64(0)
    bits = document_bits(2_000)
    lists, low = stored(tmp_path / "lists", keys, bits, 2_000), np.uint64((1 << bits) - 1)
    for key in [*np.arange(16, dtype=np.uint64) << np.uint64(60), *keys[:4, 0], np.uint64(7 << 59)]:
        assert lists.of(int(key)).tolist() == np.flatnonzero((keys[:, 0] & ~low) == (key & ~low)).tolist()


def test_rows_find_those_before_them():
    keys = np.array([[5], [5], [6], [5]], np.uint64)
    hits = Chains(position_independent=False).find_and_add(
        Query.of(keys, np.ones(4, np.bool_), 64), 0, np.ones(4, np.bool_)
    )
    assert [part.tolist() for part in np.split(hits.documents, hits.bounds[1:-1])] == [[], [0], [], [0, 1]]


@pytest.mark.parametrize("position_independent", [False, True])
def test_documents_of_any_numbers_are_found_late(position_independent):
    late = LateChains(position_independent=position_independent)
    late.add(np.array([[5, 6], [7, 8]], np.uint64), np.array([9, 2]))
    late.add(np.array([[5, 8]], np.uint64), np.array([4]))
    asked = np.array([[5, 8], [8, 5], [5, 8], [1, 1]], np.uint64)
    alive = np.ones(10, np.bool_)
    for gone in ({}, {9}):
        alive[[*gone]] = False
        query, none = Query.of(asked, np.array([True, True, False, True]), 64), np.zeros(5, np.int64)
        hits = late.with_found(KeyHits(none, none[:0].astype(np.int32), 0), query, alive)
        found = [{*part.tolist()} for part in np.split(hits.documents, hits.bounds[1:-1])]
        assert found == [{9, 2, 4} - {*gone}, {9, 2, 4} - {*gone} if position_independent else {*()}, {*()}, {*()}]


def test_hits_of_two_kinds_are_joined_row_by_row():
    one = KeyHits(np.array([0, 2, 2]), np.array([3, 1], np.int32), 1)
    other = KeyHits(np.array([0, 1, 2]), np.array([7, 5], np.int32), 2)
    joined = one.joined(other)
    assert (joined.bounds.tolist(), joined.documents.tolist(), joined.oversized) == ([0, 3, 4], [3, 1, 7, 5], 3)


def test_lists_that_contradict_are_damage(tmp_path):
    keys = np.arange(8, dtype=np.uint64).reshape(4, 2) << np.uint64(50)
    lists = stored(tmp_path / "lists", keys, 2, 4)
    with pytest.raises(StorageDamaged, match="is of other keys"):
        lists.find(Query.of(keys[:, :1].repeat(3, axis=1), np.ones(4, np.bool_), 64), NO_FLAGS)
    fewer = SortedLists("key", StoredArrays(Disk(), tmp_path / "lists", "lists"), 2, 3)
    with pytest.raises(StorageDamaged, match="has documents that are not there"):
        fewer.find(Query.of(keys, np.ones(4, np.bool_), 64), NO_FLAGS)


def divided_file(path, keys, bits):
    """Write keys as ``stored`` does, and the lists for their divisions; return these lists and their cuts."""
    low = np.uint64((1 << bits) - 1)
    numbers = np.arange(len(keys), dtype=np.uint64)
    lists = [np.sort((keys[:, column] & ~low) | numbers) for column in range(keys.shape[1])]
    finer = [
        part
        for own, entries in enumerate(lists)
        for part in divided(
            beyond_room(entries, bits), bits, [keys[:, (own + level) % keys.shape[1]] & ~low for level in (1, 2)]
        )
    ]
    with ArraysWriter(Disk(), path, "lists") as writer:
        write_lists(writer, "key", lists)
        cuts = write_finer(writer, "key", finer)
        writer.finish({})
    return cuts


def test_lists_and_chains_divide_oversized_keys_alike(tmp_path):
    random = np.random.default_rng(5)
    keys = random.integers(0, 3, (900, 4)).astype(np.uint64) << np.uint64(40)
    cuts = divided_file(tmp_path / "lists", keys, 10)
    assert cuts[-1] > 1000
    lists = SortedLists("key", StoredArrays(Disk(), tmp_path / "lists", "lists"), 10, 900, cuts)
    assert lists.longest == 900
    chains = Chains(position_independent=False)
    everybody = np.ones(900, np.bool_)
    chains.find_and_add(Query.of(keys, everybody, 64), 0, everybody)
    asked = np.array([*{*map(tuple, keys.tolist())}], np.uint64)
    found = []
    for part in (lists, chains):
        query = Query.of(asked, np.ones(len(asked), np.bool_), 64)
        part.find(query, everybody)
        division = query.division()
        assert len(division.rows) == asked.size
        hits = part.divide(division, everybody)
        rows = division.rows[hits.rows].tolist()
        found.append((sorted(zip(rows, hits.documents.tolist(), strict=True)), division.listed.tolist()))
    assert found[0] == found[1]
    assert {tuple(row) for row in found[0][1]} == {(64, count) for _, count in found[0][1]}


@pytest.mark.parametrize(
    "change",
    [
        lambda cuts: cuts[:-1],
        lambda cuts: [1, *cuts[1:]],
        lambda cuts: [*cuts[:-1], cuts[-1] + 1],
        lambda cuts: [cuts[0], cuts[-1] + 5, *cuts[2:]],
    ],
)
def test_divisions_that_contradict_are_refused(tmp_path, change):
    keys = np.full((200, 2), 5 << 60, np.uint64)
    cuts = divided_file(tmp_path / "lists", keys, 10)
    arrays = StoredArrays(Disk(), tmp_path / "lists", "lists")
    SortedLists("key", arrays, 10, 200, cuts)
    with pytest.raises(ValueError, match="not cut as they should be"):
        SortedLists("key", arrays, 10, 200, change(cuts))


def test_a_damaged_division_is_found(tmp_path):
    keys = np.full((200, 2), 5 << 60, np.uint64)
    cuts = divided_file(tmp_path / "lists", keys, 10)
    begin = StoredArrays(Disk(), tmp_path / "lists", "lists").begin("key.finer")
    raw = bytearray((tmp_path / "lists").read_bytes())
    raw[begin + 3] ^= 1
    (tmp_path / "lists").write_bytes(raw)
    lists = SortedLists("key", StoredArrays(Disk(), tmp_path / "lists", "lists"), 10, 200, cuts)
    query = Query.of(keys[:1], np.ones(1, np.bool_), 1000)
    query.listed[:] = 1001
    with pytest.raises(StorageDamaged):
        lists.divide(query.division(), NO_FLAGS)


@pytest.mark.parametrize(("documents", "bits"), [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (1 << 20, 20)])
def test_bits_that_number_documents(documents, bits):
    assert document_bits(documents) == bits


@given(st.lists(st.integers(0, 2**64 - 1), max_size=20).map(sorted), st.integers(1, 6))
def test_entries_of_a_prefix_are_found_by_it(entries, bits):
    starts = prefix_starts(np.array(entries, np.uint64), bits).tolist()
    assert starts == [sum(entry >> (64 - bits) < prefix for entry in entries) for prefix in range((1 << bits) + 1)]
