"""Listed lines and the documents without them, against the definition in plain Python."""

import numpy as np
from batches import lists, ragged
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import lines

LINE = st.tuples(st.integers(0, 12), st.integers(0, 2), st.binary(min_size=1, max_size=4))  # hash, words, content


@given(
    documents=st.lists(st.tuples(st.integers(-1, 2), st.lists(LINE, max_size=6)), max_size=5),
    listed=st.lists(st.sets(st.integers(0, 12)), min_size=3, max_size=3),
)
def test_equal_their_definition(documents, listed):
    terms, begins = ragged([sorted(one) for one in listed])
    every = [line for _, own in documents for line in own]
    hashes, words = (np.array([line[i] for line in every], kind) for i, kind in ((0, np.uint64), (1, np.int64)))
    _, parts = ragged([own for _, own in documents], object)
    content, cuts = ragged([line[2] for line in every], np.uint8)
    content.setflags(write=False)
    chosen = np.array([number for number, _ in documents], np.int64)

    flags = np.empty(len(every), np.bool_)
    lines.listed(parts, hashes, words, chosen, terms, begins, flags)
    out, bounds = np.empty(len(content), np.uint8), np.empty(len(documents) + 1, np.int64)
    lines.copy_others(content, cuts, parts, flags, out, bounds)

    def is_listed(number, line):
        return number >= 0 and line[1] > 0 and line[0] in listed[number]

    assert flags.tolist() == [is_listed(number, line) for number, own in documents for line in own]
    expected = [b"".join(line[2] for line in own if not is_listed(number, line)) for number, own in documents]
    assert [bytes(one) for one in lists(out, bounds)] == expected
