"""Ranked hits: ids, records or a table, with the values of their fields."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from operator import itemgetter
from typing import Any, Final

import numpy as np
import pyarrow as pa
from msgspec.msgpack import Encoder

from neardup.index.disk.reader import Places
from neardup.model.arrays import Positions
from neardup.model.errors import DataError, ParameterError, kind_of
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.inputs import types_of
from neardup.text.columns import readable_values
from neardup.text.containers import table_or_column
from neardup.text.values import is_missing

_packed = Encoder(enc_hook=str.__str__).encode  # strings of another class as plain ones
_PLAIN = frozenset({str, int})
STRINGS: Final = frozenset({str, type(None)})  # the types of a field of strings, some of them missing
VALUES: Final = STRINGS | {int}  # the types of values by which hits can be collapsed
_SHOWN = 10  # names of fields in a message
_DIGESTED: Final = VALUES | {bool}


class Hits:
    """Hits, best first: a sequence of ids (strings or integers), of records (mappings), or a table.

    A record's id is its field *id*. A value that a record lacks is that of *index*, if there is one. Raises
    ``DataError`` for an invalid hit, and for a record without an id.
    """

    def __init__(self, hits: Any, id: str, index: Index | None) -> None:  # noqa: A002 - the field's name, as everywhere
        # A copy, because hits are read again when a page is requested.
        listed, kinds = _typed(hits.copy() if isinstance(hits, list) else _listed(hits, id))
        self.given: list[Any] = listed
        self._index = index
        self.records = not kinds <= _PLAIN
        self.ids: list[Any] = listed
        if self.records:
            self._plain = kinds == {dict}  # another mapping may invent missing keys
            holds = self._plain or all(issubclass(kind, Mapping) for kind in kinds)
            if holds:
                self.ids, kinds = _typed(self._given_values(id, len(listed)))
            if not holds or not kinds <= _PLAIN:
                ranks = (at for at, own in enumerate(self.ids) if type(own) is not int and not isinstance(own, str))
                rule = (
                    "is invalid: hits must all be ids (strings or integers), or all records with an id in their field"
                )
                raise DataError(f"hit {next(ranks)}", f"{rule} {id!r}")
        self._kinds = kinds

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def names(self) -> list[str]:
        """The ids as strings, as in an index."""
        return self.ids if self._kinds == {str} else [own if isinstance(own, str) else str(own) for own in self.ids]

    def named(self, ranks: Sequence[int]) -> list[str]:
        """Return the ids of some hits as strings."""
        return [self.names[rank] for rank in ranks]

    def digest(self, number: int, fields: Sequence[str] = ()) -> bytes | None:
        """Return 256 bits that identify the ids of the first *number* hits, in order, and their records' *fields*.

        ``None`` if such a field of a record is neither a string nor an integer.
        """
        names = self.names[:number]
        try:
            written = _packed(names)
        except UnicodeEncodeError:  # a lone surrogate, which no id in an index has
            written = repr(names).encode("utf-8", "surrogatepass")
        digest = sha256(written)  # usually in hardware
        for field in fields:
            if self.has_field(field):
                values = self._given_values(field, number)
                if not types_of(values) <= _DIGESTED:
                    return None
                digest.update(repr((field, values)).encode("utf-8", "surrogatepass"))
        return digest.digest()

    def places(self, index: Index, number: int) -> Places:
        """Return the places of the first *number* hits in an index, or -1."""
        return index.store.with_ids(self.names[:number])

    def values(self, field: str, number: int) -> list[Any]:
        """Return the values of a field for the first *number* hits, ``None`` for missing ones, also NaN.

        A record without a value has that of the index, if there is one. Raises ``DataError`` if neither a record nor an
        index has the field.
        """
        if not self.given:
            return []
        index = self._index if self._index is not None and field in self._index.fields else None
        if self.records:
            if self.has_field(field):
                values = self._given_values(field, number)
                if not types_of(values) <= VALUES:
                    values = [None if is_missing(value) else value for value in values]  # as of pandas
                return values if index is None else self._completed(index, field, values)
            if index is None:
                raise missing_in_hits(field, sorted({str(name) for hit in self.given for name in hit}))
        if self._index is None:
            lacking = "texts" if field == "text" else f"values of {field!r}"
            rule = f"must be an index: the hits are ids without {lacking}; or pass records with the field {field!r}"
            raise ParameterError("index", None, rule)
        return self._index.values(field, self.names[:number])

    def _completed(self, index: Index, field: str, values: list[Any]) -> list[Any]:
        """Return values with those of an index in the place of ``None``."""
        ranks = [rank for rank, value in enumerate(values) if value is None]
        if not ranks:
            return values
        found = dict(zip(ranks, index.values(field, self.named(ranks)), strict=True))
        return [found.get(rank, value) for rank, value in enumerate(values)]

    def has_field(self, field: str) -> bool:
        """Return whether any record has a field."""
        return self.records and any(field in hit for hit in self.given)

    def lacks(self, field: str) -> bool:
        """Return whether neither a record nor the index has a field; ids have those of the index only."""
        is_stored = self._index is not None and field in self._index.fields
        return self.records and not is_stored and not self.has_field(field)

    def _given_values(self, field: str, number: int) -> list[Any]:
        records = self.given if number == len(self.given) else self.given[:number]
        if self._plain:
            try:
                return list(map(itemgetter(field), records))
            except KeyError:
                pass
        return [record.get(field) for record in records]


class PlacedHits(Hits):
    """Documents of an index by their *places*, which are valid until it changes.

    Their ids are their *ordinals* here. The names are only read when they are needed.
    """

    def __init__(self, index: Index, places: Places, ordinals: Positions) -> None:
        super().__init__(ordinals.tolist(), "ordinal", index)
        self._store, self._places, self._ordinals = index.store, places, ordinals

    def named(self, ranks: Sequence[int]) -> list[str]:
        """Return the ids of some hits as strings."""
        return self._store.decoded("id", self._places[np.array(ranks, np.int64)])

    def digest(self, number: int, _: Sequence[str] = ()) -> bytes | None:
        """Return 256 bits that identify the first *number* hits, in order."""
        return sha256(self._ordinals[:number].tobytes()).digest()

    def places(self, _: Index, number: int) -> Places:
        """Return the places of the first *number* hits."""
        return self._places[:number]


def missing_in_hits(field: str, known: Sequence[str], otherwise: str = "they have no fields") -> DataError:
    """Return the error for a field that no hit has; *known* are their fields, or *otherwise* is what they have."""
    shown = f"their fields are {', '.join(known[:_SHOWN])}{', ...' if len(known) > _SHOWN else ''}"
    return DataError(f"field {field!r}", f"is missing in all hits; {shown if known else otherwise}")


def _typed(values: list[Any]) -> tuple[list[Any], set[type]]:
    """Return values and their types; NumPy's integers, as in a list of a column of pandas, become Python's."""
    kinds = types_of(values)
    if any(issubclass(kind, np.integer) for kind in kinds):
        values = [int(value) if isinstance(value, np.integer) else value for value in values]
        kinds = types_of(values)
    return values, kinds


def _listed(hits: Any, id: str) -> list[Any]:  # noqa: A002 - the field's name, as everywhere
    source = table_or_column(hits, what="hits")
    if isinstance(source, pa.Table):
        return _rows(source, id)
    if isinstance(source, pa.Array | pa.ChunkedArray):
        try:
            return list(source.to_pylist())
        except UnicodeDecodeError as error:
            raise DataError("hits", "have an id that is not valid UTF-8") from error
    if isinstance(source, np.ndarray):
        source = source.tolist()
    if isinstance(source, str | bytes | Mapping) or not isinstance(source, Iterable):
        raise DataError("hits", f"must be a sequence of ids or records, or a table, not {kind_of(hits)}")
    return list(source)


def _rows(table: pa.Table, id: str) -> list[Any]:  # noqa: A002 - the field's name, as everywhere
    """Return the rows of a table as records."""
    names = table.column_names
    columns = [_values(column, name, is_id=name == id) for name, column in zip(names, table.columns, strict=True)]
    rows = zip(*columns, strict=True) if columns else [()] * len(table)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _values(column: pa.ChunkedArray, name: str, *, is_id: bool) -> list[Any]:
    """Return the values of a column; ``DataError`` for invalid UTF-8 in ids, or where it cannot be replaced."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError as error:
        if not is_id:
            with suppress(UnicodeDecodeError):
                return readable_values(column)
        rule = "has invalid UTF-8, which ids, lists and structs must not have; repair it"
        raise DataError(f"column {name!r}", rule) from error
