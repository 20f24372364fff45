import numpy as np
import pytest

import neardup
from neardup.errors import StorageRefused
from neardup.hamming import HammingTables

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


def families(seed, number):
    """Fingerprints, some of which differ from others in a few bits."""
    chance = np.random.default_rng(seed)
    heads = np.random.default_rng(1).integers(0, 2**64, 40, np.uint64)
    bits = np.uint64(1) << chance.integers(0, 64, (2, number), np.uint64)
    return chance.choice(heads, number) ^ bits[0] ^ bits[1]


def rows(frame):
    return sorted((row.left, row.right, row.distance) for row in frame.collect())


def pairs(found):
    return list(zip(*(column.tolist() for column in found), strict=True))


@pytest.mark.parametrize("shards", [1, 3])
def test_tables_are_joined_as_in_memory(spark, tmp_path, shards):
    one, other = families(2, 300), families(3, 200)
    HammingTables.build(one, distance=3, shards=shards).save(tmp_path / "one")
    HammingTables.build(other, distance=3, shards=2).save(tmp_path / "other")
    tables = HammingTables.build(one, distance=3)
    expected = pairs(tables.self_join())
    assert len(expected) > 100
    assert rows(neardup.spark.self_join_tables(tmp_path / "one", spark=spark)) == expected
    expected = pairs(tables.join(HammingTables.build(other, distance=3)))
    assert rows(neardup.spark.join_tables(tmp_path / "one", tmp_path / "other", spark=spark)) == expected


def test_folders_without_tables_are_refused(spark, tmp_path):
    with pytest.raises(StorageRefused, match="is not a folder"):
        neardup.spark.self_join_tables(tmp_path / "none", spark=spark)
