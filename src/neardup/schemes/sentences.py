"""Sentence hashes, as in real-time news search: short sorted lists, merged until the answer is certain."""

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from neardup.kernels import sentences as kernels
from neardup.model.arrays import AnyPositions, Flags, Positions, Signatures, Values, Words
from neardup.model.errors import require_choice, require_whole
from neardup.model.options import MIN_LENGTH, SHORT, STEM, THRESHOLD, Option
from neardup.model.ranked_rule import RankedRule
from neardup.schemes.laws import least_count, sample_law, smallest_law
from neardup.schemes.scheme import Reading
from neardup.schemes.signing import SampleScheme, ranked_kernel
from neardup.text.analysis import Analysis
from neardup.text.common_shingles import CommonShingles
from neardup.text.shingling import Shingling

RelativeTo = Literal["union", "smaller"]

_MOST = 4096  # values per signature: inserting a value moves those after it


@dataclass(frozen=True, kw_only=True)
class Sentences(SampleScheme):
    """Signatures of the *size* smallest CRC-32 values of a document's sentences; they match if they overlap enough.

    This is also called a bottom-k sketch of sentence hashes. Recipe: ``size`` (4 bytes each), ``stem`` (a Snowball
    language or ``None``), ``min_length`` (words of fewer letters are omitted), ``seed`` or ``key`` (see
    ``Hashing``), and ``common``, the sentences that do not count (see ``CommonShingles``). A sentence is the sequence
    of its words, case-folded, stemmed, without short words and punctuation. Its value is the CRC-32 (of zlib) of the 8
    bytes of its feature's 64-bit hash, lowest first; ``0xFFFFFFFF`` counts as ``0xFFFFFFFE``. Policy: ``threshold``,
    and the set that the overlap is relative to:

    ``union``
        the resemblance: of the ``min(size, |A | B|)`` smallest values of both signatures together, the
        share that is in both. Exact (except for CRC collisions) while both documents together have at
        most ``size`` different sentences, otherwise an unbiased estimate.
    ``smaller``
        ``|A & B| / min(|A|, |B|)`` of both signatures: 1 if one document is a part of the other. Exact
        while each has at most ``size`` sentences. For longer documents of equal length, it is an estimate some
        hundredths too low, because values near the end of one signature may be beyond the end of the other.
        In the signature of a document *n* times as long as another, there is room for an *n*-th of what they
        share: a part of a far longer document is not recognised.

    ``rows`` is uint32[n, size], each ascending, ``0xFFFFFFFF`` after the values of a document with fewer sentences. A
    document whose sentences have only short words has no signature, and matches nothing. Documents that match always
    share a key.
    """

    size: int = 64
    threshold: float = 0.5
    short: int | None = None
    short_threshold: float | None = None
    stem: str | None = "english"
    min_length: int = 3
    relative_to: RelativeTo = "union"
    seed: int = 1
    key: bytes | None = field(default=None, repr=False)
    common: CommonShingles | None = None

    name = "sentences"
    measures = ("resemblance", "overlap")
    features_in_words = "sentences"
    recipe_parts = ("size",)
    plan_numbers = ("size", "threshold")
    options: ClassVar[tuple[Option, ...]] = (
        THRESHOLD.by_default("0.5"),
        *SHORT,
        Option("size", "whole", "sentence hashes in a signature, the smallest", "64", "K"),
        Option(
            "relative_to",
            ("union", "smaller"),
            "shared sentences as a share of the union, or of the smaller document",
            "union",
        ),
        STEM.by_default("english"),
        MIN_LENGTH.by_default("3"),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", require_whole("size", self.size, 1, _MOST))
        self._require_thresholds()
        require_choice("relative_to", self.relative_to, get_args(RelativeTo), "must be union or smaller")
        _ = self.shingling  # this checks the rest

    @property
    def measure(self) -> str:
        """``resemblance`` relative to the union, ``overlap`` relative to the smaller set."""
        return "overlap" if self._of_smaller else "resemblance"

    def _measuring(self, measure: str) -> "Sentences":
        return replace(self, relative_to="smaller" if measure == "overlap" else "union")

    @cached_property
    def shingling(self) -> Shingling:
        """How texts become features: one feature per sentence."""
        analysis = Analysis(unit="sentence", stem=self.stem, min_length=self.min_length)
        return Shingling(analysis=analysis, size=1, hashing=self.hashing, common=self.common)

    @property
    def law_features(self) -> int:
        """The law is that of longer texts than signatures: four times as many sentences."""
        return 4 * self.size

    @property
    def curves_of(self) -> str:
        """A sentence that describes the documents that its curves are about."""
        return f"These are laws of long texts; texts of up to {self.size // 2:,} sentences each are decided exactly."

    @property
    def _of_smaller(self) -> bool:
        return self.relative_to == "smaller"

    def _fill(self, values: Words, starts: Positions, ends: Positions, rows: npt.NDArray[np.uint32]) -> None:
        kernels.smallest(values, starts, ends, rows)

    def _ranked(self, signatures: Signatures) -> RankedRule:
        terms = _ranked_terms(self._of_smaller, self.size, self.threshold)
        return RankedRule(ranked_kernel("by_sentences"), signatures.rows, terms)

    def _estimated(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Values:
        shares = np.empty(len(left), np.float64)
        kernels.overlaps(one.rows, other.rows, left, right, self._of_smaller, shares)
        return shares

    def _matching(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        flags = np.empty(len(left), np.bool_)
        least = _least_counts(self.size, self.threshold)
        # It ends as soon as the answer is certain.
        kernels.decide(one.rows, other.rows, left, right, self._of_smaller, least, flags)
        return flags

    def probability(self, resemblance: Any) -> Any:
        """Return the probability that ``matches`` holds at a true resemblance (or overlap; a number or an array).

        ``P[Binomial(size, r) >= threshold * size]``: the law of texts with many more sentences than ``size``. Relative
        to the smaller set it assumes equal lengths, and the true probability is lower: at the threshold, about 0.38 by
        default, instead of 0.55. Two texts of up to ``size / 2`` sentences match if and only if they reach the
        threshold, without chance.

        >>> Sentences().probability([0.3, 0.5, 0.7]).round(3)
        array([0.001, 0.55 , 1.   ])
        """
        return sample_law(resemblance, self.size, self.threshold)

    def curves(self, values: Any) -> dict[str, Any]:
        """Return ``match``, by the share, and ``candidate``, any value in both signatures, if the law is known."""
        known = {} if self._of_smaller else {"candidate": smallest_law(values, self.size)}
        return {"match": self.probability(values), **known}

    @property
    def described_features(self) -> str:
        """The features of its measure, in words."""
        return " of sets of sentences" + (" relative to the smaller set" if self._of_smaller else "")

    def reading(self, left: Signatures, right: Signatures) -> Reading:
        """Return the estimate, and the set that it is relative to."""
        return super().reading(left, right)._replace(detail={"relative_to": self.relative_to})


@lru_cache(maxsize=64)
def _least_counts(size: int, threshold: float) -> Positions:
    """Return the least count whose share reaches the threshold, for each number of values up to *size*; 1 for 0."""
    return np.array([1, *(least_count(whole, threshold) for whole in range(1, size + 1))], np.int64)


@lru_cache(maxsize=64)
def _ranked_terms(of_smaller: bool, size: int, threshold: float) -> Positions:  # noqa: FBT001 - a key of the cache
    return np.concatenate([[int(of_smaller)], _least_counts(size, threshold)])
