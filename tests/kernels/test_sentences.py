import zlib

import numpy as np
import pytest
from batches import ragged
from hypothesis import given
from hypothesis import strategies as st
from oracles import EMPTY, mix, sketch_overlap

from neardup.kernels import sentences

COLUMNS = 6
UINT64 = st.integers(0, 2**64 - 1)
# Values from a few, so that rows share some; each row ascending and distinct, as signatures are.
ROWS = st.lists(st.sets(st.integers(0, 12), max_size=COLUMNS).map(sorted), min_size=1, max_size=5)
THRESHOLDS = st.sampled_from([1e-9, 0.2, 1 / 3, 0.5, 0.6, 2 / 3, 0.8, 0.95, 1.0]) | st.floats(0.01, 1)


def crc(value):
    return min(zlib.crc32(value.to_bytes(8, "little")), EMPTY - 1)


def smallest(documents, columns):
    values, offsets = ragged(documents)
    rows = np.empty((len(documents), columns), np.uint32)
    sentences.smallest(values, offsets[:-1], offsets[1:], rows)
    return rows.tolist()


@given(st.lists(st.lists(st.integers(0, 20) | UINT64, max_size=30), max_size=4), st.integers(1, 12))
def test_rows_are_the_smallest_distinct_sums(documents, columns):
    expected = [sorted({crc(value) for value in document})[:columns] for document in documents]
    assert smallest(documents, columns) == [row + [EMPTY] * (columns - len(row)) for row in expected]


@pytest.mark.parametrize("descending", [False, True])
def test_rows_of_many_values_whatever_their_order(descending):
    values = np.random.default_rng(1).integers(0, 2**64, 5000, np.uint64).tolist()
    values.sort(key=crc, reverse=descending)
    assert smallest([values + values], 64) == [sorted({crc(value) for value in values})[:64]]


def inverse(sum_):
    """Find the four bytes that, in front of four zeros, have this CRC-32."""
    columns = [zlib.crc32((1 << bit).to_bytes(8, "little")) ^ zlib.crc32(bytes(8)) for bit in range(32)]
    wanted, value = sum_ ^ zlib.crc32(bytes(8)), 0
    rows = [(column, 1 << bit) for bit, column in enumerate(columns)]
    for bit in range(32):  # Gauss over single bits
        pivot = next(row for row in rows if row[0] >> bit & 1)
        rows.remove(pivot)
        rows = [(a ^ pivot[0], b ^ pivot[1]) if a >> bit & 1 else (a, b) for a, b in rows]
        if wanted >> bit & 1:
            wanted, value = wanted ^ pivot[0], value ^ pivot[1]
    return value


def test_the_largest_sum_is_not_mistaken_for_empty():
    value = inverse(EMPTY)
    assert zlib.crc32(value.to_bytes(8, "little")) == EMPTY
    assert smallest([[value]], 2) == [[EMPTY - 1, EMPTY]]
    assert smallest([[inverse(EMPTY - 1), value]], 2) == [[EMPTY - 1, EMPTY]]


def padded(rows, columns=COLUMNS):
    return np.array([row + [EMPTY] * (columns - len(row)) for row in rows], np.uint32).reshape(len(rows), columns)


def least_counts(columns, threshold):
    counts = [
        next(count for count in range(whole + 1) if count / whole >= threshold) for whole in range(1, columns + 1)
    ]
    return np.array([1, *counts], np.int64)


def asked(rows, kernel, *rest, dtype):
    """All pairs: the kernel's answers, and the steps it took."""
    left, right = (found.ravel() for found in np.indices((len(rows), len(rows))))
    answers = np.empty(len(left), dtype)
    steps = kernel(rows, rows, left, right, *rest, answers)
    return answers.tolist(), steps


@given(ROWS, st.booleans())
def test_overlaps_equal_their_definition(rows, of_smaller):
    shares, _ = asked(padded(rows), sentences.overlaps, of_smaller, dtype=np.float64)
    assert shares == [sketch_overlap(one, other, COLUMNS, of_smaller) for one in rows for other in rows]


@given(ROWS, THRESHOLDS, st.booleans())
def test_the_early_answer_equals_the_full_one(rows, threshold, of_smaller):
    signed, least = padded(rows), least_counts(COLUMNS, threshold)
    shares, full = asked(signed, sentences.overlaps, of_smaller, dtype=np.float64)
    flags, early = asked(signed, sentences.decide, of_smaller, least, dtype=np.bool_)
    assert flags == [share >= threshold for share in shares]
    assert early <= full


def news(random, number, size, shared):
    """Rows of two documents each, with *shared* of *size* sentences in common, as ``smallest`` makes them."""
    values = random.integers(0, 2**64, (number, 2 * size - shared), np.uint64)
    documents = np.concatenate([values[:, :size], values[:, size - shared :]])
    rows = np.empty((2 * number, 64), np.uint32)
    starts = np.arange(2 * number) * size
    sentences.smallest(documents.ravel(), starts, starts + size, rows)
    return rows[:number], rows[number:]


@pytest.mark.parametrize("of_smaller", [False, True])
@pytest.mark.parametrize(
    ("size", "shared", "most"), [(20, 0, 0.55), (20, 19, 0.8), (200, 0, 0.55), (200, 60, 0.75), (200, 195, 0.55)]
)
def test_early_answers_save_steps(size, shared, most, of_smaller):
    """Unrelated documents and near copies need about half of the steps; the nearer to the threshold, the more."""
    left, right = news(np.random.default_rng(size + shared), 300, size, shared)
    rows, least = np.arange(300), least_counts(64, 0.5)
    full = sentences.overlaps(left, right, rows, rows, of_smaller, np.empty(300))
    early = sentences.decide(left, right, rows, rows, of_smaller, least, np.empty(300, np.bool_))
    assert early <= most * full


def test_sizes_that_cannot_overlap_enough_take_no_step():
    rows = padded([list(range(2)), list(range(10))], 64)
    flags = np.empty(1, np.bool_)
    assert sentences.decide(rows, rows, np.array([0]), np.array([1]), False, least_counts(64, 0.5), flags) == 0
    assert not flags[0]


@given(ROWS)
def test_spread_keys_equal_their_definition(rows):
    keys = np.empty((len(rows), COLUMNS), np.uint64)
    sentences.spread(padded(rows), keys)
    expected = [[*map(mix, row)] + [mix(row[0] if row else EMPTY)] * (COLUMNS - len(row)) for row in rows]
    assert keys.tolist() == expected
