"""Which segments are merged."""

from types import SimpleNamespace

import numpy as np
import pytest

from neardup.index.disk import merger


def segments(*sizes, removed=0):
    alive = np.arange(max(sizes, default=0)) >= removed
    return [SimpleNamespace(documents=size, alive=alive[:size], longest_list=4 * size) for size in sizes]


@pytest.mark.parametrize(
    ("sizes", "begin"),
    [
        ([], None),
        ([1, 1, 1], None),
        ([1, 1, 1, 1], 0),
        ([1000, 1, 1, 1, 1], 1),
        ([1000, 1, 900, 1, 800, 1], None),
        ([1000, 1000, 1, 1000, 1000], 0),
        ([300, 300, 300, 300], None),
    ],
)
def test_the_last_segments_are_merged_once_there_are_four_of_one_size(sizes, begin):
    assert merger.tail(segments(*sizes), 5000 if 300 not in sizes else 1000) == begin


def test_neighbours_are_grouped_as_far_as_the_memory_allows():
    parts = segments(5, 5, 5, 20, 3)
    assert merger.groups(parts, 12) == [parts[:2], parts[2:3], parts[3:4], parts[4:]]
    removing = segments(5, 5, 5, removed=2)
    assert merger.groups(removing, 9) == [removing]
    assert merger.groups([], 9) == []


def test_the_memory_is_that_of_the_longest_list():
    assert merger.most_documents([], 3200) == 100
    assert merger.most_documents(segments(10, 20), 3200) == 25


def test_segments_are_merged_and_answers_stay(index):
    index.compact()
    store = index._store
    assert len(store.segments) == 1
    assert store.decoded("id", store.with_ids(["d29", "d0"])) == ["d29", "d0"]
