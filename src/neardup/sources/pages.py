"""The texts of web pages, read in batches: by this process, or by worker processes."""

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.engines.processes import Processes, TableFunction
from neardup.model.engine import Item
from neardup.model.errors import ExtraMissing
from neardup.text.extraction import BothViews, Extraction, texts_without_templates
from neardup.text.html import LARGEST_PAGE, TOO_LONG, PageContent

if TYPE_CHECKING:
    from neardup.sources.collection import InputPiece
    from neardup.sources.request import Request

Reader = Callable[[pa.Table], pa.Table]

BATCH: Final = 1 << 20  # bytes of markup that are read together
PAGE_FIELDS: Final = {"title": "titles", "canonical": "canonicals", "lang": "langs", "noindex": "noindex"}
"""The fields that the documents of pages have, and the columns of what is found in pages."""

_MARKUP, _CHARSET, _HOST, _NAME, _DECODED, _PLAIN = "markup", "charset", "host", "name", "decoded", "plain"
FOUND: Final = {
    "texts": pa.large_string(),
    "whole": pa.large_string(),
    "titles": pa.large_string(),
    "canonicals": pa.large_string(),
    "langs": pa.large_string(),
    "sites": pa.uint64(),
    "noindex": pa.int64(),
}
"""The columns of what is found in pages; *whole* is null where the text is whole, or is not needed so."""

_TEXTS: Final = [(name, pa.large_string()) for name in ("text", "title", "canonical", "lang")]
_CONTENT: Final = pa.struct([*_TEXTS, ("noindex", pa.bool_())])
_VIEWS: Final = {
    "digest": pa.binary(),
    "main": _CONTENT,
    "visible": _CONTENT,
    "view": pa.string(),
    "shown": pa.large_string(),
}


class Batch:
    """Neighbouring documents: pages, which must be extracted, and texts. *size* is that of all of them."""

    def __init__(self) -> None:
        self._texts: list[str | None] = []
        self._pages: list[tuple[bytes, str, str | None, str | None]] = []  # markup, name, charset and host
        self._texts_of_pages: list[tuple[int, str]] = []  # the places of texts with a template, and their hosts
        self.size = 0

    def add(self, content: bytes | str, name: str, charset: str | None = None, host: str | None = None) -> None:
        """Add a page, as bytes with the charset that HTTP declares, or a text; *host* is that of its template."""
        self.size += len(content)
        if isinstance(content, str):
            self._texts_of_pages += [] if host is None else [(len(self._texts), host)]
            self._texts.append(content)
            return
        self._texts.append(None)
        self._pages.append((content, name, charset, host))

    def pages(self) -> pa.Table:
        """Return the pages, and forget their markup."""
        markup, names, charsets, hosts = zip(*self._pages, strict=True) if self._pages else ((),) * 4
        self._pages = []
        return table_of(markup, names, charsets=charsets, hosts=hosts)

    def documents(self, found: pa.Table, extraction: Extraction, *, whole: bool = False) -> pa.Table:
        """Return what was *found* in the pages, and the texts, as a table of all documents; see ``FOUND``."""
        texts = pa.array(self._texts, FOUND["texts"])
        table = spread(found, texts.is_null())
        columns = dict(zip(table.column_names, table.columns, strict=True))
        columns["texts"] = pc.coalesce(columns["texts"], texts)
        if extraction.templates is not None and self._texts_of_pages:
            places, hosts = zip(*self._texts_of_pages, strict=True)
            given = texts.take(pa.array(places))
            shown = given.to_pylist()  # compared like pages that ``auto`` reads by their visible text
            every = [True] * len(shown)
            left, sites = texts_without_templates(extraction.templates, shown, hosts, every, shown.__getitem__)
            mask = np.zeros(len(texts), np.bool_)
            mask[[*places]] = True
            for name, values in {"texts": left, "sites": sites, **({"whole": given} if whole else {})}.items():
                columns[name] = pc.replace_with_mask(columns[name], mask, pa.array(values, FOUND[name]))
        return pa.table(columns)


def spread(found: pa.Table, pages: pa.Array) -> pa.Table:
    """Return what was *found* in pages as a table with a row for each document; *pages* flags those that are pages.

    Other documents have nulls, and belong to no site.
    """
    columns = {name: pa.nulls(len(pages), kind) for name, kind in FOUND.items()}
    columns["sites"] = pa.array(np.zeros(len(pages), np.uint64))
    return pa.table(
        {name: pc.replace_with_mask(column, pages, found[name].combine_chunks()) for name, column in columns.items()}
    )


def table_of(
    markup: Sequence[bytes] | pa.Array,
    names: Sequence[str] | pa.Array,
    *,
    charsets: Sequence[str | None] | None = None,
    hosts: Sequence[str | None] | pa.Array | None = None,
) -> pa.Table:
    """Return some pages as a table; *names* are for messages. See ``Extraction.pages`` for the others.

    A page without a host has that of the address that it names as canonical.
    """
    pages = markup if isinstance(markup, pa.Array) else pa.array(markup, pa.large_binary())
    columns = {_MARKUP: pages, _NAME: pa.array(names, pa.large_string())}
    for name, values in {_CHARSET: charsets, _HOST: hosts}.items():
        columns[name] = pa.nulls(len(pages), pa.string()) if values is None else pa.array(values, pa.string())
    return pa.table(columns)


def extracted(
    extraction: Extraction,
    processes: Processes | None,
    batches: Iterable[tuple[Item, pa.Table, float]],
    *,
    whole: bool = False,
) -> Iterator[tuple[Item, pa.Table]]:
    """Yield the item of each batch with a table of what was found in its pages: see ``FOUND``.

    Batches are as in ``processed``, with tables of pages. The *processes* have turned to ``extracting`` for the same
    *extraction* and *whole*; ``None``: this process reads.
    """
    if processes is not None:
        return processed(processes, batches)
    given = ((item, table) for item, table, _ in batches)
    return answered(given, partial(map, partial(_read, extraction, whole=whole)))


def processed(processes: Processes, batches: Iterable[tuple[Item, pa.Table, float]]) -> Iterator[tuple[Item, pa.Table]]:
    """Yield the item of each batch with the answer of the processes to its table.

    A batch is an item, a table, and the share of the input, from 0 to 1, that was read up to its end.
    """
    read = 0.0

    def given() -> Iterator[tuple[Item, pa.Table]]:
        nonlocal read
        for item, table, read in batches:  # noqa: B007 - the share is that of the last table
            yield item, table

    yield from answered(given(), partial(processes.map, read=lambda: read))


def answered(
    given: Iterable[tuple[Item, pa.Table]], answers: Callable[[Iterable[pa.Table]], Iterable[pa.Table]]
) -> Iterator[tuple[Item, pa.Table]]:
    """Yield each item that was *given* with the answer to its table; *answers* come in the order of the tables."""
    under_way: deque[Item] = deque()

    def tables() -> Iterator[pa.Table]:
        for item, table in given:
            under_way.append(item)
            yield table

    for answer in answers(tables()):
        yield under_way.popleft(), answer


def extracting(extraction: Extraction, *, whole: bool = False) -> TableFunction:
    """Return the function of processes that extract pages; a page that ends its process twice is read as visible."""
    known = {} if extraction.known is None else {"known": extraction.known.path}
    return TableFunction(f"{__name__}:reader", {**extraction.to_dict(), **known, "whole": whole}, _visible)


def reader(settings: Mapping[str, Any]) -> Reader:
    """Return the function that reads tables of pages by the extraction that ``to_dict`` described.

    It is called once, which loads the libraries: they take longer than the first pages.
    """
    read = partial(_read, Extraction.from_dict(settings), whole=settings.get("whole", False))
    with suppress(ExtraMissing):  # there may be no pages
        read(table_of([b"<p>"], [""], hosts=[""]))
    return read


def views_reader(settings: Mapping[str, Any]) -> Reader:
    """Return the function that reads both views of pages by the extraction that ``to_dict`` described.

    It is called once, as that of ``reader`` is.
    """
    read = partial(views, Extraction.from_dict(settings))
    with suppress(ExtraMissing):
        read(pa.table({_MARKUP: [b"<p>"], _DECODED: [False], _CHARSET: pa.nulls(1, pa.string()), _PLAIN: [False]}))
    return read


def views(extraction: Extraction, pages: pa.Table) -> pa.Table:
    """Return both views of pages as a table, for ``both_views``; see there for the columns of *pages*."""
    given = (pages[name].to_pylist() for name in (_MARKUP, _DECODED, _CHARSET, _PLAIN))
    found = [
        BothViews.of_text(page.decode())
        if is_plain
        else extraction.both(page.decode() if is_decoded else page, charset)
        for page, is_decoded, charset, is_plain in zip(*given, strict=True)
    ]
    columns: dict[str, Sequence[Any]] = dict(zip(_VIEWS, zip(*found, strict=True), strict=True))
    for name in ("main", "visible"):
        columns[name] = [content._asdict() for content in columns[name]]
    return pa.table({name: pa.array(columns[name], kind) for name, kind in _VIEWS.items()})


def both_views(
    processes: Processes, given: Iterable[tuple[Item, pa.Table]], read: Callable[[], float]
) -> Iterator[tuple[Item, pa.Table, list[BothViews]]]:
    """Yield what was given with each table of pages, the table, and both views of each page.

    *read* returns the share of all pages, as for ``map``. A table has the columns ``markup``, ``charset`` (that HTTP
    declares), ``decoded``: whether it is UTF-8, and ``plain``: whether it is a text instead of HTML.
    """
    tables = (((item, table), table) for item, table in given)
    for (item, table), found in answered(tables, partial(processes.map, read=read)):
        views = (one | {name: PageContent(**one[name]) for name in ("main", "visible")} for one in found.to_pylist())
        yield item, table, [BothViews(**one) for one in views]


def replace_markup(pieces: "Sequence[InputPiece]", request: "Request") -> None:
    """Replace the texts of pieces, which are HTML, by those of these pages; nulls remain.

    The pieces get ``PAGE_FIELDS``, too, and, with templates, the sites of their pages by the field of the address.
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


def _hosts(piece: "InputPiece", request: "Request") -> pa.Array | None:
    """Return the host of each page, by the field of its address; ``None`` without templates."""
    if request.extraction.templates is None:
        return None
    from neardup.sources.hosts import host  # most runs need no addresses

    if piece.lacking(request.url_field) is not None:
        return pa.nulls(len(piece), pa.string())
    urls = piece.column(request.url_field, literal=True).to_pylist()
    return pa.array([host(url) for url in urls], pa.string())


def host_of(address: str | None, page: bytes | str = "") -> str | None:
    """Return the host of a page's address; without one, that of the absolute address that it names as canonical."""
    from neardup.sources.hosts import host  # most runs need no addresses
    from neardup.text.html import canonical_address

    return host(address) or host(canonical_address(page))


def field_of(found: pa.Table, name: str) -> pa.Array:
    """Return one of ``PAGE_FIELDS`` from a table of what was found in pages."""
    column = found[PAGE_FIELDS[name]].combine_chunks()
    return without_empty(column) if name == "canonical" else column


def without_empty(canonicals: pa.Array) -> pa.Array:
    """Return the addresses with nulls in place of empty ones, which are those of pages that name several."""
    return pc.if_else(pc.equal(canonicals, ""), pa.scalar(None, canonicals.type), canonicals)


def _read(extraction: Extraction, pages: pa.Table, *, whole: bool = False) -> pa.Table:
    markup, charsets, hosts = (pages[name].to_pylist() for name in (_MARKUP, _CHARSET, _HOST))
    if extraction.templates is not None:
        hosts = [own or host_of(None, page) for own, page in zip(hosts, markup, strict=True)]
    found, wholes = extraction.pages_with_whole_texts(markup, charsets, hosts, whole=whole)
    columns = {**found._asdict(), "whole": wholes}
    return pa.table({name: pa.array(columns[name], kind) for name, kind in FOUND.items()})


def _visible(pages: pa.Table) -> pa.Table:
    for name in pages[_NAME].to_pylist():
        rule = "its main text cannot be extracted (the process that tries ends); its visible text is used instead"
        warnings.warn(f"{name}: {rule}", RuntimeWarning, stacklevel=2)
    return _read(Extraction(view="visible"), pages)
