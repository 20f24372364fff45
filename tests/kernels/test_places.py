"""Places by their parts, against a list for each part."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.places import by_part

PARTS, BITS = 5, 7


@given(places=st.lists(st.just(-1) | st.integers(0, (PARTS << BITS) - 1), max_size=60))
def test_places_are_sorted_by_their_parts(places):
    number = len(places)
    order, positions, bounds = np.full(number, 77), np.full(number, 77), np.full(PARTS + 1, 77)
    by_part(np.array(places, np.int64), BITS, order, positions, bounds)
    for part in range(PARTS):
        own = [(i, place & (1 << BITS) - 1) for i, place in enumerate(places) if place >> BITS == part]
        span = slice(bounds[part], bounds[part + 1])
        assert [*zip(order[span].tolist(), positions[span].tolist(), strict=True)] == own
    assert bounds[0] == 0
    assert bounds[-1] == sum(place >= 0 for place in places)
