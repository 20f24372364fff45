"""Ids found by their keys against a search through all strings."""

import itertools
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import read_only

from neardup.index.disk.arrays import BlockGuard
from neardup.index.disk.part import with_numbers
from neardup.index.disk.postings import prefix_starts
from neardup.kernels.blocks import BLOCK, INTACT, block_sums
from neardup.kernels.ids import find_ids

BITS = 10


def array(data):
    return np.frombuffer(data, np.uint8).copy()


def key_of(string, few):
    """A key of which many strings have the same, if there are to be *few*."""
    return crc32(string) % few * 0x2545F4914F6CDD1D % 2**64


class File:
    """Strings and the list of their keys as they lie in a file, with checksums, none of which is verified yet."""

    def __init__(self, strings, few):
        self.few = few
        entries = np.sort(with_numbers(self.keys(strings), np.arange(len(strings)), BITS))
        starts = prefix_starts(entries, 2)
        offsets = np.cumsum([0, *map(len, strings)])
        parts = [entries, starts, offsets, array(b"".join(strings))]
        self.begins = np.cumsum([0, *(part.nbytes for part in parts[:-1])])
        self.data = array(b"".join(part.tobytes() for part in parts))
        bounds = [*self.begins.tolist(), len(self.data)]
        raw = [self.data[begin:end] for begin, end in itertools.pairwise(bounds)]
        self.entries, self.starts, self.offsets, self.strings = (
            own.view(part.dtype) for own, part in zip(raw, parts, strict=True)
        )
        self.sums = np.empty(-(-len(self.data) // BLOCK), np.uint64)
        self.seal()

    def seal(self):
        """Take what the file says now as what was written."""
        block_sums(self.data, self.sums)
        self.seen = np.zeros(len(self.sums), np.uint8)

    def keys(self, strings):
        return np.array([key_of(string, self.few) for string in strings], np.uint64)

    def find(self, ids, alive):
        found = np.full(len(ids), 77)
        guard = BlockGuard(self.data, self.sums, self.seen)
        bounds, own = np.cumsum([0, *map(len, ids)]), read_only(array(b"".join(ids)))
        lists = self.entries, self.starts, BITS, alive, guard, self.begins
        return find_ids(self.keys(ids), own, bounds, *lists, self.offsets, self.strings, found), found.tolist()


STRINGS = st.integers(0, 20).flatmap(lambda size: st.binary(min_size=size, max_size=size)) | st.integers(0, 40).map(
    lambda number: b"https://a.example/%d" % number
)


@given(stored=st.lists(STRINGS, max_size=60), asked=st.lists(STRINGS, max_size=300), few=st.sampled_from([1, 3, 2**60]))
def test_ids_are_found_where_they_are_still_there(stored, asked, few):
    """Of documents that had the same id, the last one is there, or none."""
    alive = np.array([string not in stored[place + 1 :] and place % 5 > 0 for place, string in enumerate(stored)], bool)
    there = {string: place for place, string in enumerate(stored) if alive[place]}
    block, found = File(stored, few).find([*stored, *asked], alive if len(alive) else np.zeros(1, np.bool_))
    assert block == INTACT
    assert found == [there.get(string, -1) for string in [*stored, *asked]]


def test_without_a_word_of_who_is_there_all_are():
    stored = [b"%d" % number * (number % 9) for number in range(1, 500)]
    block, found = File(stored, 2**60).find([*stored[::-1], b"", b"no such"], np.empty(0, np.bool_))
    assert (block, found[:-2]) == (INTACT, [stored.index(string) for string in stored[::-1]])
    assert found[-1] == -1


@pytest.mark.parametrize("part", ["entries", "starts", "offsets", "strings"])
def test_what_is_damaged_is_not_believed(part):
    stored = [b"%0900d" % number for number in range(1000)]
    file = File(stored, 2**60)
    damaged = getattr(file, part).view(np.uint8)
    damaged[-9] ^= 1
    place = int(file.begins[["entries", "starts", "offsets", "strings"].index(part)]) + len(damaged) - 9
    block, _ = file.find(stored, np.empty(0, np.bool_))
    assert block == place // BLOCK


@pytest.mark.parametrize("offsets", [[0, 900, 10**6], [0, -5, 1800], [0, 1800, 900]])
def test_strings_that_are_cut_where_there_are_none_are_damage(offsets):
    stored = [b"%0900d" % number for number in range(2)]
    file = File(stored, 2**60)
    file.offsets[:] = offsets
    file.seal()
    block, _ = file.find(stored, np.empty(0, np.bool_))
    assert block == int(file.begins[2]) // BLOCK


def test_documents_that_are_not_there_are_damage():
    file = File([b"one"], 2**60)
    file.entries[0] |= np.uint64(5)
    file.seal()
    assert file.find([b"one"], np.empty(0, np.bool_))[0] == 0


@pytest.mark.parametrize("starts", [[0, 2**32 - 1, 2**32 - 1, 2**32 - 1, 2**32 - 1], [9, 8, 7, 3, 0], [0, 0, 0, 0, 0]])
@pytest.mark.parametrize("order", [1, -1])
def test_forged_prefixes_and_orders_find_no_other_id(starts, order):
    """A forger of a file and its checksums may hide ids, but a lookup finds no other id."""
    stored = [b"id %d" % number for number in range(30)]
    file = File(stored, 2**60)
    file.starts[:] = starts
    file.entries[:] = file.entries[::order].copy()
    file.seal()
    block, found = file.find([*stored, b"no such"], np.empty(0, np.bool_))
    assert block == INTACT
    assert all(place in {-1, number} for number, place in enumerate(found[:-1]))
    assert found[-1] == -1
