"""What is written is read again; whole indexes are in ``tests/index``."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.index.hamming.prefixes import PrefixCode
from neardup.kernels import differences
from neardup.kernels.differences import LENGTHS, SPARE

MASK = 2**64 - 1
WORDS = st.one_of(st.integers(0, MASK), st.integers(0, 20), st.integers(0, 64).map(lambda bits: 2**bits - 1))


def bits_of(words, bucket_bits, code):
    """The definition, in strings: what is written of each bucket."""
    written = [""] * 2**bucket_bits
    last = [0] * 2**bucket_bits
    for word in words:
        bucket, rest = divmod(word, 1 << 64 - bucket_bits)
        difference = rest ^ last[bucket]
        length = difference.bit_length()
        written[bucket] += f"{code.codes[length]:0{code.sizes[length]}b}"[::-1]
        written[bucket] += f"{difference:b}"[:0:-1]  # the lowest bit first, without the highest
        last[bucket] = rest
    return written


def encoded(words, bucket_bits):
    array = np.array(words, np.uint64)
    frequencies = np.zeros(LENGTHS, np.int64)
    differences.frequencies(array, bucket_bits, frequencies)
    assert frequencies.sum() == len(words)
    code = PrefixCode.of(frequencies)
    offsets = np.empty(2**bucket_bits + 1, np.uint64)
    differences.measure(array, bucket_bits, code.sizes, offsets)
    stream = np.zeros(int(offsets[-1]) + SPARE, np.uint8)
    differences.encode(array, bucket_bits, code.codes, code.sizes, offsets, stream)
    return stream, offsets, code


@given(st.sets(WORDS, max_size=60), st.integers(1, 5))
def test_equals_its_definition(words, bucket_bits):
    words = sorted(words)
    stream, offsets, code = encoded(words, bucket_bits)
    for bucket, bits in enumerate(bits_of(words, bucket_bits, code)):
        part = stream[int(offsets[bucket]) : int(offsets[bucket + 1])]
        assert len(part) == -(-len(bits) // 8)
        assert "".join(f"{byte:08b}"[::-1] for byte in part) == bits.ljust(8 * len(part), "0")


@given(st.sets(WORDS, max_size=60), st.integers(1, 5), st.integers(0, 9))
def test_what_is_written_is_read_again(words, bucket_bits, base):
    words = sorted(words)
    stream, offsets, code = encoded(words, bucket_bits)
    stream = np.concatenate([np.full(base, 255, np.uint8), stream])
    read = np.empty(len(words), np.uint64)
    differences.decode(bucket_bits, stream, base, offsets, code.read, read)
    assert read.tolist() == words


@pytest.mark.parametrize("bucket_bits", [1, 6])
def test_every_length_can_be_read(bucket_bits):
    """All lengths of a table, each several times as often as the next one, as far as that is possible."""
    words = {0, *(1 << bit for bit in range(64 - bucket_bits)), *range(3000)}
    stream, offsets, code = encoded(sorted(words), bucket_bits)
    read = np.empty(len(words), np.uint64)
    differences.decode(bucket_bits, stream, 0, offsets, code.read, read)
    assert read.tolist() == sorted(words)
    assert max(code.sizes) == differences.CODE_BITS
