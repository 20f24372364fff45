"""Broder's resemblance, estimated from minima."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from neardup.kernels import minhash as kernels
from neardup.model.arrays import (
    AnyPositions,
    Corpus,
    Features,
    Flags,
    Positions,
    Signatures,
    Words,
    require_comparable,
    require_same_recipe,
)
from neardup.model.errors import require, require_whole
from neardup.model.layout import Banding
from neardup.model.recipe import Hashing, RecipeId, recipe_id
from neardup.schemes.laws import binomial_terms, is_share, sample_law
from neardup.schemes.signing import sign_features, sign_texts
from neardup.schemes.sketching import rounds
from neardup.text.analysis import Analysis
from neardup.text.shingling import Shingling


@dataclass(frozen=True, kw_only=True)
class MinHash:
    """Signatures of *permutations* minima; the share of equal minima estimates the resemblance.

    Recipe: ``analysis``, ``shingle`` (tokens a shingle), ``bag`` (see ``Shingling``),
    ``permutations`` (a multiple of 8; 4 bytes each), and ``seed`` or ``key`` (see ``Hashing``).
    Layout: ``recall``, the share of pairs at the threshold that must become candidates; the bands
    follow from it. Policy: ``threshold``, the least resemblance of a match.

    The minima are those of Fast Similarity Sketching: each equals its counterpart with probability
    *r*, the resemblance, so the estimate is unbiased, and its spread is at most that of independent
    permutations, ``sqrt(r * (1 - r) / permutations)``: near it for texts of many more shingles than
    minima, well below it for short ones.

    A document with fewer tokens than ``shingle`` has no signature, and matches nothing.
    """

    shingle: int = 3
    permutations: int = 128
    threshold: float = 0.6
    recall: float = 0.999
    seed: int = 1
    key: bytes | None = field(default=None, repr=False)
    analysis: Analysis = field(default_factory=Analysis)
    bag: bool = False

    name = "minhash"
    rule = "resemblance"
    measure = "resemblance"
    columns = ()
    pooled = False

    def __post_init__(self) -> None:
        whole = require_whole("permutations", self.permutations, 8, 1 << 16, step=8)
        object.__setattr__(self, "permutations", whole)
        require(is_share(self.threshold), "threshold", self.threshold, "must be above 0 and at most 1")
        require(is_share(self.recall) and self.recall < 1, "recall", self.recall, "must be above 0 and below 1")
        _ = self.shingling, self.layout  # they check the rest

    @property
    def shingling(self) -> Shingling:
        """How texts become features."""
        hashing = Hashing(seed=self.seed, key=self.key)
        return Shingling(analysis=self.analysis, size=self.shingle, bag=self.bag, hashing=hashing)

    @property
    def layout(self) -> Banding:
        """The fewest bands that reach the wanted recall at the threshold."""
        return _banding(self.permutations, self.threshold, self.recall)

    @property
    def recipe(self) -> RecipeId:
        """Thresholds and bands are not part of it: moving one never costs signing again."""
        return recipe_id(scheme=self.name, permutations=self.permutations, shingling=self.shingling.identity)

    @property
    def floor(self) -> float:
        """The estimate that a pair at the threshold misses with probability ``(1 - recall) / 10`` at most."""
        return _floor(self.permutations, self.threshold, (1.0 - self.recall) / 10.0)

    def with_threshold(self, threshold: float) -> Self:
        """Give the same scheme at another threshold; its layout follows."""
        return replace(self, threshold=threshold)

    def features(self, texts: Any) -> Features:
        """Hash the shingles of a text column."""
        return self.shingling.features(texts)

    def sign(self, documents: Any) -> Signatures:
        """Sign texts (see ``text_column`` for what is taken) or features made by this scheme's shingling.

        ``rows`` is uint32[n, permutations]; a document without shingles has no signature, and a row of
        ``0xFFFFFFFF``. No documents give no rows.
        """
        if isinstance(documents, Features):
            return self._signatures(sign_features(documents, self.shingling, self._blank_rows, self._sketch))
        return self._signatures(sign_texts(documents, self.shingling, self._blank_rows, self._sketch))

    def sign_at(self, corpus: Corpus, positions: Positions) -> Signatures:
        """Sign the documents at these positions of a corpus, from its features."""
        return self._signatures(
            sign_features(corpus.features, self.shingling, self._blank_rows, self._sketch, positions)
        )

    def _blank_rows(self, number: int) -> npt.NDArray[np.uint32]:
        return np.empty((number, self.permutations), np.uint32)

    def _sketch(self, values: Words, starts: Positions, ends: Positions, rows: npt.NDArray[np.uint32]) -> None:
        multipliers, addends = rounds(Hashing(seed=self.seed, key=self.key), "minhash", self.permutations)
        kernels.sketch(values, starts, ends, multipliers, addends, rows)

    def _signatures(self, rows: npt.NDArray[np.uint32]) -> Signatures:
        return Signatures(rows, rows[:, 0] != kernels.EMPTY, self.recipe)

    def keys(self, signatures: Signatures) -> Words:
        """Hash every band of every row: uint64[n, bands].

        Two documents of resemblance *r* share one with probability
        ``layout.meeting_probability(r)``. Rows without a signature have keys that mean nothing.
        """
        require_same_recipe(self.recipe, signatures.recipe)
        edges = self.layout.edges
        keys = np.empty((len(signatures), len(edges) - 1), np.uint64)
        kernels.band_keys(signatures.rows, edges, keys)
        return keys

    def estimate(self, left: Signatures, right: Signatures) -> npt.NDArray[np.float64]:
        """Estimate the resemblance, row by row: the share of equal minima; 0 where one has no signature.

        Raises ``RecipeMismatch`` for signatures of another recipe and ``DataError`` for sets of
        different lengths.
        """
        require_comparable(self.recipe, left, right)
        rows = np.arange(len(left))
        counts = np.empty(len(rows), np.int32)
        kernels.agreements(left.rows, right.rows, rows, rows, counts)
        return counts / self.permutations

    def estimate_pairs(
        self, signatures: Signatures, left: AnyPositions, right: AnyPositions
    ) -> npt.NDArray[np.float64]:
        """Estimate the resemblance of documents ``left[i]`` and ``right[i]`` of one set of signatures."""
        require_same_recipe(self.recipe, signatures.recipe)
        counts = np.empty(len(left), np.int32)
        kernels.agreements(signatures.rows, signatures.rows, left, right, counts)
        return counts / self.permutations

    def matches(self, left: Signatures, right: Signatures) -> Flags:
        """Say, row by row, whether the estimated resemblance reaches the threshold."""
        return np.asarray(self.estimate(left, right) >= self.threshold)

    def match_pairs(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        """Say whether documents ``left[i]`` and ``right[i]`` of one set of signatures match."""
        return np.asarray(self.estimate_pairs(signatures, left, right) >= self.threshold)

    def probability(self, resemblance: Any) -> Any:
        """Tell how likely ``matches`` holds at a true resemblance (a number or an array).

        ``P[Binomial(permutations, r) >= threshold * permutations]``: the law of independent
        minima. Those of short texts spread less, so the true curve is at least as steep.

        >>> MinHash(permutations=128, threshold=0.8).probability(0.8).round(2)
        np.float64(0.5)
        """
        return sample_law(resemblance, self.permutations, self.threshold)


@lru_cache(maxsize=64)
def _banding(permutations: int, threshold: float, recall: float) -> Banding:
    return Banding.choose(permutations=permutations, threshold=threshold, recall=recall)


@lru_cache(maxsize=64)
def _floor(permutations: int, threshold: float, miss: float) -> float:
    """Find the greatest share below which the binomial law leaves a probability of at most *miss*."""
    below = np.cumsum(binomial_terms(permutations, 0, np.array([threshold]))[0])
    return int(np.searchsorted(below, miss, side="right")) / permutations
