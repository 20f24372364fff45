"""Checksums of documents, as in enterprise search: documents with equal fields match."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.kernels import checksum as kernels
from neardup.kernels.sets import equal_ranges
from neardup.model.arrays import (
    AnyPositions,
    Corpus,
    Flags,
    Positions,
    Signatures,
    TextBatch,
    Values,
    Words,
    require_signatures,
    shares,
)
from neardup.model.arrow_types import unpacked
from neardup.model.errors import ParameterError, require, require_flag, require_whole
from neardup.model.options import Option
from neardup.model.ranked_rule import RankedRule, whole_term
from neardup.model.recipe import RecipeId, recipe_id
from neardup.model.written_values import written_times, written_values
from neardup.schemes.scheme import Reading, Scheme, ranked_kernel
from neardup.text.columns import is_mixed, text_column, typed_parts, whole_batch
from neardup.text.containers import table_or_column
from neardup.text.shingling import Shingling

BODY = "body"  # the field of a plain column of texts, if there are several

_LONGEST: Final = 1 << 40  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A column in the checksum: its first *limit* bytes (``None``: all), cut between two characters.

    A document without a *required* field (null, NaN or empty) has no signature. A missing field that is not required
    counts as empty.
    """

    name: str
    limit: int | None = None
    required: bool = True

    def __post_init__(self) -> None:
        require(isinstance(self.name, str) and self.name != "", "name", self.name, "must be the name of a column")
        require_flag("required", self.required)
        if self.limit is not None:
            object.__setattr__(self, "limit", require_whole("limit", self.limit, 1, _LONGEST))


@dataclass(frozen=True, kw_only=True)
class Checksum(Scheme):
    """One 64-bit integer computed from named fields; documents with equal integers match.

    The default fields are the title and the first 1,024 bytes of the body, both required. *contribution* is one more
    column, used in full, which may be missing. The sum is ``S = S * SPREAD + SipHash-1-3(field) mod 2**64``, starting
    at 0, over the fields in order (``neardup.kernels.checksum``), under the 128-bit key, or one derived from the public
    seed.

    Exact verification compares the fields' bytes. A document without a signature is never dropped, not even for an
    equal one.
    """

    fields: Sequence[Field] = (Field(name="title"), Field(name=BODY, limit=1024))
    contribution: str | None = None
    seed: int = 1
    key: bytes | None = field(default=None, repr=False)

    name = "checksum"
    rule = "checksum"
    measure = "resemblance"
    threshold = 1.0
    keys_decide = True
    match_estimate = None  # equality has no degrees
    equality = "equal in every signed field"
    value_types = (Field,)
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "fields",
            "text",
            "the fields, each with an optional cap",
            "title and 1,024 bytes of the text",
            "NAME[:BYTES],...",
        ),
        Option("contribution", "text", "one more field, used in full, which may be missing", "none", "NAME"),
    )

    def __post_init__(self) -> None:
        listed = isinstance(self.fields, tuple | list) and all(isinstance(part, Field) for part in self.fields)
        rule = "must be a list of at least one Field, such as [Field(name='title')]"
        require(listed and len(self.fields) > 0, "fields", self.fields, rule)
        object.__setattr__(self, "fields", tuple(self.fields))
        named = self.contribution is None or (isinstance(self.contribution, str) and self.contribution != "")
        require(named, "contribution", self.contribution, "must be the name of a column")
        names = self.columns
        require(len(set(names)) == len(names), "fields", names, "must have different names")
        _ = self.hashing  # this checks the rest

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it signs."""
        named = tuple(part.name for part in self.fields)
        return named if self.contribution is None else (*named, self.contribution)

    @property
    def required_columns(self) -> tuple[str, ...]:
        """The columns without which a table cannot be signed."""
        return tuple(part.name for part in self.fields if part.required)

    @cached_property
    def shingling(self) -> Shingling:
        """How the features for evidence are made: 3-word shingles of the text. Not part of the recipe."""
        return Shingling()

    @cached_property
    def recipe(self) -> RecipeId:
        """The id of the recipe, which all parameters enter."""
        parts = [asdict(part) for part in self._parts()]
        return recipe_id(scheme=self.name, fields=parts, hashing=self.hashing.identity)

    def _parts(self) -> Sequence[Field]:
        if self.contribution is None:
            return self.fields
        return (*self.fields, Field(name=self.contribution, required=False))

    def sign(self, documents: Any) -> Signatures:
        """Sign the rows of a table (anything with the Arrow stream protocol) that has the columns.

        A plain column of texts is the only field or, of several, ``body``; the others are then missing. ``rows`` is
        uint64[n, 1]. Raises ``DataError`` if the table lacks a required column.
        """
        fields = _fields(documents, self._parts())
        number = len(fields[0][1])
        key = np.frombuffer(self.hashing.derive("checksum", 16), "<u8").astype(np.uint64)
        sums = np.zeros(number, np.uint64)
        present = np.ones(number, np.bool_)
        for part, column in fields:
            batch, ends = _cut(part, column)
            if part.required:
                present &= ends > batch.offsets[:-1]
            kernels.add_field(batch.data, batch.offsets, ends, key, sums)
        return Signatures(sums.reshape(-1, 1), present, self.recipe)

    @classmethod
    def from_options(cls, values: Mapping[str, Any], **hashing: Any) -> Self:
        """Build the scheme; *fields* is ``NAME[:BYTES],...``. Raises ``ParameterError`` for anything else."""
        own = dict(values)
        if "fields" in own:
            own["fields"] = _fields_described(own["fields"])
        return cls(**own, **hashing)

    @classmethod
    def for_texts(cls) -> Self:
        """Return the checksum of the whole text."""
        return cls(fields=(Field(name=BODY),))

    @property
    def signature_rule(self) -> str:
        """A sentence part that describes when two signatures match."""
        return f"equal checksums of {self._content}"

    @property
    def exact_rule(self) -> str:
        """A sentence part that describes when two documents match."""
        return f"equal bytes of {self._content}"

    @property
    def _content(self) -> str:
        named = (
            part.name if part.limit is None else f"the first {part.limit:,} bytes of {part.name}"
            for part in self.fields
        )
        return " and ".join(named)

    def reading(self, left: Signatures, right: Signatures) -> Reading:
        """Return whether the sums are equal, and the sums."""
        sums = [f"{int(signed.rows[0, 0]):016x}" for signed in (left, right)]
        return Reading("equality", float(self.estimate(left, right)[0]), 1.0, {"checksums": sums})

    def with_threshold(self, threshold: float) -> Self:
        """Raise ``ParameterError``: a checksum has no threshold."""
        raise ParameterError("threshold", threshold, "cannot be used with a checksum, which has no threshold")

    def sign_at(self, corpus: Corpus, positions: Positions) -> Signatures:
        """Sign the documents at these positions of a corpus, from its fields."""
        return self.sign(corpus.fields)[positions]

    def same_content(self, fields: Any, left: Positions, right: Positions) -> Flags:
        """Return, pair by pair, whether two documents have the same bytes in every field, up to its limit."""
        same = np.ones(len(left), np.bool_)
        for part, column in _fields(fields, self._parts()):
            batch, ends = _cut(part, column)
            equal = np.empty(len(left), np.bool_)
            starts = batch.offsets[:-1]
            equal_ranges(batch.data, starts, ends, batch.data, starts, ends, left, right, equal)
            same &= equal
        return same

    def _ranked(self, signatures: Signatures) -> RankedRule:
        return RankedRule(ranked_kernel("by_fingerprints"), signatures.rows, whole_term(0))

    def keys(self, signatures: Signatures) -> Words:
        """Return the checksum itself: uint64[n, 1]. Documents that match always share a key."""
        require_signatures("signatures", signatures, self)
        return np.array(signatures.rows, np.uint64)  # a copy: kernels are compiled for keys that can be changed

    def _matching(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Flags:
        equal = one.rows[left, 0] == other.rows[right, 0]
        return np.asarray(equal & one.present[left] & other.present[right])

    def _estimated(self, one: Signatures, other: Signatures, left: AnyPositions, right: AnyPositions) -> Values:
        """Return 1 for equal checksums, otherwise 0."""
        return self._matching(one, other, left, right).astype(np.float64)

    def probability(self, resemblance: Any) -> Any:
        """Return the probability of a match: 1 for equal fields, otherwise ``2**-64``, returned as 0.

        >>> Checksum().probability([0.99, 1.0])
        array([0., 1.])
        """
        certain = (shares(resemblance) >= 1.0).astype(np.float64)
        return certain if np.ndim(resemblance) else float(certain)


def _fields_described(described: str) -> tuple[Field, ...]:
    """Read fields from ``NAME[:BYTES],...``."""
    rule = "must be NAME or NAME:BYTES with at least 1 byte, separated by commas"
    fields = []
    for part in described.split(","):
        name, colon, limit = part.strip().partition(":")
        try:
            fields.append(Field(name=name, limit=int(limit) if colon else None))
        except ValueError as error:
            raise ParameterError("fields", described, rule) from error
    names = [part.name for part in fields]
    require(len(set(names)) == len(names), "fields", described, "must name each field once")
    return tuple(fields)


def _fields(documents: Any, parts: Sequence[Field]) -> list[tuple[Field, pa.ChunkedArray]]:
    required = [part.name for part in parts if part.required]
    table = table_or_column(documents, required, [part.name for part in parts])
    if not isinstance(table, pa.Table):
        name = parts[0].name if len(parts) == 1 else BODY
        table = pa.table({name: text_column(table, name)})
    nothing = pa.chunked_array([pa.nulls(len(table), pa.large_string())])
    return [
        (part, text_column(signed_text(table[part.name]), part.name) if part.name in table.column_names else nothing)
        for part in parts
    ]


def signed_text(column: Any) -> Any:
    """Return a column as text, as it is signed: numbers and UUIDs as ``written_values``, times as ``written_times``."""
    column = written_values(unpacked(column))
    kind = column.type
    if is_mixed(kind):
        parts = map(signed_text, typed_parts(column.combine_chunks()))
        texts = (text_column(part).combine_chunks().cast(pa.large_string()) for part in parts)
        return pc.coalesce(pa.nulls(len(column), pa.large_string()), *texts)
    if pa.types.is_temporal(kind):
        return written_times(column)
    printed = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    return column.cast(pa.large_string()) if printed else column


def _cut(part: Field, column: pa.ChunkedArray) -> tuple[TextBatch, Positions]:
    batch = whole_batch(column)
    ends = np.empty(len(batch), np.int64)
    kernels.cut(batch.data, batch.offsets, -1 if part.limit is None else part.limit, ends)
    return batch, ends
