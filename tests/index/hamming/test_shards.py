"""Shards answer as the unsharded tables and the definition do, and never need the memory of all tables."""

import subprocess
import sys
import textwrap
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from near_pairs import near_pairs, tuples

from neardup.hamming import HammingTables, ShardedTables, TableDesign
from neardup.index.hamming import tables as tables_module
from neardup.model.errors import ParameterError, StorageDamaged, StorageFailed, StorageRefused

DESIGNS = [design for distance in (0, 1, 3, 7) for design in TableDesign.choices(distance)]


def population(number):
    """Random fingerprints, some of them near or equal to others in any part of the array."""
    random = np.random.default_rng(number)
    base = random.integers(0, 2**64, -(-number // 3), np.uint64)
    near = base ^ (np.uint64(1) << random.integers(0, 64, len(base), np.uint64))
    return random.permutation(np.concatenate([base, near, base]))[:number]


def agree(tables, fingerprints, queries, distance):
    expected = near_pairs(queries, fingerprints, distance)
    plain = HammingTables.build(fingerprints, distance)
    assert tuples(tables.lookup(queries)) == tuples(plain.lookup(queries)) == expected
    for first in (1, 2):
        assert tuples(tables.lookup(queries, first)) == tuples(plain.lookup(queries, first))
    there = np.arange(len(fingerprints)) % 3 > 0
    assert tuples(tables.lookup(queries, there=there)) == [pair for pair in expected if there[pair[1]]]
    assert tables.count(queries).tolist() == plain.count(queries).tolist()
    assert tuples(tables.self_join()) == [
        pair for pair in near_pairs(fingerprints, fingerprints, distance) if pair[0] < pair[1]
    ]
    assert tuples(tables.join(queries)) == near_pairs(fingerprints, queries, distance)
    assert (len(tables), tables.distance) == (len(fingerprints), distance)


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_every_design_answers_as_unsharded(tmp_path, design, compressed):
    fingerprints = population(30)
    queries = np.concatenate([fingerprints[::9], ~fingerprints[:3]])
    tables = HammingTables.build(fingerprints, design.distance, design, compressed=compressed, shards=4)
    tables.save(tmp_path / "tables")
    for own in (tables, ShardedTables.open(tmp_path / "tables")):
        agree(own, fingerprints, queries, design.distance)


@settings(max_examples=25)
@given(st.integers(0, 30), st.integers(1, 40), st.integers(0, 7), st.integers(1, 9))
def test_any_number_of_shards(number, shards, distance, others):
    fingerprints, more = population(number), population(20)
    tables = HammingTables.build(fingerprints, distance, shards=shards)
    agree(tables, fingerprints, more, distance)
    expected = near_pairs(fingerprints, more, distance)
    assert tuples(tables.join(HammingTables.build(more, 0))) == expected
    assert tuples(tables.join(HammingTables.build(more, distance, shards=others))) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_join_needs_the_memory_of_a_shard(tmp_path):
    """Anonymous memory is limited to less than the files of the tables, which no unsharded index can be built in."""
    script = """
        import resource, sys
        import numpy as np
        from neardup.hamming import HammingTables, ShardedTables, TableDesign
        folder, design = sys.argv[1], TableDesign(kind="blocks", distance=3, pieces=5)
        random = np.random.default_rng(1)
        HammingTables.build(random.integers(0, 2**64, 99, np.uint64), 3, design, shards=2).save(folder + "/few")
        ShardedTables.open(folder + "/few").self_join()
        fingerprints = random.integers(0, 2**64, 500_000, np.uint64)
        fingerprints[-1000:] = fingerprints[:1000]
        used = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData")) << 10
        resource.setrlimit(resource.RLIMIT_DATA, (used + (20 << 20), -1))
        try:
            HammingTables.build(fingerprints, 3, design)
        except MemoryError:
            print("no memory")
        HammingTables.build(fingerprints, 3, design, shards=8).save(folder + "/many")
        i, j, distance = ShardedTables.open(folder + "/many").self_join()
        print(sorted(zip(i.tolist(), j.tolist())) == [(k, 499_000 + k) for k in range(1000)], distance.sum())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), tmp_path], check=True, capture_output=True, text=True
    )
    assert done.stdout == "no memory\nTrue 0\n"
    assert sum(file.stat().st_size for file in (tmp_path / "many").iterdir()) > 30 << 20


def test_the_working_directory_may_change(tmp_path, monkeypatch):
    fingerprints = population(20)
    monkeypatch.chdir(tmp_path)
    HammingTables.build(fingerprints, shards=3).save("tables")
    tables = ShardedTables.open("tables")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir("other")
    assert tables.count(fingerprints).tolist() == HammingTables.build(fingerprints).count(fingerprints).tolist()


def test_an_incomplete_folder_is_refused(tmp_path):
    HammingTables.build(population(20), shards=3).save(tmp_path / "tables")
    with pytest.raises(StorageRefused, match="is not empty"):
        HammingTables.build(population(20), shards=3).save(tmp_path / "tables")
    (tmp_path / "tables/00002-of-00003.tables").rename(tmp_path / "last")
    with pytest.raises(StorageRefused, match="must contain all shards of one index, and no other file"):
        ShardedTables.open(tmp_path / "tables")
    HammingTables.build(population(20), 1).save(tmp_path / "tables/00002-of-00003.tables")
    with pytest.raises(StorageDamaged, match=r"00002-of-00003\.tables is not this shard of this index"):
        ShardedTables.open(tmp_path / "tables")
    for path in (tmp_path / "missing", tmp_path / "last"):
        with pytest.raises(StorageRefused, match="is not a folder"):
            ShardedTables.open(path)


def test_shards_that_are_exchanged_or_of_another_index_are_refused(tmp_path):
    for name in ("tables", "others"):
        HammingTables.build(population(20), shards=3).save(tmp_path / name)
    first, second = (tmp_path / f"tables/0000{number}-of-00003.tables" for number in (0, 1))
    content = first.read_bytes(), second.read_bytes()
    first.write_bytes(content[1])
    second.write_bytes(content[0])
    with pytest.raises(StorageDamaged, match=r"00000-of-00003\.tables is not this shard of this index"):
        ShardedTables.open(tmp_path / "tables")
    first.write_bytes(content[0])
    second.write_bytes((tmp_path / "others" / second.name).read_bytes())
    with pytest.raises(StorageDamaged, match=r"00001-of-00003\.tables is not this shard of this index"):
        ShardedTables.open(tmp_path / "tables")


def test_after_an_error_the_folder_is_empty(tmp_path, monkeypatch):
    saved = HammingTables.save

    def full(self, path, part):
        if path.name.startswith("00002"):
            raise StorageFailed(str(path), "No space left on device")
        saved(self, path, part=part)

    monkeypatch.setattr(HammingTables, "save", full)
    with pytest.raises(StorageFailed):
        HammingTables.build(population(20), shards=3).save(tmp_path / "tables")
    assert list((tmp_path / "tables").iterdir()) == []


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: HammingTables.build(population(9), shards=0), "shards"),
        (lambda: HammingTables.build(population(9), shards=2.5), "shards"),
        (lambda: HammingTables.build([1.5], shards=2), "fingerprints"),
        (lambda: HammingTables.build(population(9), 8, shards=2), "distance"),
        (lambda: HammingTables.build(population(9), shards=2).lookup(population(3), there=np.ones(8, bool)), "there"),
        (lambda: HammingTables.build(population(9), shards=2).lookup(population(3), 0), "first"),
        (lambda: ShardedTables.open(""), "path"),
    ],
)
def test_a_broken_rule_is_named(call, name):
    with pytest.raises(ParameterError) as caught:
        call()
    assert caught.value.name == name


def test_only_a_shard_is_limited(monkeypatch):
    monkeypatch.setattr(tables_module, "MOST", 3)
    with pytest.raises(ParameterError, match="must be at most 6"):
        HammingTables.build(population(7), shards=2)
    assert len(HammingTables.build(population(6), shards=2)) == 6


def test_the_name_of_tables():
    tables = HammingTables.build(population(6), design=TableDesign(kind="blocks", distance=3, pieces=5), shards=2)
    assert repr(tables) == (
        "<ShardedTables of 6 fingerprints in 2 shards, TableDesign(kind='blocks', distance=3, pieces=5)>"
    )


def test_the_parts_of_a_join_are_the_whole_join(tmp_path):
    one, other = population(200), population(90)
    tables = HammingTables.build(one, 3, shards=3)
    tables.save(tmp_path / "one")
    tables, second = (
        ShardedTables.open(tmp_path / "one"),
        HammingTables.build(other, design=TableDesign(kind="blocks", distance=3, pieces=5), shards=2),
    )
    parts = [tuples(tables.join_part(*part)) for part in product(range(3), [second], range(2))]
    assert sorted(pair for part in parts for pair in part) == tuples(tables.join(second)) == near_pairs(one, other, 3)
    parts = [tuples(tables.join_part(i, None, j)) for i, j in combinations_with_replacement(range(3), 2)]
    assert sorted(pair for part in parts for pair in part) == tuples(tables.self_join())
    none = HammingTables.build(population(0), 3, shards=1)
    assert [tuples(tables.join_part(shard, none, 0)) for shard in range(3)] == [[]] * 3


def test_tables_are_joined_with_shards():
    one, other = population(200), population(90)
    tables, shards = HammingTables.build(one, 3), HammingTables.build(other, 3, shards=2)
    assert tuples(tables.join(shards)) == near_pairs(one, other, 3)
    assert tuples(shards.join(tables)) == near_pairs(other, one, 3)


def test_what_cannot_be_joined_is_named():
    for tables in (HammingTables.build(population(9)), HammingTables.build(population(9), shards=2)):
        for wrong in ([1.5], "x", None):
            with pytest.raises(ParameterError, match="must be a one-dimensional array of uint64") as caught:
                tables.join(wrong)
            assert caught.value.name == "other"
    with pytest.raises(ParameterError, match="compressed='no'"):
        HammingTables.build(population(9), compressed="no")
