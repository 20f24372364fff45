"""The questions that every scheme answers."""

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
    """How the features that an exact comparison looks at are made."""

    def usual_features(self, text_bytes: int) -> int:
        """Return how many features texts of so many bytes have at most, as a rule."""
        ...

    def batch_features(self, batch: TextBatch) -> Features:
        """Give the features of one batch of texts."""
        ...


class Reading(NamedTuple):
    """What a scheme's rule looks at in two signatures: its name, its value, the threshold, and further numbers."""

    measure: str
    value: float
    threshold: float
    detail: dict[str, Any]


class RankedRule(NamedTuple):
    """A scheme's rule for hits in rank order: a kernel of ``neardup.kernels.collapse``, the rows and its terms."""

    kernel: Callable[..., tuple[int, int]]
    rows: Numbers
    terms: Positions


@lru_cache(maxsize=1024)
def whole_term(number: int) -> Positions:
    """Give a rule of one term as its kernel takes it."""
    return np.array([number])


@runtime_checkable
class Scheme(Protocol):
    """Turns documents into signatures, knows which of them match, and the law of its own errors.

    The four questions are ``sign``, ``keys``, ``matches`` and ``probability``; the rest is what the
    pipeline needs to ask them of a whole corpus, and to say what it did.
    """

    @property
    def name(self) -> str:
        """The scheme's name, as the command line and reports say it."""
        ...

    @property
    def recipe(self) -> RecipeId:
        """What decides the bits of its signatures."""
        ...

    @property
    def rule(self) -> str:
        """What reports call a verified match by its rule."""
        ...

    @property
    def measure(self) -> str:
        """What ``estimate`` estimates: ``resemblance``; ``overlap``, the share of the smaller set; or ``cosine``."""
        ...

    @property
    def pooled(self) -> bool:
        """Whether a key counts in whatever column it stands; else two documents must share it in the same one."""
        ...

    @property
    def threshold(self) -> float:
        """The least resemblance (or overlap) that exact verification calls a match."""
        ...

    @property
    def floor(self) -> float:
        """The estimate below which a true match is as good as impossible; 0 spares no comparison."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it signs; none if it signs the features of the text."""
        ...

    @property
    def keys_decide(self) -> bool:
        """Whether two documents match exactly where they share a key."""
        ...

    @property
    def estimate_decides(self) -> bool:
        """Whether signatures match exactly where the estimate reaches the threshold."""
        ...

    @property
    def signatures_decide(self) -> bool:
        """Whether signatures must match for a match, however it is verified."""
        ...

    @property
    def match_estimate(self) -> float | None:
        """The estimate from which signatures match; ``None`` if no estimate decides that."""
        ...

    @property
    def least_estimate(self) -> float:
        """The least estimate of a match."""
        ...

    @property
    def table_distance(self) -> int | None:
        """The Hamming distance by which tables of 64-bit fingerprints find its candidates; ``None`` for keys."""
        ...

    @property
    def signature_rule(self) -> str:
        """When two signatures match, in words."""
        ...

    @property
    def exact_rule(self) -> str:
        """When exact verification calls two documents a match, in words."""
        ...

    @property
    def shingling(self) -> Evidence:
        """The features that evidence is measured on, and that it signs if it signs no columns."""
        ...

    def with_threshold(self, threshold: float) -> Self:
        """Give the same scheme at another threshold; ``ParameterError`` if it has none."""
        ...

    def at_estimate(self, estimate: float) -> Self:
        """Return the scheme whose signatures match from this estimate on; ``ParameterError`` if there is none."""
        ...

    def with_key(self, key: bytes | None) -> Self:
        """Return the same scheme with another key; ``None`` leaves it as it is."""
        ...

    def with_common(self, common: Any) -> Self:
        """Return the same scheme with a list of shingles that do not count; ``None`` leaves it as it is."""
        ...

    def reading(self, left: Signatures, right: Signatures) -> Reading:
        """Return what the rule looks at in two signatures, each a set of one row."""
        ...

    def curves(self, values: Any) -> dict[str, Any]:
        """Return probabilities at these values of its measure, by name; ``match`` is the first."""
        ...

    def sign(self, documents: Any) -> Signatures:
        """Give one signature a document."""
        ...

    def sign_at(self, corpus: Corpus, positions: Positions) -> Signatures:
        """Sign the documents at these positions of a corpus."""
        ...

    def keys(self, signatures: Signatures) -> Words:
        """Give uint64[n, K]: two documents are candidates iff they share a key (see ``pooled``)."""
        ...

    def matches(self, left: Signatures, right: Signatures) -> Flags:
        """Say, row by row, whether two signatures match by the scheme's rule."""
        ...

    def match_pairs(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        """Say whether documents ``left[i]`` and ``right[i]`` of one set of signatures match."""
        ...

    def estimate(self, left: Signatures, right: Signatures) -> Numbers:
        """Estimate, row by row, the scheme's measure of two documents from their signatures, from 0 to 1."""
        ...

    def estimate_pairs(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Numbers:
        """Estimate the measure of documents ``left[i]`` and ``right[i]`` of one set of signatures."""
        ...

    def ranked_rule(self, signatures: Signatures) -> RankedRule:
        """Give the rule of ``matches`` as hits in rank order ask it."""
        ...

    def probability(self, resemblance: Any) -> Any:
        """Tell how likely the rule says "match" at a true resemblance; ``ParameterError`` for one beyond 0 and 1."""
        ...


def require_scheme(scheme: object, question: str = "sign") -> None:
    """Raise ``ParameterError`` for what cannot answer a question of schemes, as a scheme's name or class cannot."""
    answers = not isinstance(scheme, type) and callable(getattr(scheme, question, None))
    require(answers, "scheme", scheme, "must be a scheme, such as MinHash()")


@runtime_checkable
class ColumnScheme(Scheme, Protocol):
    """A scheme of many keys, which takes less memory for a whole corpus: shorter rows, and keys column by column.

    Short rows have the keys of whole rows. Their estimates are never lower, so exact verification must follow.
    """

    @property
    def key_columns(self) -> int:
        """The number of keys."""
        ...

    def sign_short_at(self, corpus: Corpus, positions: Positions) -> Signatures:
        """Sign the documents at these positions of a corpus, in rows as short as proposing candidates needs."""
        ...

    def shortened(self, signatures: Signatures) -> Signatures:
        """Return the rows that ``sign_short_at`` makes."""
        ...

    def key_column(self, signatures: Signatures, column: int, documents: AnyPositions) -> Words:
        """Return one column of the keys of these *documents*, of short signatures."""
        ...


@runtime_checkable
class FieldScheme(Scheme, Protocol):
    """A scheme that signs columns: what is exact about it is the fields' content."""

    @property
    def required_columns(self) -> tuple[str, ...]:
        """Those of its columns without which a table cannot be signed."""
        ...

    def same_content(self, fields: Any, left: Positions, right: Positions) -> Flags:
        """Say, pair by pair, whether two rows of a table have the same content in every field."""
        ...


@runtime_checkable
class FilterScheme(Scheme, Protocol):
    """A scheme whose signatures have a say in every match: what does not pass is none, however it is verified."""

    def passes(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        """Say whether documents ``left[i]`` and ``right[i]`` of one set of signatures may match."""
        ...


@runtime_checkable
class TwoSchemes(Scheme, Protocol):
    """A scheme that joins two others: documents match if both say so."""

    @property
    def first(self) -> Any:
        """The scheme whose keys propose."""
        ...

    @property
    def second(self) -> Any:
        """The scheme that confirms."""
        ...

    def parts(self, signatures: Signatures) -> tuple[Signatures, Signatures]:
        """Return the signatures of each."""
        ...
