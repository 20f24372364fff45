"""The protocols of schemes."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from neardup.model.arrays import AnyPositions, Corpus, Features, Flags, Positions, Signatures, TextBatch, Words
from neardup.model.errors import require
from neardup.model.recipe import RecipeId

Numbers = npt.NDArray[Any]


class Evidence(Protocol):
    """How the features for exact comparisons are made."""

    def usual_features(self, text_bytes: int) -> int:
        """Return how many features texts of *text_bytes* bytes usually have at most."""

    def batch_features(self, batch: TextBatch) -> Features:
        """Return the features of one batch of texts."""


class Reading(NamedTuple):
    """What a scheme's rule compares in two signatures: its name, its value, the threshold, and further numbers."""

    measure: str
    value: float
    threshold: float
    detail: dict[str, Any]


class RankedRule(NamedTuple):
    """A scheme's rule for hits in rank order: a kernel of ``neardup.kernels.collapse``, the rows, and its terms."""

    kernel: Callable[..., tuple[int, int]]
    rows: Numbers
    terms: Positions


@lru_cache(maxsize=1024)
def whole_term(number: int) -> Positions:
    """Return the argument of a rule's kernel for a single number."""
    return np.array([number])


@runtime_checkable
class Scheme(Protocol):
    """Turns documents into signatures, decides which of them match, and knows the law of its own errors.

    The four questions are ``sign``, ``keys``, ``matches`` and ``probability``. The other members are what the pipeline
    needs to process a whole corpus and to report on it; ``schemes.scheme.SchemeDefaults`` has more, with defaults.
    """

    @property
    def name(self) -> str:
        """The scheme's name on the command line and in reports."""

    @property
    def recipe(self) -> RecipeId:
        """What decides the bits of its signatures."""

    @property
    def key_identity(self) -> str:
        """What distinguishes keys, or seeds, without revealing keys."""

    @property
    def rule(self) -> str:
        """The name of the rule in reports, for verified matches."""

    @property
    def measure(self) -> str:
        """What ``estimate`` estimates: ``resemblance``; ``overlap``, the share of the smaller set; or ``cosine``."""

    @property
    def position_independent(self) -> bool:
        """Whether a shared key counts in any column; otherwise two documents must share it in the same column."""

    @property
    def threshold(self) -> float:
        """The least resemblance (or overlap) of a match in exact verification."""

    @property
    def short(self) -> int | None:
        """The number of features below which a document is short; ``None`` if none is."""

    @property
    def short_threshold(self) -> float | None:
        """The threshold of pairs with a short document."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it signs; empty if it signs the features of the text."""

    @property
    def least_estimate(self) -> float:
        """The least estimate of a match."""

    @property
    def exact_rule(self) -> str:
        """A sentence part that describes when two documents match in exact verification."""

    @property
    def shingling(self) -> Evidence:
        """How the features are made that evidence is measured on, and that are signed unless it signs columns."""

    @property
    def second_shingling(self) -> Evidence | None:
        """How other features are made which equal documents share, too; ``None`` if there are none."""

    def with_threshold(self, threshold: float) -> Self:
        """Return the same scheme with another threshold; ``ParameterError`` if it has none."""

    def with_short(self, short: int | None, short_threshold: float | None) -> Self:
        """Return the same scheme with another threshold of pairs with a short document; ``None`` for none."""

    def with_key(self, key: bytes | None) -> Self:
        """Return the same scheme with another key; ``None`` leaves it as it is."""

    def with_common(self, common: Any) -> Self:
        """Return the same scheme with a list of shingles that do not count; ``None`` leaves it as it is."""

    def sign(self, documents: Any) -> Signatures:
        """Return one signature per document."""

    def sign_at(self, corpus: Corpus, positions: Positions) -> Signatures:
        """Sign the documents at these positions of a corpus."""

    def keys(self, signatures: Signatures) -> Words:
        """Return uint64[n, K]: two documents are candidates if and only if they share a key.

        See also ``position_independent``.
        """

    def matches(self, left: Signatures, right: Signatures) -> Flags:
        """Return, row by row, whether two signatures match by the scheme's rule."""

    def match_pairs(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        """Return whether documents ``left[i]`` and ``right[i]`` of one set of signatures match."""

    def estimate(self, left: Signatures, right: Signatures) -> Numbers:
        """Estimate, row by row, the scheme's measure of two documents from their signatures, from 0 to 1."""

    def estimate_pairs(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Numbers:
        """Estimate the measure of documents ``left[i]`` and ``right[i]`` of one set of signatures."""

    def ranked_rule(self, signatures: Signatures) -> RankedRule:
        """Return the rule of ``matches`` for hits in rank order."""

    def probability(self, resemblance: Any) -> Any:
        """Return the probability that the rule decides "match" at a true resemblance.

        Raises ``ParameterError`` for a resemblance outside 0 and 1.
        """

    def curves(self, values: Any) -> dict[str, Any]:
        """Return probabilities by name at true values of the measure: ``match`` and, if known, ``candidate``."""


def require_scheme(scheme: object, question: str = "sign") -> None:
    """Raise ``ParameterError`` for an object without this method of a scheme, such as a scheme's name or class."""
    answers = not isinstance(scheme, type) and callable(getattr(scheme, question, None))
    require(answers, "scheme", scheme, "must be a scheme, such as MinHash()")


@runtime_checkable
class ColumnScheme(Scheme, Protocol):
    """A scheme with many keys that needs less memory for a whole corpus: shorter rows, and keys column by column.

    Short rows have the keys of whole rows. Their estimates are never lower, so exact verification must follow.
    """

    @property
    def key_count(self) -> int:
        """The number of keys."""

    def sign_short_at(self, corpus: Corpus, positions: Positions) -> Signatures:
        """Sign the documents at these positions of a corpus, in rows just long enough to find candidates."""

    def shortened(self, signatures: Signatures) -> Signatures:
        """Return the rows that ``sign_short_at`` makes."""

    def key_column(self, signatures: Signatures, column: int, documents: AnyPositions) -> Words:
        """Return one column of the keys of these *documents*, of short signatures."""


@runtime_checkable
class FieldScheme(Scheme, Protocol):
    """A scheme that signs columns; its exact rule compares the content of the fields."""

    @property
    def required_columns(self) -> tuple[str, ...]:
        """The columns without which a table cannot be signed."""

    def same_content(self, fields: Any, left: Positions, right: Positions) -> Flags:
        """Return, pair by pair, whether two rows of a table have the same content in every field."""


@runtime_checkable
class FilterScheme(Scheme, Protocol):
    """A scheme whose signatures must pass for every match, with any verification."""

    def passes(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        """Return whether documents ``left[i]`` and ``right[i]`` of one set of signatures may match."""
