"""The common bases of schemes that sign the features of texts."""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.kernels import sentences
from neardup.model.arrays import (
    Corpus,
    Features,
    Flags,
    Positions,
    Signatures,
    Words,
    require_features,
    require_signatures,
    shares,
)
from neardup.model.recipe import RecipeId, recipe_id
from neardup.schemes.scheme import Scheme
from neardup.schemes.scheme import ranked_kernel as ranked_kernel  # noqa: PLC0414 - for schemes of others, too
from neardup.text.columns import batches, text_column, whole_batch
from neardup.text.shingling import Shingling
from neardup.text.sites import NO_SITES, separate

Rows = npt.NDArray[Any]


class FeatureScheme(Scheme):
    """A scheme that signs only the features of texts; a document without features has no signature.

    *recipe_parts* are the parameters that decide the bits of signatures, besides those of the shingling: changing any
    other requires no signing. A subclass defines how rows are laid out (``_blank``) and filled (``_fill``), and how
    pairs of rows are compared (``_estimated``, ``_matching``). Its docstring defines the content of the rows and the
    estimate.
    """

    threshold: float
    recipe_parts: ClassVar[tuple[str, ...]]

    @cached_property
    def shingling(self: Any) -> Shingling:
        """How texts become features: by *analysis*, *shingle*, *bag* if it has that, *common*, and *seed* or *key*."""
        bag = getattr(self, "bag", False)
        return Shingling(analysis=self.analysis, size=self.shingle, bag=bag, hashing=self.hashing, common=self.common)

    @cached_property
    def recipe(self) -> RecipeId:
        """The id of everything that decides the bits of the signatures; not the policy and the layout."""
        values = {name: getattr(self, name) for name in self.recipe_parts}
        parts = {name: getattr(value, "identity", value) for name, value in values.items()}
        return recipe_id(scheme=self.name, shingling=self.shingling.identity, **parts)

    @abstractmethod
    def _blank(self, number: int) -> Rows:
        """Return uninitialised rows for a *number* of documents."""

    @abstractmethod
    def _fill(self, values: Words, starts: Positions, ends: Positions, rows: Rows) -> None:
        """Sign the documents whose features are ``values[starts[d]:ends[d]]``."""

    @property
    def row_format(self) -> tuple[Any, ...]:
        """The numbers in a row, and their type."""
        rows = self._blank(0)
        return rows.shape[1], rows.dtype

    @property
    def stored_bytes(self) -> int:
        """The bytes of a signature."""
        return int(self._blank(1).nbytes)

    @property
    def described_features(self) -> str:
        """The features of its measure, in words after a space, such as ``of sets of 3-word shingles``."""
        return f" of {'bags' if self.shingling.bag else 'sets'} of {self.shingles_in_words}"

    @property
    def shingles_in_words(self) -> str:
        """A description of its features."""
        return f"{self.shingling.size}-{self.shingling.analysis.unit} shingles"

    def features(self, texts: Any) -> Features:
        """Hash the features of a text column."""
        return self.shingling.features(texts)

    def sign(self, documents: Any) -> Signatures:
        """Sign texts (see ``text_column`` for the accepted kinds) or features made by this scheme's shingling.

        An empty batch has no rows. Raises ``DataError`` for invalid texts, and for features of another shingling;
        ``ParameterError`` for features whose arrays are of other types, or whose offsets are not inside the values.
        """
        if isinstance(documents, Features):
            require_features(documents)
            return self._signed_at(documents, np.arange(len(documents)))
        column = text_column(documents)
        rows = self._blank(len(column))
        present = np.empty(len(column), np.bool_)
        begin = 0
        for batch in batches(column):  # immediately, while its features are in the processor's cache
            features = self.shingling.batch_features(batch)
            part = slice(begin, begin + len(batch))
            present[part] = self._signed(features, features.offsets[:-1], features.offsets[1:], rows[part])
            begin += len(batch)
        return Signatures(rows, present, self.recipe)

    def sign_at(self, corpus: Corpus, positions: Positions) -> Signatures:
        """Sign the documents at these positions of a corpus, from its features."""
        return self._signed_at(corpus.features, positions)

    def _signed_at(self, features: Features, positions: Positions, rows: Rows | None = None) -> Signatures:
        self.shingling.require_own(features)
        rows = self._blank(len(positions)) if rows is None else rows
        present = self._signed(features, features.offsets[positions], features.offsets[positions + 1], rows)
        return Signatures(rows, present, self.recipe)

    def _signed(self, features: Features, starts: Positions, ends: Positions, rows: Rows) -> Flags:
        self._fill(features.values, starts, ends, rows)
        return np.asarray(ends > starts)


def signed_features(scheme: Scheme, texts: pa.ChunkedArray, sites: Words = NO_SITES) -> tuple[Features, Signatures]:
    """Return the features and the signatures of texts, as one batch; thin pages have the features of their *sites*."""
    every = np.arange(len(texts))
    features = scheme.shingling.batch_features(whole_batch(texts))
    separate(features, sites, every)
    return features, scheme.sign_at(Corpus(features, None, texts), every)


class SampleScheme(FeatureScheme):
    """A scheme that signs up to *size* numbers of a document; they are its keys, in any column.

    ``rows`` is uint32[n, size], each ascending, ``0xFFFFFFFF`` after the numbers of a document with fewer.
    """

    size: int
    position_independent = True
    estimate_decides = True

    @property
    def rule(self: Any) -> str:
        """The name of the rule is that of the measure."""
        return str(self.measure)

    def _blank(self, number: int) -> npt.NDArray[np.uint32]:
        return np.empty((number, self.size), np.uint32)

    def keys(self, signatures: Signatures) -> Words:
        """Return the numbers, each spread over 64 bits: uint64[n, size].

        A key counts in any column. A row with fewer numbers repeats its first one. The keys of rows without a signature
        have no meaning.
        """
        require_signatures("signatures", signatures, self)
        keys = np.empty((len(signatures), self.size), np.uint64)
        sentences.spread(signatures.rows, keys)
        return keys

    def key_probability(self, values: Any) -> Any:
        """Return the share of a document's numbers that another one has: its containment in one of equal length."""
        share = shares(values)
        return 2.0 * share / (1.0 + share) if self.measure == "resemblance" else share

    @property
    def key_count(self) -> int:
        """The most keys of a document, one for each number."""
        return self.size
