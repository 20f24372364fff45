"""What a scheme's parameters must reach, and in what collection."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from neardup.model.errors import is_share, require, require_whole

_MANY: Final = 10**15


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """What parameters must reach, and in what collection.

    A pair whose resemblance is *threshold* must be found with probability *recall* at least. A pair whose resemblance
    is *apart* (default: half the threshold) may become a candidate with probability *false_rate* at most; None allows
    any. Costs are those among *documents* documents, of which any two that have nothing to do with each other
    resemble each other by *background*. Each scheme reads these values in its own measure: SimHash as cosines.
    """

    threshold: float
    recall: float
    false_rate: float | None = None
    documents: int = 1_000_000
    apart: float | None = None
    background: float = 0.05

    def __post_init__(self) -> None:
        require(is_share(self.threshold), "threshold", self.threshold, "must be above 0 and at most 1")
        require(is_share(self.recall) and self.recall < 1, "recall", self.recall, "must be above 0 and below 1")
        if self.false_rate is not None:
            fits = is_share(self.false_rate) and self.false_rate < 1
            require(fits, "false_rate", self.false_rate, "must be above 0 and below 1")
        require_whole("documents", self.documents, 1, _MANY)
        rule = f"must be above 0 and below the threshold, {self.threshold}"
        if self.apart is None:
            object.__setattr__(self, "apart", self.threshold / 2)
        require(is_share(self.apart) and self.apart < self.threshold, "apart", self.apart, rule)  # type: ignore[operator]  # a number
        below = self.background == 0 or (is_share(self.background) and self.background < self.threshold)
        require(below, "background", self.background, rule.replace("above 0", "0 or more"))

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The three values that matter: threshold, apart, background."""
        return np.array([self.threshold, self.apart, self.background], np.float64)
