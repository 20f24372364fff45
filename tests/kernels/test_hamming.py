"""The kernels on tables of their own making; whole indexes are in ``tests/index``."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from neardup.kernels import hamming
from neardup.kernels.compile import near_at

MASK = 2**64 - 1
UINT64 = st.integers(0, MASK)
DISTANCE, RIGHT = hamming.DISTANCE_BITS, hamming.DISTANCE_BITS + hamming.POSITION_BITS


def rotated(value, by):
    return (value << by | value >> 64 - by) & MASK


class Halves:
    """Two tables, each led by one half; the radii may differ. Distinct values, each at the positions given."""

    def __init__(self, positions_of, radii=(0, 0), bucket_bits=3):
        self.values = sorted(positions_of)
        self.radii = radii
        self.bucket_bits = bucket_bits
        rotations, masks = np.array([[0, 0], [32, 0]]), np.array([[MASK, 0], [MASK, 0]], np.uint64)
        lows = np.zeros((2, len(self.values) + hamming.BLOCK), np.uint32)
        highs = np.zeros((2, len(self.values), 4), np.uint8)
        starts = np.zeros((2, 2**bucket_bits + 1), np.uint32)
        for table in range(2):
            read = np.zeros(len(self.values), np.uint64)
            hamming.read(np.array(self.values, np.uint64), rotations[table], masks[table], read)
            assert read.tolist() == [rotated(value, 32 * table) for value in self.values]
            read.sort()
            hamming.store(read, bucket_bits, lows[table], highs[table], starts[table])
        flips = [[0, *(1 << bit for bit in range(32, 64))][: 1 + 32 * radius] for radius in radii]
        self.layout = (
            rotations,
            masks,
            np.array([MASK >> 32 << 32, MASK >> 32], np.uint64),
            np.array(radii, np.uint64),
            np.array([32, 32]),
            np.array([*flips[0], *flips[1]], np.uint64),
            np.cumsum([0, *map(len, flips)]),
        )
        lists = [positions_of[value] for value in self.values]
        single = all(len(listed) == 1 for listed in lists)
        self.positions = np.array([place for listed in lists for place in listed], np.uint32)
        self.bounds = np.cumsum([0, *map(len, lists)]).astype(np.uint32) if not single else np.empty(0, np.uint32)
        self.entries, self.lists = (bucket_bits, lows, highs, starts), (self.positions, self.bounds)

    def finds(self, one, other):
        """The definition: in some half, at most so many bits differ as its radius."""
        difference = one ^ other
        return any(
            half.bit_count() <= radius for half, radius in zip(divmod(difference, 1 << 32), self.radii, strict=True)
        )

    def pairs(self, left, right, distance):
        """The definition: the places of the values that are found and near, and how many bits differ."""
        return sorted(
            (place, other_place, (value ^ other).bit_count())
            for place, value in left
            for other_place, other in right
            if self.finds(value, other) and (value ^ other).bit_count() <= distance
        )


# Values that differ in the low two bits of their halves, or anywhere.
CLOSE = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda halves: halves[0] << 32 | halves[1])
VALUES = st.one_of(CLOSE, UINT64, st.sampled_from([0, MASK, 1 << 63]))
LISTS = st.dictionaries(VALUES, st.integers(1, 3), max_size=40).map(
    lambda sizes: dict(
        zip(sizes, np.split(np.arange(sum(sizes.values())), np.cumsum([*sizes.values()]))[:-1], strict=True)
    )
)


def placed(lists):
    """Return the position and the value of each member of the lists."""
    return [(int(position), value) for value, positions in lists.items() for position in positions]


def unpacked(found):
    return sorted((one >> RIGHT, one >> DISTANCE & 2**30 - 1, one & 7) for one in found.tolist())


ALL = np.empty(0, np.bool_)


@given(
    LISTS,
    st.lists(VALUES, max_size=20),
    st.integers(0, 7),
    st.sampled_from([(0, 0), (1, 0), (1, 1)]),
    st.tuples(st.integers(0, 2**120), st.integers(1, 3)),
)
def test_a_search_equals_its_definition(lists, queries, distance, radii, choice):
    tables = Halves(lists, radii)
    asked = np.array(queries, np.uint64)
    expected = tables.pairs(enumerate(queries), placed(lists), distance)
    ranks = hamming.search(asked, (distance, *tables.layout), tables.entries, tables.bounds, None, hamming.NEVER)[0]
    assert unpacked(hamming.listed(ranks, 2**30, ALL, tables.lists, None)) == expected
    counts = np.full(len(queries), 9)
    hamming.tally(ranks, tables.bounds, None, counts)
    assert counts.tolist() == [9 + sum(found[0] == number for found in expected) for number in range(len(queries))]
    ones = unpacked(hamming.listed(ranks, 1, ALL, tables.lists, None))
    assert ones == [found for found in expected if any(found[1] == positions[0] for positions in lists.values())]
    marks, most = choice
    there = np.array([bool(marks >> place & 1) for place in range(len(tables.positions))], np.bool_)
    chosen = {own for positions in lists.values() for own in [*filter(there.__getitem__, positions)][:most]}
    some = unpacked(hamming.listed(ranks, most, there, tables.lists, None))
    assert not len(there) or some == [found for found in expected if found[1] in chosen]


@given(LISTS, LISTS, st.integers(0, 7), st.integers(1, 9))
def test_join_equals_its_definition(lists, others, distance, other_bits):
    tables, theirs = Halves(lists, (1, 1)), Halves(others, (1, 1), other_bits)
    found = hamming.join(False, (distance, *tables.layout), tables.entries, tables.lists, theirs.entries, theirs.lists)
    assert unpacked(found) == tables.pairs(placed(lists), placed(others), distance)


@given(LISTS, st.integers(0, 7), st.sampled_from([(0, 0), (1, 0), (1, 1)]))
def test_a_join_with_itself_finds_each_pair_once(lists, distance, radii):
    tables = Halves(lists, radii)
    expected = [pair for pair in tables.pairs(placed(lists), placed(lists), distance) if pair[0] < pair[1]]
    own = tables.entries, tables.lists
    found = hamming.join(True, (distance, *tables.layout), *own, *own)
    assert unpacked(found) == expected


@given(st.lists(UINT64, max_size=20), st.integers(1, 12))
def test_stored_words_are_whole(words, bucket_bits):
    words = sorted(words)
    lows, highs = np.zeros(len(words), np.uint32), np.zeros((len(words), 4), np.uint8)
    starts = np.full(2**bucket_bits + 1, 7, np.uint32)
    hamming.store(np.array(words, np.uint64), bucket_bits, lows, highs, starts)
    buckets = np.repeat(np.arange(2**bucket_bits), np.diff(starts)).tolist()
    rest = [int.from_bytes([*low.tobytes(), *high.tolist()], "little") for low, high in zip(lows, highs, strict=True)]
    assert [bucket << 64 - bucket_bits | low for bucket, low in zip(buckets, rest, strict=True)] == words


def test_a_oversized_bucket_is_searched_for_the_leading_bits():
    """Everything is in one bucket, far more than are scanned blindly; each query has its own leading bits."""
    lists = {number << 40 | 5: [number] for number in range(hamming.NARROW + 40)}
    tables = Halves(lists)
    queries = np.array([*lists, 3, 5 << 32], np.uint64)
    ranks = hamming.search(queries, (7, *tables.layout), tables.entries, tables.bounds, None, hamming.NEVER)[0]
    found = unpacked(hamming.listed(ranks, 2**30, ALL, tables.lists, None))
    pairs = [(a, b) for a in range(len(lists)) for b in range(len(lists)) if ((a ^ b) << 8).bit_count() <= 7]
    near = [(a, b, (a ^ b).bit_count()) for a, b in pairs]  # the low halves of all are equal
    more = [(len(lists), 0, 2), *((len(lists) + 1, b, ((b << 8) ^ 5).bit_count()) for b in range(len(lists)))]
    assert found == sorted(
        [*near, *((a, b, d) for a, b, d in more if tables.finds(int(queries[a]), b << 40 | 5) and d <= 7)]
    )


@njit
def near(array, position, word, most):
    return near_at(array, position, word, most)


@given(st.lists(st.integers(0, 2**32 - 1), min_size=16, max_size=40), st.integers(0, 2**32 - 1), st.integers(0, 32))
def test_near_words_are_marked(words, word, most):
    words[3] = word ^ 5
    array = np.array(words, np.uint32)
    for position in range(len(words) - 15):
        expected = [(other ^ word).bit_count() <= most for other in words[position : position + 16]]
        found = near(array, position, np.uint32(word), np.uint32(most))
        assert [bool(found >> bit & 1) for bit in range(64)] == expected + [False] * 48


@pytest.mark.parametrize("shift", range(1, 64, 7))
def test_words_are_rotated_when_they_are_read(shift):
    words = np.empty(2, np.uint64)
    hamming.read(np.array([1, MASK - 1], np.uint64), np.array([shift]), np.array([MASK], np.uint64), words)
    assert words.tolist() == [rotated(1, shift), rotated(MASK - 1, shift)]
