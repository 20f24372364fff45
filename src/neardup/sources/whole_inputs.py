"""All documents of some inputs in memory, and how the chosen ones are written back."""

import os
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, contextmanager
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.model.arrays import Flags, Positions
from neardup.model.arrow_types import filtered
from neardup.model.errors import require
from neardup.sources.collection import Append, Collection, InputPiece, require_new
from neardup.sources.fields import joined
from neardup.sources.formats import FOLDER, WARC, AnyPath, Kind, first_names, kind
from neardup.sources.output import atomic, check_target, output_kind
from neardup.sources.output_places import InputPaths
from neardup.sources.record_faults import LackingFields, RecordFaults
from neardup.sources.request import Request
from neardup.sources.tables import ONLY_LINES, TOGETHER, check_representable, conformed, table_writer, united


class WholeInputs(Collection):
    """All documents of some inputs, each of them one piece. *ignored* counts the files that were not requested.

    *formats* are those of the inputs; ``format`` is that of the first one.
    """

    def __init__(self, pieces: Sequence[InputPiece], request: Request, ignored: int = 0) -> None:
        """Join pieces; ``FieldMissing`` if no record has one of the ``required_fields`` of the *request*."""
        self.pieces = pieces
        self.formats = {piece.format for piece in pieces}
        self.text = request.text
        self.ignored = ignored
        self._edges = np.cumsum([0, *map(len, pieces)])
        faults = RecordFaults.of(pieces)
        super().__init__(
            [piece.path for piece in pieces],
            pieces[0].format,
            _chunked([piece.texts for piece in pieces]),
            _chunked([piece.ids for piece in pieces]),
            faults.rejected,
        )
        self.has_pages = any(piece.has_pages for piece in pieces)
        self.skipped, self.body_faults, self.quoted_lines = faults.skipped, faults.body_faults, faults.quoted_lines
        tables = [piece.revisits for piece in pieces if piece.revisits is not None]
        self.revisits = pa.concat_tables(tables) if tables else None
        if any(piece.sites is not None for piece in pieces):
            self.sites = _chunked([_sites(piece) for piece in pieces])
        for name in request.required_fields:
            self._pieces_without(name)

    @property
    def without_templates(self) -> bool:
        """Whether some texts are those of HTML that was read without templates."""
        return any(piece.without_templates for piece in self.pieces)

    @property
    def addresses(self) -> pa.ChunkedArray:
        """The addresses of the documents; see ``Collection.addresses``."""
        return _chunked([piece.addresses for piece in self.pieces])

    def places(self) -> pa.Table | None:
        """Return columns with the place of each document; ``None`` if its id is enough."""
        found = [piece.places() for piece in self.pieces]
        if all(places is None for places in found):
            return None
        rows = [pa.table({"": pa.nulls(len(piece))}) for piece in self.pieces]  # also of pieces without places
        tables = [
            own if places is None else places.append_column("", own[""])
            for own, places in zip(rows, found, strict=True)
        ]
        return pa.concat_tables(tables, promote_options="default").drop_columns("")

    def originals(self, representatives: Positions) -> pa.Table | None:
        """Return where the records of these documents are, for revisit records; ``None`` if nowhere.

        Null for -1, and for a record that cannot be read alone.
        """
        if self.formats != {WARC}:
            return None
        from neardup.sources.archives import originals

        offsets = [None, *(one for piece in self.pieces for one in piece.column("warc_record_offset").to_pylist())]
        rows = [self._row(row) if row >= 0 else None for row in representatives.tolist()]
        return originals([own and own[0].path for own in rows], [offsets[row + 1] for row in representatives.tolist()])

    def column(self, name: str, *, literal: bool = False) -> pa.Array:
        """Return a field of all records; see ``Collection.column``."""
        without = self._pieces_without(name)
        if not len(self):
            return self.pieces[0].column(name, literal=literal)
        are_json = [piece.format == "jsonl" and not literal for piece in self.pieces]
        columns = [piece.raw_column(name) for piece in self.pieces if not literal]
        for piece in self.pieces if literal else ():
            own = pa.nulls(len(piece)) if piece in without else piece.column(name, literal=True)
            columns.append(pa.chunked_array([own]))
        found = joined(name, columns, are_json, lambda piece, row: self.pieces[piece].place(row))
        return found.combine_chunks()

    def flags(self, name: str) -> pa.Array:
        """Return whether a field is 1 or true, in any spelling; see ``Collection.flags``."""
        return pa.concat_arrays([piece.flags(name) for piece in self.pieces])

    def place(self, row: int) -> tuple[str, int]:
        """Return the place of a record: the source, and its line or, if that is unknown, its number."""
        piece, own = self._row(row)
        return piece.place(own)

    def rows(self) -> Iterator[pa.Table]:
        """Yield all records with all of their fields, some at a time."""
        for piece in self.pieces:
            yield from piece.rows()

    @cached_property
    def schema(self) -> pa.Schema:
        """All fields of the records; see ``Collection.schema``."""
        why = TOGETHER if len(self.pieces) > 1 else ONLY_LINES
        return united(((piece.source, piece.schema) for piece in self.pieces), why)

    def write(
        self, path: AnyPath, rows: Positions | Flags | slice, marks: pa.Table | None = None, *, force: bool = False
    ) -> None:
        """Write the records of these *rows* with the columns of the inputs, in the format of *path*.

        *marks* has a row for every document: its fields are added at the end. For an archive, these are the
        ``originals`` of the other documents, for which revisit records are written if the payload is equal.

        Raises the errors of ``check_target``, ``DataError`` if an input has changed since it was read, or if the
        records have a field with the name of a mark, and ``OutputError`` if the system refuses; then nothing is
        written.
        """
        check_target(path, InputPaths(self.inputs), self.formats, force=force)
        path, mask = os.fspath(path), np.zeros(len(self), np.bool_)
        mask[rows] = True
        how = output_kind(path, self.format)
        own = self.formats == {how.format}
        with self.pieces[0].writer(path) if own else converter(path, how, self.schema) as append:
            for piece, (begin, end) in zip(self.pieces, pairwise(self._edges.tolist()), strict=True):
                append(piece, mask[begin:end], None if marks is None else marks[begin:end])

    def _row(self, row: int) -> tuple[InputPiece, int]:
        number = int(np.searchsorted(self._edges, row, side="right")) - 1
        return self.pieces[number], row - int(self._edges[number])

    def _pieces_without(self, name: str) -> set[InputPiece]:
        """Return the pieces without a field; ``FieldMissing`` if no record has it."""
        lacking = LackingFields([name])
        without = {piece for piece in self.pieces if lacking.add(piece)}
        lacking.require(first_names(self.names))
        return without


def _chunked(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Join columns of one type, or of several types of strings."""
    kind = columns[0].type if len({column.type for column in columns}) == 1 else pa.large_string()
    return pa.chunked_array([chunk.cast(kind) for column in columns for chunk in column.chunks], kind)


def _sites(piece: InputPiece) -> pa.ChunkedArray:
    """Return the sites of a piece; texts that are not those of pages with templates belong to none."""
    return pa.chunked_array([np.zeros(len(piece), np.uint64)]) if piece.sites is None else piece.sites


def check_marks(path: str, formats: AbstractSet[str], form: str | None = None) -> None:
    """Raise ``ParameterError`` for an output that documents of these *formats* cannot be marked in.

    The files of a folder have the format *form*, such as ``jsonl.zst``, or that of the documents.
    """
    found = kind(path) or (None if form is None else kind(f"x.{form}"))
    rule = "must be a table, such as marked.jsonl, as files of a folder have no place for the cluster"
    require(found is not None or FOLDER not in formats, "mark", path, rule)
    archive = WARC in formats if found is None else found.format == WARC
    require(not archive, "mark", path, "adds fields, which archives do not have; write JSON lines or Parquet")


@contextmanager
def converter(path: str, how: Kind, schema: pa.Schema) -> Iterator[Append]:
    """Return a context like ``InputPiece.writer`` for an output of another kind than the collections have.

    *schema* describes all fields of all collections, without marks; lines of JSON are written unchanged as such.
    """
    check_representable(path, schema, how.format)
    opened: list[Any] = []
    with atomic(path) as file, ExitStack() as stack:

        def append(piece: Any, mask: Flags, marks: pa.Table | None) -> None:
            more = pa.schema([]) if marks is None else marks.schema
            require_new(piece.source, more.names, schema.names)
            whole = pa.schema([*schema, *more])
            if not opened:
                opened.extend(stack.enter_context(table_writer(file, how, whole)))
            write, lines = opened
            if how.format == piece.format == "jsonl":
                piece.append_to(lines, mask, marks)
                return
            begin = 0
            for rows in piece.rows():
                part = slice(begin, begin + len(rows))
                added = [] if marks is None else marks[part].columns
                table = pa.table([*rows.columns, *added], [*rows.column_names, *more.names])
                write(filtered(conformed(piece.source, table, whole), mask[part]))
                begin = part.stop

        yield append
