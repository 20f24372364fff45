import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.characters import INVALID, code_point, code_point_before, ends_line, is_space
from neardup.kernels.compile import kernel

BYTES = st.lists(
    st.sampled_from([0x41, 0x80, 0xBF, 0xC1, 0xC3, 0xE0, 0xED, 0xA0, 0xEF, 0xF0, 0x90, 0xF4, 0xF5]), min_size=1
)


@kernel
def each(source, forwards, backwards):
    """Decode at every byte, and before every byte; rows of code and length."""
    for position in range(source.size):
        forwards[position, 0], forwards[position, 1] = code_point(source, position)
        if position:
            backwards[position, 0], backwards[position, 1] = code_point_before(source, position)


@kernel
def kinds(codes, lines, spaces):
    for position in range(codes.size):
        lines[position] = ends_line(codes[position])
        spaces[position] = is_space(codes[position])


def valid_at(raw, position):
    """Return the code point that Python decodes at a position, and its length."""
    for length in range(1, 5):
        part = bytes(raw[position : position + length])
        try:
            return [ord(part.decode()), length]
        except (UnicodeDecodeError, TypeError):
            continue
    return [INVALID, 1]


def valid_before(raw, position):
    for length in range(1, min(4, position) + 1):
        if raw[position - length] & 0xC0 != 0x80:
            found = valid_at(raw[:position], position - length)
            return found if found[1] == length else [INVALID, 1]
    return [INVALID, 1]


@given(BYTES | st.text(min_size=1).map(lambda text: [*text.encode()]))
def test_bytes_are_decoded_as_python_does(raw):
    source = np.array(raw, np.uint8)
    forwards, backwards = np.zeros((len(raw), 2), np.int64), np.zeros((len(raw), 2), np.int64)
    each(source, forwards, backwards)
    assert forwards.tolist() == [valid_at(raw, position) for position in range(len(raw))]
    assert backwards[1:].tolist() == [valid_before(raw, position) for position in range(1, len(raw))]


def test_white_space_and_line_ends_are_those_of_unicode():
    codes = np.arange(0x3100, dtype=np.uint32)
    lines, spaces = np.empty(len(codes), np.bool_), np.empty(len(codes), np.bool_)
    kinds(codes, lines, spaces)
    separators = {0x1C, 0x1D, 0x1E, 0x1F}  # of records: for Python's strings alone
    ends = [code for code in codes.tolist() if len(f"a{chr(code)}b".splitlines()) > 1 and code not in separators]
    assert np.flatnonzero(lines).tolist() == ends
    blank = [code for code in codes.tolist() if chr(code).isspace() and code not in separators]
    assert np.flatnonzero(spaces).tolist() == blank
