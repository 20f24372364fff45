"""Shingles that many different documents share: system prompts, licence headers, forms."""

import io
import json
import os
from dataclasses import dataclass, fields
from functools import cached_property, partial
from hashlib import blake2b
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, Final, Self
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa

from neardup.kernels import common_shingles as kernels
from neardup.kernels.checksum import add_field
from neardup.model.arrays import Features, Flags, Positions, Words, require_ascending
from neardup.model.errors import OTHER_FILE, DataError, require, require_kind, require_share
from neardup.text import files
from neardup.text.columns import batches, gathered, text_column

if TYPE_CHECKING:
    from neardup.text.shingling import Shingling

LEAST: Final = 3  # documents that share a common shingle
DOCUMENTS: Final = 1 << 16  # most documents of a sample
BYTES: Final = 1 << 26  # most text of a sample
LONGEST: Final = 1 << 20  # most bytes of a text of a sample
MEETINGS: Final = 16  # smallest features that make documents candidates

_LARGEST: Final = 1 << 30  # bytes of a file
_FORMAT: Final = 1
_NO_KEY: Final = np.zeros(2, np.uint64)
_OTHER_CONTENT: Final = (  # RecursionError is a RuntimeError; a header may name any size
    *(ValueError, LookupError, TypeError, ArithmeticError, OSError, EOFError, RuntimeError, MemoryError, SyntaxError),
    *(BadZipFile, TokenError),
)
_NOT_A_LIST: Final = "is not a file of common shingles"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CommonShingles:
    """A list of shingles that do not count as features; part of the recipe of a scheme that uses it.

    ``shingling``
        the id of the shingling that made them (``Shingling.plain.recipe``): the scheme must use the same.
    ``terms``
        their hashes: uint64, ascending, distinct.
    ``share``, ``documents``
        how the list was fitted: its shingles are in more than this share of this number of different documents.

    The features of a document are its shingles that are not in the list. If all are in the list, one feature represents
    them together: blank forms are equal if all of their words are. Equal texts keep equal features.

    A list is immutable; ``identity`` is its id. ``fitted`` creates it, ``save`` and ``load`` store it in a file.
    """

    shingling: str
    terms: Words
    share: float
    documents: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", require_ascending("terms", self.terms))
        require(isinstance(self.shingling, str), "shingling", self.shingling, "must be the id of a shingling")
        object.__setattr__(self, "share", float(require_share("share", self.share, below_one=True)))
        object.__setattr__(self, "documents", int(self.documents))

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        return f"CommonShingles({len(self):,} shingles, {self.identity})"

    def __eq__(self, other: object) -> bool:
        return self.identity == other.identity if isinstance(other, CommonShingles) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.identity)

    def __reduce__(self) -> tuple[Any, ...]:  # the array stays immutable in another process
        return partial(type(self), **{part.name: getattr(self, part.name) for part in fields(self)}), ()

    @classmethod
    def fitted(cls, texts: Any, shingling: "Shingling", share: float) -> Self:
        """Find the shingles that are in more than a *share* of the different documents, and in at least ``LEAST``.

        *texts* are of any kind that ``text_column`` accepts; their order does not matter. Only a sample is used: of the
        distinct texts of up to ``LONGEST`` bytes, in the order of a hash of their bytes, the first ``DOCUMENTS``, of at
        most ``BYTES`` together. ``neardup.kernels.common_shingles.count_once`` decides which of them are different
        documents: copies and edited copies of a text usually count once or twice, while texts that share a block and
        add other content count each. Documents are compared if one of their ``MEETINGS`` smallest features is the
        same; a document with content of its own has at least ``least_own(size)`` features that the other lacks.

        Raises ``ParameterError`` unless *share* is above 0 and below 1.
        """
        from neardup.text.shingling import Shingling  # which imports this module

        require_kind("shingling", shingling, Shingling)
        share = require_share("share", share, below_one=True)
        plain = shingling.plain
        features = plain.features(sample(text_column(texts)))
        counted = different(features, plain.size)
        terms = frequent(features, counted, share)
        return cls(shingling=plain.recipe, terms=terms, share=share, documents=int(counted.sum()))

    @cached_property
    def identity(self) -> str:
        """The id of the list: a digest of its shingles and of the recipe that made them."""
        content = blake2b(self.shingling.encode(), digest_size=8)
        content.update(self.terms.astype("<u8").tobytes())
        return content.hexdigest()

    @cached_property
    def prefixes(self) -> Positions:
        """The bounds of the terms of each prefix, for kernels."""
        return prefix_bounds(self.terms)

    def leave_out(self, values: Words, bounds: Positions) -> int:
        """Remove the listed features in place; return how many are left (see ``kernels.common_shingles``)."""
        count: int = kernels.leave_out(values, bounds, self.terms, self.prefixes)
        return count

    def to_bytes(self) -> bytes:
        """Return the list as an ``.npz`` file."""
        about = {
            "format": _FORMAT,
            "shingling": self.shingling,
            "share": float(self.share),
            "documents": self.documents,
            "identity": self.identity,
        }
        stream = io.BytesIO()
        np.savez(stream, terms=self.terms.astype("<u8"), about=np.frombuffer(json.dumps(about).encode(), np.uint8))
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes, where: str) -> Self:
        """Read a list from the content of a file; ``DataError`` at *where* if it is damaged or another kind of file."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                if sum(one.file_size for one in arrays.zip.infolist()) > len(content):
                    raise ValueError("it is compressed, which no list is")
                terms, about = arrays["terms"].astype(np.uint64), json.loads(arrays["about"].tobytes())
            if about["format"] != _FORMAT:
                raise DataError(where, "was written by a newer neardup")
            own = {name: about[name] for name in ("shingling", "share", "documents")}
            made = cls(terms=terms, **own)
            holds = made.identity == about["identity"]
        except _OTHER_CONTENT as error:
            if isinstance(error, DataError):
                raise
            raise DataError(where, _NOT_A_LIST, OTHER_FILE) from error
        if not holds:
            raise DataError(where, "is damaged: its shingles do not have its id")
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the list to a file, replacing an existing one; ``OutputError`` if that fails."""
        files.save(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a list from a file; ``InputRefused`` if it cannot be read, ``DataError`` for another kind of file."""
        return cls.from_bytes(files.load(path, "the common shingles", _LARGEST), os.fspath(path))


def least_own(size: int) -> int:
    """Return how many features of its own a document needs to count besides a similar one, for *size* tokens each.

    One is enough for a word, a line or a sentence. For longer shingles, it is one more than a single edited word
    changes.

    >>> [least_own(size) for size in (1, 2, 3, 8)]
    [1, 3, 4, 9]
    """
    return size + 1 if size > 1 else 1


def sample(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the texts that ``CommonShingles.fitted`` uses, in its order."""
    return pa.chunked_array([gathered(column, sample_positions(*hashed(column)))], pa.large_binary())


def hashed(column: pa.ChunkedArray) -> tuple[Words, Positions]:
    """Return the hashes that order the texts of a sample, and the lengths of the texts in bytes."""
    hashes, sizes = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for batch in batches(column):
        sums = np.zeros(len(batch), np.uint64)
        add_field(batch.data, batch.offsets, batch.offsets[1:], _NO_KEY, sums)
        hashes.append(sums)
        sizes.append(np.diff(batch.offsets))
    return np.concatenate(hashes), np.concatenate(sizes)


def sample_positions(hashes: Words, lengths: Positions) -> Positions:
    """Return the positions of the texts of a sample, in its order.

    Samples of parts of the texts, joined in the order of the texts, have the same sample as all texts.
    """
    fitting = np.flatnonzero((lengths > 0) & (lengths <= LONGEST))
    _, firsts = np.unique(hashes[fitting], return_index=True)
    chosen: Positions = fitting[firsts[:DOCUMENTS]]
    return chosen[np.cumsum(lengths[chosen]) <= BYTES]


def different(features: Features, size: int) -> Flags:
    """Return which documents count as different.

    Their features, of *size* tokens, become sorted sets, in place.
    """
    kernels.sort_sets(features.values, features.offsets)
    starts, ends = features.offsets[:-1], features.offsets[1:]
    places = starts[:, None] + np.arange(MEETINGS)
    there = places < ends[:, None]
    smallest = features.values[places[there]]
    names, numbers = np.unique(smallest, return_inverse=True)
    meetings = np.full(there.shape, -1, np.int64)
    meetings[there] = numbers
    counted = np.empty(len(features), np.bool_)
    kernels.count_once(features.values, features.offsets, meetings, len(names), least_own(size), counted)
    return counted


def frequent(features: Features, counted: Flags, share: float) -> Words:
    """Return the features that more than a *share* of the counted documents have, and at least ``LEAST`` of them.

    The documents' features must be sets. The result is ascending.
    """
    sizes = np.diff(features.offsets)
    values, counts = np.unique(features.values[: features.offsets[-1]][np.repeat(counted, sizes)], return_counts=True)
    return np.asarray(values[(counts > share * int(counted.sum())) & (counts >= LEAST)])


def prefix_bounds(terms: Words) -> Positions:
    """Return the bounds of the terms of each prefix, for ``neardup.kernels.weights``.

    There are more prefixes than terms.
    """
    width = len(terms).bit_length() + 1
    prefixes = np.arange(1 << width, dtype=np.uint64) << np.uint64(64 - width)
    bounds = np.append(np.searchsorted(terms, prefixes), len(terms)).astype(np.int64)
    bounds.setflags(write=False)
    return bounds
