import itertools
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.model.errors import ParameterError
from neardup.model.layout import Banding

LAYOUTS = st.integers(1, 60).flatmap(
    lambda permutations: st.builds(Banding, permutations=st.just(permutations), bands=st.integers(1, permutations))
)
SHARES = st.floats(0, 1)


@given(LAYOUTS)
def test_every_minimum_is_in_exactly_one_band(layout):
    edges = layout.edges.tolist()
    assert (edges[0], edges[-1]) == (0, layout.permutations)
    sizes = [end - begin for begin, end in itertools.pairwise(edges)]
    assert len(sizes) == layout.bands
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= 1


@given(LAYOUTS, SHARES)
def test_the_meeting_probability_equals_its_law(layout, share):
    edges = layout.edges.tolist()
    law = 1 - prod(1 - share ** (end - begin) for begin, end in itertools.pairwise(edges))
    assert layout.meeting_probability(share) == pytest.approx(law, abs=1e-12)


@given(LAYOUTS, SHARES, SHARES)
def test_the_meeting_probability_grows(layout, one, other):
    low, high = sorted([one, other])
    assert layout.meeting_probability(low) <= layout.meeting_probability(high) + 1e-12
    assert layout.meeting_probability(0) == 0
    assert layout.meeting_probability(1) == 1


@pytest.mark.parametrize(
    ("bands", "rows", "share", "expected"), [(14, 8, 0.8, 0.924), (20, 5, 0.8, 0.9996), (20, 5, 0.2, 0.006)]
)
def test_well_known_values(bands, rows, share, expected):
    layout = Banding(permutations=bands * rows, bands=bands)
    assert layout.meeting_probability(share) == pytest.approx(expected, abs=5e-4)


@given(
    st.sampled_from([8, 64, 120, 128]), st.sampled_from([0.3, 0.5, 0.8, 0.95, 1.0]), st.sampled_from([0.5, 0.9, 0.999])
)
def test_the_fewest_bands_that_reach_the_recall_are_chosen(permutations, threshold, recall):
    reached = [
        bands
        for bands in range(1, permutations + 1)
        if Banding(permutations=permutations, bands=bands).meeting_probability(threshold) >= recall
    ]
    if reached:
        chosen = Banding.choose(permutations=permutations, threshold=threshold, recall=recall)
        assert chosen == Banding(permutations=permutations, bands=min(reached))
    else:
        with pytest.raises(ParameterError, match="permutations"):
            Banding.choose(permutations=permutations, threshold=threshold, recall=recall)


def test_what_cannot_be_reached_says_what_can():
    with pytest.raises(ParameterError) as caught:
        Banding.choose(permutations=8, threshold=0.1, recall=0.999)
    assert (caught.value.name, caught.value.value) == ("permutations", 8)
    assert f"{1 - 0.9**8:.4f}" in caught.value.rule


@pytest.mark.parametrize(("permutations", "bands", "name"), [(0, 1, "permutations"), (8, 0, "bands"), (8, 9, "bands")])
def test_rules(permutations, bands, name):
    with pytest.raises(ParameterError) as caught:
        Banding(permutations=permutations, bands=bands)
    assert caught.value.name == name
