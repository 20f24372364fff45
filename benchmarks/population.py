"""Fingerprints that tables are measured with: random ones, among which near ones are planted, and queries."""

from pathlib import Path
from typing import Final

import numpy as np

from corpus import CACHE

FOLDER: Final = CACHE / "fingerprints"
NUMBER: Final = 20_000_000
QUERIES: Final = 100_000
JOINED: Final = 1_000_000
DISTANCE: Final = 3
PLANTED: Final = 0.01  # of the fingerprints are within the distance of another one
SEED: Final = 7


def population(number: int = NUMBER) -> tuple[np.ndarray, np.ndarray]:
    """Make fingerprints, and queries of which every other one is near a fingerprint."""
    random = np.random.default_rng(SEED)
    fingerprints = random.integers(0, 2**64, number, np.uint64)
    copies = int(number * PLANTED)
    places = random.permutation(number)[: 2 * copies]
    fingerprints[places[:copies]] = changed(fingerprints[places[copies:]], random)
    queries = random.integers(0, 2**64, QUERIES, np.uint64)
    queries[::2] = changed(fingerprints[random.integers(0, number, QUERIES // 2)], random)
    return fingerprints, queries


def changed(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Flip 1 to 3 bits of each value."""
    thirds = np.array([[0], [21], [42]], np.uint64)
    flips = np.uint64(1) << (thirds + random.integers(0, 21, (DISTANCE, len(values)), np.uint64))
    flips[1:][random.random((DISTANCE - 1, len(values))) < 1 / 2] = 0
    return values ^ np.bitwise_xor.reduce(flips)


def stored() -> Path:
    """Write the population where peers can read it, once."""
    if not (FOLDER / "queries.npy").exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        fingerprints, queries = population()
        np.save(FOLDER / "fingerprints.npy", fingerprints)
        np.save(FOLDER / "queries.npy", queries)
    return FOLDER
