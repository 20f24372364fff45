"""Texts to features: the hashes of their shingles."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from neardup.kernels import shingles
from neardup.model.arrays import Features, Positions, TextBatch, Words
from neardup.model.errors import DataError, require, require_whole
from neardup.model.recipe import Hashing, RecipeId, recipe_id
from neardup.text.analysis import Analysis
from neardup.text.columns import batches, text_column
from neardup.text.tokenizer import tokenizer

_BYTES_PER_TOKEN: Final = 6  # of English text, its space included; a guess that only saves growing


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
        require(isinstance(self.bag, bool), "bag", self.bag, "must be True or False")
        object.__setattr__(self, "size", require_whole("shingle", self.size, 1, 1000))

    @property
    def identity(self) -> dict[str, Any]:
        """What enters the recipe id."""
        return {
            "analysis": self.analysis.identity,
            "shingle": self.size,
            "bag": self.bag,
            "hashing": self.hashing.identity,
        }

    @property
    def recipe(self) -> RecipeId:
        """The name that features carry."""
        return recipe_id(shingling=self.identity)

    def require_own(self, features: Features) -> None:
        """Raise ``DataError`` for features that another shingling made; those of unknown origin are taken."""
        if features.recipe not in {None, self.recipe}:
            raise DataError("features", f"were made by recipe {features.recipe}, and {self.recipe} is needed")

    def features(self, texts: Any) -> Features:
        """Hash the shingles of a text column (see ``text_column``); nulls and short texts have none."""
        column = text_column(texts)
        buffer = FeatureBuffer(column.nbytes)
        for batch in batches(column):
            buffer.append(self.batch_features(batch))
        return buffer.features()

    def batch_features(self, batch: TextBatch) -> Features:
        """Hash the shingles of one batch."""
        tokens = tokenizer(self.analysis, self.hashing).lent(batch)
        values = np.empty(len(tokens.values), np.uint64)
        bounds = np.empty(len(tokens) + 1, np.int64)
        count = shingles.shingles(tokens.values, tokens.offsets, self.size, values, bounds)
        if self.bag:
            shingles.label_repeats(values, bounds)
        return Features(values[:count], bounds, self.recipe)


class FeatureBuffer:
    """Collects batches of features in one growing array.

    One large array, written once, is faster than many small ones joined at the end: the system
    hands out memory for it in large pages.
    """

    def __init__(self, text_bytes: int) -> None:
        self._values: Words = np.empty(text_bytes // _BYTES_PER_TOKEN + 1, np.uint64)
        self._offsets: list[Positions] = []
        self._size = 0
        self._recipe: RecipeId | None = None

    def append(self, features: Features) -> None:
        """Copy one batch behind the others, all of one recipe."""
        end = self._size + len(features.values)
        if end > len(self._values):
            larger = np.empty(end + end // 2, np.uint64)
            larger[: self._size] = self._values[: self._size]
            self._values = larger
        self._values[self._size : end] = features.values
        self._offsets.append(features.offsets[:-1] + self._size)
        self._recipe = features.recipe
        self._size = end

    def features(self) -> Features:
        """Give everything collected, in order."""
        offsets = np.concatenate([*self._offsets, np.array([self._size])])
        return Features(self._values[: self._size], offsets, self._recipe)
