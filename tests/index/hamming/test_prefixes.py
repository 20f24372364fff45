from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.index.hamming.prefixes import PrefixCode
from neardup.kernels.differences import CODE_BITS, NO_CODE


def bits_of(code):
    return {
        symbol: f"{bits:0{size}b}"[::-1]
        for symbol, (bits, size) in enumerate(zip(code.codes.tolist(), code.sizes.tolist(), strict=True))
        if size
    }


FREQUENCIES = st.lists(st.one_of(st.integers(0, 3), st.integers(0, 2**40)), min_size=1, max_size=65)


@given(FREQUENCIES)
def test_what_occurs_has_a_code_and_none_begins_another(frequencies):
    code = PrefixCode.of(np.array(frequencies))
    bits = bits_of(code)
    assert set(bits) == {symbol for symbol, frequency in enumerate(frequencies) if frequency}
    assert all(len(one) <= CODE_BITS and "1" in one for one in bits.values())
    assert not any(
        other.startswith(one) for symbol, one in bits.items() for place, other in bits.items() if symbol != place
    )
    for word in range(0, 1 << CODE_BITS, 7):
        begins = f"{word:0{CODE_BITS}b}"[::-1]
        expected = [symbol << 8 | len(one) for symbol, one in bits.items() if begins.startswith(one)]
        assert code.read[word] == (expected[0] if expected else NO_CODE)


@pytest.mark.parametrize("ratio", [1.0, 1.1, 2.0, 3.0])
def test_the_code_is_nearly_as_short_as_can_be(ratio):
    frequencies = np.array([1 + int(10**6 / ratio**symbol) for symbol in range(50)])
    shares = frequencies / frequencies.sum()
    entropy = -sum(share * log2(share) for share in shares)
    assert (shares * PrefixCode.of(frequencies).sizes).sum() < entropy + 0.3


def test_a_single_symbol():
    assert bits_of(PrefixCode.of(np.array([0, 7]))) == {1: "1"}
