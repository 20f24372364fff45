"""A scheme's rule for hits in rank order."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.model.arrays import Positions


class RankedRule(NamedTuple):
    """A scheme's rule for hits in rank order: a kernel of ``neardup.kernels.collapse``, the rows, and its terms."""

    kernel: Callable[..., tuple[int, int]]
    rows: npt.NDArray[Any]
    terms: Positions


@lru_cache(maxsize=1024)
def whole_term(number: int) -> Positions:
    """Return the argument of a rule's kernel for a single number."""
    return np.array([number])
