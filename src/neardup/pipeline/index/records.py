"""The ids and the fields of records that become documents of an index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from neardup.index.disk.columns import STRING
from neardup.model.arrays import Positions
from neardup.model.errors import DataError, FieldMissing, cut_to
from neardup.pipeline.index.fields import HOST, READ, SHOWN, URL, chosen_rows, read_field, with_column
from neardup.schemes.checksum import BODY
from neardup.sources.addresses import MOST_ID_BYTES, Addresses
from neardup.sources.collection import SITE, InputPiece
from neardup.sources.formats import full_name, is_read_once
from neardup.sources.hosts import host
from neardup.sources.record_faults import Rejected
from neardup.sources.records import value_of
from neardup.text.columns import gathered

NONE_REFUSED: Final[Mapping[int, str]] = {}
_WIDEST: Final = 4  # bytes of a character
_NAMELESS: Final = (
    "it has no id, and in a pipe the number of a line identifies a record in one run only;"
    " name a field with ids or URLs"
)


def _is_name_of_line(documents: InputPiece, row: int, own: str | None, file: str) -> bool:
    """Return whether the id of a record, its *own*, only names its *file*, in full, and its line or row."""
    return own is not None and own.startswith(file) and own == f"{file}:{documents.place(row)[1]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordReader:
    """Turns records into documents of an index, with its fields (of these *kinds*) and those that its scheme signs.

    Their ids are those of the field *url*, if it is named. With *sites*, the site is another field.
    """

    kinds: Mapping[str, str]
    signed: Sequence[str]
    url: str | None
    addresses: Addresses
    sites: bool

    def read(
        self,
        piece: InputPiece,
        rows: Positions | None = None,
        ids: list[str] | None = None,
        urls: list[str | None] | None = None,
        refused: Mapping[int, str] = NONE_REFUSED,
    ) -> "NamedRecords":
        """Read the records in these *rows* of a piece, by default all; *ids* and *urls* replace their own.

        Those with an invalid id or field, or *refused*, have no id; they are rejected.
        """
        rows = np.arange(len(piece)) if rows is None else rows
        invalid, missing = dict[int, str](), dict[str, FieldMissing]()
        fields = self._fields(piece, invalid, missing)
        if urls is None and self.url is not None:
            try:
                urls = piece.column(self.url, literal=True).take(pa.array(rows)).to_pylist()
            except FieldMissing as error:
                missing[self.url] = error
        names: list[str | None] = piece.ids.take(pa.array(rows)).to_pylist() if ids is None else [*ids]
        for place, url in enumerate(urls or ()):
            if url and url.strip():
                names[place] = self.addresses.id_of(url)
        rejected = _rejected(piece, rows.tolist(), names, {**refused, **invalid})
        if self.sites and piece.sites is not None:
            fields = with_column(fields, SITE, pa.array(piece.sites.to_numpy().view(np.int64)))
        lacking = [name for name in self.signed if name in missing and name not in {BODY, "text"}]
        return NamedRecords(piece, rows, names, urls, fields, lacking, rejected, missing)

    def _fields(self, piece: InputPiece, invalid: dict[int, str], missing: dict[str, FieldMissing]) -> pa.Table:
        """Return the fields of the scheme and of the index; add the rows of invalid values, and missing fields.

        Strings, and fields that are signed, are used as written; values of other kinds are parsed.
        """
        columns: dict[str, Any] = {}
        for name in dict.fromkeys([*self.signed, *self.kinds]):
            kind = self.kinds.get(name, STRING)
            try:
                column = _written(piece, name, kind, invalid)
            except FieldMissing as error:
                missing[name] = error
                continue
            columns[name] = column if kind == STRING or name in self.signed else _converted(name, kind, column, invalid)
        return pa.table(columns)


@dataclass(frozen=True, slots=True, eq=False)
class NamedRecords:
    """Records in these *rows* of a piece that become documents; those without an id are *rejected*.

    *fields* are those of the whole piece, and *missing* those that none of its records has; of these, the scheme signs
    the *lacking* ones.
    """

    piece: InputPiece
    rows: Positions
    ids: list[str | None]
    urls: list[str | None] | None
    fields: pa.Table
    lacking: Sequence[str]
    rejected: list[Rejected]
    missing: Mapping[str, FieldMissing]

    @property
    def named(self) -> Positions:
        """The places of those with an id."""
        return np.flatnonzero([own is not None for own in self.ids])

    def unnamed(self, places: Positions) -> int:
        """Return how many of them have no id of their own, and are named by their file and line."""
        file, rows = full_name(self.piece.source), self.rows[places].tolist()
        pairs = zip(places.tolist(), rows, strict=True)
        return sum(_is_name_of_line(self.piece, row, self.ids[place], file) for place, row in pairs)

    def at(self, kinds: Mapping[str, str], places: Positions) -> tuple[list[str], pa.Array, pa.Table]:
        """Return the ids, texts and fields of some of them, for an index with fields of these *kinds*."""
        fields = chosen_rows(self.fields, self.rows[places])
        if self.urls is not None:
            fields = address_fields(kinds, [self.urls[place] for place in places.tolist()], fields)
        for name in self.lacking:
            if name not in fields.column_names:
                fields = with_column(fields, name, pa.nulls(len(places), pa.large_string()))
        ids = [str(self.ids[place]) for place in places.tolist()]
        return ids, gathered(self.piece.texts, self.rows[places]), fields


def address_fields(kinds: Mapping[str, str], urls: Sequence[str | None], fields: pa.Table) -> pa.Table:
    """Add the URLs that are not blank, and their hosts, if an index has such fields and they are missing."""
    for name, made in ((URL, lambda url: url.encode("utf-8", "replace").decode()), (HOST, host)):
        if kinds.get(name) == STRING and name not in fields.column_names:
            values = [made(url) if url and not url.isspace() else None for url in urls]
            fields = with_column(fields, name, pa.array(values, pa.large_string()))
    return fields


def _rejected(
    piece: InputPiece, rows: Sequence[int], names: list[str | None], refused: Mapping[int, str]
) -> list[Rejected]:
    """Return the records in these *rows* with an invalid id, or that are *refused*, and take their *names* away."""
    rejected: list[Rejected] = []
    of_pipe = is_read_once(piece.path)
    longest = max((len(own) for own in names if own), default=0)
    if not refused and not of_pipe and _WIDEST * longest <= MOST_ID_BYTES:  # as of most documents
        return rejected
    file = full_name(piece.source)
    for place, (row, own) in enumerate(zip(rows, names, strict=True)):
        size = len(own.encode()) if own else 0
        reason, code = refused.get(row, ""), "value"
        if size > MOST_ID_BYTES:
            reason, code = f"its id has {size:,} bytes, but may have at most {MOST_ID_BYTES:,}", "id too long"
        elif of_pipe and _is_name_of_line(piece, row, own, file):
            reason, code = _NAMELESS, "no id"
        if reason:
            rejected.append(Rejected(*piece.place(row), reason, code))
            names[place] = None
    return rejected


def _written(documents: InputPiece, name: str, kind: str, refused: dict[int, str]) -> pa.Array:
    """Return a field as it is written; a value of JSON that cannot be one of its kind is null, and its row is refused.

    In other formats all values of a column have one type, so that another kind is an error of the whole file.
    """
    try:
        return documents.column(name, literal=kind != "flag")
    except DataError as error:
        if isinstance(error, FieldMissing) or documents.format != "jsonl":
            raise
    expected = "a string or a number" if kind == STRING else READ[kind].expected
    values: list[str | None] = []
    for row, token in enumerate(documents.raw_column(name).to_pylist()):
        try:
            values.append(value_of(token))
        except TypeError as error:
            values.append(None)
            refused.setdefault(row, f"its {name!r} must be {expected}, not {error}")
    return pa.array(values, pa.large_string())


def _converted(name: str, kind: str, column: Any, refused: dict[int, str]) -> Any:
    """Parse the values of a kind in a column; an invalid value is null, and its row is refused."""
    if not len(column) or (kind == "flag" and pa.types.is_boolean(column.type)):
        return column
    read = READ[kind]
    values: list[Any] = []
    for row, written in enumerate(column.to_pylist()):
        try:
            values.append(read_field(kind, written))
        except (ValueError, KeyError, OverflowError):
            values.append(None)
            shown = written if written in {"true", "false"} else cut_to(SHOWN, repr(written))
            refused.setdefault(row, f"its {name!r} must be {read.expected}, not {shown}")
    return pa.array(values, read.type)
