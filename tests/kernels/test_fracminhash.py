import numpy as np
from batches import ragged
from hypothesis import given
from hypothesis import strategies as st
from oracles import EMPTY

from neardup.kernels import fracminhash as kernels
from neardup.kernels.sets import CONTAINMENT, OVERLAP

FEWEST = kernels.FEWEST
COLUMNS = st.sampled_from([FEWEST, 20, 40])
BOUNDS = st.sampled_from([1, 2**16, 2**29, 2**31, 2**32])
DOCUMENTS = st.lists(
    st.lists(st.integers(0, 60).map(lambda n: n * 2**58 // 1) | st.integers(0, 2**64 - 1), max_size=60), max_size=4
)


def number(value):
    return min(value >> 32, EMPTY - 1)


def row(values, bound, columns):
    numbers = sorted({number(value) for value in values})
    return [one for place, one in enumerate(numbers) if one < bound or place < FEWEST][:columns]


def limit(own, bound, columns):
    """The number up to which a row has all numbers of its document."""
    if len(own) < FEWEST:
        return EMPTY
    return own[-1] if len(own) == columns else max(own[-1], bound - 1)


def sampled(documents, bound, columns):
    values, offsets = ragged(documents)
    rows = np.empty((len(documents), columns), np.uint32)
    kernels.sample(values, offsets[:-1], offsets[1:], np.uint64(bound), rows)
    return rows


@given(DOCUMENTS, BOUNDS, COLUMNS)
def test_rows_are_the_sampled_numbers(documents, bound, columns):
    expected = [row(document, bound, columns) for document in documents]
    rows = sampled(documents, bound, columns).tolist()
    assert rows == [own + [EMPTY] * (columns - len(own)) for own in expected]


@given(DOCUMENTS, BOUNDS, COLUMNS)
def test_a_row_has_every_number_up_to_its_limit(documents, bound, columns):
    for document in documents:
        own = row(document, bound, columns)
        below = limit(own, bound, columns)
        assert {one for one in own if one <= below} == {number(one) for one in document if number(one) <= below}


@given(DOCUMENTS, BOUNDS, COLUMNS, st.sampled_from([OVERLAP, CONTAINMENT]), st.integers(0, 10))
def test_shares_are_those_up_to_the_limit_of_both(documents, bound, columns, measure, enough):
    rows = sampled(documents, bound, columns)
    left, right = (found.ravel() for found in np.indices((len(documents), len(documents))))
    shared, among = np.empty(len(left), np.int64), np.empty(len(left), np.int64)
    least = np.arange(columns + 1) * enough // 10
    kernels.shares(rows, rows, left, right, np.uint64(bound), measure, least, shared, among)
    for pair, (i, j) in enumerate(zip(left, right, strict=True)):
        own = [row(documents[place], bound, columns) for place in (i, j)]
        below = min(limit(one, bound, columns) for one in own)
        one, other = ({value for value in each if value <= below} for each in own)
        if own[0] and own[1]:
            assert among[pair] == (len(one) if measure == CONTAINMENT else min(len(one), len(other)))
            needed = least[among[pair]]
            assert shared[pair] == len(one & other) or shared[pair] <= len(one & other) < needed
        else:
            assert shared[pair] == 0
