"""The costs of the parts of a lookup on this machine."""

from time import perf_counter
from typing import Final

import numpy as np

from neardup.kernels import hamming as kernels
from neardup.model.tables import BITS, Costs

TABLES: Final = 12
FEW, MANY = 4, 1024  # entries of a bucket
SMALL, LARGE = 1 << 19, 1 << 24  # entries of a table; twelve large ones take a gigabyte
QUERIES: Final = 4_000
REPEATS: Final = 5
SEED: Final = 1


def measured_costs() -> Costs:
    """Measure the costs of lookups on one core, in about a second, with up to a gigabyte of memory.

    Random lookups in tables of zeros are timed: small tables with few entries per bucket, and large ones with few and
    with many. The three costs follow from the least times and their differences.
    """
    queries = np.random.default_rng(SEED).integers(1, 2**BITS, (REPEATS, QUERIES), np.uint64)
    lows = np.zeros((TABLES, LARGE + kernels.BLOCK), np.uint32)
    lows.fill(0)  # untouched memory is not allocated yet
    large = _probe(queries, lows, FEW)
    crowded = _probe(queries, lows, MANY)
    small = _probe(queries, lows[:, : SMALL + kernels.BLOCK].copy(), FEW)
    size = lows.nbytes + lows.nbytes // FEW
    spread = max(0.0, large - small) / Costs(probe=0.0, spread=1.0).of_probe(size)
    compare = max(0.0, crowded - large) / (MANY - FEW)
    return Costs(probe=small, spread=spread, compare=compare)


def _probe(queries: np.ndarray, lows: np.ndarray, entries: int) -> float:
    """Return the least time of one lookup in one table, in microseconds."""
    buckets = (lows.shape[1] - kernels.BLOCK) // entries
    starts = np.tile(np.arange(buckets + 1, dtype=np.uint32) * np.uint32(entries), (TABLES, 1))
    bits = buckets.bit_length() - 1
    numbers = np.arange(TABLES)
    layout = (
        0,
        numbers[:, np.newaxis] * (BITS // TABLES),  # rotations, so that each table reads another bucket
        np.full((TABLES, 1), 2**BITS - 1, np.uint64),
        np.full(TABLES, 2**BITS - 1, np.uint64),
        np.zeros(TABLES, np.uint64),
        np.full(TABLES, bits),
        np.zeros(TABLES, np.uint64),
        np.arange(TABLES + 1),
    )
    highs = np.zeros((TABLES, buckets * entries, 1), np.uint8)
    times = []
    for some in queries:
        begin = perf_counter()
        kernels.search(some, layout, (bits, lows, highs, starts), starts[0, :0], None, kernels.NEVER)
        times.append(perf_counter() - begin)
    return min(times) / len(queries[0]) / TABLES * 1e6
