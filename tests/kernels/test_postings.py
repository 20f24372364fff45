"""Both kinds of lists against the definition: who shares a key with whom."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.blocks import INTACT
from neardup.kernels.postings import chain_anew, find, follow, pack, prefixes, repack

KEYS = st.integers(0, 5).map(lambda key: key * 0x2545F4914F6CDD1D % 2**64)
ROOM = 3
ALL = np.empty(0, np.bool_)


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 3))
    stored = draw(st.lists(st.tuples(*[KEYS] * columns), max_size=12))
    asked = draw(st.lists(st.tuples(*[KEYS] * columns), min_size=1, max_size=4))
    alive = draw(st.lists(st.booleans(), min_size=len(stored), max_size=len(stored)))
    return columns, stored, asked, np.array(alive, np.bool_)


def shaped(rows, columns):
    return np.array(rows, np.uint64).reshape(-1, columns)


def expected(stored, asked, alive, *, pooled, bits=0):
    """Give for one row of keys the documents that share one, a room of them a key."""
    found = set()
    for column, key in enumerate(asked):
        sharing = [
            document
            for document, keys in enumerate(stored)
            if alive[document]
            and any(key >> bits == own >> bits for own in (keys if pooled else keys[column : column + 1]))
        ]
        found |= set(sharing[:ROOM])
    return found


def sorted_lists(stored, columns, pooled, bits=4):
    if pooled:
        pairs = sorted({(key, document) for document, keys in enumerate(stored) for key in keys})
        lists = [pairs]
    else:
        lists = [sorted((keys[column], document) for document, keys in enumerate(stored)) for column in range(columns)]
    entries = np.empty((len(lists), len(lists[0])), np.uint64)
    starts = np.empty((len(lists), 5), np.uint32)
    for row, pairs in enumerate(lists):
        keys = np.array([key for key, _ in pairs], np.uint64)
        pack(keys, np.array([document for _, document in pairs], np.int64), bits, entries[row])
        entries[row].sort()
        prefixes(entries[row], 2, starts[row])
    return entries, starts


@given(table=tables(), pooled=st.booleans())
def test_sorted_lists_find_who_shares_a_key(table, pooled):
    columns, stored, asked, alive = table
    entries, starts = sorted_lists(stored, columns, pooled)
    asking = np.ones(len(asked), np.bool_)
    bounds, found, _, block = find(shaped(asked, columns), asking, pooled, entries, starts, 4, alive, ROOM, None, 0, 0)
    assert block == INTACT
    for row, keys in enumerate(asked):
        documents = found[bounds[row] : bounds[row + 1]].tolist()
        assert len(documents) == len(set(documents))
        assert set(documents) == expected(stored, keys, alive, pooled=pooled, bits=4)


def chained(size=64):
    heads = np.full(8, -1, np.int32)
    return heads, np.empty(8, np.int32), np.empty(size, np.uint64), np.empty(size, np.int32), np.empty(size, np.int32)


@given(table=tables(), anew=st.booleans())
def test_chains_find_who_shares_a_key_before_and_after(table, anew):
    columns, stored, asked, alive = table
    arrays = chained()
    everybody = np.ones(64, np.bool_)
    nodes = 0
    if stored:
        keys, asking = shaped(stored, columns), np.ones(len(stored), np.bool_)
        bounds, found, _, nodes = follow(keys, asking, False, 0, *arrays, nodes, everybody, ROOM, np.uint64(7))
        for row in range(len(stored)):
            documents = set(found[bounds[row] : bounds[row + 1]].tolist())
            assert documents == expected(stored[:row], stored[row], everybody, pooled=False)
    if anew:
        arrays = (np.empty(16, np.int32), np.empty(16, np.int32), *arrays[2:])
        chain_anew(arrays[2], nodes, *arrays[:2], arrays[4], np.uint64(9))
    secret = np.uint64(9 if anew else 7)
    still = everybody.copy()
    still[: len(stored)] = alive
    asking = np.ones(len(asked), np.bool_)
    bounds, found, _, after = follow(shaped(asked, columns), asking, False, -1, *arrays, nodes, still, ROOM, secret)
    assert after == nodes
    for row, keys in enumerate(asked):
        assert set(found[bounds[row] : bounds[row + 1]].tolist()) == expected(stored, keys, alive, pooled=False)


def test_who_does_not_ask_finds_nothing_and_is_not_put_there():
    arrays = chained()
    keys = np.zeros((3, 1), np.uint64)
    asking = np.array([True, False, True])
    bounds, found, _, nodes = follow(keys, asking, False, 0, *arrays, 0, np.ones(8, np.bool_), ROOM, np.uint64(7))
    assert nodes == 2
    assert bounds.tolist() == [0, 0, 0, 1]
    assert found.tolist() == [0]


@pytest.mark.parametrize("members", [ROOM, ROOM + 1, 1000])
def test_an_oversized_key_is_counted_and_costs_no_more(members):
    entries, starts = sorted_lists([(5 << 60,)] * members, 1, pooled=False, bits=10)
    ask = np.array([[5 << 60]], np.uint64)
    _, found, oversized, _ = find(ask, np.ones(1, np.bool_), False, entries, starts, 10, ALL, ROOM, None, 0, 0)
    assert sorted(found.tolist()) == list(range(ROOM))
    assert oversized == (members > ROOM)


@pytest.mark.parametrize("members", [ROOM, ROOM + 1, 60])
def test_an_oversized_key_on_a_chain_is_counted_alike(members):
    arrays = chained()
    keys, everybody = np.full((members, 1), 5, np.uint64), np.ones(64, np.bool_)
    asking = np.ones(members, np.bool_)
    _, _, oversized, nodes = follow(keys, asking, False, 0, *arrays, 0, everybody, ROOM, np.uint64(7))
    assert (nodes, oversized) == (members, max(0, members - 1 - ROOM))
    _, found, oversized, _ = follow(keys[:1], asking[:1], False, -1, *arrays, nodes, everybody, ROOM, np.uint64(7))
    assert sorted(found.tolist()) == list(range(ROOM))
    assert oversized == (members > ROOM)


def test_lists_are_renumbered():
    packed = np.array([0xAB01, 0xAB03, 0xCD02], np.uint64)
    out = np.empty(3, np.uint64)
    assert repack(packed, 8, np.array([9, 0, -1, 5]), 8, out) == 2
    assert out[:2].tolist() == [0xAB00, 0xAB05]
