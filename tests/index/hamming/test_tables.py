from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from near_pairs import near_pairs, tuples

import neardup
from neardup.index.hamming import entries, tables
from neardup.index.hamming.tables import HammingTables
from neardup.kernels.hamming import NARROW
from neardup.model.errors import ParameterError
from neardup.model.tables import TableDesign

MASK = 2**64 - 1
CHOICES = [design for distance in range(8) for design in TableDesign.choices(distance)]
UNUSUAL = [
    TableDesign(kind=kind, distance=distance, pieces=pieces)
    for kind, distance, pieces in [
        ("blocks", 0, 64),
        ("blocks", 1, 64),
        ("blocks", 2, 11),
        ("nested", 0, 8),
        ("nested", 2, 7),
        ("probes", 0, 1),
        ("probes", 1, 2),
        ("probes", 7, 8),
    ]
]
NAMED = {f"{design.kind}-{design.distance}-{design.pieces}": design for design in [*CHOICES, *UNUSUAL]}
DESIGNS = pytest.mark.parametrize("design", NAMED.values(), ids=NAMED)
SMALL = [design for design in NAMED.values() if sum(table.probes for table in design.tables) < 600]


def words(values):
    return np.array(values, np.uint64)


def agrees(fingerprints, queries, design):
    """Every question has the answer of the definition, in its order, compressed or not."""
    for compressed in (False, True):
        tables = HammingTables.build(words(fingerprints), design.distance, design, compressed=compressed)
        answers(tables, fingerprints, queries, design)
        assert tables.compressed == compressed


def answers(tables, fingerprints, queries, design):
    expected = near_pairs(queries, fingerprints, design.distance)
    assert tuples(tables.lookup(words(queries))) == expected
    assert tables.count(words(queries)).tolist() == [sum(i == n for i, _, _ in expected) for n in range(len(queries))]
    assert tuples(tables.join(words(queries))) == sorted((j, i, distance) for i, j, distance in expected)
    pairs = [(i, j, distance) for i, j, distance in near_pairs(fingerprints, fingerprints, design.distance) if i < j]
    assert tuples(tables.self_join()) == pairs
    assert len(tables) == len(fingerprints)
    assert tables.distance == design.distance


def changed(values, bits, random):
    """Flip so many different bits of each value."""
    values = values.copy()
    for i in range(len(values)):
        for bit in random.choice(64, bits, replace=False):
            values[i] ^= np.uint64(1) << np.uint64(bit)
    return values


@DESIGNS
def test_every_design_equals_brute_force(design):
    """Unrelated fingerprints; near, just near and just too distant ones; equal ones; and the ends of the range."""
    random = np.random.default_rng(design.distance)
    base = random.integers(0, 2**64, 25, np.uint64)
    near = [changed(base, bits, random) for bits in {1, max(1, design.distance), design.distance + 1}]
    ends = words([0, MASK, 0, 1, MASK - 1])
    fingerprints = random.permutation(np.concatenate([base, *near, base[:5], ends])).tolist()
    agrees(fingerprints, [*fingerprints[::6], 0, MASK, 1 << 63], design)


FAMILIES = st.integers(0, MASK).flatmap(
    lambda value: st.lists(
        st.one_of(
            st.just(value),
            st.integers(0, 63).map(lambda bit: value ^ 1 << bit),
            st.integers(0, 15).map(lambda low: value ^ low),
            st.integers(0, 15).map(lambda high: value ^ high << 60),
            st.integers(0, MASK),
        ),
        max_size=12,
    )
)


@given(st.sampled_from(SMALL), FAMILIES, FAMILIES, st.data())
def test_any_design_equals_brute_force_on_anything(design, some, others, data):
    queries = data.draw(st.lists(st.sampled_from([0, MASK, *some, *others]), max_size=6))
    agrees([*some, *others], queries, design)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("distance", range(8))
def test_equal_fingerprints_are_all_found_and_take_little_memory(distance, compressed):
    tables = HammingTables.build(words([5] * 40), distance, compressed=compressed)
    assert tuples(tables.lookup(words([5, 4, MASK]))) == near_pairs([5, 4, MASK], [5] * 40, distance)
    assert tuples(tables.self_join()) == [(i, j, 0) for i in range(40) for j in range(i + 1, 40)]
    different = np.random.default_rng(1).integers(0, 2**64, 40, np.uint64)
    assert tables.nbytes < HammingTables.build(different, distance, compressed=compressed).nbytes


@pytest.mark.parametrize("design", SMALL, ids=str)
def test_tables_may_have_one_fingerprint_or_none(design):
    agrees([], [], design)
    agrees([], [0, MASK], design)
    agrees([7], [], design)
    agrees([7], [7, 6, MASK], design)


@pytest.mark.parametrize("shift", [0, 20, 44])
@pytest.mark.parametrize("design", [design for design in SMALL if design.distance in {0, 3}], ids=str)
def test_oversized_buckets_are_searched_completely(design, shift):
    """All share all bits but 20, so that whole tables are one bucket."""
    random = np.random.default_rng(shift)
    base = words([0x0123456789ABCDEF])
    fingerprints = base ^ random.integers(0, 2**20, NARROW + 40, np.uint64) << np.uint64(shift)
    queries = np.concatenate([fingerprints[:10], changed(base.repeat(10), 2, random)])
    agrees(fingerprints.tolist(), queries.tolist(), design)


def test_the_first_ones_are_those_with_the_smallest_positions(monkeypatch):
    fingerprints = [0, 1, 0, 3, 7, 0, MASK, 0, 15]
    queries = [0, MASK, 7, 2**40 - 1, 0]
    plain, compressed = (HammingTables.build(words(fingerprints), compressed=one) for one in (False, True))
    for block, index in product((2, tables.BLOCK), (plain, compressed)):
        monkeypatch.setattr(tables, "BLOCK", block)
        for first in (1, 2, 3, 100, np.int64(4)):
            found = tuples(index.lookup(words(queries), first=first))
            expected = [near_pairs([query], fingerprints, 3)[:first] for query in queries]
            assert found == [(i, j, distance) for i, part in enumerate(expected) for _, j, distance in part]
            there = np.arange(len(fingerprints)) % 3 > 0
            found = tuples(index.lookup(words(queries), first=first, there=there))
            expected = [
                [own for own in near_pairs([query], fingerprints, 3) if there[own[1]]][:first] for query in queries
            ]
            assert found == [(i, j, distance) for i, part in enumerate(expected) for _, j, distance in part]
    assert tuples(index.lookup(words([]), first=1)) == []
    with pytest.raises(ParameterError, match="must be 9 flags"):
        index.lookup(words(queries), there=np.ones(8, np.bool_))


def test_a_whole_population():
    """Many thousands, among which near ones were planted at each distance."""
    random = np.random.default_rng(5)
    fingerprints = random.integers(0, 2**64, 60_000, np.uint64)
    for bits in range(6):
        fingerprints[bits * 100 : bits * 100 + 100] = changed(fingerprints[30_000:30_100], bits, random)
    queries = np.concatenate([fingerprints[30_000:30_100], fingerprints[::500]])
    distances = np.array([np.bitwise_count(fingerprints ^ query) for query in queries])
    three = [design for design in SMALL if design.distance == 3]
    for design, compressed in product(three, (False, True)):
        index, positions, found = HammingTables.build(fingerprints, 3, design, compressed=compressed).lookup(queries)
        where = np.nonzero(distances <= 3)
        assert (np.stack([index, positions]) == where).all()
        assert (found == distances[where]).all()
    index, positions, found = HammingTables.build(fingerprints).self_join()
    assert {(bits * 100 + i, 30_000 + i) for bits in range(4) for i in range(100)} <= {
        *zip(index.tolist(), positions.tolist(), strict=True)
    }
    assert (np.bitwise_count(fingerprints[index] ^ fingerprints[positions]) == found).all()


def test_joins_of_two_indexes():
    some, others = [0, 1, MASK, 5, 5], [MASK, 4, 2**33, 4]
    one, other = HammingTables.build(words(some), 1), HammingTables.build(words(others), 2)
    assert tuples(one.join(other)) == near_pairs(some, others, 1)
    assert tuples(other.join(one)) == near_pairs(others, some, 2)
    assert tuples(one.join(one)) == near_pairs(some, some, 1)
    small = HammingTables.build(words(others), 1, compressed=True)
    assert tuples(one.join(small)) == tuples(one.join(other))
    assert tuples(small.join(one)) == near_pairs(others, some, 1)
    assert small.redesigned(TableDesign(kind="nested", distance=2, pieces=3)).compressed
    design = TableDesign(kind="nested", distance=5, pieces=7)
    assert tuples(one.redesigned(design).self_join()) == [
        found for found in near_pairs(some, some, 5) if found[0] < found[1]
    ]


@pytest.mark.parametrize("design", [design for design in SMALL if design.distance == 3], ids=str)
def test_memory_is_as_the_design_says(design):
    fingerprints = np.random.default_rng(1).integers(0, 2**64, 50_000, np.uint64)
    tables = HammingTables.build(fingerprints, 3, design)
    assert tables.nbytes / len(tables) == pytest.approx(design.bytes_each(50_000), rel=0.02)
    small = HammingTables.build(fingerprints, 3, design, compressed=True)
    assert small.nbytes / len(small) == pytest.approx(design.bytes_each(50_000, compressed=True), rel=0.02)
    assert small.nbytes < tables.nbytes


def test_similar_fingerprints_compress_better():
    random = np.random.default_rng(1)
    unrelated = random.integers(0, 2**64, 20_000, np.uint64)
    families = changed(unrelated[:200].repeat(100), 2, random)
    sizes = [HammingTables.build(some, compressed=True).nbytes for some in (unrelated, families)]
    assert sizes[1] < 0.9 * sizes[0]


def test_arrays_of_any_kind_are_read_and_none_is_changed():
    fingerprints = np.arange(40, dtype=np.uint64)
    kept = fingerprints.copy()
    fingerprints.setflags(write=False)
    tables = HammingTables.build(fingerprints[::-2], 0)
    assert tuples(tables.lookup(fingerprints[::13])) == [(1, 13, 0), (3, 0, 0)]
    assert (fingerprints == kept).all()


@pytest.mark.parametrize(
    "given_words",
    [
        [1, 2],
        np.arange(3),
        np.arange(3.0),
        np.zeros((2, 1), np.uint64),
        np.uint64(3),
        np.arange(3, dtype=np.uint32),
        neardup.SimHash().sign(["one two"]),
        "no",
    ],
    ids=str,
)
def test_only_rows_of_uint64_are_fingerprints(given_words):
    tables = HammingTables.build(words([1]))
    for name, ask in (
        ("fingerprints", HammingTables.build),
        ("queries", tables.lookup),
        ("queries", tables.count),
        ("other", tables.join),
    ):
        with pytest.raises(ParameterError, match="must be a one-dimensional array of uint64") as caught:
            ask(given_words)
        assert caught.value.name == name


@pytest.mark.parametrize(
    ("options", "name", "rule"),
    [
        ({"distance": -1}, "distance", "must be an integer from 0 to 7"),
        ({"distance": 8}, "distance", "must be an integer from 0 to 7"),
        ({"distance": 3.0}, "distance", "must be an integer from 0 to 7"),
        ({"design": "blocks"}, "design", "must be a TableDesign or 'auto'"),
        ({"design": None}, "design", "must be a TableDesign or 'auto'"),
        ({"distance": 2, "design": CHOICES[-1]}, "design", "must be for distance 2"),
    ],
)
def test_a_broken_rule_is_named(options, name, rule):
    with pytest.raises(ParameterError) as caught:
        HammingTables.build(words([1]), **options)
    assert (caught.value.name, caught.value.rule) == (name, rule)


@pytest.mark.parametrize("shards", [None, 2])
def test_more_than_there_can_be_are_all(shards):
    tables = HammingTables.build(words([5, 5, 4]), shards=shards)
    assert tuples(tables.lookup(words([5]), first=2**70)) == [(0, 0, 0), (0, 1, 0), (0, 2, 1)]


@pytest.mark.parametrize("there", [[True], (True,), "x", np.ones(1), np.ones((1, 1), np.bool_)])
@pytest.mark.parametrize("shards", [None, 1])
def test_flags_are_an_array(there, shards):
    with pytest.raises(ParameterError, match=r"there.* must be 1 flags, one per fingerprint"):
        HammingTables.build(words([1]), shards=shards).lookup(words([1]), there=there)


@pytest.mark.parametrize("design", [None, "auto", 3])
def test_other_tables_need_a_design(design):
    with pytest.raises(ParameterError, match=r"design.* must be a TableDesign"):
        HammingTables.build(words([1])).redesigned(design)


@pytest.mark.parametrize("first", [0, -1, 1.5, True])
def test_at_least_one_is_asked_for(first):
    with pytest.raises(ParameterError, match="must be an integer of at least 1"):
        HammingTables.build(words([1])).lookup(words([1]), first=first)


def test_too_many_are_refused(monkeypatch):
    monkeypatch.setattr(tables, "MOST", 3)
    with pytest.raises(ParameterError, match="must be at most 3"):
        HammingTables.build(words([1, 2, 3, 4]))


def test_the_public_names():
    tables = neardup.hamming.HammingTables.build(
        words([1, 2]), design=neardup.hamming.TableDesign(kind="blocks", distance=3, pieces=5)
    )
    assert repr(tables) == "<HammingTables of 2 fingerprints, TableDesign(kind='blocks', distance=3, pieces=5)>"


def test_the_first_ones_in_dense_ranges_are_the_same(monkeypatch):
    random = np.random.default_rng(5)
    base = random.integers(0, 2**64, 2, np.uint64)
    fingerprints = changed(changed(base.repeat(150), 2, random), 1, random)
    index, there = HammingTables.build(fingerprints), random.random(len(fingerprints)) < 0.8
    queries = range(0, len(fingerprints), 7)
    nearest = {
        query: [own[1:] for own in near_pairs([fingerprints[query]], fingerprints, 3) if there[own[1]]]
        for query in queries
    }
    for dense in (0, entries.DENSE, MASK):
        monkeypatch.setattr(entries, "DENSE", dense)
        for first in (1, 5, 40):
            found = tuples(index.lookup(fingerprints, first=first, there=there))
            for query in queries:
                assert [own[1:] for own in found if own[0] == query] == nearest[query][:first]
