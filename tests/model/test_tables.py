import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.model.errors import ParameterError
from neardup.model.tables import BITS, Costs, FingerprintTable, TableDesign

ALL = [design for distance in range(8) for design in TableDesign.choices(distance)]


def widths(distance, pieces):
    return [table.lead for table in TableDesign(kind="probes", distance=distance, pieces=pieces).tables]


@pytest.mark.parametrize(("pieces", "number", "leads"), [(4, 4, {16}), (5, 10, {25, 26}), (6, 20, {31, 32, 33})])
def test_the_classic_designs(pieces, number, leads):
    design = TableDesign(kind="blocks", distance=3, pieces=pieces)
    assert len(design.tables) == number
    assert {table.lead for table in design.tables} == leads


def test_the_two_level_design():
    design = TableDesign(kind="nested", distance=3, pieces=4)
    assert len({table.leading for table in design.tables}) == 16
    assert {table.lead for table in design.tables} == {28}
    assert all(
        {*range(16 * (number // 4), 16 * (number // 4 + 1))} <= {*table.leading}
        for number, table in enumerate(design.tables)
    )
    assert design.candidates(2**34) == 16 * 64


def test_the_compact_design():
    first, second = TableDesign(kind="probes", distance=3, pieces=2).tables
    assert (first.leading, second.leading) == (tuple(range(32)), tuple(range(32, 64)))
    assert (first.radius, second.radius, first.probes) == (1, 1, 33)


def test_pieces_are_as_equal_as_can_be():
    assert widths(6, 6) == [11, 11, 11, 11, 10, 10]
    assert widths(4, 5) == [13, 13, 13, 13, 12]
    assert widths(3, 4) == [16] * 4


@pytest.mark.parametrize("design", [design for design in ALL if design.kind != "probes"], ids=str)
def test_no_choice_of_so_many_bits_is_in_all_tables(design):
    """Bits that lead the same tables are as good as each other, so one of each sort is tried."""
    led = [{number for number, table in enumerate(design.tables) if bit in table.leading} for bit in range(BITS)]
    sorts = {sum(1 << number for number in one) for one in led if not any(one < other for other in led)}
    spoilt = {0}
    for _ in range(design.distance):
        spoilt = {done | one for done in spoilt for one in sorts}
    assert (1 << len(design.tables)) - 1 not in spoilt


@pytest.mark.parametrize("design", [design for design in ALL if design.kind == "probes"], ids=str)
def test_more_bits_than_the_radius_of_each_part_are_more_than_the_distance(design):
    assert sorted(bit for table in design.tables for bit in table.leading) == [*range(BITS)]
    assert sum(table.radius + 1 for table in design.tables) == design.distance + 1


@pytest.mark.parametrize("design", ALL, ids=str)
def test_the_first_table_is_in_the_fingerprints_own_order(design):
    assert design.tables[0].moves == {0: 2**64 - 1}


@given(st.lists(st.integers(0, 63), unique=True, min_size=1, max_size=64), st.integers(0, 2**64 - 1))
def test_moves_put_the_leading_bits_first(leading, value):
    table = FingerprintTable(leading=tuple(leading))
    read = 0
    for rotation, mask in table.moves.items():
        part = value & mask
        read |= part << rotation & 2**64 - 1 | part >> 64 - rotation
    bits = f"{value:064b}"
    rest = [bit for bit in range(64) if bit not in leading]
    assert f"{read:064b}" == "".join(bits[bit] for bit in [*leading, *rest])
    assert table.mask == sum(1 << 63 - bit for bit in leading)


@given(st.integers(1, 9), st.integers(0, 3))
def test_flips_are_all_words_within_the_radius(lead, radius):
    table = FingerprintTable(leading=tuple(range(lead)), radius=radius)
    assert sorted(table.flips) == sorted(word << 64 - lead for word in range(1 << lead) if word.bit_count() <= radius)
    assert len(table.flips) == table.probes


@pytest.mark.parametrize("design", ALL, ids=str)
def test_the_laws_of_a_design(design):
    probes = sum(table.probes for table in design.tables)
    expected = sum(10**6 * table.probes / 2**table.lead for table in design.tables)
    assert design.candidates(10**6) == pytest.approx(expected)
    size = 10**6 * design.bytes_each(10**6)
    costs = Costs()
    reach = costs.probe + costs.spread * np.log2(1 + size / 2**30)
    assert design.microseconds(10**6) == pytest.approx(probes * reach + expected * costs.compare)
    costs = Costs(probe=7, spread=0, compare=3)
    assert design.microseconds(10**6, costs) == pytest.approx(probes * 7 + expected * 3)
    assert design.candidates(0) == 0


def test_bytes_are_entries_directories_and_positions():
    design = TableDesign(kind="blocks", distance=3, pieces=4)
    assert design.bucket_bits(20_000_000) == 16
    assert design.bytes_each(20_000_000) == pytest.approx(4 * (4 + 2) + 4, rel=0.01)
    assert [design.bucket_bits(number) for number in (0, 1, 100, 2**20)] == [1, 1, 4, 16]
    assert design.bytes_each(2**32) == pytest.approx(4 * (4 + 2) + 4, rel=0.01)
    assert design.bytes_each(2**34) == pytest.approx(4 * (4 + 2) + 8, rel=0.01)  # more than 4 bytes can count


@pytest.mark.parametrize("number", [0, 1, 1000, 10**6, 10**9])
@pytest.mark.parametrize("distance", range(8))
def test_no_design_is_as_much_smaller_as_the_chosen_one_is_faster(distance, number):
    chosen = TableDesign.choose(distance=distance, fingerprints=number)
    assert chosen.distance == distance
    for design in TableDesign.choices(distance):
        faster = design.microseconds(number) / chosen.microseconds(number)
        assert chosen.bytes_each(number) / design.bytes_each(number) <= faster * (1 + 1e-9)


@pytest.mark.parametrize("distance", range(8))
def test_what_is_chosen_fits(distance):
    number = 10**7
    sizes = {design: number * design.bytes_each(number) for design in TableDesign.choices(distance)}
    for size in sizes.values():
        assert sizes[TableDesign.choose(distance=distance, fingerprints=number, memory=size)] <= size
    with pytest.raises(ParameterError, match="bytes, for the smallest design") as caught:
        TableDesign.choose(distance=distance, fingerprints=number, memory=min(sizes.values()) - 1)
    assert caught.value.name == "memory"


def test_a_design_is_chosen_by_the_costs_of_probes_and_comparisons():
    dear, cheap = Costs(probe=1, spread=0, compare=0), Costs(probe=0, spread=0, compare=1)
    choices = [TableDesign.choose(distance=3, fingerprints=10**7, costs=costs) for costs in (dear, cheap)]
    assert choices[0].candidates(10**7) > choices[1].candidates(10**7)


@pytest.mark.parametrize(
    ("kind", "distance", "pieces", "name", "rule"),
    [
        ("halves", 3, 2, "kind", "must be 'blocks', 'nested' or 'probes'"),
        ("blocks", -1, 2, "distance", "must be an integer from 0 to 7"),
        ("blocks", 8, 9, "distance", "must be an integer from 0 to 7"),
        ("blocks", True, 2, "distance", "must be an integer from 0 to 7, not a bool"),
        ("blocks", 3, 3, "pieces", "must be an integer from 4 to 64"),
        ("blocks", 3, 9, "pieces", "must result in at most 64 tables, but results in 84"),
        ("nested", 3, 9, "pieces", "must result in at most 64 tables, but results in 81"),
        ("probes", 3, 1, "pieces", "must be an integer from 2 to 4"),
        ("probes", 3, 5, "pieces", "must be an integer from 2 to 4"),
        ("probes", 0, 2, "pieces", "must be an integer from 1 to 1"),
        ("probes", 3, 2.0, "pieces", "must be an integer from 2 to 4"),
    ],
)
def test_a_broken_rule_is_named(kind, distance, pieces, name, rule):
    with pytest.raises(ParameterError) as caught:
        TableDesign(kind=kind, distance=distance, pieces=pieces)
    assert (caught.value.name, caught.value.rule) == (name, rule)


def test_numpys_integers_are_integers():
    assert TableDesign(kind="blocks", distance=np.int64(3), pieces=np.uint8(4)) == TableDesign(
        kind="blocks", distance=3, pieces=4
    )


@pytest.mark.parametrize("number", [10**9, 1e9, np.int64(10**9), np.float64(1e9)])
def test_numbers_of_fingerprints_may_be_of_any_type(number):
    design = TableDesign(kind="nested", distance=3, pieces=4)
    for question in (design.candidates, design.bytes_each, design.microseconds):
        assert question(number) == question(10**9)
    assert design.bytes_each(number, compressed=True) == design.bytes_each(10**9, compressed=True)
