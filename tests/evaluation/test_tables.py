import json

import numpy as np
import pytest

from neardup.evaluation.tables import plan_tables
from neardup.model.errors import ParameterError
from neardup.model.tables import Costs, TableDesign


@pytest.mark.parametrize("distance", range(8))
def test_numbers_are_the_models(distance):
    costs = Costs(probe=0.2, spread=0.1, compare=0.003)
    plan = plan_tables(5_000_000, distance, costs=costs)
    assert plan.left_out == 0
    assert len(plan.designs) == len([*TableDesign.choices(distance)])
    assert [one.microseconds for one in plan.designs] == sorted(one.microseconds for one in plan.designs)
    for one in plan.designs:
        design = TableDesign(kind=one.kind, distance=distance, pieces=one.pieces)
        assert one.tables == len(design.tables)
        assert one.candidates == design.candidates(5_000_000)
        assert one.bytes == one.bytes_each * 5_000_000 == design.bytes_each(5_000_000) * 5_000_000
        assert one.microseconds == design.microseconds(5_000_000, costs)
        assert one.chosen == (design == TableDesign.choose(distance=distance, fingerprints=5_000_000, costs=costs))
    assert sum(one.chosen for one in plan.designs) == 1


def test_memory_leaves_out_what_does_not_fit():
    whole, some = plan_tables(20_000_000), plan_tables(20_000_000, memory=10**9)
    assert {one.bytes <= 10**9 for one in some.designs} == {True}
    assert len(some.designs) + some.left_out == len(whole.designs)
    assert f"Not listed: {some.left_out}, which do not fit" in str(some).splitlines()
    assert "Not listed" not in str(whole)
    assert "in at most 1 GB" in some.heading
    with pytest.raises(ParameterError, match="must be at least 353,554,440 bytes"):
        plan_tables(20_000_000, memory=1000)


def test_the_table_is_for_people():
    lines = str(plan_tables(2**34)).splitlines()
    assert plan_tables(1).heading == "Designs for 1 fingerprint within distance 3; fastest first"
    assert lines[0] == "Designs for 17,179,869,184 fingerprints within distance 3; fastest first"
    (classic,) = (line.split() for line in lines if line.startswith("blocks") and line.split()[2] == "10")
    assert classic[:8] == ["blocks", "5", "10", "25-26", "10", "256-512", "3,584", "55.3"]
    assert classic[-1] == "chosen"


def test_json_has_everything():
    shown = json.loads(json.dumps(plan_tables(1000).as_dict(), allow_nan=False))
    assert shown["fingerprints"] == 1000
    assert shown["costs"] == {"probe": 0.05, "spread": 0.03, "compare": 0.0005}
    assert {one["kind"] for one in shown["designs"]} == {"blocks", "nested", "probes"}


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"fingerprints": 0}, "fingerprints"),
        ({"fingerprints": 2**60}, "fingerprints"),
        ({"fingerprints": 1.5}, "fingerprints"),
        ({"fingerprints": 5, "distance": 8}, "distance"),
        ({"fingerprints": 5, "memory": 0}, "memory"),
        ({"fingerprints": 5, "memory": float("nan")}, "memory"),
    ],
)
def test_a_broken_rule_is_named(options, name):
    with pytest.raises(ParameterError) as caught:
        plan_tables(**options)
    assert caught.value.name == name


def test_more_fingerprints_than_an_index_has_are_divided():
    words = "An index has at most 2^30 fingerprints: divide these into at least 8 shards"
    assert words in str(plan_tables(8 * 10**9))
    assert "machine" not in str(plan_tables(1 << 30))


def test_a_machine_looks_up_in_all_its_shards():
    plan = plan_tables(8 * 10**9)
    for one in plan.designs:
        design = TableDesign(kind=one.kind, distance=3, pieces=one.pieces)
        assert (one.machines, one.shards) == (1, 8)
        assert one.bytes == 8 * 10**9 * design.bytes_each(10**9)
        assert one.microseconds == 8 * design.microseconds(10**9)
        assert one.chosen == (design == TableDesign.choose(distance=3, fingerprints=10**9))  # as a build in 8 shards
    assert plan.left_out == 0


@pytest.mark.parametrize("memory", [14e9, 64e9, 500e9])
def test_shards_are_divided_among_the_fewest_machines(memory):
    number = 8 * 10**9
    plan = plan_tables(number, memory=memory)
    assert f"on machines of {memory / 1e9:.0f} GB" in plan.heading
    for one in plan.designs:
        design = TableDesign(kind=one.kind, distance=3, pieces=one.pieces)

        def sizes(machines, design=design):
            part = -(-number // machines)
            fewest = -(-part // (1 << 30))
            for shards in range(fewest, 4 * fewest + 1):
                yield shards, shards * -(-part // shards) * design.bytes_each(-(-part // shards))

        shards = next(shards for shards, size in sizes(one.machines) if size <= memory)
        assert one.shards == shards * one.machines
        assert not any(size <= memory for machines in range(1, one.machines) for _, size in sizes(machines))
    assert sum(one.chosen for one in plan.designs) == 1
    with pytest.raises(ParameterError, match="must be at least 44 bytes"):
        plan_tables(number, memory=1)


def test_numbers_of_numpy_are_plain_in_json():
    costs = Costs(probe=np.float32(0.1), spread=np.int64(0))
    found = plan_tables(1000, memory=np.float32(1e9), costs=costs).as_dict()
    assert (found["memory"], found["costs"]["probe"], found["costs"]["spread"]) == (1e9, 0.1, 0)


def test_sizes_are_rounded_to_the_next_unit():
    assert "in at most 1 MB;" in str(plan_tables(10, memory=999_600))


def test_more_machines_do_not_always_need_less_memory_each():
    fingerprints, memory = 15_470_091_007, 1_120_738_970
    plan = plan_tables(fingerprints, memory=memory)
    (one,) = (one for one in plan.designs if (one.kind, one.pieces) == ("probes", 2))
    design = TableDesign(kind="probes", distance=3, pieces=2)
    sizes = {machines: -(-fingerprints // machines) for machines in (219, 220, 234)}
    fits = {machines: size * design.bytes_each(size) <= memory for machines, size in sizes.items()}
    assert (one.machines, fits) == (220, {219: False, 220: True, 234: False})
