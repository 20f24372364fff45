"""Schemes on paper: the numbers that decide how likely they err and what they store, without the schemes themselves."""

from dataclasses import dataclass
from math import comb
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from neardup.model.errors import ParameterError, require
from neardup.schemes.laws import (
    bands_and_sample_law,
    bands_law,
    blocks_law,
    hamming_law,
    is_share,
    sample_law,
    smallest_law,
    trials_law,
)

Numbers = npt.NDArray[np.float64]

WORD: Final = 8  # bytes of a key, of a trial, and of 64 bits of a fingerprint
MAX_MINIMA: Final = 1 << 16
MAX_SENTENCES: Final = 1 << 12
MAX_KEYS: Final = 1 << 10
MAX_BITS: Final = 512
FEW_KEYS: Final = 120


class Design(Protocol):
    """What a plan asks of a scheme's numbers."""

    name: str
    measure: str

    @property
    def parameters(self) -> dict[str, float]:
        """The numbers that the scheme takes."""
        ...

    @property
    def layout(self) -> dict[str, float]:
        """The numbers that its index takes; none if they follow from the parameters."""
        ...

    @property
    def signature_bytes(self) -> int:
        """What it stores for a document."""
        ...

    @property
    def keys(self) -> int:
        """Integers by which a document's candidates are found, 8 bytes each."""
        ...

    @property
    def overlaps(self) -> Numbers:
        """Where its curve is worth looking at."""
        ...

    def curves(self, overlaps: Numbers) -> dict[str, Numbers]:
        """Probabilities at these overlaps; ``match`` is the first."""
        ...


@dataclass(frozen=True, kw_only=True)
class TrialsDesign:
    """``needed`` of ``trials`` trials of ``hashes`` minima each must agree: 8 bytes a trial.

    Its ``C(trials, needed)`` keys are the rule: who shares one matches, and nobody else.
    """

    hashes: int = 14
    trials: int = 6
    needed: int = 2

    name = "trials"
    measure = "resemblance"

    def __post_init__(self) -> None:
        require_whole("hashes", self.hashes, 1, MAX_MINIMA)
        require_whole("trials", self.trials, 1, MAX_MINIMA)
        rule = f"must be at most {MAX_MINIMA:,} in all {self.trials} trials together"
        require(self.hashes * self.trials <= MAX_MINIMA, "hashes", self.hashes, rule)
        require_whole("needed", self.needed, 1, self.trials)
        rule = f"must leave at most {MAX_KEYS:,} ways to choose it from {self.trials} trials"
        require(_ways(self.trials, self.needed) <= MAX_KEYS, "needed", self.needed, rule)

    @property
    def parameters(self) -> dict[str, float]:
        """The numbers that the scheme takes."""
        return {"hashes": self.hashes, "trials": self.trials, "needed": self.needed}

    @property
    def layout(self) -> dict[str, float]:
        """Nothing: the keys follow from the rule."""
        return {}

    @property
    def signature_bytes(self) -> int:
        """A word a trial."""
        return WORD * self.trials

    @property
    def keys(self) -> int:
        """One for each set of trials that may agree."""
        return comb(self.trials, self.needed)

    @property
    def overlaps(self) -> Numbers:
        """From 0 to 1."""
        return spread(0, 100)

    def curves(self, overlaps: Numbers) -> dict[str, Numbers]:
        """Only ``match``: candidates are matches."""
        return {"match": trials_law(overlaps, self.hashes, self.trials, self.needed)}


@dataclass(frozen=True, kw_only=True)
class MinHashDesign:
    """``permutations`` minima of 4 bytes in ``bands``; a match is an estimated resemblance of at least ``threshold``.

    Without *bands*, the fewest that let 99.9 % of the pairs at the threshold meet, as ``MinHash`` has them.
    """

    permutations: int = 128
    threshold: float = 0.6
    bands: int | None = None

    name = "minhash"
    measure = "resemblance"

    def __post_init__(self) -> None:
        require_whole("permutations", self.permutations, 8, MAX_MINIMA)
        require(self.permutations % 8 == 0, "permutations", self.permutations, "must be a multiple of 8")
        require(is_share(self.threshold), "threshold", self.threshold, "must be above 0 and at most 1")
        if self.bands is None:
            object.__setattr__(self, "bands", fewest_bands(self.permutations, self.threshold, 0.999))
        require_whole("bands", self.bands, 1, self.permutations)

    @property
    def parameters(self) -> dict[str, float]:
        """The numbers that the scheme takes."""
        return {"permutations": self.permutations, "threshold": self.threshold}

    @property
    def layout(self) -> dict[str, float]:
        """How many bands the minima are cut into."""
        return {"bands": self._bands}

    @property
    def signature_bytes(self) -> int:
        """Half a word a minimum."""
        return 4 * self.permutations

    @property
    def keys(self) -> int:
        """One a band."""
        return self._bands

    @property
    def overlaps(self) -> Numbers:
        """From 0 to 1."""
        return spread(0, 100)

    def curves(self, overlaps: Numbers) -> dict[str, Numbers]:
        """``match`` by the estimate; ``candidate``, a shared band; and ``both`` of them."""
        return {
            "match": sample_law(overlaps, self.permutations, self.threshold),
            "candidate": bands_law(overlaps, self.permutations, self._bands),
            "both": bands_and_sample_law(overlaps, self.permutations, self._bands, self.threshold),
        }

    @property
    def _bands(self) -> int:
        return self.bands or 1  # never None once made


@dataclass(frozen=True, kw_only=True)
class SimHashDesign:
    """Fingerprints of ``bits`` bits that differ in at most ``distance`` match; overlap is the *cosine* of two texts.

    Any ``distance`` of ``blocks`` blocks are left out to make one of ``C(blocks, distance)`` keys, so that no match
    is missed. More blocks: longer keys with fewer strangers, and more of them. Without *blocks*, three more than
    *distance* while that makes at most 120 keys, else one more.
    """

    distance: int = 3
    bits: int = 64
    blocks: int | None = None

    name = "simhash"
    measure = "cosine"

    def __post_init__(self) -> None:
        require_whole("bits", self.bits, 64, MAX_BITS)
        require(self.bits % 64 == 0, "bits", self.bits, "must be a multiple of 64")
        require_whole("distance", self.distance, 0, self.bits - 1)
        if self.blocks is None:
            wide = self.distance + 3 <= self.bits and comb(self.distance + 3, 3) <= FEW_KEYS
            object.__setattr__(self, "blocks", self.distance + (3 if wide else 1))
        require_whole("blocks", self.blocks, self.distance + 1, self.bits)
        rule = f"must make at most {MAX_KEYS:,} keys, and {self.blocks} over {self.distance} is {self.keys}"
        require(self.keys <= MAX_KEYS, "blocks", self.blocks, rule)

    @property
    def parameters(self) -> dict[str, float]:
        """The numbers that the scheme takes."""
        return {"distance": self.distance, "bits": self.bits}

    @property
    def layout(self) -> dict[str, float]:
        """How many blocks the bits are cut into."""
        return {"blocks": self._blocks}

    @property
    def signature_bytes(self) -> int:
        """Words that hold the bits."""
        return WORD * self.bits // 64

    @property
    def keys(self) -> int:
        """One for each set of blocks that may differ."""
        return comb(self._blocks, self.distance)

    @property
    def overlaps(self) -> Numbers:
        """From 0.8 to 1: below, hardly anything matches."""
        return spread(80, 100)

    def curves(self, overlaps: Numbers) -> dict[str, Numbers]:
        """``match`` by the distance, and ``candidate``: a shared key."""
        return {
            "match": hamming_law(overlaps, self.bits, self.distance),
            "candidate": blocks_law(overlaps, self.bits, self.distance, self._blocks),
        }

    @property
    def _blocks(self) -> int:
        return self.blocks or 1  # never None once made


@dataclass(frozen=True, kw_only=True)
class SentencesDesign:
    """Of the ``size`` smallest sentence hashes, 4 bytes each, a share of at least ``threshold`` agrees."""

    size: int = 64
    threshold: float = 0.5

    name = "sentences"
    measure = "resemblance"

    def __post_init__(self) -> None:
        require_whole("size", self.size, 1, MAX_SENTENCES)
        require(is_share(self.threshold), "threshold", self.threshold, "must be above 0 and at most 1")

    @property
    def parameters(self) -> dict[str, float]:
        """The numbers that the scheme takes."""
        return {"size": self.size, "threshold": self.threshold}

    @property
    def layout(self) -> dict[str, float]:
        """Nothing is planned."""
        return {}

    @property
    def signature_bytes(self) -> int:
        """Half a word a sentence."""
        return 4 * self.size

    @property
    def keys(self) -> int:
        """One a sentence; it counts in whatever place it stands."""
        return self.size

    @property
    def overlaps(self) -> Numbers:
        """From 0 to 1."""
        return spread(0, 100)

    def curves(self, overlaps: Numbers) -> dict[str, Numbers]:
        """``match`` by the share, and ``candidate``: any value in both signatures."""
        return {
            "match": sample_law(overlaps, self.size, self.threshold),
            "candidate": smallest_law(overlaps, self.size),
        }


DESIGNS: Final[dict[str, type[Any]]] = {
    made.name: made for made in (TrialsDesign, MinHashDesign, SimHashDesign, SentencesDesign)
}


def fewest_bands(permutations: int, threshold: float, recall: float) -> int:
    """Find the fewest bands that let at least *recall* of the pairs at *threshold* meet; see ``Banding.choose``.

    >>> fewest_bands(128, 0.8, 0.999)
    22
    """
    met = bands_law(threshold, permutations, np.arange(1, permutations + 1))
    enough = np.flatnonzero(met >= recall)
    if not enough.size:
        rule = (
            f"must be greater: at threshold {threshold} it reaches a recall of {met.max():.4f}, and {recall} is wanted"
        )
        raise ParameterError("permutations", permutations, rule)
    return int(enough[0]) + 1


def _ways(number: int, chosen: int) -> int:
    """Give ``C(number, chosen)``, or more than are allowed without counting them all."""
    few = min(chosen, number - chosen)
    return comb(number, 2 if few > 2 and comb(number, 2) > MAX_KEYS else few)  # noqa: PLR2004 - pairs


def spread(first: int, last: int) -> Numbers:
    """Give 101 overlaps between two percentages, each the float that its decimal fraction is.

    >>> spread(0, 100)[[0, 55, 100]]
    array([0.  , 0.55, 1.  ])
    """
    return np.asarray((np.linspace(first, last, 101) / 100).round(6))


def require_whole(name: str, value: object, least: int, most: int) -> None:
    """Raise ``ParameterError`` unless the value is a whole number in this range."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    require(whole and bool(least <= value <= most), name, value, f"must be a whole number from {least:,} to {most:,}")  # type: ignore[operator]  # a number by now
