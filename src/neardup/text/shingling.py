"""Texts to features: the hashes of their shingles."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neardup.kernels import shingles
from neardup.model.arrays import Features, TextBatch
from neardup.model.errors import require
from neardup.model.recipe import Hashing
from neardup.text.analysis import Analysis
from neardup.text.columns import batches, text_column
from neardup.text.tokenizer import tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Shingling:
    """Every run of *size* consecutive tokens of a text, as one 64-bit hash each.

    As a set, a shingle counts once. As a *bag*, its n-th repeat is a feature of its own (Broder's
    labelled shingles). Fewer than *size* tokens have no shingle. The exact hash functions are
    stated in ``neardup.kernels.tokens`` and ``neardup.kernels.shingles``.
    """

    analysis: Analysis = field(default_factory=Analysis)
    size: int = 3
    bag: bool = False
    hashing: Hashing = field(default_factory=Hashing)

    def __post_init__(self) -> None:
        require(isinstance(self.analysis, Analysis), "analysis", self.analysis, "must be an Analysis")
        whole = isinstance(self.size, int) and not isinstance(self.size, bool)
        require(whole and 1 <= self.size <= 1000, "shingle", self.size, "must be an integer from 1 to 1000")  # noqa: PLR2004

    @property
    def identity(self) -> dict[str, Any]:
        """What enters the recipe id."""
        return {
            "analysis": self.analysis.identity,
            "shingle": self.size,
            "bag": self.bag,
            "hashing": self.hashing.identity,
        }

    def features(self, texts: Any) -> Features:
        """Hash the shingles of a text column (see ``text_column``); nulls and short texts have none."""
        return joined([self.batch_features(batch) for batch in batches(text_column(texts))])

    def batch_features(self, batch: TextBatch) -> Features:
        """Hash the shingles of one batch."""
        tokens = tokenizer(self.analysis, self.hashing)(batch)
        values = np.empty(len(tokens.values), np.uint64)
        bounds = np.empty(len(tokens) + 1, np.int64)
        count = shingles.shingles(tokens.values, tokens.offsets, self.size, values, bounds)
        if self.bag:
            shingles.label_repeats(values, bounds)
        return Features(values[:count], bounds)


def joined(parts: list[Features]) -> Features:
    """Put batches of features one behind the other."""
    if not parts:
        return Features(np.empty(0, np.uint64), np.zeros(1, np.int64))
    starts = np.cumsum([0, *(len(part.values) for part in parts)])
    offsets = [part.offsets[:-1] + start for part, start in zip(parts, starts[:-1], strict=True)]
    return Features(np.concatenate([part.values for part in parts]), np.concatenate([*offsets, starts[-1:]]))
