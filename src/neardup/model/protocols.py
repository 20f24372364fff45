"""The questions that every scheme answers."""

from typing import Any, Protocol

import numpy.typing as npt

from neardup.model.arrays import Features, Flags, Positions, Signatures, TextBatch, Words
from neardup.model.recipe import RecipeId

Numbers = npt.NDArray[Any]


class Evidence(Protocol):
    """How the features that an exact comparison looks at are made."""

    def batch_features(self, batch: TextBatch) -> Features:
        """Give the features of one batch of texts."""
        ...


class Scheme(Protocol):
    """Turns documents into signatures, knows which of them match, and the law of its own errors."""

    @property
    def name(self) -> str:
        """The scheme's name, as the command line and reports say it."""
        ...

    @property
    def recipe(self) -> RecipeId:
        """What decides the bits of its signatures."""
        ...

    @property
    def threshold(self) -> float:
        """The least resemblance that it calls a match."""
        ...

    @property
    def shingling(self) -> Evidence:
        """The features that exact verification compares and evidence is measured on."""
        ...

    def sign(self, documents: Any) -> Signatures:
        """Give one signature a document."""
        ...

    def keys(self, signatures: Signatures) -> Words:
        """Give uint64[n, K]: two documents are candidates iff they share a key in some column."""
        ...

    def matches(self, left: Signatures, right: Signatures) -> Flags:
        """Say, row by row, whether two signatures match by the scheme's rule."""
        ...

    def estimate(self, left: Signatures, right: Signatures) -> Numbers:
        """Estimate, row by row, the resemblance of two documents from their signatures."""
        ...

    def probability(self, resemblance: Any) -> Any:
        """Tell how likely the rule says "match" at a true resemblance."""
        ...


class PairEstimator(Protocol):
    """A scheme whose estimate spares exact comparisons."""

    @property
    def floor(self) -> float:
        """The estimate below which a true match is as good as impossible."""
        ...

    def estimate_pairs(self, signatures: Signatures, left: Positions, right: Positions) -> Numbers:
        """Estimate the resemblance of documents ``left[i]`` and ``right[i]`` of one set of signatures."""
        ...
