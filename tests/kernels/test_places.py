"""Places by their parts, against a list for each part."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.places import by_part

PARTS, BITS = 5, 7


@given(places=st.lists(st.just(-1) | st.integers(0, (PARTS << BITS) - 1), max_size=60))
def test_places_are_sorted_by_their_parts(places):
    number = len(places)
    order, positions, bounds = np.full(number, 77), np.full(number, 77), np.full(PARTS + 1, 77)
    assert by_part(np.array(places, np.int64), BITS, order, positions, bounds)
    for part in range(PARTS):
        own = [(i, place & (1 << BITS) - 1) for i, place in enumerate(places) if place >> BITS == part]
        span = slice(bounds[part], bounds[part + 1])
        assert [*zip(order[span].tolist(), positions[span].tolist(), strict=True)] == own
    assert bounds[0] == 0
    assert bounds[-1] == sum(place >= 0 for place in places)


@pytest.mark.parametrize("nowhere", [PARTS << BITS, 2**62])
def test_parts_that_are_not_there_are_refused(nowhere):
    places = np.array([3, nowhere, 0])
    outs = [np.full(3, 77), np.full(3, 77), np.full(PARTS + 3, 77)]
    assert not by_part(places, BITS, outs[0], outs[1], outs[2][: PARTS + 1])
    assert [out.tolist() for out in outs[:2]] == [[77] * 3] * 2
    assert outs[2][-2:].tolist() == [77, 77]
