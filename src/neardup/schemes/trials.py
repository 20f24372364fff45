"""Trials of word sequences, the signatures of enterprise search engines."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from math import ceil, comb
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from neardup.kernels import minhash as kernels
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
from neardup.model.errors import require, require_whole
from neardup.model.options import ANALYSIS, BAG, SHORT, THRESHOLD, Option
from neardup.model.ranked_rule import RankedRule, whole_term
from neardup.model.requirements import Requirements
from neardup.schemes.laws import trials_law
from neardup.schemes.minhash import rounds
from neardup.schemes.scheme import Reading
from neardup.schemes.signing import FeatureScheme, ranked_kernel
from neardup.text.analysis import Analysis
from neardup.text.common_shingles import CommonShingles

_MOST_WORDS = 1000
_MOST_MINIMA = 1 << 16
_MOST_KEYS = 1024
_ABSENT = np.uint64(0)  # the first value in the row of a missing signature
_TOGETHER = 1024  # documents whose minima are in memory at a time; by default they take 344 kB


class _Even(float):
    """The default threshold, at which the law is 1/2; it is computed again in a scheme derived from another one."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class Trials(FeatureScheme):
    """Signatures of *trials* 64-bit integers, each the hash of *hashes* minima; two match if *needed* agree.

    Trials are also called super-shingles. Recipe: ``analysis``, ``words`` (words per sequence), ``bag`` (see
    ``Shingling``; otherwise a sequence counts once), ``hashes``, ``trials``, ``seed`` or ``key`` (see ``Hashing``), and
    ``common``, the sequences that do not count (see ``CommonShingles``). Policy: ``needed``, and ``threshold``, the
    least resemblance of a match in exact verification; ``None`` is the resemblance at which the law is 1/2, rounded to
    4 digits: 0.909 for the default. ``matches`` counts trials and does not use the threshold.

    The minima are those of Fast Similarity Sketching for the purpose ``trials``. Trial *t* (from 0) is ``h = t + 1``,
    then for each of its *hashes* consecutive minima ``h = (h ^ minimum) * SPREAD``, ``h ^= h >> 32``, mod 2**64; 0
    counts as 1.

    Minima agree with probability *r*, the resemblance. The minima of a text with fewer sequences than minima are not
    independent: they are drawn nearly without replacement. So all minima of a trial agree slightly less often than
    ``r**hashes``, and trials differ less from each other: the curve of short texts is slightly steeper than the law,
    within 0.05 of it as measured on texts of 10 to 100 sequences.

    The resemblance is estimated as ``(agreeing trials / trials) ** (1 / hashes)``, which is coarse for few trials: with
    6 trials of 14 hashes it is 0 or at least 0.88.

    ``rows`` is uint64[n, trials]. A document without words has no signature: its row is 0, and it matches nothing.
    """

    words: int = 2
    hashes: int = 14
    trials: int = 6
    needed: int = 2
    threshold: float = None  # type: ignore[assignment]  # replaced at once
    short: int | None = None
    short_threshold: float | None = None
    seed: int = 1
    key: bytes | None = field(default=None, repr=False)
    analysis: Analysis = field(default_factory=Analysis)
    bag: bool = False
    common: CommonShingles | None = None

    name = "trials"
    shingle = property(attrgetter("words"))
    rule = "resemblance"
    measure = "resemblance"
    measures = ("resemblance",)
    keys_decide = True
    signatures_decide = True
    recipe_parts = ("hashes", "trials")
    plan_numbers = ("hashes", "trials", "needed")
    searched_numbers = ("hashes", "trials", "needed", "threshold")
    options: ClassVar[tuple[Option, ...]] = (
        THRESHOLD.by_default("0.9094, the resemblance at which half of the pairs match"),
        *SHORT,
        Option("words", "whole", "words in a sequence", "2", "W"),
        Option("hashes", "whole", "minima per trial", "14", "H"),
        Option("trials", "whole", "number of trials", "6"),
        Option("needed", "whole", "how many must agree for a candidate", "2"),
        BAG,
        *ANALYSIS,
    )

    def __post_init__(self) -> None:
        for name, most in (("words", _MOST_WORDS), ("hashes", _MOST_MINIMA), ("trials", _MOST_MINIMA)):
            object.__setattr__(self, name, require_whole(name, getattr(self, name), 1, most))
        fits = self.hashes * self.trials <= _MOST_MINIMA
        rule = f"must be at most {_MOST_MINIMA // self.trials:,} for {self.trials} trials"
        require(fits, "hashes", self.hashes, rule)
        object.__setattr__(self, "needed", require_whole("needed", self.needed, 1, self.trials))
        ways = comb(self.trials, self.needed)
        rule = f"must have at most {_MOST_KEYS} combinations out of {self.trials} trials"
        require(ways <= _MOST_KEYS, "needed", self.needed, rule)
        if self.threshold is None or isinstance(self.threshold, _Even):
            object.__setattr__(self, "threshold", _even(self.hashes, self.trials, self.needed))
        self._require_thresholds()
        _ = self.shingling  # this checks the rest

    def _blank(self, number: int) -> Words:
        return np.empty((number, self.trials), np.uint64)

    def _fill(self, values: Words, starts: Positions, ends: Positions, rows: Words) -> None:
        multipliers, addends = rounds(self.hashing, "trials", self.hashes * self.trials)
        edges = np.arange(0, self.hashes * self.trials + 1, self.hashes)
        minima = np.empty((min(len(rows), _TOGETHER), self.hashes * self.trials), np.uint32)
        for begin in range(0, len(rows), _TOGETHER):
            part = slice(begin, begin + _TOGETHER)
            found = minima[: len(rows[part])]
            kernels.sketch(values, starts[part], ends[part], multipliers, addends, found)
            kernels.band_keys(found, edges, np.uint32(kernels.EMPTY), rows[part])
        np.maximum(rows, np.uint64(1), out=rows)
        rows[ends == starts] = _ABSENT

    def _ranked(self, signatures: Signatures) -> RankedRule:
        return RankedRule(ranked_kernel("by_trials"), signatures.rows, whole_term(self.needed))

    def keys(self, signatures: Signatures) -> Words:
        """Hash every choice of *needed* trials: uint64[n, C(trials, needed)]. Documents match if they share a key.

        The keys of rows without a signature have no meaning.
        """
        require_signatures("signatures", signatures, self)
        choices = np.array([*combinations(range(self.trials), self.needed)], np.int64)
        keys = np.empty((len(signatures), len(choices)), np.uint64)
        kernels.choice_keys(signatures.rows, choices, keys)
        return keys

    def _agreements(
        self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions
    ) -> npt.NDArray[np.int32]:
        counts = np.empty(len(left), np.int32)
        kernels.agreements(one.rows, other.rows, left, right, _ABSENT, counts)
        return counts

    def _estimated(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Values:
        return np.asarray((self._agreements(one, other, left, right) / self.trials) ** (1.0 / self.hashes))

    def _matching(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        return np.asarray(self._agreements(one, other, left, right) >= self.needed)

    def probability(self, resemblance: Any) -> Any:
        """Return the probability that ``matches`` holds at a true resemblance (a number or an array).

        ``P[Binomial(trials, r**hashes) >= needed]``, for texts with many more sequences than minima. For six trials and
        *needed* = 2 it is ``1 - (1 - q)**6 - 6 * q * (1 - q)**5``, ``q = r**hashes``.

        >>> Trials().probability([0.8, 0.9, 0.95]).round(4)
        array([0.0258, 0.4151, 0.8786])
        """
        return trials_law(resemblance, self.hashes, self.trials, self.needed)

    @property
    def match_estimate(self) -> float:
        """The estimate for exactly *needed* agreeing trials."""
        return float((self.needed / self.trials) ** (1 / self.hashes))

    def at_estimate(self, estimate: float) -> Self:
        """Return the scheme with the smallest *needed* whose estimated resemblance reaches this one."""
        return replace(self, needed=max(1, ceil(self.trials * estimate**self.hashes - ROUNDING)))

    @property
    def key_count(self) -> int:
        """The number of choices of *needed* trials, one key for each."""
        return comb(self.trials, self.needed)

    @np.errstate(under="ignore")  # chances too small for a float are 0
    def key_probability(self, values: Any) -> Any:
        """Return the probability that all trials of a given choice agree."""
        return shares(values) ** (self.hashes * self.needed)

    def keys_lack(self, other: Any, *, chosen: bool) -> str | None:
        """Describe that the keys are of more trials than the *other* scheme needs."""
        del chosen
        lacks = other.needed < self.needed
        return f"has keys for {self.needed} trials that agree, not for {other.needed}" if lacks else None

    @property
    def signature_rule(self) -> str:
        """A sentence part that describes when two signatures match."""
        return f"at least {self.needed} of {self.trials} trials of {self.shingles_in_words} agree"

    def reading(self, left: Signatures, right: Signatures) -> Reading:
        """Return the number of agreeing trials."""
        agreeing = int((left.rows[0] == right.rows[0]).sum())
        detail: dict[str, Any] = {"agreeing": agreeing, "trials": self.trials}
        detail[f"estimated {self.measure}"] = float(self.estimate(left, right)[0])
        return Reading("agreeing trials", float(agreeing), float(self.needed), detail)

    @classmethod
    def grid(cls, wanted: Requirements) -> Iterator[Self]:
        """Yield schemes of 2 to 30 hashes and 2 to 12 trials, with *needed* from 1 to 4."""
        for trials in range(2, 13):
            for needed in range(1, min(4, trials) + 1):
                for hashes in range(2, 31):
                    yield cls(hashes=hashes, trials=trials, needed=needed, threshold=wanted.threshold)


@lru_cache(maxsize=64)
def _even(hashes: int, trials: int, needed: int) -> _Even:
    """Return the resemblance at which the law is 1/2, by bisection."""
    low, high = 0.0, 1.0
    while high - low > 1e-9:  # noqa: PLR2004 - far below the 4 digits
        middle = (low + high) / 2.0
        if trials_law(middle, hashes, trials, needed) < 0.5:  # noqa: PLR2004 - what is looked for
            low = middle
        else:
            high = middle
    return _Even(max(round(high, 4), 0.0001))
