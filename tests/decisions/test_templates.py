"""Which lines are the template of a host, against the definition in plain Python."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from batches import ragged
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.templates import shared_lines, view_of


def found(pages, kept):
    return shared_lines(*ragged(pages), np.array(kept, np.int64)).tolist()


@given(st.lists(st.lists(st.integers(0, 5), max_size=5), min_size=15, max_size=40), st.randoms(use_true_random=False))
def test_equal_their_definition(pages, chance):
    kept = sorted(chance.sample(range(len(pages)), chance.randint(0, len(pages))))
    counts = Counter(line for page in kept for line in set(pages[page]) if line)
    wanted = max(10, Fraction(len(kept), 20))
    expected = sorted(line for line, count in counts.items() if count >= wanted) if len(kept) >= 20 else []
    assert found(pages, kept) == expected


@pytest.mark.parametrize(
    ("kept", "having", "listed"), [(20, 10, True), (400, 20, True), (400, 19, False), (401, 20, False)]
)
def test_a_share_of_the_pages(kept, having, listed):
    pages = [[7] if page < having else [page + 100] for page in range(kept)]
    assert found(pages, range(kept)) == ([7] if listed else [])


@pytest.mark.parametrize(
    ("main", "visible", "view"),
    [
        ([39] * 2 + [90] * 8, [100] * 10, "visible"),
        ([39] + [90] * 9, [100] * 10, "main"),
        ([40] * 10, [100] * 10, "main"),
        ([0] * 10, [0] * 10, "main"),
        ([], [], "main"),
    ],
)
def test_the_view_of_a_host_is_chosen_by_its_lines(main, visible, view):
    assert view_of(np.array(main, np.int64), np.array(visible, np.int64)) == view
