"""Strings that lie end to end, found and copied, against slices of Python's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import read_only

from neardup.index.disk.arrays import BlockGuard
from neardup.kernels.blocks import BLOCK, INTACT, block_sums
from neardup.kernels.strings import WHOLE, copy, locate


class File:
    """Strings as they lie in a file, with checksums, none of which is verified yet."""

    def __init__(self, strings):
        offsets = np.cumsum([0, *map(len, strings)])
        self.begins = np.array([0, offsets.nbytes])
        self.bytes = np.frombuffer(offsets.tobytes() + b"".join(strings), np.uint8).copy()
        self.offsets, self.data = self.bytes[: offsets.nbytes].view(np.int64), self.bytes[offsets.nbytes :]
        self.seal()

    def seal(self):
        """Take what the file says now as what was written."""
        self.sums = np.empty(-(-len(self.bytes) // BLOCK), np.uint64)
        block_sums(self.bytes, self.sums)

    def locate(self, wanted, *, guarded=True, most=WHOLE):
        guard = BlockGuard(self.bytes, self.sums, np.zeros(len(self.sums), np.uint8)) if guarded else None
        firsts, bounds = np.full(len(wanted), 77), np.full(len(wanted) + 1, 77)
        file = self.begins, self.offsets, read_only(self.data)
        return locate(guard, *file, np.array(wanted, np.int64), most, firsts, bounds), firsts, bounds


@given(
    strings=st.lists(st.binary(max_size=30), min_size=1, max_size=20),
    wanted=st.lists(st.integers(0, 19), max_size=300),
    guarded=st.booleans(),
    most=st.one_of(st.just(WHOLE), st.integers(0, 30)),
)
def test_strings_are_copied_in_the_order_asked_for(strings, wanted, guarded, most):
    wanted = [number % len(strings) for number in wanted]
    file = File(strings)
    block, firsts, bounds = file.locate(wanted, guarded=guarded, most=most)
    out = np.empty(bounds[-1], np.uint8)
    copy(read_only(file.data), firsts, bounds, out)
    assert block == INTACT
    assert bounds.tolist() == np.cumsum([0, *(len(strings[number][:most]) for number in wanted)]).tolist()
    assert out.tobytes() == b"".join(strings[number][:most] for number in wanted)


@pytest.mark.parametrize("where", ["offsets", "data"])
def test_what_is_damaged_is_not_believed(where):
    file = File([b"%0900d" % number for number in range(1000)])
    damaged = getattr(file, where).view(np.uint8)
    damaged[-9] ^= 1
    place = len(file.bytes) - 9 if where == "data" else file.offsets.nbytes - 9
    assert file.locate([*range(1000)])[0] == place // BLOCK
    assert file.locate([100, 101, 102])[0] == INTACT  # of which nothing lies there
    if where == "data":
        across = (place // BLOCK * BLOCK - file.begins[1]) // 900  # the string that reaches into that block
        assert file.locate([across])[0] == place // BLOCK
        assert file.locate([across], most=1)[0] == INTACT  # of which all lies before it


@pytest.mark.parametrize("offsets", [[0, 900, 10**6], [0, -5, 1800], [0, 1800, 900]])
def test_strings_that_are_cut_where_there_are_none_are_damage(offsets):
    file = File([b"%0900d" % number for number in range(2)])
    file.offsets[:] = offsets
    file.seal()
    assert file.locate([1, 0])[0] == 0


@pytest.mark.parametrize("nowhere", [-1, 2, 2**40])
def test_strings_that_are_not_there_are_not_looked_for(nowhere):
    assert File([b"one", b"two"]).locate([0, nowhere])[0] == 0
