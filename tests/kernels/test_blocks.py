import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.index.disk.arrays import BlockGuard
from neardup.kernels.blocks import BLOCK, INTACT, block_sums, checksum, copy_entries, damaged_range

START, PRIME, MOD = 0x6E65617264757001, 0x9FB21C651E98DF25, 2**64


def oracle(data):
    """The definition in plain integers."""
    words = [int.from_bytes(data[begin : begin + 8], "little") for begin in range(0, len(data), 8)]
    lanes = [START + number for number in range(8)]
    for number, word in enumerate(words):
        lanes[number % 8] = absorbed(lanes[number % 8], word)
    total = len(data)
    for lane in lanes:
        total = absorbed(total, lane)
    return total ^ total >> 32


def absorbed(lane, word):
    lane ^= word
    return (lane << 29 & MOD - 1 | lane >> 35) * PRIME % MOD


def array(data):
    return np.frombuffer(data, np.uint8).copy()


@given(data=st.binary(max_size=300))
def test_equals_its_definition(data):
    assert checksum(array(data)) == oracle(data)


def test_golden_bits():
    assert hex(checksum(array(b""))) == "0x2d292270d2e0aa39"
    assert hex(checksum(array(b"neardup"))) == "0x6ecd91a22b7a1070"
    assert hex(checksum(array(bytes(range(256))))) == "0xa01f3aafc8c6f371"


def test_every_changed_byte_shows():
    data = array(bytes(range(200)))
    before = checksum(data)
    for place in range(len(data)):
        for change in (1, 128, 255):
            data[place] ^= change
            assert checksum(data) != before
            data[place] ^= change


def test_a_high_bit_changed_in_two_words_of_a_lane_shows():
    data = array(bytes(256))
    before = checksum(data)
    data[7] ^= 128
    data[71] ^= 128
    assert checksum(data) != before


def guarded(size):
    data = np.random.default_rng(1).integers(0, 256, size, np.uint8)
    sums = np.empty(-(-size // BLOCK), np.uint64)
    block_sums(data, sums)
    return data, sums, np.zeros(len(sums), np.uint8)


def test_a_damaged_block_is_found_when_it_is_read_first():
    data, sums, seen = guarded(3 * BLOCK + 5)
    data[2 * BLOCK] ^= 1
    guard = BlockGuard(data, sums, seen)
    assert damaged_range(guard, 0, 2 * BLOCK) == INTACT
    assert seen.tolist() == [1, 1, 0, 0]
    assert damaged_range(guard, 2 * BLOCK - 1, 2 * BLOCK + 1) == 2
    assert damaged_range(guard, 3 * BLOCK, len(data)) == INTACT
    assert damaged_range(guard, 2 * BLOCK, 2 * BLOCK) == INTACT  # nothing is read


def test_without_a_guard_everything_is_intact():
    assert damaged_range(None, 0, 10**9) == INTACT


def unread(data):
    """Bytes as they lie in a file, with their checksums, none of them verified yet."""
    sums = np.empty(-(-len(data) // BLOCK), np.uint64)
    block_sums(data, sums)
    return BlockGuard(data, sums, np.zeros(len(sums), np.uint8))


@given(positions=st.lists(st.integers(0, 99), max_size=40), each=st.integers(1, 200))
def test_entries_are_copied_in_their_order(positions, each):
    file = np.random.default_rng(each).integers(0, 256, 100 * each + 64, np.uint8)
    out = np.empty(len(positions) * each, np.uint8)
    assert copy_entries(unread(file), 64, file[64:], each, np.array(positions, np.int64), out) == INTACT
    rows = file[64:].reshape(100, each)
    assert out.reshape(-1, each).tolist() == rows[np.array(positions, np.int64)].tolist()


@pytest.mark.parametrize("each", [8, 64])
def test_no_entry_is_copied_of_a_damaged_or_absent_block(each):
    file = np.zeros(3 * BLOCK, np.uint8)
    guard, out = unread(file), np.empty(each, np.uint8)
    guard[1][2] += np.uint64(1)
    last = 3 * BLOCK // each - 1
    assert copy_entries(guard, 0, file, each, np.array([0]), out) == INTACT
    assert copy_entries(guard, 0, file, each, np.array([last]), out) == 2
    for nowhere in (-1, last + 1, 2**40):
        assert copy_entries(guard, 0, file, each, np.array([nowhere]), out) == 0
