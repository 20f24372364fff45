"""FracMinHash: features sampled by value, by which parts of documents are found in far longer ones."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from neardup.kernels import fracminhash as kernels
from neardup.kernels.sets import CONTAINMENT, OVERLAP
from neardup.model.arrays import AnyPositions, Flags, Positions, Signatures, Values, Words, shares
from neardup.model.errors import require_choice, require_whole
from neardup.model.options import ANALYSIS, BAG, SHINGLE, SHORT, THRESHOLD, Option
from neardup.schemes.laws import sample_law
from neardup.schemes.signing import SampleScheme
from neardup.text.analysis import Analysis
from neardup.text.common_shingles import CommonShingles

PartMeasure = Literal["containment", "overlap"]

_CODES = {"containment": CONTAINMENT, "overlap": OVERLAP}
_MOST = 1 << 16  # values per signature: inserting a value moves those after it
_NEVER = 1e-30  # rarer numbers of shared values do not count
_MISSED = 0.001  # of the pairs at the threshold, by the comparison of samples


@dataclass(frozen=True, kw_only=True)
class FracMinHash(SampleScheme):
    """Signatures of every *scaled*-th feature, chosen by value; they match if one document contains the other.

    This is also called a scaled MinHash (Irber and others 2022), or sampling of the values 0 mod *m* (Broder 1997).
    Both documents choose the same values, so the share of one's sample in that of the other estimates its containment,
    however long the other is.

    Recipe: ``analysis``, ``shingle`` (tokens per shingle), ``bag`` (see ``Shingling``), ``scaled``, ``size``, ``seed``
    or ``key`` (see ``Hashing``), and ``common``, the shingles that do not count (see ``CommonShingles``). The number of
    a feature is the upper 32 bits of its hash. Sampled are numbers below ``2**32 / scaled``, and the 16 smallest; if
    they are more than *size*, only the smallest are stored. Policy: ``threshold`` and *measure*:

    ``containment``
        ``|A & B| / |A|``, where A is the document of the worse rank: it is dropped if enough of it is in the other.
    ``overlap``
        ``|A & B| / min(|A|, |B|)``: the document of the worse rank is also dropped if it contains the other.

    The estimate is that share of the numbers up to the smaller limit of both rows (``neardup.kernels.fracminhash``
    defines it). It is 0 if one of the two has no number up to there, which happens to a quarter of the documents of ten
    features in a far longer one, by default; otherwise it is unbiased for the containment. For the overlap, the smaller
    of the two samples counts as that of the smaller document, so the estimate is too high if both documents are about
    equally long: on average 0.85 for 50 features, 0.83 for 300 and 0.81 for 2,000, where the overlap is 0.8.

    A and B are candidates with the probability ``1 - (1 - 1 / scaled)**s`` if they share *s* features and B's row is
    not full: 0.995 for ``s = 40`` by default. A document of more than ``scaled * size`` features, 4,096 by default, is
    sampled less densely, and shorter parts of it are missed.

    ``rows`` is uint32[n, size], each ascending, ``0xFFFFFFFF`` after its numbers. A document without tokens has no
    signature, and matches nothing.
    """

    shingle: int = 3
    scaled: int = 8
    size: int = 512
    threshold: float = 0.8
    short: int | None = None
    short_threshold: float | None = None
    measure: PartMeasure = "containment"
    seed: int = 1
    key: bytes | None = field(default=None, repr=False)
    analysis: Analysis = field(default_factory=Analysis)
    bag: bool = False
    common: CommonShingles | None = None

    name = "fracminhash"
    measures = get_args(PartMeasure)
    recipe_parts = ("scaled", "size")
    plan_numbers = ("scaled", "size", "threshold")
    curves_of = "match: of equally long documents with full signatures; candidate: of a document of 50 shingles"
    options: ClassVar[tuple[Option, ...]] = (
        THRESHOLD.by_default("0.8"),
        *SHORT,
        SHINGLE.by_default("3"),
        Option("scaled", "whole", "keep 1 of N shingles; a smaller number finds shorter parts", "8"),
        Option("size", "whole", "maximum number of shingles in a signature", "512", "K"),
        BAG,
        *ANALYSIS,
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "scaled", require_whole("scaled", self.scaled, 1, 1 << 16))
        object.__setattr__(self, "size", require_whole("size", self.size, kernels.FEWEST, _MOST))
        self._require_thresholds()
        require_choice("measure", self.measure, self.measures, f"must be {' or '.join(self.measures)}")
        _ = self.shingling  # this checks the rest

    def _measuring(self, measure: PartMeasure) -> "FracMinHash":
        return replace(self, measure=measure)

    @property
    def _bound(self) -> np.uint64:
        return np.uint64((1 << 32) // self.scaled)

    def _fill(self, values: Words, starts: Positions, ends: Positions, rows: npt.NDArray[np.uint32]) -> None:
        kernels.sample(values, starts, ends, self._bound, rows)

    def _counts(
        self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions, least: Positions
    ) -> tuple[Positions, Positions]:
        """Return the shared numbers of each pair, and their denominators; a count below *least* may be too small."""
        shared, among = np.empty(len(left), np.int64), np.empty(len(left), np.int64)
        kernels.shares(one.rows, other.rows, left, right, self._bound, _CODES[self.measure], least, shared, among)
        return shared, among

    def _estimated(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Values:
        shared, among = self._counts(one, other, left, right, np.zeros(self.size + 1, np.int64))
        return np.asarray(shared / np.maximum(among, 1))

    def likely(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        """Return whether samples share enough for documents ``left[i]`` and ``right[i]`` to match.

        A pair at the threshold fails with a probability of 0.001 at most.
        """
        least = _least_counts(self.size, self.threshold)
        shared, among = self._counts(signatures, signatures, left, right, least)
        return np.asarray((shared > 0) & (shared >= least[among]))

    def probability(self, resemblance: Any) -> Any:
        """Return the probability that ``matches`` holds at a true value of the measure (a number or an array).

        ``P[Binomial(size, c) >= threshold * size]``: the law of equally long documents with full signatures. The
        estimates of shorter documents vary more, and so do those of a document in a longer one with a full signature,
        which has about ``size * a / b`` numbers to compare for *a* of *b* features. Of two equally long documents, more
        match by their overlap, because that is overestimated: at the threshold, about 0.73 instead of 0.5.

        >>> FracMinHash(size=64).probability([0.7, 0.8, 0.9]).round(3)
        array([0.03 , 0.475, 0.99 ])
        """
        return sample_law(resemblance, self.size, self.threshold)

    def candidate_probability(self, containment: Any, features: int = 50) -> Any:
        """``1 - (1 - 1 / scaled)**(containment * features)``: a document is a candidate of one that contains it.

        That is the law of a document of *features* features, if the other one's signature is not full. *containment*
        is a number from 0 to 1 or an array.

        >>> FracMinHash().candidate_probability([0.5, 0.8, 1.0]).round(3)
        array([0.965, 0.995, 0.999])
        """
        features = require_whole("features", features, 1)
        return 1.0 - (1.0 - 1.0 / self.scaled) ** (shares(containment) * features)

    def curves(self, values: Any) -> dict[str, Any]:
        """Return ``match``, by the share, and ``candidate``, any common number, of a document of 50 features."""
        return {"match": self.probability(values), "candidate": self.candidate_probability(values)}

    @property
    def described_features(self) -> str:
        """The features of its measure, in words."""
        inside = " in the better-ranked document" if self.measure == "containment" else ""
        return f"{super().described_features}{inside}"

    @classmethod
    def variants(cls) -> tuple[Any, ...]:
        """Return schemes that find parts of documents and parts of either one."""
        return (cls(), cls(measure="overlap", shingle=2, scaled=2, size=64))


@lru_cache(maxsize=64)
def _least_counts(size: int, threshold: float) -> Positions:
    """Return, for samples of 0 to *size* values, the largest count below which a share at the threshold hardly falls.

    ``P[Binomial(w, threshold) < least[w]] <= 0.001``, and 0 for no values.
    """
    least = np.zeros(size + 1, np.int64)
    first, chances = 0, np.ones(1)  # of first, first + 1, ... values; other numbers hardly occur
    for whole in range(1, size + 1):
        moved = chances * threshold
        chances = np.append(chances * (1.0 - threshold), 0.0)
        chances[1:] += moved
        least[whole] = first + np.searchsorted(np.cumsum(chances), _MISSED, side="right")
        (occurring,) = np.nonzero(chances > _NEVER)
        first += int(occurring[0])
        chances = chances[occurring[0] : occurring[-1] + 1]
    return least
