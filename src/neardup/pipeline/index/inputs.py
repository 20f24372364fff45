"""The inputs of an index: documents, ids and times, checked before anything is changed, and cut into steps."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup.index.disk.columns import Batch, Columns
from neardup.model.arrays import Positions, Signatures, Words, require_same_recipe
from neardup.model.errors import DataError, counted, is_number, kind_of, require
from neardup.model.moments import with_zone
from neardup.pipeline.index.fields import (
    EPOCH,
    FIRST_MOMENT,
    LAST_MOMENT,
    chosen_rows,
    described,
    field_columns,
    field_table,
    unknown_field,
)
from neardup.pipeline.index.verification import Asked, sign_and_digest
from neardup.sources.addresses import MOST_ID_BYTES, is_utf8
from neardup.text.columns import text_column, text_lengths

TOGETHER: Final = 2048  # documents of one step: each step is written to the log as a whole
BYTES_TOGETHER: Final = 1 << 25  # bytes of text in one step, unless one document has more

_MICROSECOND: Final = timedelta(microseconds=1)


class Given:
    """Documents for an index: texts or signatures, with a table of fields. They are signed step by step.

    Raises ``DataError`` for invalid texts, for signatures of another width or type than those of the index, and for
    unknown fields; ``RecipeMismatch`` for signatures of another recipe.
    """

    def __init__(self, scheme: Any, columns: Columns, salt: Words, documents: Any, fields: Any) -> None:
        self._scheme, self._columns, self._salt = scheme, columns, salt
        self.is_signed = isinstance(documents, Signatures)
        self._documents: Any = _signatures(scheme, columns, documents) if self.is_signed else text_column(documents)
        self.table = field_table(fields, len(self._documents))
        known = {*dict(columns.fields), *scheme.columns}
        for name in self.table.column_names:
            if name not in known:
                raise unknown_field(name, known)
        self._ends = np.arange(len(self)) if self.is_signed else np.cumsum(text_lengths(self._documents))

    def __len__(self) -> int:
        return len(self._documents)

    def at(self, rows: slice | Positions) -> Asked:
        """Sign some of the documents, such as those of one step."""
        return sign_and_digest(self._scheme, self.documents(rows), chosen_rows(self.table, rows), self._salt)

    def documents(self, rows: slice | Positions) -> Any:
        """Return some of the documents, in their original form."""
        return self._documents[rows] if self.is_signed else chosen_rows(self._documents, rows)

    @cached_property
    def columns(self) -> Batch:
        """The columns of the index for the fields."""
        return field_columns(dict(self._columns.fields), self.table, len(self))

    def steps(self, names: list[str] | None = None) -> Iterator[slice]:
        """Cut the documents into runs with a limited number of documents and bytes.

        In a run, all documents with the same id have the same content.
        """
        begin = 0
        met: dict[str, int] = {}
        for place, end in enumerate(self._ends.tolist()):
            before = self._ends[begin - 1] if begin else 0
            full = place - begin == TOGETHER or (end - before > BYTES_TOGETHER and place > begin)
            earlier = None if names is None else met.get(names[place])
            if full or not (earlier is None or self._are_equal(earlier, place)):
                yield slice(begin, place)
                begin, met = place, {}
            if names is not None:
                met[names[place]] = place
        if begin < len(self):
            yield slice(begin, len(self))

    def _are_equal(self, one: int, other: int) -> bool:
        """Return whether two documents have the same text or signature, and signed fields."""
        if self.is_signed:
            signed = self._documents[[one, other]]
            return bool((signed.rows[0] == signed.rows[1]).all() and signed.present[0] == signed.present[1])
        columns = [self.table.column(name) for name in self._scheme.columns if name in self.table.column_names]
        return all(column[one] == column[other] for column in (self._documents, *columns))


def require_ids(ids: Any, number: int) -> list[str]:
    """Return ids after checking them: one per document, each a string of 1 to ``MOST_ID_BYTES`` bytes of UTF-8."""
    if isinstance(ids, set | frozenset):
        raise DataError("ids", "are a set, which has no order; pass a list, in the order of the documents")
    names = as_strings(ids)
    if len(names) != number:
        there = f"{counted(len(names), 'id')} for {counted(number, 'document')}"
        raise DataError("ids", f"{there}; each document needs one")
    for position, name in enumerate(names):
        try:
            size = len(name.encode())
        except UnicodeEncodeError:
            raise DataError(f"id {position}", "has a lone surrogate, which UTF-8 cannot write") from None
        if not 1 <= size <= MOST_ID_BYTES:
            raise DataError(f"id {position}", f"has {size:,} bytes, but must have 1 to {MOST_ID_BYTES:,}")
    return names


def is_id(name: str) -> bool:
    """Return whether a document can have this id."""
    return is_utf8(name) and 1 <= len(name.encode()) <= MOST_ID_BYTES


def as_strings(ids: Any) -> list[str]:
    """Return any sequence of strings as a list; whether they are valid ids is not checked."""
    ids = ids.tolist() if isinstance(ids, np.ndarray) else ids
    if isinstance(ids, str | bytes) or not isinstance(ids, Iterable) or hasattr(ids, "columns"):
        raise DataError("ids", f"must be a sequence of strings, not {kind_of(ids)}")
    names = ids.to_pylist() if isinstance(ids, pa.Array | pa.ChunkedArray) else list(ids)
    if not types_of(names) <= {str}:
        position, name = next(each for each in enumerate(names) if not isinstance(each[1], str))
        raise DataError(f"id {position}", f"must be a string, but is {described(name)}")
    return names


def types_of(values: list[Any]) -> set[type]:
    """Return the types of values; subclasses of ``str``, such as NumPy's, count as ``str``."""
    if values and isinstance(values[0], str):
        try:
            "".join(values)  # the fastest check that all are strings
        except TypeError:
            pass
        else:
            return {str}
    types = [*map(type, values)]
    if types and types.count(types[0]) == len(types):
        return {types[0]}
    return {str if issubclass(kind, str) else kind for kind in {*types}}


def microseconds_or_now(at: Any) -> int:
    """Return a time in microseconds since 1970; ``None`` is now."""
    return microseconds(datetime.now(UTC) if at is None else at, "at")


def microseconds(at: Any, name: str) -> int:
    """Return a time in microseconds since 1970. A ``datetime`` without a zone is in UTC."""
    moment, number = np.nan, at
    if isinstance(at, datetime):
        moment = (with_zone(at) - EPOCH) // _MICROSECOND
    elif is_number(at):
        moment = number * 1e6 if abs(number) < LAST_MOMENT else np.nan  # some integers are too large for a float
    holds = FIRST_MOMENT <= moment <= LAST_MOMENT
    require(holds, name, at, "must be a datetime, or seconds since 1970, in the years from 1 to 9999")
    return round(moment)


def _signatures(scheme: Any, columns: Columns, given: Signatures) -> Signatures:
    require_same_recipe(scheme.recipe, given.recipe)
    rows = np.asarray(given.rows)
    if rows.dtype != columns.row_kind or rows.shape != (len(rows), columns.row_width):
        kind = np.dtype(columns.row_kind)
        raise DataError("signatures", f"must have rows of {columns.row_width} {kind} values, as in the index")
    return Signatures(np.ascontiguousarray(rows), given.present, given.recipe)
