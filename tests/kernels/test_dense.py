"""The first matches in dense ranges; whole indexes are in ``tests/index``."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from test_hamming import ALL, LISTS, VALUES, Halves, placed, unpacked

from neardup.kernels import dense, hamming


@given(
    LISTS,
    st.lists(VALUES, max_size=20),
    st.integers(0, 7),
    st.sampled_from([(0, 0), (1, 0), (1, 1)]),
    st.tuples(st.integers(1, 4), st.integers(0, 2**120)),
)
def test_the_first_of_each_query_are_those_of_the_definition(lists, queries, distance, radii, choice):
    tables = Halves(lists, radii)
    asked, layout = np.array(queries, np.uint64), (distance, *tables.layout)
    most, marks = choice
    there = np.array([bool(marks >> place & 1) for place in range(len(tables.positions))], np.bool_)
    there = there if marks & 1 else ALL
    ranks, later = hamming.search(asked, layout, tables.entries, tables.bounds, None, 0)
    parts = [hamming.listed(ranks, most, there, tables.lists, None)]
    for probe in later:
        keys, rests = dense.entries_of(probe, asked, layout, tables.entries, tables.lists, there, None)
        found = dense.first_near(probe[None], asked, layout, tables.entries[0], np.sort(keys), rests, most)
        parts.append(found)
    found = unpacked(np.concatenate(parts))
    members = [own for own in placed(lists) if not len(there) or there[own[0]]]
    for number, query in enumerate(queries):
        expected = tables.pairs([(number, query)], members, distance)
        own = [one for one in found if one[0] == number]
        assert own[:most] == expected[:most]
        assert set(own) <= set(expected)
        assert len(own) == len(set(own))


def test_probes_of_a_dense_range_are_left_over():
    lists = {number: [number] for number in range(32)}
    tables = Halves(lists)
    queries = np.array([3, 1, 7 << 60], np.uint64)
    ranks, later = hamming.search(queries, (2, *tables.layout), tables.entries, tables.bounds, None, 10)
    assert {number for number, _, _ in unpacked(ranks)} == {0}
    assert later[:, :2].tolist() == [[1, 0]]
    assert not len(hamming.search(queries, (2, *tables.layout), tables.entries, tables.bounds, None, hamming.NEVER)[1])
