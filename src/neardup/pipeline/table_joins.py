"""Joins of saved fingerprint tables, shard by shard, on the executors of a Spark session."""

from collections.abc import Sequence
from functools import partial
from itertools import combinations_with_replacement, product
from typing import Any, Final

import pyarrow as pa

from neardup.engines.spark import SparkExecutors
from neardup.index.hamming.shards import ShardedTables
from neardup.model.errors import require_path
from neardup.sources.formats import AnyPath

_COLUMNS: Final = "left long, right long, distance int"


def self_join_tables(path: AnyPath, *, spark: Any = None) -> Any:
    """Return all pairs of near fingerprints of a folder of saved shards, as a Spark DataFrame.

    Its columns are ``left`` and ``right``, two positions with left < right, and ``distance``: the rows of
    ``ShardedTables.self_join``, in any order. The executors must see the folder at the same path as this process. Each
    pair of shards is a task. Raises the errors of ``ShardedTables.open``, and
    ``ExtraMissing`` without PySpark.
    """
    folder = _folder(path)
    number = len(ShardedTables.open(folder).shards)
    parts = [*combinations_with_replacement(range(number), 2)]
    return SparkExecutors(spark).rows(partial(_joined, folder, None, parts), len(parts), _COLUMNS)


def join_tables(path: AnyPath, other: AnyPath, *, spark: Any = None) -> Any:
    """Return the pairs of near fingerprints of two folders of saved shards, as a Spark DataFrame.

    ``left`` is a position in the first folder, ``right`` one in the *other*: the rows of ``ShardedTables.join``, in any
    order. Everything else is as in ``self_join_tables``.
    """
    folder, second = _folder(path), _folder(other)
    one, two = (range(len(ShardedTables.open(each).shards)) for each in (folder, second))
    parts = [*product(one, two)]
    return SparkExecutors(spark).rows(partial(_joined, folder, second, parts), len(parts), _COLUMNS)


def _folder(path: AnyPath) -> str:
    return str(require_path("path", path).absolute())


def _joined(folder: str, other: str | None, parts: Sequence[tuple[int, int]], task: int) -> pa.Table:
    number, place = parts[task]
    second = None if other is None else ShardedTables.open(other)
    left, right, distances = ShardedTables.open(folder).join_part(number, second, place)
    return pa.table({"left": left, "right": right, "distance": distances.astype("int32")})
