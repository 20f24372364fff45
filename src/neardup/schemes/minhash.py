"""MinHash: Broder's resemblance, estimated from minima."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from neardup.kernels import minhash as kernels
from neardup.model.arrays import AnyPositions, Corpus, Positions, Signatures, Values, Words, require_signatures
from neardup.model.errors import ParameterConflict, require, require_kind, require_share, require_whole
from neardup.model.layout import Banding, bands_law
from neardup.model.options import ANALYSIS, BAG, SHINGLE, SHORT, THRESHOLD, Option
from neardup.model.ranked_rule import RankedRule, whole_term
from neardup.model.recipe import KEY_BYTES, Hashing
from neardup.model.requirements import Requirements
from neardup.schemes.laws import bands_and_sample_law, binomial_terms, least_count, sample_law
from neardup.schemes.signing import FeatureScheme, ranked_kernel
from neardup.text.analysis import Analysis
from neardup.text.common_shingles import CommonShingles

_ABSENT = {4: np.uint32(kernels.EMPTY), 2: np.uint16(0xFFFF)}  # in the row of a missing signature, by bytes per value
_SEARCHED = (*range(8, 64, 8), *range(64, 128, 16), *range(128, 256, 32), *range(256, 513, 64))  # permutations
_LEAST_ROWS = 2  # minima per band, from which 16 bits each are enough for keys
_LOW = np.uint32(0xFFFF)
_RECALL = 0.999

_banding = lru_cache(maxsize=64)(Banding.choose)


@dataclass(frozen=True, kw_only=True)
class MinHash(FeatureScheme):
    """Signatures of *permutations* minima; the share of equal minima estimates the resemblance.

    Recipe: ``analysis``, ``shingle`` (tokens per shingle), ``bag`` (see ``Shingling``), ``permutations`` (a multiple of
    8; 4 bytes each), ``seed`` or ``key`` (see ``Hashing``), and ``common``, the shingles that do not count (see
    ``CommonShingles``). Layout: ``recall``, the share of pairs at the threshold that must become candidates, and
    ``bands``, the number of bands (``None``: the fewest that reach the recall); one of the two can be chosen. Policy:
    ``threshold``, the least resemblance of a match.

    The minima are those of Fast Similarity Sketching: each equals its counterpart with probability *r*, the
    resemblance, so the estimate is unbiased. Its standard deviation is at most that of independent permutations,
    ``sqrt(r * (1 - r) / permutations)``: close to it for texts with many more shingles than minima, well below it for
    short ones.

    ``rows`` is uint32[n, permutations]. A document without tokens has no signature: its row is ``0xFFFFFFFF``
    throughout, and it matches nothing.
    """

    shingle: int = 3
    permutations: int = 128
    threshold: float = 0.6
    short: int | None = None
    short_threshold: float | None = None
    recall: float = _RECALL
    bands: int | None = None
    seed: int = 1
    key: bytes | None = field(default=None, repr=False)
    analysis: Analysis = field(default_factory=Analysis)
    bag: bool = False
    common: CommonShingles | None = None

    name = "minhash"
    rule = "resemblance"
    measure = "resemblance"
    measures = ("resemblance",)
    estimate_decides = True
    recipe_parts = ("permutations",)
    plan_numbers = ("permutations", "threshold", "bands")
    searched_numbers = ("permutations", "threshold", "recall")
    options: ClassVar[tuple[Option, ...]] = (
        THRESHOLD.by_default("0.6"),
        *SHORT,
        SHINGLE.by_default("3"),
        Option("permutations", "whole", "minima in a signature", "128", "P"),
        Option("recall", "number", "share of the pairs at the threshold that are compared", "0.999", "R"),
        Option(
            "bands",
            "whole",
            "parts of the signature; pairs with an equal part are compared",
            "the fewest for the recall",
            "B",
        ),
        BAG,
        *ANALYSIS,
    )

    def __post_init__(self) -> None:
        whole = require_whole("permutations", self.permutations, 8, 1 << 16, step=8)
        object.__setattr__(self, "permutations", whole)
        self._require_thresholds()
        object.__setattr__(self, "recall", require_share("recall", self.recall, below_one=True))
        if self.bands is not None and self.recall != _RECALL:
            raise ParameterConflict(
                "recall", self.recall, "bands", self.bands, "the recall chooses them; leave out one"
            )
        _ = self.shingling, self.layout  # these check the rest

    @cached_property
    def layout(self) -> Banding:
        """The given number of bands, otherwise the fewest that reach the recall at the threshold."""
        if self.bands is not None:
            return Banding(permutations=self.permutations, bands=self.bands)
        return _banding(permutations=self.permutations, threshold=self.threshold, recall=self.recall)

    @property
    def floor(self) -> float:
        """The estimate that a pair at the threshold misses with probability ``(1 - recall) / 10`` at most."""
        return _floor(self.permutations, self.threshold, (1.0 - self.recall) / 10.0)

    @property
    def row_format(self) -> tuple[Any, ...]:
        """The numbers in a row, and their types: the second is that of short rows."""
        return self.permutations, np.dtype(np.uint32), np.dtype(np.uint16)

    def _blank(self, number: int) -> npt.NDArray[np.uint32]:
        return np.empty((number, self.permutations), np.uint32)

    def _fill(self, values: Words, starts: Positions, ends: Positions, rows: npt.NDArray[Any]) -> None:
        multipliers, addends = rounds(self.hashing, "minhash", self.permutations)
        kernels.sketch(values, starts, ends, multipliers, addends, rows)

    def _estimated(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Values:
        counts = np.empty(len(left), np.int32)
        absent = _ABSENT[one.rows.dtype.itemsize]
        kernels.agreements(one.rows, other.rows, left, right, absent, counts)
        return counts / self.permutations

    def _ranked(self, signatures: Signatures) -> RankedRule:
        needed = whole_term(least_count(self.permutations, self.threshold))
        return RankedRule(ranked_kernel("by_minima"), signatures.rows, needed)

    def keys(self, signatures: Signatures, layout: Banding | None = None) -> Words:
        """Hash every band of every row: uint64[n, bands], with this layout or the scheme's own.

        Two documents of resemblance *r* share a key with probability ``layout.meeting_probability(r)``. Bands are
        hashed from the low 16 bits of their minima, so that short and whole rows have the same keys; bands of a single
        minimum from all 32 bits. The keys of rows without a signature have no meaning.
        """
        require_signatures("signatures", signatures, self)
        cut = self.layout
        if layout is not None:
            require_kind("layout", layout, Banding)
            rule = f"must have the scheme's permutations, {self.permutations}"
            require(layout.permutations == self.permutations, "layout", layout, rule)
            cut = layout
        keys = np.empty((len(signatures), cut.bands), np.uint64)
        kernels.band_keys(signatures.rows, cut.edges, self._mask(cut), keys)
        return keys

    def _mask(self, layout: Banding) -> np.uint32:
        """Return the bits of a minimum that keys are made from."""
        return _LOW if self.permutations >= _LEAST_ROWS * layout.bands else np.uint32(kernels.EMPTY)

    @property
    def key_count(self) -> int:
        """The number of bands, one key for each."""
        return self.layout.bands

    def keys_lack(self, other: Any, *, chosen: bool) -> str | None:
        """Describe that the bands find too few pairs at the *other* scheme's threshold, unless they were *chosen*."""
        share = float(self.layout.meeting_probability(other.threshold))
        if chosen or share >= other.recall or other.threshold >= self.threshold:
            return None
        accepted = int(share * 1000) / 1000
        found = f"only {100 * share:.1f} %" if accepted else "less than 0.1 %"
        way_out = f"a recall of {accepted} accepts this" if accepted else "fill a new index for this threshold"
        return (
            f"has keys for a threshold of {self.threshold}: {found} of the pairs at {other.threshold} would be found,"
            f" not {100 * other.recall:g} %; {way_out}"
        )

    def sign_short_at(self, corpus: Corpus, positions: Positions) -> Signatures:
        """Sign the documents at these positions of a corpus, with the low 16 bits of each minimum: see ``shortened``.

        Equal minima have equal low bits, so no estimate is lower than that of whole rows. If bands have a single
        minimum, keys need all 32 bits, and rows are whole.
        """
        if self._mask(self.layout) != _LOW:
            return self.sign_at(corpus, positions)
        return self._signed_at(corpus.features, positions, np.empty((len(positions), self.permutations), np.uint16))

    def shortened(self, signatures: Signatures) -> Signatures:
        """Return the rows that ``sign_short_at`` makes."""
        if signatures.rows.dtype == np.uint16 or self._mask(self.layout) != _LOW:
            return signatures
        rows = np.minimum(signatures.rows & _LOW, _LOW - np.uint32(1)).astype(np.uint16)
        rows[~signatures.present] = _LOW
        return Signatures(rows, signatures.present, signatures.recipe)

    def key_column(self, signatures: Signatures, column: int, documents: AnyPositions) -> Words:
        """Hash one band of the rows of these *documents*: column *column* of ``keys``."""
        keys = np.empty(len(documents), np.uint64)
        positions, cut = documents.astype(np.int64, copy=False), self.layout
        kernels.band_column(signatures.rows, positions, column, cut.edges, self._mask(cut), keys)
        return keys

    def probability(self, resemblance: Any) -> Any:
        """Return the probability that ``matches`` holds at a true resemblance (a number or an array).

        ``P[Binomial(permutations, r) >= threshold * permutations]``: the law of independent minima. The estimates of
        short texts deviate less, so the true curve is at least as steep.

        >>> MinHash(permutations=128, threshold=0.8).probability(0.8).round(2)
        np.float64(0.5)
        """
        return sample_law(resemblance, self.permutations, self.threshold)

    def curves(self, values: Any) -> dict[str, Any]:
        """Return ``match``, by the estimate; ``candidate``, a shared band; and ``both`` of them."""
        return {
            "match": self.probability(values),
            "candidate": self.layout.meeting_probability(values),
            "both": bands_and_sample_law(values, self.permutations, self.layout.bands, self.threshold),
        }

    def key_probability(self, values: Any) -> Any:
        """Return the probability that a given band is equal."""
        return self.layout.key_probability(values)

    @property
    def layout_numbers(self) -> dict[str, float]:
        """The number of bands."""
        return {"bands": self.layout.bands}

    @classmethod
    def grid(cls, wanted: Requirements) -> Iterator[Self]:
        """Yield schemes of up to 512 permutations: those that reach the recall, and others with the best bands."""
        for permutations in _SEARCHED:
            yield cls(permutations=permutations, threshold=wanted.threshold, **_wanted_layout(wanted, permutations))

    @classmethod
    def variants(cls) -> tuple[Any, ...]:
        """Return schemes with each unit of analysis, as sets and bags."""
        small = cls(shingle=2, permutations=8, recall=0.9)
        units = (
            Analysis(unit="letter"),
            Analysis(unit="line", stem="english", min_length=2, stop_words=("the", "was over")),
            Analysis(unit="sentence"),
        )
        return (
            small,
            replace(small, bag=True, key=bytes(KEY_BYTES)),
            *(replace(small, shingle=1, analysis=unit) for unit in units),
        )


def _wanted_layout(wanted: Requirements, permutations: int) -> dict[str, Any]:
    """Return the recall, if its bands do not exceed the false rate; otherwise the most bands that do not."""
    met, far = bands_law(wanted.values[:2, None], permutations, np.arange(1, permutations + 1))
    enough = np.flatnonzero(met >= wanted.recall)
    kept = np.flatnonzero(far <= (1.0 if wanted.false_rate is None else wanted.false_rate))
    if enough.size and (enough[0] in kept or not kept.size):
        return {"recall": wanted.recall}
    return {"bands": int(kept[np.argmax(met[kept])]) + 1 if kept.size else 1}


@lru_cache(maxsize=64)
def _floor(permutations: int, threshold: float, miss: float) -> float:
    """Return the greatest share below which the binomial law leaves a probability of at most *miss*."""
    below = np.cumsum(binomial_terms(permutations, 0, np.array([threshold]))[0])
    return int(np.searchsorted(below, miss, side="right")) / permutations


@lru_cache(maxsize=32)
def rounds(hashing: Hashing, purpose: str, bins: int) -> tuple[Words, Words]:
    """Return the odd multipliers and the addends of the ``2 * bins`` rounds (see ``neardup.kernels.minhash``)."""
    numbers = np.frombuffer(hashing.derive(purpose, 32 * bins), "<u8").astype(np.uint64)
    return numbers[: 2 * bins] | np.uint64(1), numbers[2 * bins :].copy()
