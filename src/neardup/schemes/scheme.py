"""The base of all schemes."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, replace
from functools import cache, partial
from importlib import import_module
from typing import Any, ClassVar, Final, NamedTuple, Self, TypeVar

import numpy as np

from neardup.model.arrays import (
    AnyPositions,
    Corpus,
    Flags,
    Positions,
    Signatures,
    Values,
    Words,
    require_comparable,
    require_pairs,
    require_signatures,
)
from neardup.model.errors import ParameterConflict, ParameterError, require, require_share, require_whole
from neardup.model.options import ANALYSIS, Option
from neardup.model.ranked_rule import RankedRule
from neardup.model.recipe import Hashing
from neardup.schemes.ranked_parts import matched_in_parts
from neardup.text.analysis import Analysis
from neardup.text.common_shingles import CommonShingles

T = TypeVar("T")
PairFunction = Callable[[Signatures, Signatures, AnyPositions, AnyPositions], T]  # two sets of signatures, rows of each

MOST_SHORT: Final = 1 << 31
SHINGLES: Final = "shingles"


@cache
def ranked_kernel(name: str) -> Any:
    """Return a kernel of ``neardup.kernels.collapse``, which is only loaded for ranked hits."""
    return getattr(import_module("neardup.kernels.collapse"), name)


class Reading(NamedTuple):
    """What a scheme's rule compares in two signatures: its name, its value, the threshold, and further numbers."""

    measure: str
    value: float
    threshold: float
    detail: dict[str, Any]


class Scheme:
    """Turns documents into signatures, decides which of them match, and knows the law of its own errors.

    Every scheme derives from it, and is a frozen dataclass whose fields are its parameters. The four questions are
    ``sign``, ``keys``, ``matches`` and ``probability``. The other members are what a run over a corpus, an index and
    reports need. A scheme that signs features of texts derives from ``FeatureScheme``, which derives from this.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # every scheme is a dataclass

    # What each scheme defines, as parameters, attributes or properties.
    name: ClassVar[str]  # on the command line and in reports
    recipe: Any  # the id of what decides the bits of its signatures
    rule: Any  # the name of the rule in reports, for verified matches
    measure: Any  # what ``estimate`` estimates: resemblance; overlap, the share of the smaller set; or cosine
    threshold: Any  # the least measure of a match in exact verification
    shingling: Any  # how features are made, for evidence and, unless it signs columns, for signatures
    floor: Any = 0.0  # the estimate below which a true match is practically impossible; 0 excludes no comparison

    options: ClassVar[tuple[Option, ...]] = ()
    value_types: ClassVar[tuple[type, ...]] = ()
    keys_decide: ClassVar[bool] = False  # documents match if and only if they share a key
    estimate_decides: ClassVar[bool] = False  # signatures match if and only if the estimate reaches the threshold
    signatures_decide: ClassVar[bool] = False  # documents match only if their signatures match, however verified
    measures: ClassVar[tuple[str, ...]] = ()  # what exact verification can compare, the default first
    also: ClassVar[str] = ""
    equality: ClassVar[str] = ""  # for a rule that measures nothing: what is equal in documents that match
    features_in_words: ClassVar[str] = SHINGLES
    plan_numbers: ClassVar[tuple[str, ...]] = ()
    searched_numbers: ClassVar[tuple[str, ...]] = ()

    # Schemes that have others define them as parameters or properties.
    columns: Any = ()  # the columns that it signs; empty if it signs the features of the text
    position_independent: Any = False  # whether a shared key counts in any column; otherwise only in the same column
    short: Any = None  # the number of features below which a document is short
    short_threshold: Any = None  # the threshold of pairs with a short document
    table_distance: Any = None  # the Hamming distance within which tables of 64-bit fingerprints find its candidates
    stored_bytes: Any = None  # the bytes of a signature; ``None`` if the scheme signs columns
    row_format: Any = (1, np.dtype(np.uint64))  # the numbers in a row of signatures, and their types
    key_count: Any = None  # the number of keys of a document, 8 bytes each; ``None`` if it depends on the documents
    curve_range: Any = (0, 100)  # the range of its measure to draw, in percent
    law_limit: Any = ""  # a sentence that describes what its law leaves out; with it, the law is an upper bound
    curves_of: Any = ""  # a sentence that describes the documents that its curves are about, unless they are about all
    law_features: Any = 1  # the features of a document from which on its law holds
    described_features: Any = ""  # the features of its measure, in words after a space
    second_shingling: Any = None  # how a second set is made, also equal in equal documents; ``None``: no second set

    # Methods that only some schemes have. Of pairs of documents in one set of signatures:
    passes: Any = None  # whether they may match, however verified
    likely: Any = None  # whether their estimate is not far below the threshold
    # With many keys, of shorter rows: with the same keys, and estimates that may be too high, for exact verification:
    sign_short_at: Any = None  # as ``sign_at``, in rows just long enough to find candidates
    shortened: Any = None  # the rows that ``sign_short_at`` makes, from signatures
    key_column: Any = None  # the keys of some documents in one column, of short signatures
    # If it signs columns; its exact rule compares the content of the fields:
    required_columns: Any = ()  # those without which a table cannot be signed
    same_content: Any = None  # whether pairs of rows of a table have the same content in every field

    @abstractmethod
    def sign(self, documents: Any) -> Signatures:
        """Return one signature per document."""

    @abstractmethod
    def sign_at(self, corpus: Corpus, positions: Positions) -> Signatures:
        """Sign the documents at these positions of a corpus."""

    @abstractmethod
    def keys(self, signatures: Signatures) -> Words:
        """Return uint64[n, K]: two documents are candidates if and only if they share a key."""

    @abstractmethod
    def probability(self, resemblance: Any) -> Any:
        """Return the probability that the rule decides "match" at a true value of the measure.

        Raises ``ParameterError`` for a value below 0 or above 1.
        """

    # Construction.

    @classmethod
    def from_options(cls, values: Mapping[str, Any], **hashing: Any) -> Self:
        """Return the scheme with the given values of its *options*, and the *seed* if it has one."""
        own, known = dict(values), {part.name for part in fields(cls)}
        for name, value in hashing.items():
            require(name in known, name, value, "cannot be used with this scheme")
        if "analysis" in known:
            described = {option.name: own.pop(option.name) for option in ANALYSIS if option.name in own}
            own["analysis"] = Analysis(**described)
        return cls(**own, **hashing)

    @classmethod
    def for_texts(cls) -> Self:
        """Return the scheme with its defaults for documents that are texts without other fields."""
        return cls()

    @classmethod
    def variants(cls) -> tuple[Any, ...]:
        """Return schemes that together use all kernels of this kind."""
        return (cls.for_texts(),)

    def with_threshold(self, threshold: float) -> Self:
        """Return the same scheme with another threshold; its signatures remain comparable.

        Pairs with a short document then need at least that, too.
        """
        least = self.short_threshold
        raised = {"short_threshold": threshold} if least is not None and threshold > least else {}
        return replace(self, threshold=threshold, **raised)

    def with_measure(self: Any, measure: str) -> Any:
        """Return the same scheme with another exact measure; its signatures remain comparable.

        Raises ``ParameterError`` for a measure that is not one of its *measures*.
        """
        if not isinstance(measure, str) or measure not in self.measures:
            why = f"it has only {' or '.join(self.measures) or 'its own rule'}"
            raise ParameterConflict("measure", measure, "scheme", self.name, why)
        return self if measure == self.rule else self._measuring(measure)

    def with_key(self, key: bytes | None) -> Self:
        """Return the same scheme with another key; ``None`` leaves it as it is."""
        if key is None:
            return self
        if not hasattr(self, "key"):
            raise ParameterError("key", "(secret)", "cannot be used with this scheme")
        return replace(self, key=key)

    def with_common(self, common: CommonShingles | None) -> Self:
        """Return the same scheme with a list of shingles that do not count; ``None``, or its own, leaves it as it is.

        Raises ``ParameterError`` for a scheme of fields, for one that already has another list, and for a list of
        another shingling.
        """
        if common is None or common == getattr(self, "common", None):
            return self
        self.require_shingles(common)
        return replace(self, common=common)

    def require_shingles(self, common: object, name: str = "ignore_common") -> None:
        """Raise ``ParameterError`` unless the scheme can have *common* shingles: a list, its file, or their share."""
        if not hasattr(self, "common"):
            why = "it compares fields, not shingles" if self.columns else "it has no such list"
            raise ParameterConflict(name, common, "scheme", self.name, why)
        listed = getattr(self, "common", None)
        rule = "cannot be used with a scheme that already has a list of common shingles; leave one of them out"
        require(listed is None, name, common, rule)

    @property
    def hashing(self: Any) -> Hashing:
        """Where the numbers of its hash functions come from: its *seed* or *key*; ``ParameterError`` if invalid."""
        return Hashing(seed=self.seed, key=self.key)

    @property
    def key_identity(self) -> str:
        """What distinguishes keys, or seeds, without revealing keys."""
        return self.hashing.identity if hasattr(self, "key") else ""

    def _require_thresholds(self: Any) -> None:
        """Check and set the thresholds; raises ``ParameterError``."""
        object.__setattr__(self, "threshold", require_share("threshold", self.threshold))
        if self.short is None and self.short_threshold is None:
            return
        both = "is missing: short and short_threshold are used together"
        require(self.short is not None, "short", None, both)
        require(self.short_threshold is not None, "short_threshold", None, both)
        object.__setattr__(self, "short", require_whole("short", self.short, 1, MOST_SHORT))
        least = require_share("short_threshold", self.short_threshold)
        rule = f"must be at least the threshold, {self.threshold:g}: short documents can only need more"
        require(least >= self.threshold, "short_threshold", least, rule)
        object.__setattr__(self, "short_threshold", least)

    # Strictness.

    @property
    def match_estimate(self: Any) -> float | None:
        """The estimate from which signatures match; ``None`` if an estimate does not decide."""
        return float(self.threshold)

    @property
    def least_estimate(self: Any) -> float:
        """The least estimate of a match."""
        least = self.match_estimate
        return float(self.threshold) if least is None else least

    def at_estimate(self, estimate: float) -> Self:
        """Return the scheme whose signatures match from this estimate on; ``ParameterError`` if that is impossible."""
        if self.match_estimate is None:
            raise ParameterError("threshold", estimate, f"cannot be used with the scheme {self.name}")
        try:
            return self.with_threshold(estimate)
        except ParameterError as error:  # its layout cannot reach the recall at this threshold
            raise ParameterError("threshold", estimate, f"is too low for the layout of this {self.name}") from error

    # Pairs of signatures.

    @abstractmethod
    def _estimated(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Values:
        """Estimate the measure of rows ``left[i]`` of *one* and ``right[i]`` of *other*."""

    def _matching(self: Any, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        """Return whether rows ``left[i]`` of *one* and ``right[i]`` of *other* match."""
        return np.asarray(self._estimated(one, other, left, right) >= self.threshold)

    def estimate(self, left: Signatures, right: Signatures) -> Values:
        """Return the estimate of the scheme's measure, row by row; 0 if a document has no signature.

        Raises ``RecipeMismatch`` for signatures of another recipe and ``DataError`` for sets of different lengths.
        """
        return self._row_by_row(self._estimated, left, right)

    def estimate_pairs(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Values:
        """Estimate the measure of documents ``left[i]`` and ``right[i]`` of one set of signatures.

        Raises ``RecipeMismatch`` for signatures of another recipe and ``ParameterError`` for anything but positions.
        """
        return self._pair_by_pair(self._estimated, signatures, left, right)

    def matches(self, left: Signatures, right: Signatures) -> Flags:
        """Return, row by row, whether two signatures match by the scheme's rule; false if one is missing.

        Raises the errors of ``estimate``.
        """
        return self._row_by_row(self._matching, left, right)

    def match_pairs(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        """Return whether documents ``left[i]`` and ``right[i]`` of one set of signatures match.

        Raises the errors of ``estimate_pairs``.
        """
        return self._pair_by_pair(self._matching, signatures, left, right)

    def _row_by_row(self, answer: PairFunction[T], left: Signatures, right: Signatures) -> T:
        require_comparable(self, left, right)
        rows = np.arange(len(left))
        return answer(left, right, rows, rows)

    def _pair_by_pair(
        self, answer: PairFunction[T], signatures: Signatures, left: AnyPositions, right: AnyPositions
    ) -> T:
        require_signatures("signatures", signatures, self)
        require_pairs(left, right, len(signatures))
        return answer(signatures, signatures, left, right)

    # Candidates in an index.

    def keys_lack(self, other: Any, *, chosen: bool) -> str | None:
        """Describe what this scheme's keys lack for the policy of an *other* scheme of the same recipe, if anything.

        The keys of a *chosen* layout never lack anything. ``None`` if nothing is lacking.
        """
        del other, chosen
        return None

    # Layouts and laws.

    @property
    def layout_numbers(self) -> dict[str, float]:
        """The numbers of its layout; empty if they follow from the parameters."""
        return {}

    def curves(self: Any, values: Any) -> dict[str, Any]:
        """Return probabilities at these values of its measure, by name; ``match`` is the first."""
        return {"match": self.probability(values)}

    def key_probability(self: Any, values: Any) -> Any:
        """Return the probability that another document has a given key of a document, at these values of the measure.

        It is the mean over the keys; here a lower bound, as if no pair shared several keys.
        """
        curves = self.curves(values)
        return curves.get("candidate", curves["match"]) / self.key_count

    # Ranked hits.

    def ranked_rule(self: Any, signatures: Signatures) -> RankedRule:
        """Return the rule of ``matches`` for hits in rank order; ``RecipeMismatch`` for another recipe."""
        require_signatures("signatures", signatures, self)
        rule: RankedRule = self._ranked(signatures)
        return rule

    def _ranked(self: Any, signatures: Signatures) -> RankedRule:
        """Return the rule of ``match_pairs``, the later hit on the left; schemes may have a kernel of their own."""
        return RankedRule(
            matched_in_parts(partial(self.match_pairs, signatures), len(signatures)),
            signatures.rows,
            np.zeros(1, np.int64),
        )

    # Descriptions.

    @property
    def signature_rule(self: Any) -> str:
        """A sentence part that describes when two signatures match."""
        return f"estimated {self.measure}{self.described_features} at least {self.threshold:g}"

    @property
    def exact_rule(self: Any) -> str:
        """A sentence part that describes when two documents match in exact verification."""
        rule = f"{self.rule}{self.described_features} at least {self.threshold:g}"
        if self.short is not None and self.short_threshold > self.threshold:
            fewer = f"{self.short:,} {self.features_in_words}"
            rule += f", or {self.short_threshold:g} if one of the two has fewer than {fewer}"
        return f"{rule}; and {self.signature_rule}" if self.signatures_decide else rule

    def reading(self: Any, left: Signatures, right: Signatures) -> Reading:
        """Return what the rule compares in two signatures, each a set of one row."""
        return Reading(f"estimated {self.measure}", float(self.estimate(left, right)[0]), float(self.threshold), {})


def require_scheme(scheme: object, question: str = "sign") -> None:
    """Raise ``ParameterError`` unless *scheme* is an object, not a name or class, with the method *question*."""
    answers = not isinstance(scheme, type) and callable(getattr(scheme, question, None))
    require(answers, "scheme", scheme, "must be a scheme, such as MinHash()")
