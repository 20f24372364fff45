"""Charikar's fingerprints (2002): few bits differ where the angle between two documents is small."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from neardup.kernels import simhash as kernels
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
    shares,
)
from neardup.model.errors import require
from neardup.model.layout import Blocks, require_fingerprint
from neardup.model.recipe import Hashing, RecipeId, recipe_id
from neardup.schemes.laws import hamming_law, is_share
from neardup.schemes.signing import Blank, Fill, Rows, sign_features, sign_texts
from neardup.schemes.weights import TermWeights
from neardup.text.analysis import Analysis
from neardup.text.shingling import Shingling


@dataclass(frozen=True, kw_only=True)
class SimHash:
    """Fingerprints of *bits* bits; at most *distance* of them differ between documents that match, always.

    Recipe: ``analysis``, ``shingle`` (tokens a feature), ``bits`` (64 to 512 by 64), ``weights`` and
    ``seed`` or ``key`` (see ``Hashing``). A feature's weight is its number of occurrences (``"tf"``), times
    what a ``TermWeights`` table says of it, which must be made with the same shingling. Bit *i* is 1
    if and only if the features whose hash has it (``neardup.kernels.simhash`` states the hashes)
    carry more than half of the total weight; a tie gives 0.

    Layout: ``blocks``, into how many a fingerprint is cut for its keys (``None``: ``Blocks.choose``).
    Policy: ``distance``, and ``threshold``: of two documents within the distance, exact verification also
    asks for that resemblance of their features, as sets; occurrences and weights do not enter there.
    Blocks decide how fast candidates are found, never who matches.

    Two documents whose weighted features enclose the angle *a* differ in any bit with probability
    ``a / pi``. So what a fingerprint estimates, and what ``probability`` takes, is a cosine, where other schemes
    have a resemblance. Documents of few features follow the law loosely.

    A document with fewer tokens than ``shingle`` has no signature, and matches nothing.
    """

    shingle: int = 1
    distance: int = 3
    bits: int = 64
    threshold: float = 0.8
    weights: Literal["tf"] | TermWeights = "tf"
    blocks: int | None = None
    seed: int = 1
    key: bytes | None = field(default=None, repr=False)
    analysis: Analysis = field(default_factory=Analysis)

    name = "simhash"
    rule = "resemblance"
    measure = "cosine"
    columns = ()
    pooled = False
    floor = 0.0

    def __post_init__(self) -> None:
        for name, whole in zip(("bits", "distance"), require_fingerprint(self.bits, self.distance), strict=True):
            object.__setattr__(self, name, whole)
        require(is_share(self.threshold), "threshold", self.threshold, "must be above 0 and at most 1")
        own = self.shingling.identity  # checks the rest
        table = self.weights if isinstance(self.weights, TermWeights) else None
        require(table is not None or self.weights == "tf", "weights", self.weights, 'must be "tf" or a TermWeights')
        rule = "must be made with the same analysis, shingle, and seed or key as the scheme has"
        require(table is None or table.shingling.identity == own, "weights", self.weights, rule)
        _ = self.layout

    @property
    def shingling(self) -> Shingling:
        """How texts become features; their repeats count."""
        hashing = Hashing(seed=self.seed, key=self.key)
        return Shingling(analysis=self.analysis, size=self.shingle, hashing=hashing)

    @property
    def layout(self) -> Blocks:
        """The blocks whose equality makes candidates."""
        if self.blocks is None:
            return Blocks.choose(bits=self.bits, distance=self.distance)
        return Blocks(bits=self.bits, distance=self.distance, blocks=self.blocks)

    @property
    def recipe(self) -> RecipeId:
        """Distance, threshold and blocks are not part of it: moving one never costs signing again."""
        weights = self.weights if isinstance(self.weights, str) else self.weights.identity
        return recipe_id(scheme=self.name, bits=self.bits, weights=weights, shingling=self.shingling.identity)

    def with_threshold(self, threshold: float) -> Self:
        """Give the same scheme at another threshold of exact verification; its distance and keys stay."""
        return replace(self, threshold=threshold)

    def features(self, texts: Any) -> Features:
        """Hash the features of a text column; repeats stay."""
        return self.shingling.features(texts)

    def sign(self, documents: Any) -> Signatures:
        """Sign texts (see ``text_column`` for what is taken) or features made by this scheme's shingling.

        ``rows`` is uint64[n, bits / 64]: bit *i* is bit ``i % 64`` of column ``i // 64``. A document
        without features has no signature, and a row of zeros. No documents give no rows.
        """
        if isinstance(documents, Features):
            return self._signatures(lambda blank, fill: sign_features(documents, self.shingling, blank, fill))
        return self._signatures(lambda blank, fill: sign_texts(documents, self.shingling, blank, fill))

    def sign_at(self, corpus: Corpus, positions: Positions) -> Signatures:
        """Sign the documents at these positions of a corpus, from its features."""
        features, shingling = corpus.features, self.shingling
        return self._signatures(lambda blank, fill: sign_features(features, shingling, blank, fill, positions))

    def _signatures(self, go: Callable[[Blank, Fill], Rows]) -> Signatures:
        present = [np.empty(0, np.bool_)]  # zeros may be a fingerprint, so rows cannot tell

        def fill(values: Words, starts: Positions, ends: Positions, rows: Rows) -> None:
            present.append(ends > starts)
            if isinstance(self.weights, TermWeights):
                kernels.weighted_fingerprints(values, starts, ends, *self.weights.table, rows)
            else:
                kernels.fingerprints(values, starts, ends, rows)

        rows = go(lambda number: np.empty((number, self.bits // 64), np.uint64), fill)
        return Signatures(rows, np.concatenate(present), self.recipe)

    def keys(self, signatures: Signatures) -> Words:
        """Hash the blocks of every table of the layout: uint64[n, tables].

        Fingerprints within the distance share at least one; ``layout.meeting_probability`` tells how
        often others do. Rows without a signature have keys that mean nothing.
        """
        require_same_recipe(self.recipe, signatures.recipe)
        masks = _masks(self.layout)
        keys = np.empty((len(signatures), len(masks)), np.uint64)
        kernels.block_keys(signatures.rows, masks, keys)
        return keys

    def distances(self, left: Signatures, right: Signatures) -> Positions:
        """Count the bits that differ, row by row; ``bits``, which never matches, where one has no signature.

        Raises ``RecipeMismatch`` for signatures of another recipe and ``DataError`` for sets of
        different lengths.
        """
        require_comparable(self.recipe, left, right)
        rows = np.arange(len(left))
        return self._distances(left, right, rows, rows)

    def distance_pairs(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Positions:
        """Count the bits in which documents ``left[i]`` and ``right[i]`` of one set of signatures differ."""
        require_same_recipe(self.recipe, signatures.recipe)
        return self._distances(signatures, signatures, left, right)

    def _distances(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Positions:
        counts = np.empty(len(left), np.int64)
        kernels.distances(one.rows, other.rows, left, right, counts)
        counts[~(one.present[left] & other.present[right])] = self.bits
        return counts

    def estimate(self, left: Signatures, right: Signatures) -> npt.NDArray[np.float64]:
        """Estimate the cosine of the weighted features, row by row: ``max(0, cos(pi * distance / bits))``.

        0 where one has no signature. Errors as ``distances``.
        """
        return self._cosines(self.distances(left, right))

    def estimate_pairs(
        self, signatures: Signatures, left: AnyPositions, right: AnyPositions
    ) -> npt.NDArray[np.float64]:
        """Estimate the cosine of documents ``left[i]`` and ``right[i]`` of one set of signatures."""
        return self._cosines(self.distance_pairs(signatures, left, right))

    def _cosines(self, counts: Positions) -> npt.NDArray[np.float64]:
        return np.asarray(np.maximum(np.cos(np.pi * counts / self.bits), 0.0))

    def matches(self, left: Signatures, right: Signatures) -> Flags:
        """Say, row by row, whether at most *distance* bits differ; never where one has no signature."""
        return np.asarray(self.distances(left, right) <= self.distance)

    def match_pairs(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        """Say whether documents ``left[i]`` and ``right[i]`` of one set of signatures match."""
        return np.asarray(self.distance_pairs(signatures, left, right) <= self.distance)

    def passes(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        """Say the same: its keys also propose what is farther apart, and no verification makes that a match."""
        return self.match_pairs(signatures, left, right)

    def probability(self, resemblance: Any) -> Any:
        """Tell how likely ``matches`` holds at a true *cosine* of the weighted features (a number or an array).

        ``P[Binomial(bits, arccos(cosine) / pi) <= distance]``: bits differ independently with Charikar's
        probability. At cosine 0 that is not quite 0: a pair of strangers in 4 * 10**14 matches by default.

        >>> SimHash().probability([0.9, 0.99, 1.0]).round(3)
        array([0.013, 0.674, 1.   ])
        """
        return hamming_law(shares(resemblance), self.bits, self.distance)


@lru_cache(maxsize=16)
def _masks(layout: Blocks) -> Words:
    return layout.masks
