import itertools
import re
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.model.errors import ParameterError
from neardup.model.layout import Banding, Blocks

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


@given(LAYOUTS, st.fractions(0, 1, max_denominator=100))
def test_small_meeting_probabilities_are_as_exact_as_great_ones(layout, share):
    missed = prod(1 - share**width for width in np.diff(layout.edges).tolist())
    assert layout.meeting_probability(float(share)) == pytest.approx(float(1 - missed), rel=1e-9, abs=1e-300)


def test_blocks_with_too_many_tables_are_refused_in_few_words():
    with pytest.raises(ParameterError, match=r"at most 1,024 tables, one for every 200 of them; use fewer$"):
        Blocks(bits=512, distance=200, blocks=300)


@pytest.mark.parametrize("layout", [Banding(permutations=128, bands=22), Blocks(bits=64, distance=3, blocks=6)])
def test_meeting_probabilities_are_of_numbers_and_of_arrays_and_grow_up_to_certainty(layout):
    grid = np.linspace(0, 1, 41)
    chances = layout.meeting_probability(grid)
    assert chances.tolist() == [layout.meeting_probability(share) for share in grid.tolist()]
    assert layout.meeting_probability(grid.reshape(1, -1)).shape == (1, 41)
    assert layout.meeting_probability(np.empty(0)).shape == (0,)
    assert np.ndim(layout.meeting_probability(0.5)) == 0
    assert (chances[0], chances[-1]) == (0, 1)
    assert (np.diff(chances) >= -1e-12).all()


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


@pytest.mark.parametrize(
    ("permutations", "bands", "name"),
    [(0, 1, "permutations"), (8, 0, "bands"), (8, 9, "bands"), (8, 2.5, "bands"), (8, True, "bands")],
)
def test_a_banding_that_breaks_a_rule_names_its_parameter(permutations, bands, name):
    with pytest.raises(ParameterError) as caught:
        Banding(permutations=permutations, bands=bands)
    assert caught.value.name == name


BLOCKS = st.tuples(st.sampled_from([64, 128, 192, 512]), st.integers(0, 8), st.integers(1, 4)).map(
    lambda drawn: Blocks(bits=drawn[0], distance=drawn[1], blocks=drawn[1] + drawn[2])
)


def test_the_published_setting_of_a_web_crawl():
    """Manku, Jain, Das Sarma 2007: 64 bits, k = 3, 6 blocks of 11 or 10 bits, 20 tables that compare 31 to 33."""
    layout = Blocks.choose(bits=64, distance=3)
    assert layout == Blocks(bits=64, distance=3, blocks=6)
    assert sorted(np.diff(layout.edges).tolist()) == [10, 10, 11, 11, 11, 11]
    assert len(layout.tables) == len(layout.widths) == 20
    assert {width: layout.widths.count(width) for width in (31, 32, 33)} == {31: 4, 32: 12, 33: 4}


def test_their_other_settings():
    assert sorted(Blocks(bits=64, distance=3, blocks=5).widths) == [25] * 4 + [26] * 6
    assert Blocks(bits=64, distance=3, blocks=4).widths == (16,) * 4


@given(BLOCKS)
def test_every_bit_is_in_exactly_one_block(layout):
    edges = layout.edges.tolist()
    assert (edges[0], edges[-1]) == (0, layout.bits)
    sizes = [end - begin for begin, end in itertools.pairwise(edges)]
    assert len(sizes) == layout.blocks
    assert max(sizes) - min(sizes) <= 1


@given(BLOCKS)
def test_masks_are_the_tables(layout):
    masks = layout.masks
    assert masks.shape == (comb(layout.blocks, layout.distance), layout.bits // 64)
    edges = layout.edges.tolist()
    for mask, table, width in zip(masks.tolist(), layout.tables, layout.widths, strict=True):
        chosen = {bit for bit in range(layout.bits) if mask[bit // 64] >> bit % 64 & 1}
        assert chosen == {bit for block in table for bit in range(edges[block], edges[block + 1])}
        assert len(chosen) == width


@pytest.mark.parametrize("bits", [64, 128, 512])
@pytest.mark.parametrize("distance", [*range(10), 20, 63])
def test_the_layout_by_default_has_few_tables(bits, distance):
    layout = Blocks.choose(bits=bits, distance=distance)
    assert layout.blocks == distance + (3 if distance <= 7 else 1)
    assert len(layout.tables) <= 120


@given(BLOCKS, SHARES)
def test_the_meeting_probability_of_blocks_equals_its_law(layout, agreement):
    """Every set of blocks that agrees, one by one."""
    sizes = np.diff(layout.edges).tolist()
    law = sum(
        prod(1 - agreement**size if block in differing else agreement**size for block, size in enumerate(sizes))
        for number in range(layout.distance + 1)
        for differing in itertools.combinations(range(layout.blocks), number)
    )
    assert layout.meeting_probability(agreement) == pytest.approx(law, abs=1e-12)


@pytest.mark.parametrize(
    ("bits", "distance", "blocks", "name"),
    [
        (0, 3, 6, "bits"),
        (65, 3, 6, "bits"),
        (576, 3, 6, "bits"),
        (64.0, 3, 6, "bits"),
        (64, -1, 6, "distance"),
        (64, 64, 65, "distance"),
        (64, True, 6, "distance"),
        (64, 3, 3, "blocks"),
        (64, 3, 65, "blocks"),
        (64, 3, 6.0, "blocks"),
        (64, 10, 20, "blocks"),
    ],
)
def test_rules_of_blocks(bits, distance, blocks, name):
    with pytest.raises(ParameterError) as caught:
        Blocks(bits=bits, distance=distance, blocks=blocks)
    assert caught.value.name == name


@pytest.mark.parametrize("layout", [Banding(permutations=8, bands=2), Blocks(bits=64, distance=3, blocks=6)])
@pytest.mark.parametrize("beyond", [-0.01, 1.01, float("nan"), [0.5, 1.5]], ids=str)
def test_meeting_probabilities_are_asked_about_numbers_from_0_to_1(layout, beyond):
    with pytest.raises(ParameterError, match="from 0 to 1"):
        layout.meeting_probability(beyond)


@pytest.mark.parametrize(("threshold", "recall"), [(0.05, 0.999), (0.01, 0.9), (0.3, 0.999999)])
def test_too_few_permutations_are_told_how_many_suffice(threshold, recall):
    with pytest.raises(ParameterError) as caught:
        Banding.choose(permutations=8, threshold=threshold, recall=recall)
    least = int(re.match(r"must be at least ([\d,]+) for a recall", caught.value.rule)[1].replace(",", ""))
    assert Banding.choose(permutations=least, threshold=threshold, recall=recall)
    with pytest.raises(ParameterError):
        Banding.choose(permutations=least - 8, threshold=threshold, recall=recall)


@pytest.mark.parametrize("threshold", [5e-324, 1e-300])
def test_a_threshold_too_low_for_any_layout_is_refused(threshold):
    with pytest.raises(ParameterError, match=r"must be at least 6,907,755,[0-9]+ for a recall of 0.999"):
        Banding.choose(permutations=128, threshold=threshold, recall=0.999)
