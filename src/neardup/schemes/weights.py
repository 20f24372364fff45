"""Term weights: tables of weights, given or fitted to a collection."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from neardup.kernels.sets import make_distinct
from neardup.kernels.weights import weigh
from neardup.model.arrays import Features, Positions, Values, Words, ragged, require_ascending
from neardup.model.errors import ParameterError, counted, is_number, require, require_whole
from neardup.model.recipe import Hashing
from neardup.text.analysis import Analysis
from neardup.text.columns import batches, text_column, whole_batch
from neardup.text.common_shingles import prefix_bounds
from neardup.text.shingling import Shingling
from neardup.text.tokenizer import tokenizer

UNITS: Final = 16  # units per weight of 1: weights are integers, so that sums are exact on every machine
MOST_UNITS: Final = 1 << 20

Units = npt.NDArray[np.uint32]

_DECIMALS: Final = Context(prec=40, rounding=ROUND_HALF_EVEN)  # the same logarithms on every machine
_PLAIN: Final = Analysis()
_RULE: Final = f"must be a number from 1/{UNITS} to {MOST_UNITS // UNITS}"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TermWeights:
    """A table from features to weights; part of the recipe of a scheme that uses it.

    ``shingling``
        how its features are made: the scheme must make its own in the same way.
    ``terms``, ``units``
        the features' hashes (uint64, ascending, distinct) and their weights in units of 1/16, from
        1 to 2**20 (uint32).
    ``otherwise``
        the weight of every other feature, in the same units.

    Tables are immutable; two tables are equal if their content is. ``given`` and ``fitted`` create them. To store a
    fitted table, store its ``terms``, ``units`` and ``otherwise``; create it again from them, with the ``shingling`` of
    the scheme that will use it.
    """

    shingling: Shingling
    terms: Words
    units: Units
    otherwise: int

    def __post_init__(self) -> None:
        require(isinstance(self.shingling, Shingling), "shingling", self.shingling, "must be a Shingling")
        object.__setattr__(self, "terms", require_ascending("terms", self.terms))
        units = np.array(self.units)
        sized = units.dtype == np.uint32 and units.shape == self.terms.shape
        sized = sized and bool(((units >= 1) & (units <= MOST_UNITS)).all())
        require(sized, "units", f"array of {units.dtype}", f"must be uint32 from 1 to {MOST_UNITS}, one per term")
        object.__setattr__(self, "otherwise", require_whole("otherwise", self.otherwise, 1, MOST_UNITS))
        units.setflags(write=False)
        object.__setattr__(self, "units", units)

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        return f"TermWeights({len(self)} terms, otherwise={self.otherwise / UNITS}, {self.identity})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TermWeights):
            return NotImplemented
        return (self.identity, self.shingling.identity) == (other.identity, other.shingling.identity)

    def __hash__(self) -> int:
        return hash(self.identity)

    def __reduce__(self) -> tuple[Any, ...]:  # arrays that are sent to another process stay immutable
        return partial(type(self), **{part.name: getattr(self, part.name) for part in fields(self)}), ()

    @classmethod
    def given(  # noqa: PLR0913 - every one a keyword with a default
        cls,
        weights: Mapping[str, float],
        *,
        otherwise: float = 1.0,
        shingle: int = 1,
        seed: int = 1,
        key: bytes | None = None,
        analysis: Analysis = _PLAIN,
    ) -> Self:
        """Return a table of the *weights* of words, or of runs of *shingle* words; all others weigh *otherwise*.

        Weights are from 1/16 to 65536, rounded to the nearest multiple of 1/16 (ties to even). Words are analysed like
        the text. Raises ``ParameterError`` for a weight out of range, for a key that is not exactly one feature, and
        for two keys that are the same feature.

        >>> TermWeights.given({"Neardup": 4.0, "the": 0.25})
        TermWeights(2 terms, otherwise=1.0, 0261079baf1ebc2c)
        """
        shingling = Shingling(analysis=analysis, size=shingle, hashing=Hashing(seed=seed, key=key))
        require(isinstance(weights, Mapping), "weights", weights, "must map words to weights")
        words = list(weights)
        for word in words:
            require(isinstance(word, str), "weights", word, "must be a word")
            require(_is_weight(weights[word]), "weights", weights[word], _RULE)
        require(_is_weight(otherwise), "otherwise", otherwise, _RULE)
        tokens = tokenizer(analysis, shingling.hashing)(whole_batch(text_column(words)))
        for word, number in zip(words, np.diff(tokens.offsets).tolist(), strict=True):
            require(number == shingle, "weights", word, f"must have exactly {counted(shingle, 'token')}, not {number}")
        features = shingling.features(words)
        order = np.argsort(features.values, kind="stable")
        terms = features.values[order]
        equal = np.flatnonzero(terms[1:] == terms[:-1])
        if len(equal):
            first, again = (words[place] for place in order[equal[0] : equal[0] + 2])
            raise ParameterError("weights", again, f"must be another feature than {first!r}")
        units = np.array([_rounded(weights[words[place]]) for place in order.tolist()], np.uint32)
        return cls(shingling=shingling, terms=terms, units=units, otherwise=_rounded(otherwise))

    @classmethod
    def fitted(
        cls, texts: Any, *, shingle: int = 1, seed: int = 1, key: bytes | None = None, analysis: Analysis = _PLAIN
    ) -> Self:
        """Return a table of inverse document frequencies: ``ln((1 + N) / (1 + df)) + 1``, rounded as in ``given``.

        *df* of the *N* documents with features have this feature; features of no document have df = 0. Multiplied by
        the number of occurrences, this is tf-idf. Without documents every weight is 1. *texts* are of any kind that
        ``text_column`` accepts.
        """
        shingling = Shingling(analysis=analysis, size=shingle, hashing=Hashing(seed=seed, key=key))
        documents, parts = 0, [(np.empty(0, np.uint64), np.empty(0, np.int64))]
        for batch in batches(text_column(texts)):
            features = shingling.batch_features(batch)
            starts, sizes = features.offsets[:-1], np.diff(features.offsets)
            documents += int((sizes > 0).sum())
            make_distinct((features.values, starts, sizes), np.arange(len(sizes)), np.zeros(len(sizes), np.bool_))
            parts.append(np.unique(features.values[ragged(starts, sizes)], return_counts=True))
        found, numbers = (np.concatenate(column) for column in zip(*parts, strict=True))
        terms, of = np.unique(found, return_inverse=True)
        counts = np.zeros(len(terms), np.int64)
        np.add.at(counts, of, numbers)
        distinct, places = np.unique(counts, return_inverse=True)
        units = np.array([_idf_units(documents, count) for count in distinct.tolist()], np.uint32)[places]
        return cls(shingling=shingling, terms=terms, units=units, otherwise=_idf_units(documents, 0))

    @cached_property
    def identity(self) -> str:
        """What the table adds to a recipe id: a digest of its content."""
        content = blake2b(np.array([len(self), self.otherwise], "<u8").tobytes(), digest_size=8)
        content.update(self.terms.astype("<u8").tobytes())
        content.update(self.units.astype("<u4").tobytes())
        return content.hexdigest()

    @cached_property
    def table(self) -> tuple[Words, Positions, Units, np.uint32]:
        """The arrays for ``neardup.kernels.weights``: terms, bounds of prefixes, units, otherwise."""
        return self.terms, prefix_bounds(self.terms), self.units, np.uint32(self.otherwise)

    def weights(self, features: Features) -> Values:
        """Return the weight of every feature, one number for each of ``features.values``."""
        self.shingling.require_own(features)
        units = np.empty(len(features.values), np.uint32)
        weigh(features.values, *self.table, units)
        return units / UNITS


def _is_weight(value: object) -> bool:
    return is_number(value) and bool(1 / UNITS <= value <= MOST_UNITS / UNITS)  # type: ignore[operator]  # a number


def _rounded(weight: float) -> int:
    return round(float(weight) * UNITS)  # 16 is a power of two, so only the rounding is inexact


def _idf_units(documents: int, count: int) -> int:
    ratio = _DECIMALS.divide(Decimal(1 + documents), Decimal(1 + count))
    weight = _DECIMALS.add(_DECIMALS.ln(ratio), Decimal(1))
    return int(_DECIMALS.multiply(weight, Decimal(UNITS)).to_integral_value(ROUND_HALF_EVEN))
