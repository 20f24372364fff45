"""Schemes on paper: the numbers that decide how likely they err and what they store, without the schemes themselves.

A design takes any numbers; whether a scheme does, the scheme says itself (``check``). So a plan whose numbers are known
to be fine loads no scheme.
"""

import sys
from dataclasses import dataclass
from math import comb
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from neardup.model.layout import Banding, Blocks
from neardup.schemes.laws import (
    bands_and_sample_law,
    bit_agreement,
    hamming_law,
    sample_law,
    smallest_law,
    trials_law,
)

Numbers = npt.NDArray[np.float64]

WORD: Final = 8  # bytes of a key, of a trial, and of 64 bits of a fingerprint
RECALL: Final = 0.999  # of the bands that MinHash takes by default


class Design(Protocol):
    """What a plan asks of a scheme's numbers."""

    name: str
    measure: str

    def check(self) -> None:
        """Raise the ``ParameterError`` that the scheme raises for numbers that break its rules."""
        ...

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
    def values(self) -> Numbers:
        """Where its curve is worth looking at: values of its measure."""
        ...

    def curves(self, values: Numbers) -> dict[str, Numbers]:
        """Probabilities at these values of its measure; ``match`` is the first."""
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

    def check(self) -> None:
        """Ask ``Trials``."""
        from neardup.schemes.trials import Trials

        Trials(**self.parameters)  # type: ignore[arg-type]  # it checks the types, too

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
    def values(self) -> Numbers:
        """From 0 to 1."""
        return spread(0, 100)

    def curves(self, values: Numbers) -> dict[str, Numbers]:
        """Only ``match``: candidates are matches."""
        return {"match": trials_law(values, self.hashes, self.trials, self.needed)}


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

    def check(self) -> None:
        """Ask ``MinHash``, for any recall if the bands are given."""
        from neardup.schemes.minhash import MinHash

        recall = RECALL if self.bands is None else sys.float_info.min
        MinHash(**self.parameters, recall=recall)  # type: ignore[arg-type]  # it checks the types, too
        _ = self._layout

    @property
    def parameters(self) -> dict[str, float]:
        """The numbers that the scheme takes."""
        return {"permutations": self.permutations, "threshold": self.threshold}

    @property
    def layout(self) -> dict[str, float]:
        """How many bands the minima are cut into."""
        return {"bands": self._layout.bands}

    @property
    def signature_bytes(self) -> int:
        """Half a word a minimum."""
        return 4 * self.permutations

    @property
    def keys(self) -> int:
        """One a band."""
        return self._layout.bands

    @property
    def values(self) -> Numbers:
        """From 0 to 1."""
        return spread(0, 100)

    def curves(self, values: Numbers) -> dict[str, Numbers]:
        """``match`` by the estimate; ``candidate``, a shared band; and ``both`` of them."""
        return {
            "match": sample_law(values, self.permutations, self.threshold),
            "candidate": self._layout.meeting_probability(values),
            "both": bands_and_sample_law(values, self.permutations, self._layout.bands, self.threshold),
        }

    @property
    def _layout(self) -> Banding:
        if self.bands is None:
            return Banding.choose(permutations=self.permutations, threshold=self.threshold, recall=RECALL)
        return Banding(permutations=self.permutations, bands=self.bands)


@dataclass(frozen=True, kw_only=True)
class SimHashDesign:
    """Fingerprints of ``bits`` bits match if at most ``distance`` differ; the measure is the *cosine* of two texts.

    Any ``distance`` of ``blocks`` blocks are left out to make one of ``C(blocks, distance)`` keys, so that no match
    is missed. More blocks: longer keys with fewer strangers, and more of them. Without *blocks*, as ``SimHash`` has
    them.
    """

    distance: int = 3
    bits: int = 64
    blocks: int | None = None

    name = "simhash"
    measure = "cosine"

    def check(self) -> None:
        """Ask the layout, which checks all of it."""
        _ = self._layout

    @property
    def parameters(self) -> dict[str, float]:
        """The numbers that the scheme takes."""
        return {"distance": self.distance, "bits": self.bits}

    @property
    def layout(self) -> dict[str, float]:
        """How many blocks the bits are cut into."""
        return {"blocks": self._layout.blocks}

    @property
    def signature_bytes(self) -> int:
        """Words that hold the bits."""
        return WORD * self.bits // 64

    @property
    def keys(self) -> int:
        """One for each set of blocks that may differ."""
        return comb(self._layout.blocks, self.distance)

    @property
    def values(self) -> Numbers:
        """From 0.8 to 1: below, hardly anything matches."""
        return spread(80, 100)

    def curves(self, values: Numbers) -> dict[str, Numbers]:
        """``match`` by the distance, and ``candidate``: a shared key."""
        return {
            "match": hamming_law(values, self.bits, self.distance),
            "candidate": self._layout.meeting_probability(bit_agreement(values)),
        }

    @property
    def _layout(self) -> Blocks:
        if self.blocks is None:
            return Blocks.choose(bits=self.bits, distance=self.distance)
        return Blocks(bits=self.bits, distance=self.distance, blocks=self.blocks)


@dataclass(frozen=True, kw_only=True)
class SentencesDesign:
    """Of the ``size`` smallest sentence hashes, 4 bytes each, a share of at least ``threshold`` agrees."""

    size: int = 64
    threshold: float = 0.5

    name = "sentences"
    measure = "resemblance"

    def check(self) -> None:
        """Ask ``Sentences``."""
        from neardup.schemes.sentences import Sentences

        Sentences(**self.parameters)  # type: ignore[arg-type]  # it checks the types, too

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
    def values(self) -> Numbers:
        """From 0 to 1."""
        return spread(0, 100)

    def curves(self, values: Numbers) -> dict[str, Numbers]:
        """``match`` by the share, and ``candidate``: any value in both signatures."""
        return {
            "match": sample_law(values, self.size, self.threshold),
            "candidate": smallest_law(values, self.size),
        }


DESIGNS: Final[dict[str, type[Any]]] = {
    made.name: made for made in (TrialsDesign, MinHashDesign, SimHashDesign, SentencesDesign)
}


def spread(first: int, last: int) -> Numbers:
    """Give 101 values between two percentages, each the float that its decimal fraction is.

    >>> spread(0, 100)[[0, 55, 100]]
    array([0.  , 0.55, 1.  ])
    """
    return np.asarray((np.linspace(first, last, 101) / 100).round(6))
