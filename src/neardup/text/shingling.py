"""Shingling: from texts to features, the hashes of their shingles."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from neardup.kernels import shingles
from neardup.model.arrays import Features, Positions, TextBatch, Words
from neardup.model.errors import DataError, require, require_flag, require_whole
from neardup.model.recipe import Hashing, RecipeId, recipe_id
from neardup.text.analysis import Analysis
from neardup.text.columns import batches, text_column
from neardup.text.common_shingles import CommonShingles
from neardup.text.tokenizer import tokenizer

_FILTER: Final = (1 << 17) - 1  # words of a filter, which then fits into a cache
_BYTES_PER_WORD: Final = 4  # the fewest bytes of a word of an alphabet, with its space; untouched memory costs nothing


@dataclass(frozen=True, kw_only=True)
class Shingling:
    """Every run of *size* consecutive tokens of a text, as one 64-bit hash each.

    In a set, a shingle counts once. In a *bag*, its n-th repeat is a feature of its own (Broder's labelled shingles). A
    text of fewer than *size* tokens has one shingle, all of its tokens, which differs from every shingle of a longer
    text; a text without tokens has none. ``neardup.kernels.tokens`` and ``neardup.kernels.shingles`` define the hash
    functions.

    Shingles listed in *common* are not features; if a text has no others, one feature represents them together (see
    ``CommonShingles``).
    """

    analysis: Analysis = field(default_factory=Analysis)
    size: int = 3
    bag: bool = False
    hashing: Hashing = field(default_factory=Hashing)
    common: CommonShingles | None = None

    def __post_init__(self) -> None:
        require(isinstance(self.analysis, Analysis), "analysis", self.analysis, "must be an Analysis")
        require_flag("bag", self.bag)
        object.__setattr__(self, "size", require_whole("shingle", self.size, 1, 1000))
        if self.common is not None:
            require(isinstance(self.common, CommonShingles), "common", self.common, "must be a CommonShingles")
            rule = "must be made with the same analysis, shingle, and seed or key as the scheme has"
            require(self.common.shingling == self.plain.recipe, "common", self.common, rule)

    @property
    def plain(self) -> "Shingling":
        """The same shingles as a set, without a list: lists of common shingles are made of these."""
        return replace(self, bag=False, common=None)

    @property
    def identity(self) -> dict[str, Any]:
        """What enters the recipe id."""
        return {
            "analysis": self.analysis.identity,
            "shingle": self.size,
            "bag": self.bag,
            "hashing": self.hashing.identity,
            **({"common": self.common.identity} if self.common is not None else {}),
        }

    @cached_property  # cached, because every batch needs it
    def recipe(self) -> RecipeId:
        """The id of the shingling, which features carry."""
        return recipe_id(shingling=self.identity)

    def require_own(self, features: Features) -> None:
        """Raise ``DataError`` for features that another shingling made; those of unknown origin are accepted."""
        if features.recipe not in {None, self.recipe}:
            rule = f"were made by the recipe {features.recipe}; this scheme requires {self.recipe}"
            raise DataError("features", rule)

    def features(self, texts: Any) -> Features:
        """Hash the shingles of a text column (see ``text_column``); nulls and texts without tokens have none."""
        column = text_column(texts)
        buffer = FeatureBuffer(self.usual_features(column.nbytes))
        for batch in batches(column):
            buffer.append(self.batch_features(batch))
        return buffer.features()

    def usual_features(self, text_bytes: int) -> int:
        """Return how many features texts of *text_bytes* bytes usually have at most: 1 byte per letter, 4 per word."""
        return text_bytes // (1 if self.analysis.unit == "letter" else _BYTES_PER_WORD) + 1

    def batch_features(self, batch: TextBatch) -> Features:
        """Hash the shingles of one batch."""
        tokens = self.tokens(batch)
        values = np.empty(len(tokens.values), np.uint64)
        bounds = np.empty(len(tokens) + 1, np.int64)
        count = shingles.shingles(tokens.values, tokens.offsets, self.size, values, bounds)
        if self.common is not None:
            count = self.common.leave_out(values, bounds)
        if self.bag:
            shingles.label_repeats(values, bounds)
        return Features(values[:count], bounds, self.recipe)

    def tokens(self, batch: TextBatch) -> Features:
        """Return the token hashes of one batch, valid until this thread tokenises again."""
        return tokenizer(self.analysis, self.hashing).lent(batch)

    def features_among(self, tokens: Features, wanted: Words) -> Features:
        """Hash the shingles of a batch of *tokens* that pass a filter, *wanted*, of ``shingle_filter``.

        A few of them are not among those that the filter was made of. Lists of common shingles and bags do not matter.
        """
        values = np.empty(len(tokens.values) + 1, np.uint64)
        bounds = np.empty(len(tokens) + 1, np.int64)
        count = shingles.filtered(tokens.values, tokens.offsets, self.size, wanted, values, bounds)
        return Features(values[:count], bounds)


def shingle_filter(values: Words) -> Words:
    """Return a filter for ``features_among`` that these shingles pass: 16 to 32 bits per shingle, but at most 1 MiB."""
    words = 1 << min(_FILTER, len(values) // 4).bit_length()
    bits = np.zeros(words, np.uint64)
    shingles.enter(values, bits)
    return bits


class FeatureBuffer:
    """Collects batches of features in one large array.

    One array, written once, is faster than many small ones joined at the end, because the system allocates it in large
    pages. Only if a text has more shingles than expected are there more arrays to join.
    """

    def __init__(self, room: int) -> None:
        self._full: list[Words] = []
        self._values: Words = np.empty(room, np.uint64)
        self._used = 0  # elements used in the last array
        self._offsets: list[Positions] = []
        self._size = 0
        self._recipe: RecipeId | None = None

    def room(self, features: Features) -> Words:
        """Return the place for the values of one more batch, which any thread may fill."""
        number = len(features.values)
        if self._used + number > len(self._values):
            self._full.append(self._values[: self._used])
            self._values, self._used = np.empty(number + self._size // 2, np.uint64), 0
        begin, self._used = self._used, self._used + number
        self._offsets.append(features.offsets[:-1] + self._size)
        self._size += number
        self._recipe = features.recipe
        return self._values[begin : self._used]

    def append(self, features: Features) -> None:
        """Copy one batch to the end; all batches have one recipe."""
        np.copyto(self.room(features), features.values)

    def features(self) -> Features:
        """Return all collected features, in order; all rooms must be filled. More may be collected after that."""
        if self._full:
            joined = np.empty(self._size + self._size // 2, np.uint64)  # so that joining again and again is rare
            np.concatenate([*self._full, self._values[: self._used]], out=joined[: self._size])
            self._full, self._values, self._used = [], joined, self._size
        offsets = np.concatenate([*self._offsets, np.array([self._size])])
        return Features(self._values[: self._used], offsets, self._recipe)
