"""The documents of one format: what was read, what was rejected, and how the chosen records are written back."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
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
from neardup.model.errors import DataError, FieldMissing
from neardup.sources.fields import are_true
from neardup.sources.formats import display
from neardup.sources.pages import PAGE_FIELDS, field_of
from neardup.sources.record_faults import Count, QuotedLines, Rejected, WithoutText
from neardup.sources.request import DEFAULT_ID, DEFAULT_TEXT, Request
from neardup.sources.tables import united

Append = Callable[[Any, Flags, pa.Table | None], None]
"""Appends the chosen records of a collection, with the fields of their rows of a table of marks, if it is given."""
Advance = Callable[[float], None]  # how much of an input has been read, from 0 to 1

SITE: Final = "neardup_site"  # the field of stored pages with their sites, as signed integers: users do not see it


class Extent(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A part of one input. *source* is the number of the input; *begin* and *end* are bytes, row groups or files.

    *first* is the number of its first line or row, from 1. *size* is the number of bytes on disk. The bytes of a *torn*
    extent, expanded, begin in the middle of a line, which belongs to the extent before.
    """

    source: Count
    begin: Count
    end: Count
    first: Count
    size: Count
    torn: bool = False


class Needs(NamedTuple):
    """The needs of a reader of an extent.

    A *whole* record can be written, too. With *markup*, the texts of pages remain HTML, which is enough for copies of
    them. *documents* is their number if they were read before and only their texts and fields are wanted: what need not
    be read again is left out.
    """

    whole: bool = False
    markup: bool = False
    documents: int | None = None


class Collection(ABC):
    """Documents of one format, in input order: an ``InputPiece``, or ``WholeInputs``.

    *names* are the inputs, as messages show them. *texts* is a chunked array of strings, null if a record has no text;
    *ids* one of strings, where a record without an id (missing, null or empty) is named ``SOURCE:POSITION``, with the
    full path of the source if ``full_names`` is requested. Ids need not be unique. *rejected* lists the records that
    are not documents.
    """

    text: str = DEFAULT_TEXT  # the name of the text field
    has_pages: bool = False  # whether texts were extracted from web pages
    found: pa.Table | None = None  # what was found in these pages, besides the texts
    sites: pa.ChunkedArray | None = None  # uint64, see ``neardup.text.sites``; ``None`` without templates
    address: str | None = None  # the field with the addresses of web pages; ``None`` if these are the ids, or unknown
    quoted_lines: QuotedLines | None = None  # line ends inside quotes, unless quoting was requested explicitly
    skipped: Mapping[str, int] = MappingProxyType({})  # the number of records of archives that are not pages, by reason
    body_faults: Mapping[str, int] = MappingProxyType({})  # the number of pages that were not read as a whole, by kind
    revisits: pa.Table | None = None  # a row for each skipped record that only refers to a page

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
        """Return a field as it can be stored; ``neardup.sources.fields.joined`` finds one type for all pieces.

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
    def cut(cls, source: int, path: str, request: Request, size: int) -> list[Extent]:
        """Cut an input into extents of about *size* bytes; one that must be read from its beginning is one extent."""
        del request, size
        whole = Path(path).stat().st_size
        return [Extent(source=source, begin=0, end=whole, first=1, size=whole)]

    @classmethod
    def pieces(cls, path: str, request: Request, extent: Extent, size: int, needs: Needs) -> Iterator["InputPiece"]:
        """Yield the records of an extent of a file, about *size* bytes at a time; see ``Shards.pieces_of``."""
        raise NotImplementedError

    @classmethod
    def columns_in(cls, path: str, request: Request) -> Any:
        """Return the columns of a table that is not read, with ``names``; ``None`` for records with none in common."""

    @classmethod
    def require_columns(cls, source: str, columns: Any, wanted: Any, first: str) -> None:
        """Raise ``DataError`` for columns that differ from the *wanted* ones, which are those of the *first* input."""

    @classmethod
    def first_fields(cls, path: str, request: Request) -> list[str]:
        """Return the columns of a table, or the fields of its first records that are written with each."""
        columns = cls.columns_in(path, request)
        return [] if columns is None else [*columns.names]

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


def require_new(source: str, marks: Iterable[str], fields: Container[str]) -> None:
    """Raise ``DataError`` for a mark with the name of one of the *fields* of the records of a source."""
    for name in marks:
        if name in fields:
            raise DataError(source, f"the records already have a field {name!r}", "field taken")


def complete_ids(ids: pa.ChunkedArray | None, source: str, positions: Positions | list[str]) -> pa.ChunkedArray:
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
