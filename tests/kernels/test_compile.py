import subprocess
import sys

import numba
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import radix
from neardup.kernels.compile import (
    ASCII_SYMBOLS,
    borrowed,
    equal_at,
    filled_at,
    high_at,
    kernel,
    near_at,
    ones,
    process_salt,
    special_at,
    trailing_zeros,
    word_at,
)

BLOCKS = st.binary(min_size=130, max_size=130) | st.text(" aé#-/z\0", min_size=130).map(
    lambda text: text.encode()[:130]
)
PLACES = st.integers(0, 66)


@kernel
def of_bytes(data, position, other, out):
    out[0] = word_at(data, position)
    out[1] = filled_at(data, position)
    out[2] = high_at(data, position)
    out[3] = special_at(data, position)
    out[4] = equal_at(data, position, other)
    out[5] = trailing_zeros(out[0])
    out[6] = ones(borrowed(out)[0])


@kernel
def of_words(narrow, wide, word, most, out):
    out[0] = near_at(narrow, 1, word, most)
    out[1] = equal_at(wide, 0, 3)


def bits(flags):
    return sum(1 << place for place, flag in enumerate(flags) if flag)


@given(BLOCKS, PLACES, PLACES)
def test_instructions_on_bytes_do_as_they_say(raw, position, other):
    raw = raw.ljust(130, b"\0")
    out = np.zeros(7, np.uint64)
    of_bytes(np.frombuffer(raw, np.uint8).copy(), position, other, out)
    block, second = raw[position : position + 64], raw[other : other + 64]
    word = int.from_bytes(block[:8], "little")
    assert out.tolist() == [
        word,
        bits(block),
        bits(byte > 127 for byte in block),
        bits(byte > 127 or byte in ASCII_SYMBOLS for byte in block),
        bits(one == two for one, two in zip(block, second, strict=True)),
        (word & -word).bit_length() - 1 if word else 64,
        word.bit_count(),
    ]


@given(st.lists(st.integers(0, 2**32 - 1) | st.just(7), min_size=17, max_size=17), st.integers(0, 33), st.data())
def test_instructions_on_words_do_as_they_say(narrow, most, data):
    wide = data.draw(st.lists(st.integers(0, 3), min_size=11, max_size=11))
    out = np.zeros(2, np.uint64)
    of_words(np.array(narrow, np.uint32), np.array(wide, np.uint64), np.uint32(7), np.uint32(most), out)
    assert int(out[0]) == bits((value ^ 7).bit_count() <= most for value in narrow[1:])
    assert int(out[1]) == bits(one == two for one, two in zip(wide[:8], wide[3:], strict=True))


@numba.njit
def salted():
    return process_salt()


def test_the_salt_is_no_part_of_the_code():
    """Machine code that was kept by one process and code of another must choose the same places of tables."""
    own = salted()
    assert own % 2 == 1
    assert own > 1
    (code,) = salted.inspect_llvm().values()
    assert "neardup_salt" in code
    assert str(own) not in code
    assert salted() == own
    program = "import numba; from neardup.kernels.compile import process_salt as p; print(numba.njit(lambda: p())())"
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert int(other.stdout) != own


def test_a_returned_array_runs_no_code_in_python():
    def arrays():
        return radix.sort(np.array([3, 1, 2], np.uint64), np.arange(3, dtype=np.uint32), 0)

    called = []
    assert [found.tolist() for found in arrays()] == [[1, 2, 3], [1, 2, 0]]
    given = np.array([1, 3], np.uint64), np.arange(2, dtype=np.uint32)
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        found = radix.sort(*given, 0)
    finally:
        sys.setprofile(None)
    assert {*called} <= {"sort"}  # the kernel itself, which Python 3.13 does not report
    assert [type(one) for one in found] == [np.ndarray] * 2
    assert all(one.flags.writeable and one.flags.c_contiguous for one in found)
