"""SimHash: Charikar's fingerprints (2002), which differ in few bits if the angle between documents is small."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import acos, comb, cos, pi
from typing import Any, ClassVar, Literal, Self

import numpy as np

from neardup.kernels import simhash as kernels
from neardup.model.arrays import (
    ROUNDING,
    AnyPositions,
    Flags,
    Positions,
    Signatures,
    Values,
    Words,
    require_signatures,
    shares,
)
from neardup.model.errors import require, require_choice, require_kind
from neardup.model.layout import Blocks, require_fingerprint
from neardup.model.options import ANALYSIS, SHINGLE, SHORT, THRESHOLD, Option
from neardup.model.ranked_rule import RankedRule, whole_term
from neardup.model.requirements import Requirements
from neardup.model.tables import BITS, MOST_DISTANCE
from neardup.schemes.laws import bit_agreement, hamming_law
from neardup.schemes.scheme import Reading
from neardup.schemes.signing import FeatureScheme, ranked_kernel
from neardup.schemes.weights import TermWeights
from neardup.text.analysis import Analysis
from neardup.text.common_shingles import CommonShingles, prefix_bounds

_EVEN = np.empty(0, np.uint64), prefix_bounds(np.empty(0, np.uint64)), np.empty(0, np.uint32), np.uint32(1)
_HARDLY = 0.05  # of the pairs match
_MOST_KEYS = 256  # bits of a fingerprint in recommendations


@dataclass(frozen=True, kw_only=True)
class SimHash(FeatureScheme):
    """Fingerprints of *bits* bits; documents match only if at most *distance* bits differ.

    Recipe: ``analysis``, ``shingle`` (tokens per feature), ``bits`` (64 to 512, a multiple of 64), ``weights``,
    ``seed`` or ``key`` (see ``Hashing``), and ``common``, the features that do not count (see ``CommonShingles``). The
    weight of a feature is its number of occurrences (``"tf"``), multiplied by its weight in a ``TermWeights`` table,
    which must be made with the same shingling. Bit *i* is 1 if and only if the features whose hash has bit *i*
    (``neardup.kernels.simhash`` defines the hashes) have more than half of the total weight.

    Layout: ``blocks``, the number of blocks for the keys (``None``: ``Blocks.choose``). It decides how fast candidates
    are found, not which documents match. Policy: ``distance``, ``threshold`` and ``rule``: for documents within the
    distance, exact verification also requires at least the threshold of their ``"resemblance"`` (of their features, as
    sets, without occurrences and weights) or of their ``"cosine"``, of the weights that are signed.

    Two documents whose weighted features enclose the angle *a* differ in each bit with probability ``a / pi``. So the
    estimate, and the argument of ``probability``, is a cosine instead of a resemblance: ``max(0, cos(pi * distance /
    bits))``. Documents of few features follow the law only roughly.

    ``rows`` is uint64[n, bits / 64]: bit *i* is bit ``i % 64`` of column ``i // 64``. A document without tokens has no
    signature: its row is zeros (as other rows may be), and it matches nothing.
    """

    shingle: int = 1
    distance: int = 3
    bits: int = 64
    threshold: float = 0.8
    short: int | None = None
    short_threshold: float | None = None
    weights: Literal["tf"] | TermWeights = "tf"
    rule: Literal["resemblance", "cosine"] = "resemblance"
    blocks: int | None = None
    seed: int = 1
    key: bytes | None = field(default=None, repr=False)
    analysis: Analysis = field(default_factory=Analysis)
    common: CommonShingles | None = None

    name = "simhash"
    measure = "cosine"
    measures = ("resemblance", "cosine")
    signatures_decide = True
    also = "fingerprints within the distance"
    recipe_parts = ("bits", "weights")
    plan_numbers = ("distance", "bits", "blocks")
    searched_numbers = ("distance", "bits", "blocks")
    options: ClassVar[tuple[Option, ...]] = (
        THRESHOLD.by_default("0.8"),
        *SHORT,
        SHINGLE.by_default("1"),
        Option("distance", "whole", "bits that may differ", "3", "K"),
        Option("bits", "whole", "bits of a fingerprint: a multiple of 64, at most 512", "64", "B"),
        Option(
            "blocks",
            "whole",
            "parts into which the bits are cut for the keys; affects speed, not matches",
            "3 more than the distance, 1 from distance 8 on",
        ),
        *ANALYSIS,
    )

    def __post_init__(self) -> None:
        for name, whole in zip(("bits", "distance"), require_fingerprint(self.bits, self.distance), strict=True):
            object.__setattr__(self, name, whole)
        self._require_thresholds()
        require_choice("rule", self.rule, self.measures, f"must be {' or '.join(self.measures)}")
        own = self.shingling.plain.identity  # this checks the rest
        table = self.weights if isinstance(self.weights, TermWeights) else None
        if table is None:
            require_choice("weights", self.weights, ("tf",), 'must be "tf" or a TermWeights')
        rule = "must be made with the same analysis, shingle, and seed or key as the scheme has"
        require(table is None or table.shingling.identity == own, "weights", self.weights, rule)
        _ = self.layout

    @cached_property
    def layout(self) -> Blocks:
        """The blocks for the keys."""
        if self.blocks is None:
            return Blocks.choose(bits=self.bits, distance=self.distance)
        return Blocks(bits=self.bits, distance=self.distance, blocks=self.blocks)

    def _measuring(self, measure: Literal["resemblance", "cosine"]) -> "SimHash":
        return replace(self, rule=measure)

    @property
    def weight_table(self) -> tuple[Any, ...]:
        """The weights of features as arrays for ``neardup.kernels.weights``; without a table, all are equal."""
        return _EVEN if isinstance(self.weights, str) else self.weights.table

    @property
    def described_features(self) -> str:
        """The features of its exact measure, in words."""
        return f" of weighted {self.shingles_in_words}" if self.rule == "cosine" else super().described_features

    def _blank(self, number: int) -> Words:
        return np.empty((number, self.bits // 64), np.uint64)

    def _fill(self, values: Words, starts: Positions, ends: Positions, rows: Words) -> None:
        if isinstance(self.weights, TermWeights):
            kernels.weighted_fingerprints(values, starts, ends, *self.weights.table, rows)
        else:
            kernels.fingerprints(values, starts, ends, rows)

    def _ranked(self, signatures: Signatures) -> RankedRule:
        return RankedRule(ranked_kernel("by_fingerprints"), signatures.rows, whole_term(self.distance))

    def keys(self, signatures: Signatures, layout: Blocks | None = None) -> Words:
        """Hash the blocks of every table of this layout, or of the scheme's own: uint64[n, tables].

        Fingerprints within the distance share at least one key; ``layout.meeting_probability`` is the probability for
        others. The keys of rows without a signature have no meaning.
        """
        require_signatures("signatures", signatures, self)
        if layout is not None:
            require_kind("layout", layout, Blocks)
            require(layout.bits == self.bits, "layout", layout, f"must have the scheme's bits, {self.bits}")
        masks = _masks(layout or self.layout)
        keys = np.empty((len(signatures), len(masks)), np.uint64)
        kernels.block_keys(signatures.rows, masks, keys)
        return keys

    def distances(self, left: Signatures, right: Signatures) -> Positions:
        """Return the number of differing bits, row by row; *bits*, which never matches, if one has no signature.

        Raises ``RecipeMismatch`` for signatures of another recipe and ``DataError`` for sets of different lengths.
        """
        return self._row_by_row(self._distances, left, right)

    def _distances(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Positions:
        counts = np.empty(len(left), np.int64)
        kernels.distances(one.rows, other.rows, left, right, counts)
        counts[~(one.present[left] & other.present[right])] = self.bits
        return counts

    def _estimated(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Values:
        angles = np.pi * self._distances(one, other, left, right) / self.bits
        return np.asarray(np.maximum(np.cos(angles), 0.0))

    def _matching(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        return np.asarray(self._distances(one, other, left, right) <= self.distance)

    def passes(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        """Return whether documents match by their signatures, because keys also find pairs beyond the distance."""
        return self.match_pairs(signatures, left, right)

    def probability(self, resemblance: Any) -> Any:
        """Return the probability that ``matches`` holds at a true cosine of the weighted features (number or array).

        ``P[Binomial(bits, arccos(cosine) / pi) <= distance]``: bits differ independently with Charikar's probability.
        At cosine 0 it is not quite 0: one pair of unrelated documents in 4 * 10**14 matches by default.

        >>> SimHash().probability([0.9, 0.99, 1.0]).round(3)
        array([0.013, 0.674, 1.   ])
        """
        return hamming_law(shares(resemblance), self.bits, self.distance)

    @property
    def match_estimate(self) -> float:
        """The estimated cosine at the distance."""
        return max(0.0, cos(pi * self.distance / self.bits))

    def at_estimate(self, estimate: float) -> Self:
        """Return the scheme with the largest distance whose estimated cosine reaches this one."""
        return replace(self, distance=int(acos(estimate) * self.bits / pi + ROUNDING), blocks=None)

    @property
    def table_distance(self) -> int | None:
        """The distance, if tables of fingerprints support it; otherwise ``None``."""
        return self.distance if self.bits == BITS and self.distance <= MOST_DISTANCE else None

    @property
    def key_count(self) -> int:
        """The number of tables, one key for each."""
        return comb(self.layout.blocks, self.distance)

    def keys_lack(self, other: Any, *, chosen: bool) -> str | None:
        """Describe that the keys are for a smaller distance than the *other* scheme's."""
        del chosen
        lacks = other.distance > self.distance
        return f"has keys for a distance of {self.distance}, not for {other.distance}" if lacks else None

    @property
    def signature_rule(self) -> str:
        """A sentence part that describes when two signatures match."""
        return f"Hamming distance at most {self.distance} of {self.bits} bits"

    def reading(self, left: Signatures, right: Signatures) -> Reading:
        """Return the distance."""
        distance, cosine = int(self.distances(left, right)[0]), float(self.estimate(left, right)[0])
        detail = {"distance": distance, "bits": self.bits, "cosine": cosine}
        return Reading("Hamming distance", float(distance), float(self.distance), detail)

    def curves(self, values: Any) -> dict[str, Any]:
        """Return ``match``, by the distance, and ``candidate``, a shared key."""
        candidate = self.layout.meeting_probability(bit_agreement(values))
        return {"match": self.probability(values), "candidate": candidate}

    def key_probability(self, values: Any) -> Any:
        """Return the probability that the blocks of a given table are equal."""
        return self.layout.key_probability(bit_agreement(values))

    @property
    def curve_range(self) -> tuple[int, int]:
        """The range of cosines to draw, in percent: from 80 if hardly anything matches below that."""
        return (80 if self.probability(0.8) < _HARDLY else 0), 100

    @property
    def layout_numbers(self) -> dict[str, float]:
        """The number of blocks."""
        return {"blocks": self.layout.blocks}

    @classmethod
    def grid(cls, wanted: Requirements) -> Iterator[Self]:
        """Yield schemes with distances of up to 10 of 64 bits, and blocks of up to 256 keys."""
        del wanted  # the distance itself makes candidates
        for distance in range(11):
            for blocks in range(distance + 1, 65):
                if comb(blocks, distance) > _MOST_KEYS or (distance == 0 and blocks > 1):
                    break  # at distance 0, all blocks must agree, so their number does not matter
                yield cls(distance=distance, blocks=blocks)

    @classmethod
    def variants(cls) -> tuple[Any, ...]:
        """Return schemes without and with a table of weights."""
        return (cls(), cls(weights=TermWeights.fitted(["a table is made of texts", "of at least two texts"])))


@lru_cache(maxsize=16)
def _masks(layout: Blocks) -> Words:
    return layout.masks
