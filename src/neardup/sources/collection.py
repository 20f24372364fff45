"""The result of reading: the documents, the rejected records, and how to write the chosen ones back."""

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.model.arrays import Flags, Positions
from neardup.model.arrow_types import filtered
from neardup.model.errors import DataError, FieldMissing, require
from neardup.sources.fields import are_true, joined
from neardup.sources.formats import FOLDER, WARC, AnyPath, Kind, display, kind
from neardup.sources.output import atomic, check_target, output_kind
from neardup.sources.output_places import InputPaths
from neardup.sources.pages import BATCH, FOUND, PAGE_FIELDS, extracted, field_of, spread, table_of
from neardup.sources.record_faults import Count, LackingFields, QuotedLines, Rejected, WithoutText, in_total
from neardup.sources.request import DEFAULT_ID, DEFAULT_TEXT, Request
from neardup.sources.tables import ONLY_LINES, TOGETHER, check_representable, conformed, table_writer, united
from neardup.text.html import LARGEST_PAGE, TOO_LONG

Append = Callable[[Any, Flags, pa.Table | None], None]
"""Appends the chosen records of a collection, with the fields of their rows of a table of marks, if it is given."""
Advance = Callable[[float], None]  # how much of an input has been read, from 0 to 1

SITE: Final = "neardup_site"  # the field of texts of pages that were stored, with their sites as signed integers


class Shard(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A part of one input. *source* is the number of the input; *begin* and *end* are bytes, row groups or files.

    *first* is the number of its first line or row, from 1. *size* is the number of bytes on disk. The bytes of a *torn*
    shard, expanded, begin in the middle of a line, which belongs to the shard before.
    """

    source: Count
    begin: Count
    end: Count
    first: Count
    size: Count
    torn: bool = False


class Needs(NamedTuple):
    """The needs of a reader of a shard.

    A *whole* record can be written, too. With *markup*, the texts of pages remain HTML, which is enough for copies of
    them. *documents* is their number if they were read before and only their texts and fields are wanted: what need not
    be read again is left out.
    """

    whole: bool = False
    markup: bool = False
    documents: int | None = None


def silent(_done: float) -> None:
    """Report no progress."""


class Collection(ABC):
    """Documents of one format, in input order: an ``InputPiece`` or, for whole inputs, ``WholeInputs``.

    *names* are the inputs, as messages show them. *texts* is a chunked array of strings, null if a record has no text;
    *ids* one of strings, where a record without an id (missing, null or empty) is named ``SOURCE:POSITION``, with the
    full path of the source if ``full_names`` is requested. Ids need not be unique. *rejected* lists the records that
    are not documents; *quoted_lines* describes line ends inside quotes, if there are any and quoting was not requested
    explicitly. *text* is the name of the text field, and *has_pages* whether texts were extracted from web pages.
    *found* has what was found in these pages, besides the texts; ``None`` if nothing was.
    *skipped* counts, by reason, the records of archives that are not pages, and *body_faults* the pages that could not
    be read completely: of archives also those whose HTTP body could not be decoded as declared. *revisits* has a row
    for each skipped record that only refers to a page. *sites* is a chunked array of uint64, which page belongs to
    which site (see ``neardup.text.sites``); ``None`` if no templates are used. *address* is the field with the
    addresses of web pages; ``None`` if these are the ids, or unknown.
    """

    text: str = DEFAULT_TEXT
    has_pages: bool = False
    found: pa.Table | None = None
    sites: pa.ChunkedArray | None = None
    address: str | None = None
    quoted_lines: QuotedLines | None = None
    skipped: Mapping[str, int] = MappingProxyType({})
    body_faults: Mapping[str, int] = MappingProxyType({})
    revisits: pa.Table | None = None

    def __init__(
        self,
        inputs: Sequence[str],
        format: str,  # noqa: A002 - what users call it
        texts: pa.ChunkedArray,
        ids: pa.ChunkedArray,
        rejected: list[Rejected],
    ) -> None:
        self.inputs = tuple(inputs)
        self.names = tuple(map(display, inputs))
        self.format = format
        self.texts = texts
        self.ids = ids
        self.rejected = rejected

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def text_bytes(self) -> int:
        """The bytes of all texts in memory."""
        return int(self.texts.nbytes)

    def raw_texts(self, positions: Positions) -> list[bytes | None]:
        """Return the texts at these positions, as bytes; null for a missing text."""
        found: list[bytes | None] = self.texts.take(pa.array(positions)).cast(pa.large_binary()).to_pylist()
        return found

    @property
    def without_templates(self) -> bool:
        """Whether some texts are those of HTML that was read without templates."""
        return self.has_pages and self.sites is None

    @property
    def addresses(self) -> pa.ChunkedArray:
        """The addresses of the documents, by which they may be ranked: their ids, unless there is a field for them."""
        return self.ids if self.address is None else pa.chunked_array([self.column(self.address, literal=True)])

    @property
    def without_text(self) -> WithoutText | None:
        """The records without a text; ``None`` if all have one."""
        number = self.texts.null_count
        if not number:
            return None
        source, position = self.place(pc.index(self.texts.is_null(), True).as_py())
        return WithoutText(number, source, position, self.text)

    @abstractmethod
    def column(self, name: str, *, literal: bool = False) -> pa.Array:
        """Return any field of the records: numbers, strings, booleans or times; null if a record lacks it.

        With *literal* every value is a string, as written in the file. Raises ``DataError`` if no record has the field,
        or if its values are of several kinds, or are lists or objects.
        """

    @abstractmethod
    def flags(self, name: str) -> pa.Array:
        """Return whether a field is 1 or true, in any spelling: false for other values, and where a record lacks it."""

    @abstractmethod
    def place(self, row: int) -> tuple[str, int]:
        """Return the place of a record: the source, and its line or, if that is unknown, its number."""

    def places(self) -> pa.Table | None:
        """Return columns with the place of each document; ``None`` if its id is enough."""
        return None

    @abstractmethod
    def rows(self) -> Iterator[pa.Table]:
        """Yield all records with all of their fields, some at a time.

        A table without records yields one empty table, for its columns; JSON lines without records yield nothing.
        """

    @cached_property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """All fields of the records with types for all of their values; see ``neardup.sources.tables``."""


class InputPiece(Collection):
    """Documents of one input: all of them, or some neighbours. *columns* are those of a table."""

    columns: Any = None

    @property
    def path(self) -> str:
        """The input."""
        return self.inputs[0]

    @property
    def source(self) -> str:
        """The input, as messages show it."""
        return self.names[0]

    @cached_property
    def schema(self) -> pa.Schema:
        """All fields of the records; see ``Collection.schema``."""
        return united((self.source, rows.schema) for rows in self.rows())

    @property
    def held_bytes(self) -> int:
        """The bytes in memory of the texts and ids, and of the records that other fields are read from."""
        return int(self.texts.nbytes + self.ids.nbytes)

    def raw_column(self, name: str) -> pa.ChunkedArray:
        """Return a field as it can be stored; ``neardup.sources.shards`` decides the type over all pieces.

        It is all null if no record of the piece has the field.
        """
        lacks = self.lacking(name) is not None
        return pa.chunked_array([pa.nulls(len(self)) if lacks else self.column(name)])

    def flags(self, name: str) -> pa.Array:
        """Return whether a field is 1 or true, in any spelling; see ``Collection.flags``."""
        return are_true(self.raw_column(name)).combine_chunks()

    def lacking(self, name: str) -> list[str] | None:
        """Return the fields that there are if no record has the field *name*, otherwise ``None``.

        Pages always have a text and an id.
        """
        if name in {DEFAULT_TEXT, DEFAULT_ID, self.text}:
            return None
        try:
            self.column(name)
        except FieldMissing as error:
            return [*error.existing]
        except DataError:  # it has values, of a wrong type
            return None
        return None

    def of_pages(self, name: str) -> pa.Array | None:
        """Return one of ``PAGE_FIELDS``, with nulls for records that are not pages; ``None`` if no record is a page."""
        if self.found is None or name not in PAGE_FIELDS:
            return None
        pages = len(self) - self.found[PAGE_FIELDS["noindex"]].null_count  # each page has this field
        return field_of(self.found, name) if pages or not len(self) else None

    @classmethod
    def cut(cls, source: int, path: str, request: Request, size: int) -> list[Shard]:
        """Cut an input into shards of about *size* bytes; one that must be read from its beginning is one shard."""
        del request, size
        whole = Path(path).stat().st_size
        return [Shard(source=source, begin=0, end=whole, first=1, size=whole)]

    @classmethod
    def pieces(cls, path: str, request: Request, shard: Shard, size: int, needs: Needs) -> Iterator["InputPiece"]:
        """Yield the records of a shard of a file, about *size* bytes at a time; see ``Shards.pieces``."""
        raise NotImplementedError

    @classmethod
    def columns_in(cls, path: str, request: Request) -> Any:
        """Return the columns of a table that is not read; ``None`` for records that have none in common."""

    @classmethod
    def require_columns(cls, source: str, columns: Any, wanted: Any, first: str) -> None:
        """Raise ``DataError`` for columns that differ from the *wanted* ones, which are those of the *first* input."""

    @classmethod
    def first_fields(cls, path: str, request: Request) -> list[str]:
        """Return the columns of a table, or the fields of its first records that are written with each."""
        del path, request
        return []

    def html_pages(self, url: str | None) -> Iterator[tuple[str | None, bytes | str]]:
        """Yield the address, from the field *url*, and the HTML of each record; nulls are left out.

        Without *url*, the records of tables have texts instead of HTML, and none is yielded.
        """
        if url is None:
            return
        addresses = self.column(url, literal=True).to_pylist()
        pages = zip(addresses, self.texts.to_pylist(), strict=True)
        yield from ((own, page) for own, page in pages if page is not None)

    def take_sites(self) -> None:
        """Read the sites of texts that were extracted before, if they have any."""
        if self.lacking(SITE) is None:
            self.sites = pa.chunked_array([self.column(SITE).to_numpy().view(np.uint64)])

    def choose(self, mask: Flags, marks: pa.Table | None) -> None:
        """Prepare what ``Append`` is called with next, in any thread; it does this itself if that is left out."""

    @classmethod
    @abstractmethod
    def writer(cls, path: str) -> AbstractContextManager[Append]:
        """Return a context that yields a function to append records to a new output; see ``Append``.

        The output appears when the context ends without an exception. Raises ``OutputError`` if the system refuses.
        """


class WholeInputs(Collection):
    """All documents of some inputs, each of them one piece. *ignored* counts the files that were not requested.

    *formats* are those of the inputs; ``format`` is that of the first one.
    """

    def __init__(self, pieces: Sequence[InputPiece], request: Request, ignored: int = 0) -> None:
        """Join pieces; ``FieldMissing`` if no record has one of the ``required_fields`` of the *request*."""
        self.pieces = pieces
        self.formats = {piece.format for piece in pieces}
        self.text = request.text
        self.glob = request.glob
        self.ignored = ignored
        self._edges = np.cumsum([0, *map(len, pieces)])
        super().__init__(
            [piece.path for piece in pieces],
            pieces[0].format,
            _chunked([piece.texts for piece in pieces]),
            _chunked([piece.ids for piece in pieces]),
            [record for piece in pieces for record in piece.rejected],
        )
        self.has_pages = any(piece.has_pages for piece in pieces)
        self.skipped = sum((Counter(piece.skipped) for piece in pieces), Counter())
        self.body_faults = sum((Counter(piece.body_faults) for piece in pieces), Counter())
        tables = [piece.revisits for piece in pieces if piece.revisits is not None]
        self.revisits = pa.concat_tables(tables) if tables else None
        self.quoted_lines = in_total(piece.quoted_lines for piece in pieces)
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
        written = [piece.format == "jsonl" and not literal for piece in self.pieces]

        def of(piece: InputPiece, *, written: bool) -> pa.ChunkedArray:
            if written:
                return piece.raw_column(name)
            own = pa.nulls(len(piece)) if piece in without else piece.column(name, literal=literal)
            return pa.chunked_array([own])

        columns = [of(piece, written=own) for piece, own in zip(self.pieces, written, strict=True)]
        found = joined(name, columns, written, lambda piece, row: self.pieces[piece].place(row))
        return found.unify_dictionaries().combine_chunks()

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
        check_target(path, InputPaths(self.inputs), self.formats, force=force, glob=self.glob)
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
        lacking.require(", ".join(self.names))
        return without


def _chunked(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Join columns of one type, or of several types of strings."""
    kind = columns[0].type if len({column.type for column in columns}) == 1 else pa.large_string()
    return pa.chunked_array([chunk.cast(kind) for column in columns for chunk in column.chunks], kind)


def extract(pieces: Sequence[InputPiece], request: Request) -> None:
    """Replace the texts of pieces, which are HTML, by those of these pages; nulls remain.

    Pages have ``PAGE_FIELDS``, too. With templates, the address of a page is in a field; pages without one have none.
    """

    def batches() -> Iterator[tuple[pa.Array, pa.Table, float]]:
        for number, piece in enumerate(pieces, 1):
            hosts = _hosts(piece, request)
            done = 0
            for chunk in filter(len, piece.texts.chunks):
                sizes = pc.fill_null(pc.binary_length(chunk), 0).to_numpy(zero_copy_only=False)
                edges = np.flatnonzero(np.diff(np.cumsum(sizes) // BATCH, prepend=0)).tolist()
                for begin, end in pairwise([0, *edges, len(chunk)]):
                    there, rows = chunk[begin:end].is_valid(), slice(done + begin, done + end)
                    own = None if hosts is None else hosts[rows].filter(there)
                    names = piece.ids[rows].combine_chunks().filter(there)
                    yield there, table_of(chunk[begin:end].filter(there), names, hosts=own), number / len(pieces)
                done += len(chunk)

    parts = (spread(found, there) for there, found in extracted(request.extraction, request.processes, batches()))
    for piece in pieces:
        piece.has_pages = True
        cut = pc.sum(pc.greater(pc.binary_length(piece.texts), LARGEST_PAGE)).as_py()
        piece.body_faults = {TOO_LONG: cut} if cut else {}
        own: list[pa.Table] = []
        while sum(map(len, own)) < len(piece):
            own.append(next(parts))
        whole = pa.concat_tables(own) if own else pa.schema(FOUND).empty_table()
        piece.texts, piece.found = whole["texts"], whole.drop_columns("texts")  # and the HTML is not held
        if request.extraction.templates is not None:
            piece.address = None if request.url_field == request.id else request.url_field
            piece.sites = whole["sites"]


def _hosts(piece: InputPiece, request: Request) -> pa.Array | None:
    """Return the host of each page, by the field of its address; ``None`` without templates."""
    if request.extraction.templates is None:
        return None
    from neardup.sources.hosts import host  # most runs need no addresses

    if piece.lacking(request.url_field) is not None:
        return pa.nulls(len(piece), pa.string())
    urls = piece.column(request.url_field, literal=True).to_pylist()
    return pa.array([host(url) for url in urls], pa.string())


def _sites(piece: InputPiece) -> pa.ChunkedArray:
    """Return the sites of a piece; texts that are not those of pages with templates belong to none."""
    return pa.chunked_array([np.zeros(len(piece), np.uint64)]) if piece.sites is None else piece.sites


def require_new(source: str, marks: Iterable[str], fields: Container[str]) -> None:
    """Raise ``DataError`` for a mark with the name of one of the *fields* of the records of a source."""
    for name in marks:
        if name in fields:
            raise DataError(source, f"the records already have a field {name!r}", "field taken")


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


def completed(ids: pa.ChunkedArray | None, source: str, positions: Positions) -> pa.ChunkedArray:
    """Return ids as strings; records without one, null or empty, are named ``SOURCE:POSITION``."""
    known = (
        pa.chunked_array([pa.nulls(len(positions), pa.string())]) if ids is None else ids.cast(pa.string(), safe=False)
    )
    absent = pc.fill_null(pc.equal(pc.binary_length(known), 0), fill_value=True)
    if not pc.any(absent).as_py():
        return known
    return pc.if_else(
        absent, pc.binary_join_element_wise(f"{source}:", pa.array(positions).cast(pa.string()), ""), known
    )


def ranges(sizes: Sequence[int], limit: int) -> list[tuple[int, int]]:
    """Cut neighbours into ranges of at most *limit* bytes, or one that is larger; nothing is one range."""
    edges, held = [0], 0
    for place, size in enumerate(sizes):
        if held and held + size > limit:
            edges.append(place)
            held = 0
        held += size
    return list(pairwise([*edges, len(sizes)]))
