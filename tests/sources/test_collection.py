import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.model.errors import ParameterError
from neardup.sources.collection import Rejected, named, selection


@given(st.lists(st.booleans()))
def test_positions_and_mask_select_the_same(mask):
    mask = np.array(mask, np.bool_)
    for rows in (mask, np.flatnonzero(mask), np.flatnonzero(mask).astype(np.uint32)):
        assert selection(rows, mask.size).tolist() == mask.tolist()


@pytest.mark.parametrize(
    "rows",
    [[True], [True] * 3, [0, 2], [-1], [1, 0], [0, 0], [0.0], [[0]], ["a"]],
    ids=str,
)
def test_what_selects_nothing_that_exists_is_refused(rows):
    with pytest.raises(ParameterError, match="rows="):
        selection(np.array(rows), 2)


def test_names_of_records_without_an_id():
    assert named("a:b.csv", np.array([1, 20])).to_pylist() == ["a:b.csv:1", "a:b.csv:20"]
    assert named("x", np.zeros(0, np.int64)).to_pylist() == []


def test_a_record_rejected_says_where_and_why():
    assert str(Rejected("x.jsonl", 3, "it is broken", "json")) == "x.jsonl:3: it is broken"
