"""Both kinds of lists against the definition: which documents share a key."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.index.disk.arrays import BlockGuard
from neardup.index.disk.part import with_numbers
from neardup.index.disk.postings import prefix_starts
from neardup.kernels.blocks import INTACT
from neardup.kernels.postings import PASSED, chain_anew, find, find_divided, follow, follow_divided
from neardup.model.candidates import chained as chained_keys

KEYS = st.integers(0, 5).map(lambda key: key * 0x2545F4914F6CDD1D % 2**64)
ROOM = 3
DEPTH = 2
SECRET = np.uint64(7)
ALL = np.empty(0, np.bool_)


def none_passed():
    """No known runs of removed documents."""
    return np.zeros((PASSED, 2), np.int64)


NOWHERE = np.zeros(3, np.int64)  # where arrays begin that are in no file
# As of a file whose blocks were all found intact: for it the kernels are compiled already.
GUARD = BlockGuard(np.empty(0, np.uint8), np.empty(0, np.uint64), np.ones(16, np.uint8))


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 3))
    stored = draw(st.lists(st.tuples(*[KEYS] * columns), max_size=12))
    asked = draw(st.lists(st.tuples(*[KEYS] * columns), min_size=1, max_size=4))
    alive = draw(st.lists(st.booleans(), min_size=len(stored), max_size=len(stored)))
    return columns, stored, asked, np.array(alive, np.bool_)


def shaped(rows, columns):
    return np.array(rows, np.uint64).reshape(-1, columns)


def expected(stored, asked, alive, *, position_independent, bits=0):
    """Return, for one row of keys, the documents that share a key, as many per key as there is room for."""
    found = set()
    for column, key in enumerate(asked):
        sharing = [
            document
            for document, keys in enumerate(stored)
            if alive[document]
            and any(key >> bits == own >> bits for own in (keys if position_independent else keys[column : column + 1]))
        ]
        found |= set(sharing[:ROOM])
    return found


def sorted_lists(stored, columns, position_independent, bits=4):
    if position_independent:
        pairs = sorted({(key, document) for document, keys in enumerate(stored) for key in keys})
        lists = [pairs]
    else:
        lists = [sorted((keys[column], document) for document, keys in enumerate(stored)) for column in range(columns)]
    entries = np.empty((len(lists), len(lists[0])), np.uint64)
    starts = np.empty((len(lists), 5), np.uint32)
    for row, pairs in enumerate(lists):
        keys = np.array([key for key, _ in pairs], np.uint64)
        entries[row] = np.sort(with_numbers(keys, np.array([document for _, document in pairs], np.int64), bits))
        starts[row] = prefix_starts(entries[row], 2)
    return entries, starts


@given(table=tables(), position_independent=st.booleans())
def test_sorted_lists_find_who_shares_a_key(table, position_independent):
    columns, stored, asked, alive = table
    entries, starts = sorted_lists(stored, columns, position_independent)
    asking = np.ones(len(asked), np.bool_)
    keys = shaped(asked, columns)
    listed = np.zeros(keys.shape, np.int32)
    bounds, found, _, block = find(
        keys, asking, position_independent, (entries, starts), 4, alive, none_passed(), ROOM, listed, GUARD, NOWHERE
    )
    assert block == INTACT
    for row, keys in enumerate(asked):
        documents = found[bounds[row] : bounds[row + 1]].tolist()
        assert len(documents) == len(set(documents))
        assert set(documents) == expected(stored, keys, alive, position_independent=position_independent, bits=4)


@given(
    parts=st.lists(st.tuples(st.integers(1, 60), st.integers(0, 3)), min_size=1, max_size=6),
    independent=st.booleans(),
    data=st.data(),
)
def test_documents_are_found_however_many_were_removed_one_after_the_other(parts, independent, data):
    """Runs of documents of few keys, removed in any order; what is known about earlier removals stays true."""
    stored = [(key << 60, (key & 1) << 40) for size, key in parts for _ in range(size)]
    asked = [*{*stored}]
    alive, asking, passed = np.ones(len(stored), np.bool_), np.ones(len(asked), np.bool_), none_passed()
    lists = sorted_lists(stored, 2, independent, bits=10)
    for _ in range(4):
        begin = data.draw(st.integers(0, len(stored)))
        alive[begin : data.draw(st.integers(begin, len(stored)))] = False
        keys, listed = shaped(asked, 2), np.zeros((len(asked), 2), np.int32)
        own = lists, 10, alive, passed, ROOM, listed, GUARD, NOWHERE
        bounds, found, _, block = find(keys, asking, independent, *own)
        assert block == INTACT
        for row, keys in enumerate(asked):
            documents = set(found[bounds[row] : bounds[row + 1]].tolist())
            assert documents == expected(stored, keys, alive, position_independent=independent, bits=10)


def test_removed_documents_are_looked_at_once():
    """They stay removed: if those after the first were there again, the second lookup would not find them."""
    keys, asking, passed = np.array([[5 << 60]], np.uint64), np.ones(1, np.bool_), none_passed()
    alive = np.zeros(500, np.bool_)
    alive[[0, 499]] = True
    lists = sorted_lists([(5 << 60,)] * 500, 1, position_independent=False, bits=10)
    for _ in range(2):
        listed = np.zeros((1, 1), np.int32)
        _, found, _, _ = find(keys, asking, False, lists, 10, alive, passed, ROOM, listed, GUARD, NOWHERE)
        assert sorted(found.tolist()) == [0, 499]
        alive[2:499] = True


def test_removed_documents_of_divisions_are_looked_at_once():
    keys, passed, one = np.full((1, 3), 5 << 40, np.uint64), none_passed(), np.zeros(1, np.int64)
    alive = np.zeros(500, np.bool_)
    alive[499] = True
    stored = [(5 << 40,) * 3] * 500
    entries, starts = sorted_lists(stored, 3, position_independent=False, bits=10)
    finer, cuts = finer_list(stored, 3, 10, ROOM)
    for _ in range(2):
        listed = np.zeros((1, DEPTH), np.int32)
        own = (entries, starts, finer), cuts, 10, alive, passed, ROOM, ROOM, listed, GUARD, NOWHERE
        _, documents, _ = find_divided(keys, one, one, *own)
        assert documents.tolist() == [499]
        alive[ROOM + 1 : 499] = True


def chains(size=256):
    heads = np.full(8, -1, np.int32)
    return heads, np.empty(8, np.int32), np.empty(size, np.uint64), *np.empty((2, size), np.int32), SECRET


def followed(arrays, nodes, keys, *, first=-1, alive=None, asking=None, whole=ROOM, listed=None):
    """What ``follow`` returns, and how far each row has come."""
    listed = np.zeros(keys.shape, np.int32) if listed is None else listed
    asking = np.ones(len(keys), np.bool_) if asking is None else asking
    alive = np.ones(256, np.bool_) if alive is None else alive
    ends = np.empty(len(keys), np.int64)
    found = follow(keys, asking, False, first, arrays, nodes, alive, whole, DEPTH, ROOM, listed, ends)
    return *found, ends


@given(table=tables(), anew=st.booleans())
def test_chains_find_who_shares_a_key_before_and_after(table, anew):
    columns, stored, asked, alive = table
    arrays = chains()
    nodes = 0
    if stored:
        bounds, found, _, nodes, _ = followed(arrays, nodes, shaped(stored, columns), first=0)
        for row in range(len(stored)):
            documents = set(found[bounds[row] : bounds[row + 1]].tolist())
            assert documents == expected(stored[:row], stored[row], np.ones(64, np.bool_), position_independent=False)
    if anew:
        arrays = (np.empty(16, np.int32), np.empty(16, np.int32), *arrays[2:5], np.uint64(9))
        chain_anew(arrays, nodes)
    still = np.ones(64, np.bool_)
    still[: len(stored)] = alive
    bounds, found, _, after, _ = followed(arrays, nodes, shaped(asked, columns), alive=still)
    assert after == nodes
    for row, keys in enumerate(asked):
        assert set(found[bounds[row] : bounds[row + 1]].tolist()) == expected(
            stored, keys, alive, position_independent=False
        )


def test_who_does_not_ask_finds_nothing_and_is_not_put_there():
    asking = np.array([True, False, True])
    bounds, found, _, nodes, ends = followed(chains(), 0, np.zeros((3, 1), np.uint64), first=0, asking=asking)
    assert nodes == 2
    assert bounds.tolist() == [0, 0, 0, 1]
    assert found.tolist() == [0]
    assert ends.tolist() == [0, 1, 1]


@pytest.mark.parametrize("members", [ROOM, ROOM + 1, 1000])
@pytest.mark.parametrize("before", [0, 1, ROOM, ROOM + 1])
def test_an_oversized_key_is_counted_once_and_costs_no_more(members, before):
    entries, starts = sorted_lists([(5 << 60,)] * members, 1, position_independent=False, bits=10)
    ask, listed = np.array([[5 << 60]], np.uint64), np.array([[before]], np.int32)
    _, found, oversized, _ = find(
        ask, np.ones(1, np.bool_), False, (entries, starts), 10, ALL, none_passed(), ROOM, listed, GUARD, NOWHERE
    )
    assert sorted(found.tolist()) == list(range(max(0, ROOM - before)))
    assert oversized == (before <= ROOM < before + members)
    assert listed.tolist() == [[min(before + members, ROOM + 1)]]


@pytest.mark.parametrize("members", [ROOM, ROOM + 1, 60])
def test_an_oversized_key_on_a_chain_is_counted_alike(members):
    arrays = chains()
    keys = np.full((members, 1), 5, np.uint64)
    _, _, oversized, nodes, _ = followed(arrays, 0, keys, first=0)
    assert nodes == members + DEPTH * max(0, members - ROOM)
    assert oversized == max(0, members - 1 - ROOM)
    _, found, oversized, _, _ = followed(arrays, nodes, keys[:1])
    assert sorted(found.tolist()) == list(range(ROOM))
    assert oversized == (members > ROOM)
    listed = np.array([[ROOM - 1]], np.int32)
    assert followed(arrays, nodes, keys[:1], listed=listed)[1].tolist() == [0]
    assert listed.tolist() == [[ROOM + 1]]
    assert followed(arrays, nodes, keys[:1], listed=listed)[1].tolist() == []


# Divisions.


def members(stored, alive, keys, column, level):
    """The documents that have these keys in a column and the *level* ones behind it."""
    columns = [(column + step) % len(keys) for step in range(level + 1)]
    return [
        document
        for document, own in enumerate(stored)
        if alive[document] and all(own[place] == keys[place] for place in columns)
    ]


def finer_list(stored, columns, bits, whole):
    """The entries behind the first *whole* ones of each key, for each level."""
    parts = [[] for _ in range(DEPTH * columns)]
    for column in range(columns):
        for document, keys in enumerate(stored):
            if members(stored, [True] * len(stored), keys, column, 0).index(document) >= whole:
                chained = np.array([keys[column]], np.uint64)
                for level in range(DEPTH):
                    chained = chained_keys(chained, np.array([keys[(column + level + 1) % columns]], np.uint64))
                    parts[DEPTH * column + level].append((int(chained[0]) >> bits << bits) | document)
    parts = [sorted(part) for part in parts]
    cuts = np.cumsum([0, *map(len, parts)])
    return np.array([entry for part in parts for entry in part], np.uint64), cuts


@given(
    stored=st.integers(1, 4).flatmap(lambda n: st.lists(st.tuples(*[st.integers(0, 1)] * n), min_size=1, max_size=30)),
    whole=st.integers(1, 4),
    data=st.data(),
)
def test_divisions_of_oversized_keys_list_their_first_members(stored, whole, data):
    """In a list, then on chains to which documents were added one after the other, of which some are removed."""
    columns, bits = len(stored[0]), 10
    stored = [tuple(key << 40 for key in keys) for keys in stored]
    alive = np.array(data.draw(st.lists(st.booleans(), min_size=len(stored), max_size=len(stored))), np.bool_)
    old = data.draw(st.integers(0, len(stored)))
    asked = shaped([*{*stored}], columns)
    rows, of = (side.reshape(-1) for side in np.indices(asked.shape))
    listed = np.zeros((len(rows), DEPTH), np.int32)

    entries, starts = (
        sorted_lists(stored[:old], columns, position_independent=False, bits=bits) if old else (None, None)
    )
    found = [set() for _ in asked]
    if old:
        finer, cuts = finer_list(stored[:old], columns, bits, whole)
        lists = (entries, starts, finer), cuts, bits, alive[:old], none_passed()
        bounds, documents, block = find_divided(asked, rows, of, *lists, whole, ROOM, listed, GUARD, NOWHERE)
        assert block == INTACT
        for request in range(len(rows)):
            found[rows[request]] |= {*documents[bounds[request] : bounds[request + 1]].tolist()}
    arrays, nodes, living = chains(1024), 0, alive.copy()
    living[:] = True
    for document in range(old, len(stored)):
        *_, nodes, _ = followed(
            arrays, nodes, shaped([stored[document]], columns), first=document, alive=living, whole=whole
        )
        if data.draw(st.booleans()):  # sooner or later
            living[: document + 1] = alive[: document + 1]
    living[:] = alive
    ends = np.full(len(asked), nodes)
    bounds, documents = follow_divided(asked, rows, of, arrays, living, whole, ROOM, listed, ends)
    expected = [set() for _ in asked]
    for request, (row, column) in enumerate(zip(rows.tolist(), of.tolist(), strict=True)):
        found[row] |= {*documents[bounds[request] : bounds[request + 1]].tolist()}
        own = [members(stored, alive, asked[row].tolist(), column, level) for level in (1, 2)]
        expected[row] |= {*own[0][:ROOM], *own[1][:ROOM]}
        assert listed[request].tolist() == [min(ROOM, len(level)) for level in own]
    assert found == expected
    assert len(documents) == len({*zip(rows[np.repeat(np.arange(len(rows)), np.diff(bounds))], documents)})  # noqa: B905


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=20))
def test_a_document_of_a_batch_finds_divisions_as_they_were_when_it_came(stored):
    keys = shaped(stored, 2)
    arrays = chains()
    *_, ends = followed(arrays, 0, keys, first=0, whole=1)
    rows, of = (side.reshape(-1) for side in np.indices(keys.shape))
    listed = np.zeros((len(rows), DEPTH), np.int32)
    alive = np.ones(len(stored), np.bool_)
    bounds, documents = follow_divided(keys, rows, of, arrays, alive, 1, ROOM, listed, ends)
    for row, own in enumerate(stored):
        found = {*documents[bounds[2 * row] : bounds[2 * row + 2]].tolist()}
        assert found == {*members(stored[:row], alive, own, 0, 1)[:ROOM]}


@pytest.mark.parametrize("number", [200, 2000])
def test_the_work_in_a_division_does_not_grow(number):
    """Whatever shares all its keys: a room of entries of each level at most is listed, and no more is looked at."""
    keys = np.full((number, 3), 5 << 40, np.uint64)
    entries = np.tile((np.uint64(5 << 40) | np.arange(number, dtype=np.uint64)), (3, 1))
    starts = np.zeros((3, 5), np.uint32)
    starts[:, 1:] = number
    finer, cuts = np.empty(0, np.uint64), np.zeros(7, np.int64)
    listed = np.zeros((1, DEPTH), np.int32)
    one = np.zeros(1, np.int64)
    _, documents, _ = find_divided(
        keys, one, one, (entries, starts, finer), cuts, 12, ALL, none_passed(), ROOM, ROOM, listed, GUARD, NOWHERE
    )
    assert documents.tolist() == [0, 1, 2]
    assert listed.tolist() == [[ROOM, ROOM]]
