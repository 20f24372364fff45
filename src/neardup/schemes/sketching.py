"""The hash functions of Fast Similarity Sketching."""

from functools import lru_cache

import numpy as np

from neardup.model.arrays import Words
from neardup.model.recipe import Hashing


@lru_cache(maxsize=32)
def rounds(hashing: Hashing, purpose: str, bins: int) -> tuple[Words, Words]:
    """Return the odd multipliers and the addends of the ``2 * bins`` rounds (see ``neardup.kernels.minhash``)."""
    numbers = np.frombuffer(hashing.derive(purpose, 32 * bins), "<u8").astype(np.uint64)
    return numbers[: 2 * bins] | np.uint64(1), numbers[2 * bins :].copy()
