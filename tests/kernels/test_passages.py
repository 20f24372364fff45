import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.kernels import passages as kernels
from neardup.kernels.shingles import shingles

TOKENS = st.lists(st.integers(0, 3), max_size=30)
LEAST = st.integers(1, 4)


def shingled(tokens, least):
    values, bounds = np.empty(len(tokens), np.uint64), np.empty(2, np.int64)
    count = shingles(tokens, np.array([0, len(tokens)], np.int64), least, values, bounds)
    return values[:count]


def arrays(left, right, least):
    left, right = np.array(left, np.uint64), np.array(right, np.uint64)
    return left, right, shingled(left, least), shingled(right, least)


def found(left, right, least):
    rows = np.full((len(left) // least, 4), -1, np.int64)
    count, steps = kernels.passages(*arrays(left, right, least), least, rows)
    assert steps <= (kernels.TRIES + 1) * (len(left) + 1)
    return [tuple(row) for row in rows[:count].tolist()]


def defined(left, right, least):
    """The same search, in slices: the window of occurrences is sorted by nothing but their place."""
    passages, begin, ahead = [], 0, 0
    while begin + least <= len(left):
        starts = [j for j in range(len(right) - least + 1) if right[j : j + least] == left[begin : begin + least]]
        near = sum(start < begin + ahead for start in starts)
        first = max(0, min(near - kernels.TRIES // 2, len(starts) - kernels.TRIES))
        tried = starts[first : first + kernels.TRIES]
        if not tried:
            begin += 1
            continue

        def length(start, begin=begin):
            size = 0
            while left[begin + size : begin + size + 1] == right[start + size : start + size + 1] != []:
                size += 1
            return size

        chosen = min(tried, key=lambda start: (-length(start), abs(start - begin - ahead), start))
        end = begin + length(chosen)
        passages.append((begin, end, chosen, chosen + end - begin))
        ahead, begin = chosen - begin, end
    return passages


@given(TOKENS, TOKENS, LEAST)
@example([0] * 20, [0] * 20, 2)
@example([0, 1] * 10, [1, 0] * 12, 3)
def test_passages_equal_their_definition(left, right, least):
    assert found(left, right, least) == defined(left, right, least)


def test_of_many_occurrences_the_one_opposite_is_taken():
    left = [7, 7, 7, 0] * 30 + [8] + [7, 7, 7, 0] * 30
    right = [7, 7, 7, 0] * 30 + [9] + [7, 7, 7, 0] * 30
    assert found(left, right, 3) == [(0, 120, 0, 120), (121, 241, 121, 241)]


LONG = 200_000


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.zeros(LONG), np.zeros(LONG)),
        (np.zeros(LONG), np.zeros(10)),
        (np.zeros(10), np.zeros(LONG)),
        (np.arange(LONG) % 2, np.arange(LONG) % 3 % 2),
        (np.arange(LONG) % 1000, (np.arange(LONG) + 500) % 1000),
        (np.arange(LONG) % 1000 > 0, np.arange(LONG) % 1001 > 0),
        (np.arange(LONG), np.arange(LONG)[::-1].copy()),
        (np.arange(LONG) // 3 % 50, np.arange(LONG) // 4 % 50),
    ],
    ids=["equal", "short right", "short left", "periods", "turned", "runs", "reversed", "blocks"],
)
def test_steps_grow_with_the_text_whatever_it_holds(left, right):
    for size in (LONG // 10, LONG):
        one, other = left[:size].astype(np.uint64), right[:size].astype(np.uint64)
        rows = np.empty((len(one) // 3, 4), np.int64)
        _, steps = kernels.passages(one, other, shingled(one, 3), shingled(other, 3), 3, rows)
        assert steps <= (kernels.TRIES + 1) * (len(one) + 1)


def test_shingles_that_collide_are_no_passage():
    left, right = np.array([1, 2, 3], np.uint64), np.array([4, 5, 6], np.uint64)
    same = np.array([77], np.uint64)
    count, _ = kernels.passages(left, right, same, same, 3, np.empty((1, 4), np.int64))
    assert count == 0
