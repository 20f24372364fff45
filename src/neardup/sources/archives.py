"""The pages of web archives: WARC files, and WET files, whose records are texts.

Documents are the records of the types ``response`` and ``resource`` that have status 2xx, if any, and are HTML, XHTML
or plain text; and those of the type ``conversion`` that are plain text. Their id is the address by default.
``warcinfo``, ``request`` and ``metadata`` records belong to others; all other records are counted by reason. Every gap
of a file is a rejected record, whose position is the byte that it begins at, counted from 0.

As an archive, the records that are written are copied byte for byte, and with them the ``warcinfo`` records and the
``request`` and ``metadata`` records of the same capture. An archive of no records has a ``warcinfo`` record of its own:
an empty file is that of an interrupted download.
"""

import os
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple, Self

import pyarrow as pa

from neardup.model.arrays import Flags
from neardup.model.engine import silent
from neardup.model.errors import DataError
from neardup.sources.collection import Advance, Append, Extent, InputPiece, Needs, complete_ids
from neardup.sources.compression import changed, expansion_rate
from neardup.sources.formats import WARC, compression_of, display
from neardup.sources.http_response import Response, media_type, response
from neardup.sources.members import CUT, Members, packed
from neardup.sources.output import atomic
from neardup.sources.pages import BATCH, FOUND, PAGE_FIELDS, Batch, extracted, host_of, without_empty
from neardup.sources.record_faults import Rejected, missing_field
from neardup.sources.request import DEFAULT_ID, Request
from neardup.sources.revisits import REFERENCES, revisit
from neardup.sources.tables import slices
from neardup.sources.warc import UNENDED, Gap, Record, read_record, records
from neardup.text.extraction import Extraction
from neardup.text.html import capped, forbids_index
from neardup.text.xhtml import TYPE as XHTML
from neardup.text.xhtml import as_html

PLACES: Final = {
    "url": pa.large_string(),
    "date": pa.string(),
    "record_id": pa.string(),
    "warc_filename": pa.string(),
    "warc_record_offset": pa.int64(),
    "warc_record_length": pa.int64(),
}
"""The fields with the address of a page and the place of its record, named as in the indexes of Common Crawl."""

_FIELDS: Final = PLACES | {
    **{name: FOUND[column] for name, column in PAGE_FIELDS.items()},
    "fetch_status": pa.int64(),
    "content_mime_type": pa.string(),
    "content_charset": pa.string(),
    "content_languages": pa.string(),
    "content_digest": pa.string(),
    "content_truncated": pa.string(),
}
_REVISITS: Final = pa.schema({"id": pa.large_string()} | PLACES | REFERENCES)
ORIGINALS: Final = {"path": pa.binary(), "offset": pa.int64()}
_IDS: Final = {DEFAULT_ID: "url", "record": "record_id"}
_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_PLAIN: Final = "text/plain"
_ACCESSORIES: Final = frozenset({"warcinfo", "request", "metadata"})
_ROW: Final = 1 << 10  # bytes that an empty record counts as
_TEMPLATED: Final = frozenset({"response", "resource", "conversion"})
_DECIDING: Final = ("warc-type", "warc-target-uri", "content-type", "warc-identified-payload-type")
_RECORDS: Final = pa.schema({"block": pa.large_binary()} | dict.fromkeys(_DECIDING, pa.large_string()))
_TYPES: Final = frozenset({"application", "audio", "font", "image", "message", "model", "multipart", "text", "video"})
_MANY: Final = 1 << 16  # ids of a capture, which ends there
_MOST: Final = 1 << 26  # bytes of documents and accessories that are held together, even of one capture
_SUCCESS: Final = range(200, 300)
_SNIFFED: Final = 512
_NO_RECORDS: Final = (  # an archive of no pages; its id and date do not change, so that equal runs write equal bytes
    b"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:0b7c5f0e-6d0f-5d8a-9c43-5a2d6f1f6a10>\r\n"
    b"WARC-Date: 2000-01-01T00:00:00Z\r\nContent-Type: application/warc-fields\r\nContent-Length: 49\r\n\r\n"
    b"software: neardup\r\nformat: WARC File Format 1.1\r\n\r\n\r\n"
)


@dataclass(slots=True)
class _Capture:
    """A record that is copied: the file, its place, its id, and the records that it names as its own.

    These are the records of the same capture, and the record that an accessory describes. *missing* are its line ends
    that the file does not have, and *span* its place in a member that it shares.
    """

    path: str
    offset: int
    length: int | None
    record_id: str
    named: tuple[str, ...]
    missing: bytes = b""
    span: tuple[int, int] = (0, 0)
    warcinfo: bool = False

    @classmethod
    def of(cls, path: str, one: Record) -> Self:
        """Return the place of a record in a file."""
        kind, record_id, named = _type(one.headers), one.headers.get("warc-record-id", ""), [*one.concurrent]
        if kind in _ACCESSORIES:
            named.append(one.headers.get("warc-refers-to", ""))
        names = tuple(map(_bare, named))
        return cls(path, one.offset, one.length, _bare(record_id), names, one.missing, one.span, kind == "warcinfo")


@dataclass(slots=True)
class _Pages:
    """The documents of neighbouring records of a file, and everything else that was found between them."""

    path: str
    fields: list[dict[str, object]] = field(default_factory=list)  # of each document, those that its record has
    contents: Batch = field(default_factory=Batch)
    found: list[pa.Table] = field(default_factory=list)  # texts, and what else is found in pages
    captures: list[_Capture] = field(default_factory=list)
    accessories: list[tuple[int, _Capture]] = field(default_factory=list)  # and how many documents precede it
    rejected: list[Rejected] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    body_faults: Counter[str] = field(default_factory=Counter)
    revisits: list[dict[str, object]] = field(default_factory=list)
    templated: bool = False  # whether some documents are pages, or texts of pages, whose hosts may have a template
    shown: str = field(init=False)  # the name of the file, for people
    filename: str = field(init=False)

    def __post_init__(self) -> None:
        self.shown = display(self.path)
        self.filename = Path(self.shown).name

    def append(self, other: "_Pages", found: pa.Table) -> None:
        """Append the documents of the next records, and what was *found* in them."""
        before = len(self.captures)
        self.fields += other.fields
        self.found.append(found)
        self.captures += other.captures
        self.accessories += [(before + documents, capture) for documents, capture in other.accessories]
        self.rejected += other.rejected
        self.skipped += other.skipped
        self.body_faults += other.body_faults
        self.revisits += other.revisits
        self.templated = self.templated or other.templated

    def column(self, name: str) -> pa.Array:
        """Return the values of a field that records have."""
        return pa.array([one.get(name) for one in self.fields], _FIELDS[name])

    @property
    def size(self) -> int:
        """About the bytes of the documents, accessories and revisits, which have a row each."""
        texts: int = sum(table["texts"].nbytes for table in self.found)
        rows = len(self.captures) + len(self.accessories) + len(self.revisits)
        return _ROW * rows + self.contents.size + texts


def _id_field(request: Request) -> str:
    """Return the field with the id of a page: the requested one, or the URL if only other inputs may have that."""
    named = _IDS.get(request.id, request.id)
    return named if named in _FIELDS else _IDS[DEFAULT_ID]


class Archives(InputPiece):
    """The pages of an archive.

    ``skipped`` counts records that are neither documents nor parts of one, by reason, and ``body_faults`` documents
    whose HTTP body could not be decoded as declared.
    """

    def __init__(self, path: str, request: Request, pages: "_Pages | None" = None, advance: Advance = silent) -> None:
        """Read the pages of an archive, or take some *pages* that were read."""
        if pages is None:
            pages = _Pages(path)
            for more, found in _read(path, request, advance=advance):
                pages.append(more, found)
        self._pages = pages
        self.has_pages = True
        self.skipped = pages.skipped
        self.body_faults = pages.body_faults
        self.revisits = pa.Table.from_pylist(pages.revisits, _REVISITS)
        found = pa.concat_tables(pages.found)
        self._columns = {
            name: found[PAGE_FIELDS[name]].combine_chunks() if name in PAGE_FIELDS else pages.column(name)
            for name in _FIELDS
        }
        hinted = pa.compute.coalesce(self._columns["canonical"], pages.column("canonical"))  # HTTP may have it, too
        self._columns["canonical"] = without_empty(hinted)  # of pages that name several
        known = pa.compute.coalesce(self._columns["noindex"], pa.scalar(0, pa.int64()))
        self._columns["noindex"] = pa.compute.max_element_wise(known, pages.column("noindex"))
        named = pa.chunked_array([self._columns[_id_field(request)]])
        ids = complete_ids(named, request.name_of(path), [_position(one) for one in pages.captures])
        super().__init__([path], WARC, found["texts"], ids, pages.rejected)
        self.text = request.text
        self.sites = None if request.extraction.templates is None else found["sites"]
        self._whole = found["whole"]
        self.address = None if _id_field(request) == "url" else "url"

    @property
    def size(self) -> int:
        """About the bytes of its documents: those that ``pieces`` are measured by."""
        return self._pages.size

    @property
    def reached(self) -> int:
        """About how many bytes of the file its pages extend over, from the beginning."""
        last = self._pages.captures[-1]
        if last.length is not None:
            return last.offset + last.length
        rate = expansion_rate(last.path, compression_of(last.path) or "gzip")
        return last.offset + round(last.span[1] / rate)

    @property
    def without_templates(self) -> bool:
        """Whether some records are pages, or texts of pages, that were read without templates; others are texts."""
        return self.sites is None and self._pages.templated

    def column(self, name: str, *, literal: bool = False) -> pa.Array:
        """Return a field of the pages."""
        column = self._columns.get(_IDS.get(name, name))
        if column is None:
            raise missing_field(self.source, name, [*_FIELDS])
        return column.cast(pa.large_string()) if literal else column

    def places(self) -> pa.Table:
        """Return the columns with the place of each page."""
        return pa.table({name: self._columns[name] for name in PLACES})

    def rows(self) -> Iterator[pa.Table]:
        """Yield the pages as a table of their ids, texts and fields; the texts are whole if these were requested."""
        table = pa.table({"id": self.ids, "text": pa.compute.coalesce(self._whole, self.texts), **self._columns})
        yield from slices(table)

    def place(self, row: int) -> tuple[str, int]:
        """Return the file of a page, and the byte that its record begins at."""
        return self.source, self._pages.captures[row].offset

    @classmethod
    def cut(cls, source: int, path: str, request: Request, size: int) -> list[Extent]:
        """Cut a file into ranges of whole captures; one member or damage is not divided."""
        del request
        whole = Path(path).stat().st_size
        edges, capture, reach = [0], set[str](), 0
        for one in records(path) if whole > size else ():
            continues = _continues(capture, one)
            if isinstance(one, Gap):
                reach = max(reach, one.reach)
            elif one.length and one.offset - edges[-1] >= size and one.offset >= reach and not continues:
                edges.append(one.offset)
        return [Extent(source=source, begin=b, end=e, first=1, size=e - b) for b, e in pairwise([*edges, whole])]

    @classmethod
    def pieces(cls, path: str, request: Request, extent: Extent, size: int, needs: Needs) -> Iterator["Archives"]:
        """Yield the pages of the records that begin in an extent, about *size* bytes of documents at a time.

        A capture is not divided, so that its records stay together, unless it has very many.
        """
        pages = _Pages(path)
        for more, found in _read(path, request, extent.begin, extent.end, markup=needs.markup):
            if pages.found and pages.size >= size:
                yield cls(path, request, pages)
                pages = _Pages(path)
            pages.append(more, found)
        yield cls(path, request, pages)

    @classmethod
    @contextmanager
    def writer(cls, path: str) -> Iterator[Append]:
        """Copy records to a new archive, which is never empty.

        The marks of dropped pages are ``originals``: if the payload is equal, a revisit record is written.
        """
        compression, written, known = compression_of(path), 0, _WrittenIds()
        with atomic(path) as file, closing(Members()) as members:

            def append(piece: Archives, mask: Flags, marks: pa.Table | None) -> None:
                nonlocal written
                repeated = {} if marks is None else _repeated(marks)
                for capture, row in _chosen(piece._pages, mask.tolist(), repeated, known):
                    if row is None or mask[row]:
                        written += file.write(_copied(capture, members, compression))
                    elif (own := revisit(_record(capture, members), _record(repeated[row], members))) is not None:
                        written += file.write(packed(own, compression))

            yield append
            if not written:
                file.write(packed(_NO_RECORDS, compression))


def originals(paths: Sequence[str | None], offsets: Sequence[int | None]) -> pa.Table:
    """Return a table of the places of records that other pages repeat; nulls for pages without one."""
    names = [None if path is None else os.fsencode(path) for path in paths]
    return pa.table([pa.array(names, pa.binary()), pa.array(offsets, pa.int64())], schema=pa.schema(ORIGINALS))


def undecoded(path: str, rejected: list[Rejected]) -> Iterator[tuple[pa.Table, int]]:
    """Yield the records of a file that may have a template, about ``BATCH`` bytes at a time, and the byte reached.

    Its gaps are added to the *rejected* records.
    """
    rows: list[tuple[bytes | str | None, ...]] = []
    size = 0

    def table() -> pa.Table:
        columns = zip(*rows, strict=True) if rows else [()] * len(_RECORDS)
        return pa.table([*map(pa.array, columns, _RECORDS.types)], _RECORDS)

    for one in records(path):
        if isinstance(one, Gap):
            rejected.append(_rejection(path, one))
            continue
        if _type(one.headers) not in _TEMPLATED:
            continue
        headers = [*map(one.headers.get, _DECIDING)]
        rows.append((one.block, *headers))
        size += _ROW + len(one.block) + sum(len(value or "") for value in headers)
        if size >= BATCH:
            yield table(), one.offset
            rows, size = [], 0
    yield table(), Path(path).stat().st_size


def pages_in(table: pa.Table, extraction: Extraction) -> Iterator[tuple[str | None, str, bool] | None]:
    """Yield the page in each record that ``undecoded`` yielded; ``None`` if its host's template does not apply to it.

    A page is its address, its HTML or text as *extraction* decodes it, and whether it is text.
    """
    for block, *values in zip(*(column.to_pylist() for column in table.columns), strict=True):
        headers = {name: value for name, value in zip(_DECIDING, values, strict=True) if value is not None}
        found = _page(headers, block)
        if isinstance(found, str) or not (found.is_html or _is_text_of_page(headers)):
            yield None
            continue
        content = extraction.decoded(found.payload.body, found.payload.charset, markup=found.is_html)
        yield _address_in(headers), content, not found.is_html


def _continues(capture: set[str], one: Record | Gap) -> bool:
    """Return whether a record belongs to a *capture*: the ids of its records, and of those that they name.

    Its ids are added; if it has none of these, they are those of another capture from then on. The address does not
    decide, because a page may be captured many times in a row. A gap belongs to the capture before it. A capture with
    ``_MANY`` ids ends, so that the memory has a limit.
    """
    if isinstance(one, Gap):
        return True
    about = one.headers.get("warc-refers-to", "") if _type(one.headers) in _ACCESSORIES else ""  # not of a revisit
    ids = {_bare(name) for name in (one.headers.get("warc-record-id", ""), about, *one.concurrent) if name}
    other = capture.isdisjoint(ids) or len(capture) >= _MANY
    if other:
        capture.clear()
    capture |= ids
    return not other


def _read(  # noqa: PLR0913 - a part of a file, and how to read it
    path: str,
    request: Request,
    begin: int = 0,
    end: int | None = None,
    *,
    markup: bool = False,
    advance: Advance = silent,
) -> Iterator[tuple[_Pages, pa.Table]]:
    """Yield the documents of a part of a file, some whole captures at a time, with what was found in them."""
    size = max(1, Path(path).stat().st_size)
    last = size if end is None else end

    def batches() -> Iterator[tuple[_Pages, pa.Table, float]]:
        pages, capture = _Pages(path), set[str]()
        for one in records(path, begin, end):
            continues = _continues(capture, one)
            if pages.size >= (_MOST if continues else BATCH):
                yield pages, pages.contents.pages(), (one.offset - begin) / max(1, last - begin)
                pages = _Pages(path)
            _add(pages, one, request, markup=markup)
            advance(min(1.0, one.offset / size))
        yield pages, pages.contents.pages(), 1.0

    extraction, whole = request.extraction, request.whole_texts
    for pages, found in extracted(extraction, request.processes, batches(), whole=whole):
        yield pages, pages.contents.documents(found, extraction, whole=whole)


def _add(pages: _Pages, one: Record | Gap, request: Request, *, markup: bool) -> None:
    """Add a record to the pages, or count it."""
    if isinstance(one, Gap):
        pages.rejected.append(_rejection(pages.path, one))
        request.check(pages.rejected)
    elif _type(one.headers) in _ACCESSORIES:
        pages.accessories.append((len(pages.captures), _Capture.of(pages.path, one)))
    elif isinstance(found := _page(one.headers, one.block), str):
        pages.skipped[found] += 1
        if _type(one.headers) == "revisit":
            places = _places(pages, one)
            named = places.get(_id_field(request)) or f"{request.name_of(pages.path)}:{_position(one)}"
            referred = {name: _bare(one.headers.get(name.replace("_", "-"), "")) or None for name in REFERENCES}
            pages.revisits.append({"id": str(named)} | places | referred)
    else:
        _add_page(pages, one, found, request, markup=markup)


def _add_page(pages: _Pages, one: Record, found: "_Page", request: Request, *, markup: bool) -> None:
    payload = found.payload
    if payload.fault:
        pages.body_faults[payload.fault] += 1
    content: bytes | str = payload.body
    if markup or not found.is_html:
        content = request.extraction.decoded(payload.body, payload.charset, markup=found.is_html)
    is_page = found.is_html or _is_text_of_page(one.headers)
    pages.templated = pages.templated or is_page
    needs_host = is_page and request.extraction.templates is not None and not markup
    host = host_of(_address_in(one.headers)) if needs_host else None
    pages.contents.add(content, f"{pages.shown}:{_position(one)}", payload.charset, host)
    pages.captures.append(_Capture.of(pages.path, one))
    pages.fields.append(_places(pages, one) | found.fields)


def _places(pages: _Pages, one: Record) -> dict[str, object]:
    return {
        "url": _address_in(one.headers),
        "date": one.headers.get("warc-date"),
        "record_id": _bare(one.headers.get("warc-record-id", "")) or None,
        "warc_filename": pages.filename,
        "warc_record_offset": None if one.length is None else one.offset,
        "warc_record_length": one.length,
    }


def _address_in(headers: dict[str, str]) -> str | None:
    return _bare(headers.get("warc-target-uri", "")) or None


def _position(one: Record | _Capture) -> str:
    """Return the byte of the file that a record, or the member that it shares, begins at, and that in the member."""
    return f"{one.offset}:{one.span[0]}" if one.span[0] else str(one.offset)


def _rejection(path: str, one: Gap) -> Rejected:
    code = "endless" if one.reason == UNENDED else "damaged" if one.damage else "too long"
    resumed = one.damage and one.reason != CUT and one.offset < one.end < Path(path).stat().st_size
    until = f"; reading resumes at byte {one.end:,}" if resumed else ""
    return Rejected(display(path), one.offset, f"{one.reason}{until}", code)


def _type(headers: dict[str, str]) -> str:
    return headers.get("warc-type", "").lower()


def _is_text_of_page(headers: dict[str, str]) -> bool:
    """Return whether a record without HTML is the visible text of a page, which has the template of its host."""
    return _type(headers) == "conversion"


def _bare(value: str) -> str:
    """Return an id or address without the brackets that some writers put around it."""
    return value[1:-1] if value.startswith("<") and value.endswith(">") else value


class _Page(NamedTuple):
    """The page in a record: its fields, what the record holds, and whether that is HTML instead of text."""

    fields: dict[str, object]
    payload: Response
    is_html: bool


def _page(headers: dict[str, str], block: bytes) -> _Page | str:
    """Return the page in a record, or the reason why it has none."""
    kind = _type(headers)
    found = _payload(kind, headers, block)
    if isinstance(found, str):
        return found
    mime = media_type(headers.get("warc-identified-payload-type", ""))[0] or found.type
    if not mime and found.body[:_SNIFFED].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        mime = "text/html"
    if kind == "conversion" and mime not in {_PLAIN, ""}:
        return f"conversion of {mime if mime in _HTML else 'another type'} (only text/plain is read)"
    if kind != "conversion" and mime not in _HTML | {_PLAIN}:
        top = mime.partition("/")[0]  # servers may declare any type, but the reasons are few
        if top == "text":
            return "type text, but neither plain nor HTML"
        return f"type {top}" if top in _TYPES else "no known type"
    fields: dict[str, object] = {
        "fetch_status": found.status,
        "content_mime_type": mime or None,
        "content_charset": found.charset,
        "content_languages": headers.get("warc-identified-content-language"),
        "content_digest": headers.get("warc-payload-digest"),
        "content_truncated": headers.get("warc-truncated"),
        "canonical": found.canonical,
        "noindex": int(forbids_index(found.robots)),
    }
    if mime == XHTML:
        found = found._replace(body=as_html(found.body))
    return _Page(fields, found, mime in _HTML)


def _payload(kind: str, headers: dict[str, str], block: bytes) -> Response | str:
    """Return what a record holds, or the reason why it is not a page."""
    mime, charset = media_type(headers.get("content-type", ""))
    if kind in {"conversion", "resource"} and mime != "application/http":
        return Response(None, mime, charset, *capped(block))
    if kind not in {"conversion", "resource", "response"}:
        return kind if kind in {"revisit", "continuation"} else "unknown record type"
    found = response(block)
    if found.status is None:
        return "no HTTP response"
    return found if found.status in _SUCCESS else f"status {found.status}"


def _repeated(marks: pa.Table) -> dict[int, _Capture]:
    """Return, by row, the captures that dropped pages repeat: see ``WholeInputs.write``."""
    rows = enumerate(zip(*(marks.column(name).to_pylist() for name in ORIGINALS), strict=True))
    return {
        row: _Capture(os.fsdecode(path), offset, None, "", ()) for row, (path, offset) in rows if offset is not None
    }


def _record(capture: _Capture, members: Members) -> Record:
    """Read a record again."""
    if capture.span[1]:
        return read_record(capture.path, members.read(capture.path, capture.offset, capture.span))
    found = next(records(capture.path, capture.offset, capture.offset + 1), None)
    if not isinstance(found, Record):
        raise changed(display(capture.path))
    return found


class _WrittenIds:
    """The ids of written captures, and those of the records that they name: hashes, as an archive may have millions."""

    def __init__(self) -> None:
        self._own, self._named = set[int](), set[int]()

    def add(self, capture: _Capture) -> None:
        """Add a capture that is written."""
        self._own.update(map(hash, filter(None, [capture.record_id])))
        self._named.update(map(hash, filter(None, capture.named)))

    def has(self, accessory: _Capture) -> bool:
        """Return whether an accessory belongs to one of the captures."""
        return not self._own.isdisjoint(map(hash, accessory.named)) or hash(accessory.record_id) in self._named


def _chosen(
    pages: _Pages, wanted: Sequence[bool], repeated: Container[int], known: _WrittenIds
) -> Iterator[tuple[_Capture, int | None]]:
    """Yield the chosen captures, with their rows, and their accessories, in the order of the file.

    Those of the rows *repeated* come without accessories. Accessories may also belong to captures that are *known* from
    earlier pages of the file; the chosen ones are added to these.
    """
    for one, chosen in zip(pages.captures, wanted, strict=True):
        if chosen:
            known.add(one)
    accessories = iter(pages.accessories)
    following = next(accessories, None)
    for row in range(len(wanted) + 1):
        while following is not None and following[0] <= row:
            one = following[1]
            if one.warcinfo or known.has(one):
                yield one, None
            following = next(accessories, None)
        if row < len(wanted) and (wanted[row] or row in repeated):
            yield pages.captures[row], row


def _copied(capture: _Capture, members: Members, compression: str | None) -> bytes:
    """Return the bytes of a record, compressed in this way; unchanged if the file is plain or has it in gzip so.

    A record that is not a member of its own ends with its line ends, as another one may follow it.
    """
    how = compression_of(capture.path)
    try:
        if capture.length is None:
            data = members.read(capture.path, capture.offset, capture.span)
        elif how is None or how == compression == "gzip":
            with Path(capture.path).open("rb") as file:
                file.seek(capture.offset)
                data = file.read(capture.length)
            if len(data) < capture.length:
                raise changed(display(capture.path))
            if how is not None:
                return data
        else:
            data = members.whole(capture.path, capture.offset)
    except OSError as error:
        if error.errno and not isinstance(error, FileNotFoundError):
            raise DataError.by(error, display(capture.path)) from error
        raise changed(display(capture.path)) from error
    return packed(data + capture.missing, compression)
