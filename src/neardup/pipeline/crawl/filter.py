"""A filter for crawlers: whether the address of a page, its content, or similar content is known."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.model.arrays import Signatures
from neardup.model.errors import DataError, counted, kind_of, require, require_kind, require_share
from neardup.model.policy import CANONICAL, NOINDEX
from neardup.model.verdicts import Verdict
from neardup.pipeline.index.fields import URL, field_table, has_sites, with_column
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.page_terms import IndexAddresses, extraction_for, require_extraction
from neardup.pipeline.index.records import address_fields
from neardup.sources.addresses import Addresses
from neardup.sources.collection import SITE
from neardup.sources.pages import PAGE_FIELDS, host_of
from neardup.text.columns import readable_values, text_column
from neardup.text.containers import table_or_column
from neardup.text.extraction import Extraction

TEXT = "text"


class CrawlFilter:
    """Recognises the pages that an index contains: by address, then by equal content, then by similar content.

    The id of a page is its address: its URL in the normal form of *addresses* (``document_id`` if that is long). The
    verdict is ``Known`` if the address was admitted before; its *changed* reports whether the content is different now.
    Otherwise it is the verdict of the index: ``New``, ``ExactDuplicate``, ``NearDuplicate``, or ``Empty``. An index
    without documents keeps the URL rules of *addresses*; later, they are the default, and others are refused.

    Nothing is dropped through a chain of matches: ``verdict.representative`` is a kept page that this page itself
    matches, so that it may be dropped; ``None`` means to keep it. A ``Known`` and unchanged page may be dropped for
    itself.

    Checking and recording are two calls: ``judge`` changes nothing, ``admit`` records the page. Every page is recorded
    unless it is ``Known`` and unchanged, so its address is known from then on. A page that repeats a kept page has that
    page as its representative. A known page with other content replaces the old one; an unchanged page only gets the
    fields that were given with it.

    Pages with visitor counters or dates change at every visit: with ``changed_at_least=0.95``, content whose
    resemblance to the version that was admitted last is at least that much counts as unchanged (see ``Index.visit``).

    If the index has string fields named ``url`` and ``host``, they are set: to the original URL and its host.

    With *extraction*, texts are HTML, strings or an Arrow column of bytes, and become texts as it describes. The
    templates of hosts are those that it has or, if it has none, those that the index keeps (``Index.create``). The
    fields ``title``, ``canonical`` and ``lang`` (strings) and ``noindex`` (an integer) of the index, and those that its
    scheme signs, are set from the pages, unless they are given.
    """

    def __init__(
        self,
        index: Index,
        addresses: Addresses | None = None,
        *,
        changed_at_least: float | None = None,
        extraction: Extraction | None = None,
    ) -> None:
        if addresses is not None:
            require_kind("addresses", addresses, Addresses)
        require_kind("index", index, Index)
        self._index, self._addresses = index, IndexAddresses(index, addresses)
        self._least, self._extraction = changed_at_least, extraction
        if extraction is not None:
            require_kind("extraction", extraction, Extraction)
        if changed_at_least is not None:
            require_share("changed_at_least", changed_at_least)
        self._busy = threading.RLock()

    @property
    def index(self) -> Index:
        """The index of the admitted pages."""
        return self._index

    def id_of(self, url: str) -> str:
        """Return the id of the page at this URL.

        >>> CrawlFilter(Index.create()).id_of("HTTP://News.Example:80/a?utm_source=x#top")
        'http://news.example/a'
        """
        return self._addresses.now.id_of(url)

    def ids_of(self, urls: Sequence[Any]) -> list[str]:
        """Return the ids of several pages; ``DataError`` for the first URL that is empty or not a string."""
        require_urls(urls)
        return [self.id_of(url) for url in urls]

    def judge(self, url: str, text: str, fields: Mapping[str, Any] | None = None) -> Verdict:
        """Return the verdict on a page. Changes nothing.

        *fields* maps names to values: those that the scheme signs.
        """
        return self.judge_each([url], [text], _each(fields))[0]

    def admit(
        self, url: str, text: str, fields: Mapping[str, Any] | None = None, *, at: datetime | float | None = None
    ) -> Verdict:
        """Record a page, and return the verdict on it.

        *fields* maps names to values: those of the index, and those that the scheme signs. *at* is the time of
        admission; the default is now. The admission is acknowledged: see ``durability`` in ``Index.create``.
        """
        return self.judge_and_admit([url], [text], _each(fields), at=at)[0]

    def judge_each(
        self, pages: Any, texts: Any = None, fields: Any = None, *, ids: Sequence[str] | None = None
    ) -> list[Verdict]:
        """Return a verdict for each page. Changes nothing; *pages* and *ids* are as in ``judge_and_admit``."""
        urls, column, table = self._parted(pages, texts, fields)
        names = self.ids_of(urls) if ids is None else ids
        return self._index.visit(names, column, table, remember=False, changed_at_least=self._least)

    def judge_and_admit(
        self,
        pages: Any,
        texts: Any = None,
        fields: Any = None,
        *,
        at: datetime | float | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[Verdict]:
        """Record pages, and return a verdict for each, compared with all before it, including this batch.

        *pages* are (url, text) pairs, or a table with the columns ``url`` and ``text``, whose other columns are
        *fields* if the index knows them; or they are URLs, and *texts* are their texts, or their ``Signatures`` if the
        index stores no texts: a page with the signature of its last version is unchanged. Larger batches are faster.
        Known pages with other content lose the old content before the batch is judged, so that no page is dropped for
        content that no longer exists. *ids* are those of the URLs (``ids_of``), if they are known already.

        Raises ``DataError`` for invalid URLs, texts or fields, before anything is changed; and ``StorageRefused`` if
        the texts of earlier pages were extracted otherwise.
        """
        urls, column, table = self._parted(pages, texts, fields)
        names = self.ids_of(urls) if ids is None else ids
        with self._busy:
            own = address_fields(self._index.fields, urls, table)
            return self._index.visit(names, column, own, at=at, changed_at_least=self._least)

    def _parted(self, pages: Any, texts: Any, fields: Any) -> tuple[list[Any], Any, pa.Table]:
        """Return the URLs, texts and fields of a batch of pages; HTML becomes text, with the site of each page."""
        known = {*self._index.fields, *self._index.scheme.columns} - {TEXT}
        urls, column, table = parted(pages, texts, fields, known)
        if self._extraction is None:
            return urls, column, table
        require(not isinstance(column, Signatures), "texts", column, "must be HTML, which signatures do not have")
        require_urls(urls)
        found, own = page_texts(self._index, self._extraction, urls, readable_values(column))
        for name, values in own.items():
            if name not in table.column_names:
                kind = pa.int64() if name in {SITE, NOINDEX} else pa.large_string()
                table = with_column(table, name, pa.array(values, kind))
        return urls, pa.array(found, pa.large_string()), table


def require_urls(urls: Sequence[Any]) -> None:
    """Raise ``DataError`` for the first URL that is empty or not a string."""
    for position, url in enumerate(urls):
        if not isinstance(url, str) or not url.strip():
            what = "is empty" if isinstance(url, str) else f"must be a string, not {kind_of(url)}"
            raise DataError(f"url {position}", what)


def parted(pages: Any, texts: Any, fields: Any, known: set[str]) -> tuple[list[Any], Any, pa.Table]:
    """Return the URLs, texts and fields of a batch of pages; only the *known* columns of a table are fields.

    Its other columns are not read, and may have any values. The texts are one Arrow column, or the ``Signatures`` that
    were given.
    """
    source = table_or_column(pages, [URL, TEXT], sorted(known) if fields is None else (), what="pages")
    if isinstance(source, pa.Table):
        others = source.select([name for name in source.column_names if name in known]) if fields is None else fields
        return source.column(URL).to_pylist(), text_column(source.column(TEXT)), field_table(others, len(source))
    if texts is None:
        source, texts = _unzipped(source)
    urls = source.to_pylist() if isinstance(source, pa.Array | pa.ChunkedArray) else list(source)
    column = texts if isinstance(texts, Signatures) else text_column(texts)
    if len(urls) != len(column):
        there = f"{counted(len(urls), 'URL')} for {counted(len(column), 'text')}"
        raise DataError("pages", f"{there}; each URL needs one text")
    return urls, column, field_table(fields, len(urls))


def _unzipped(pages: Any) -> tuple[list[Any], list[Any]]:
    rule = "must be pairs of a URL and a text, or a table with the columns 'url' and 'text'"
    if isinstance(pages, str | bytes) or not isinstance(pages, Iterable):
        raise DataError("pages", rule)
    pairs = list(pages)
    if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):  # noqa: PLR2004 - a pair
        raise DataError("pages", rule)
    return [url for url, _ in pairs], [text for _, text in pairs]


def _each(fields: Mapping[str, Any] | None) -> dict[str, list[Any]] | None:
    return None if fields is None else {name: [value] for name, value in fields.items()}


def page_texts(
    index: Index, extraction: Extraction | None, urls: Sequence[str | None], markup: Sequence[bytes | str]
) -> tuple[list[str], dict[str, list[Any]]]:
    """Return the texts of pages as *extraction* describes, and their fields that the *index* keeps or its scheme signs.

    ``None`` is how the pages of the index were read. The templates are those of the *extraction* or, if it has none,
    those that the index keeps. Pages have the hosts of their *urls*; one without a URL has that of the absolute address
    that it names as canonical. The fields are admitted with the texts, like other fields: see ``extracted_pages``. No
    pages have no texts.

    Raises ``StorageRefused`` for an index whose texts of pages were extracted otherwise, which an index that is written
    records, and ``ExtraMissing`` as ``Extraction`` does.
    """
    extraction = extraction_for(index, extraction)
    require_extraction(index, extraction)
    texts, found = extracted_pages(extraction, urls, markup)
    kept = {*index.scheme.columns, *([SITE] if has_sites(index.store) else [])}
    kept |= {name for name, kind in index.fields.items() if kind == ("integer" if name == NOINDEX else "string")}
    return texts, {name: values for name, values in found.items() if name in kept}


def extracted_pages(
    extraction: Extraction, urls: Sequence[str | None], markup: Sequence[bytes | str]
) -> tuple[list[str], dict[str, list[Any]]]:
    """Return the texts and fields of pages, for an index that was checked before.

    The fields are ``PAGE_FIELDS`` and, with templates, that of the sites of pages.
    """
    with_sites = extraction.templates is not None
    hosts = [host_of(url, page) for url, page in zip(urls, markup, strict=True)] if with_sites else ()
    found = extraction.pages(markup, hosts=hosts)
    fields: dict[str, list[Any]] = {name: getattr(found, column) for name, column in PAGE_FIELDS.items()}
    fields[CANONICAL] = [address or None for address in found.canonicals]
    if with_sites:
        fields[SITE] = np.array(found.sites, np.uint64).view(np.int64).tolist()
    return found.texts, fields
