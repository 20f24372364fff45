"""What a scheme's parameters must reach, and in which collection."""

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from neardup.model.errors import is_number, plain_value, require, require_share, require_whole

_MANY: Final = 10**15


def require_background(background: Any, most: float, limit: str) -> Any:
    """Return a resemblance of unrelated documents.

    Raises ``ParameterError`` unless it is below *most*, in words the *limit*.
    """
    holds = is_number(background) and 0 <= background < most
    require(holds, "background", background, f"must be a number of at least 0 and {limit}")
    return plain_value(background)


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """What parameters must reach, and in which collection.

    A pair whose resemblance is *threshold* must be found with a probability of at least *recall*. A pair whose
    resemblance is *apart* (default: half the threshold) may become a candidate with a probability of at most
    *false_rate*; ``None`` allows any. Costs are estimated for *documents* documents; any two unrelated ones have the
    resemblance *background*. Each scheme reads these values in its own measure: SimHash as cosines.
    """

    threshold: float
    recall: float
    false_rate: float | None = None
    documents: int = 1_000_000
    apart: float | None = None
    background: float = 0.05

    def __post_init__(self) -> None:
        false_rate = self.false_rate
        threshold = require_share("threshold", self.threshold)
        recall = require_share("recall", self.recall, below_one=True)
        if false_rate is not None:
            false_rate = require_share("false_rate", false_rate, below_one=True)
        documents = require_whole("documents", self.documents, 1, _MANY)
        limit = f"below the threshold, {threshold}"
        apart: Any = threshold / 2 if self.apart is None else self.apart
        between = is_number(apart) and 0 < apart < threshold
        require(between, "apart", apart, f"must be a number above 0 and {limit}")
        background = require_background(self.background, threshold, limit)
        numbers = (threshold, recall, false_rate, documents, plain_value(apart), background)
        for part, number in zip(fields(self), numbers, strict=True):
            object.__setattr__(self, part.name, number)

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The three values that matter: threshold, apart, background."""
        return np.array([self.threshold, self.apart, self.background], np.float64)
