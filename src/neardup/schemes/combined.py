"""Henzinger's filter: a second scheme of another kind must confirm the matches of a first one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from neardup.model.arrays import (
    AnyPositions,
    Corpus,
    Features,
    Flags,
    Positions,
    Signatures,
    Values,
    Words,
    require_signatures,
)
from neardup.model.errors import require
from neardup.model.options import SHORT, THRESHOLD, Option
from neardup.model.recipe import RecipeId, recipe_id
from neardup.schemes.minhash import MinHash
from neardup.schemes.scheme import Reading, Scheme
from neardup.schemes.simhash import SimHash
from neardup.schemes.trials import Trials
from neardup.text.columns import gathered, text_column
from neardup.text.common_shingles import CommonShingles

_TOGETHER = 1 << 14  # documents whose texts are copied together
_WORD = 8  # bytes
_OF_FIRST = (  # what the first scheme decides
    *("rule", "weight_table", "measure", "position_independent", "threshold", "short", "short_threshold", "floor"),
    *("least_estimate", "key_count", "key_probability", "features_in_words", "shingling"),
)
_apart: WeakKeyDictionary[Signatures, tuple[Signatures, Signatures]] = WeakKeyDictionary()  # while these are in use


@dataclass(frozen=True)
class Combined(Scheme):
    """Two schemes: documents that match by *first* must also match by *second*.

    The default is the setting of Henzinger (2006): six trials of 14 hashes over sequences of eight words, with at least
    two equal trials; then fingerprints of 384 bits, with at least 355 equal bits. The first compares the order of
    words, the second their frequencies, and each rejects unrelated documents that match by the other: on 1.6 billion
    pages their precision was 0.38 and 0.50, and 0.79 combined.

    Keys, evidence, estimate and threshold are those of *first*. Exact verification compares the documents that pass
    *second*. Schemes that sign fields (``Checksum``) cannot be combined. Only the first scheme can have a list of
    common shingles. Both have the same key, or none.

    ``rows`` of its signatures contains the rows of both schemes, side by side. A document has a signature if it has one
    by both schemes.
    """

    first: Any = field(default_factory=lambda: Trials(words=8))
    second: Any = field(default_factory=lambda: SimHash(bits=384, distance=29))

    name = "combined"
    match_estimate = None  # two rules have no common one
    also = "a match by the second scheme"
    options: ClassVar[tuple[Option, ...]] = (
        THRESHOLD.by_default("0.9094, the resemblance at which half of the pairs match"),
        *SHORT,
    )

    def __post_init__(self) -> None:
        for name, part in (("first", self.first), ("second", self.second)):
            holds = isinstance(part, Scheme) and not isinstance(part, type | Combined) and not part.columns
            require(holds, name, part, "must be a scheme that signs texts, such as MinHash() or SimHash()")
        alone = getattr(self.second, "common", None) is None
        require(alone, "second", self.second, "must have no list of common shingles: the first scheme has it")
        keys = {part.key for part in (self.first, self.second) if hasattr(part, "key")}
        rule = "must have the key of the first scheme, or none if that has none: pass it to both"
        require(len(keys) <= 1, "second", self.second, rule)
        require(self.second.short is None, "second", self.second, "must not have short documents: the first scheme has")

    @cached_property
    def recipe(self) -> RecipeId:
        """The id of the recipe: the recipes of both schemes, in order."""
        return recipe_id(scheme=self.name, first=self.first.recipe, second=self.second.recipe)

    @property
    def second_shingling(self) -> Any:
        """How the features of the second scheme are made; ``None`` if they are those of the first."""
        return None if self.second.shingling == self.first.shingling else self.second.shingling

    @classmethod
    def from_options(cls, values: Mapping[str, Any], **hashing: Any) -> Self:
        """Return Henzinger's setting."""
        return cls(Trials(words=8, **values, **hashing), SimHash(bits=384, distance=29, **hashing))

    @classmethod
    def variants(cls) -> tuple[Any, ...]:
        """Return Henzinger's setting, and one whose schemes have the same features."""
        return (cls(), cls(MinHash(shingle=2, permutations=8, recall=0.9), SimHash(distance=20)))

    def with_key(self, key: bytes | None) -> Self:
        """Return the same two schemes with another key; ``None`` leaves them as they are."""
        if key is None:
            return self
        return replace(self, first=self.first.with_key(key), second=self.second.with_key(key))

    def with_common(self, common: CommonShingles | None) -> Self:
        """Return the same schemes, where the first one has a list of shingles that do not count."""
        return self if common is None else replace(self, first=self.first.with_common(common))

    def require_shingles(self, common: object, name: str = "ignore_common") -> None:
        """Raise ``ParameterError`` unless the first scheme can have *common* shingles."""
        self.first.require_shingles(common, name)

    @property
    def key_identity(self) -> str:
        """The identities of the keys of both schemes."""
        return f"{self.first.key_identity}, {self.second.key_identity}"

    def keys_lack(self, other: Any, *, chosen: bool) -> str | None:
        """Return what the keys of the first scheme lack."""
        lacks: str | None = self.first.keys_lack(other.first, chosen=chosen)
        return lacks

    @property
    def signature_rule(self) -> str:
        """A sentence part with the rules of both schemes."""
        return f"{self.first.signature_rule}; and {self.second.signature_rule}"

    @property
    def exact_rule(self) -> str:
        """A sentence part with the rules of the first scheme on documents, and of the second on signatures."""
        return f"{self.first.exact_rule}; and {self.second.signature_rule}"

    def with_threshold(self, threshold: float) -> Self:
        """Return the same scheme, where the first scheme has another threshold."""
        return replace(self, first=self.first.with_threshold(threshold))

    def sign(self, documents: Any) -> Signatures:
        """Sign texts by both schemes; see ``text_column`` for the accepted kinds.

        ``rows`` is uint64[n, w]: the bytes of the first scheme's row, padded with zero bytes to a whole word, followed
        by those of the second. An empty batch has no rows.
        """
        if not isinstance(documents, Features):
            documents = text_column(documents)  # iterators can be read only once
        return self._joined(self.first.sign(documents), self.second.sign(documents))

    def sign_at(self, corpus: Corpus, positions: Positions) -> Signatures:
        """Sign the documents at these positions of a corpus: from its features if a scheme has the same shingling."""
        first = self.first.sign_at(corpus, positions)
        if self.second_shingling is None:
            return self._joined(first, self.second.sign_at(corpus, positions))
        starts = range(0, max(len(positions), 1), _TOGETHER)
        parts = [self.second.sign(gathered(corpus.texts, positions[start : start + _TOGETHER])) for start in starts]
        rows = np.concatenate([part.rows for part in parts])
        present = np.concatenate([part.present for part in parts])
        return self._joined(first, Signatures(rows, present, self.second.recipe))

    @property
    def row_format(self) -> tuple[Any, ...]:
        """The numbers in a row, and their type."""
        return _words_of(self.first) + _words_of(self.second), np.dtype(np.uint64)

    @property
    def stored_bytes(self) -> int:
        """The bytes of a signature."""
        return _WORD * int(self.row_format[0])

    def _joined(self, first: Signatures, second: Signatures) -> Signatures:
        rows = np.concatenate([_as_words(first.rows), _as_words(second.rows)], axis=1)
        return Signatures(rows, first.present & second.present, self.recipe)

    def parts(self, signatures: Signatures) -> tuple[Signatures, Signatures]:
        """Return the signatures of the first and of the second scheme; the last result is cached."""
        require_signatures("signatures", signatures, self)
        if signatures in _apart:
            return _apart[signatures]
        bounds = np.cumsum([0, _words_of(self.first), _words_of(self.second)])
        one, other = (
            Signatures(_from_words(signatures.rows[:, begin:end], scheme), signatures.present, scheme.recipe)
            for scheme, begin, end in zip((self.first, self.second), bounds[:-1], bounds[1:], strict=True)
        )
        return _apart.setdefault(signatures, (one, other))

    def keys(self, signatures: Signatures) -> Words:
        """Return the keys of the first scheme, because documents that match by both schemes match by the first."""
        return np.asarray(self.first.keys(self.parts(signatures)[0]))

    def passes(self, signatures: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        """Return whether documents ``left[i]`` and ``right[i]`` match by the second scheme, and pass the first one."""
        one, other = self.parts(signatures)
        flags: Flags = self.second.match_pairs(other, left, right)
        return flags if self.first.passes is None else flags & self.first.passes(one, left, right)

    def _matching(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        (mine, filters), (theirs, others) = self.parts(one), self.parts(other)
        flags: Flags = self.first._matching(mine, theirs, left, right)  # noqa: SLF001 - of the same base
        also: Flags = self.second._matching(filters, others, left, right)  # noqa: SLF001 - the same
        return flags & also & one.present[left] & other.present[right]

    def _estimated(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Values:
        mine, theirs = self.parts(one)[0], self.parts(other)[0]
        estimates = self.first._estimated(mine, theirs, left, right)  # noqa: SLF001 - of the same base
        return np.where(one.present[left] & other.present[right], estimates, 0.0)

    def probability(self, resemblance: Any) -> Any:
        """Return an upper bound of the probability of a match, at a true value of the first scheme's measure.

        It is the law of the first scheme, which the second can only reduce. By how much is unknown if the two compare
        different properties, such as the order and the frequencies of words.

        >>> bool(Combined().probability(0.9) == Trials(words=8).probability(0.9))
        True
        """
        return self.first.probability(resemblance)

    def reading(self, left: Signatures, right: Signatures) -> Reading:
        """Return how many of both rules match, and the readings of both schemes."""
        detail: dict[str, Any] = {}
        parts = zip(("first", "second"), (self.first, self.second), self.parts(left), self.parts(right), strict=True)
        for name, scheme, one, other in parts:
            measure, value, threshold, more = scheme.reading(one, other)
            read = {"measure": measure, "value": value, "threshold": threshold}
            matches = bool(scheme.matches(one, other)[0])
            detail[name] = {"rule": scheme.signature_rule, **read, "matches": matches, "detail": more}
        return Reading("rules that match", float(sum(one["matches"] for one in detail.values())), 2.0, detail)

    def curves(self, values: Any) -> dict[str, Any]:
        """Return ``match``, by both schemes, and ``candidate``, by the first one."""
        curves = self.first.curves(values)
        return {"match": self.probability(values), "candidate": curves.get("candidate", curves["match"])}

    @property
    def law_features(self) -> int:
        """The least number of features of a document for which both laws hold."""
        return int(max(self.first.law_features, self.second.law_features))

    @property
    def law_limit(self) -> str:
        """A sentence about the second scheme."""
        first, second = self.first.name, self.second.name
        return f"These are upper bounds: the law of {first} alone; a pair must also match by {second}."


for _name in _OF_FIRST:
    setattr(Combined, _name, property(attrgetter(f"first.{_name}")))


def _bytes_of(scheme: Any) -> int:
    width, kind, *_ = scheme.row_format
    return int(width * kind.itemsize)


def _words_of(scheme: Any) -> int:
    return -(-_bytes_of(scheme) // _WORD)


def _as_words(rows: npt.NDArray[Any]) -> Words:
    raw = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), rows.shape[1] * rows.itemsize)
    padded = np.pad(raw, ((0, 0), (0, -raw.shape[1] % _WORD)))
    return np.ascontiguousarray(padded).view(np.uint64)


def _from_words(words: npt.NDArray[Any], scheme: Any) -> npt.NDArray[Any]:
    raw = np.ascontiguousarray(words).view(np.uint8).reshape(len(words), words.shape[1] * _WORD)
    return np.ascontiguousarray(raw[:, : _bytes_of(scheme)]).view(scheme.row_format[1])
