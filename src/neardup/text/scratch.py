"""Arrays that a thread uses again for every batch, because allocating memory takes longer than the work."""

from threading import local
from typing import Any, Final

import numpy as np
import numpy.typing as npt

KEPT: Final = 1 << 25  # bytes; a larger array, for a single huge document, is not kept

_arrays = local()


def scratch(purpose: str, size: int, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """Return *size* uninitialised elements, valid until this thread requests the same purpose again."""
    kept: npt.NDArray[Any] | None = getattr(_arrays, purpose, None)
    if kept is None or len(kept) < size:
        kept = np.empty(size, dtype)
        if kept.nbytes <= KEPT:
            setattr(_arrays, purpose, kept)
    return kept[:size]
