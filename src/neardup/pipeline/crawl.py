"""What a crawler wants to know of every page: whether its address is known, its content, or nearly its content."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa

from neardup.index.disk.columns import STRING
from neardup.model.errors import DataError, kind_of, require_kind
from neardup.model.verdicts import Verdict
from neardup.pipeline.fields import field_table
from neardup.pipeline.index import Index
from neardup.sources.addresses import Addresses, document_id
from neardup.sources.hosts import host
from neardup.text.columns import text_column
from neardup.text.containers import column_missing, table_or_column

URL, HOST, TEXT = "url", "host", "text"

Moment = datetime | float | None


class CrawlFilter:
    """Recognises the pages that an index knows: by their addresses, then by their content, then nearly.

    A page's id is its address: its URL in the normal form of *addresses* (``document_id`` where that is long). The
    answer is a verdict. It is ``Known`` if the address was admitted before, *changed* telling whether with another
    content; else it is what the index says: ``New``, ``ExactDuplicate``, ``NearDuplicate``, or ``Empty``.

    Nothing is dropped through a chain: ``verdict.kept`` is the kept page that this one may be dropped for, because it
    matches that one itself, and ``None`` says to keep it. A page that is ``Known`` and unchanged may be dropped for
    itself.

    Asking and remembering are two things: ``judge`` changes nothing, ``admit`` remembers. Every page is remembered but
    those ``Known`` and unchanged, so its address is known from then on; one that repeats a kept page stands behind it,
    and one that is known with another content takes its old one's place.

    If the index has fields of strings named ``url`` and ``host``, they are filled: the URL as it came, and its host.
    """

    def __init__(self, index: Index, addresses: Addresses | None = None) -> None:
        self._index, self._addresses = index, Addresses() if addresses is None else addresses
        if index is not None:  # without an index, it has the ids of pages
            require_kind("index", index, Index)
        require_kind("addresses", self._addresses, Addresses)
        self._busy = threading.RLock()

    @property
    def index(self) -> Index:
        """The index that remembers."""
        return self._index

    def id_of(self, url: str) -> str:
        """Return the id of the page at this URL.

        >>> CrawlFilter(None).id_of("HTTP://News.Example:80/a?utm_source=x#top")
        'http://news.example/a'
        """
        return document_id(self._addresses.normal(url))

    def judge(self, url: str, text: str, fields: Mapping[str, Any] | None = None) -> Verdict:
        """Say what a page is to those admitted. Changes nothing.

        *fields* maps names to values: those that the scheme signs.
        """
        return self.judge_each([url], [text], _each(fields))[0]

    def admit(
        self, url: str, text: str, fields: Mapping[str, Any] | None = None, *, at: datetime | float | None = None
    ) -> Verdict:
        """Remember a page, and say what it is to those admitted before.

        *fields* maps names to values: those of the index, and those that the scheme signs. *at* is the time of
        admission: now, unless it is given. What is returned is acknowledged, as ``Index.create`` has it.
        """
        return self.judge_and_admit([url], [text], _each(fields), at=at)[0]

    def judge_each(self, pages: Any, texts: Any = None, fields: Any = None) -> list[Verdict]:
        """Say what each page is to those admitted. Changes nothing; pages are given as to ``judge_and_admit``."""
        urls, column, table = self._parted(pages, texts, fields)
        return self._index.visit(self._ids(urls), column, table, remember=False)

    def judge_and_admit(
        self, pages: Any, texts: Any = None, fields: Any = None, *, at: datetime | float | None = None
    ) -> list[Verdict]:
        """Remember pages, and say what each is to those before it, in this batch too.

        *pages* are (url, text) pairs, or a table with the columns ``url`` and ``text``, whose others are *fields* as
        far as the index knows them; or they are URLs, with *texts* beside them. The more at once, the faster. Pages of
        known addresses that come with other content lose the old one before the batch is judged, so that none is
        dropped for what is no longer there.

        Raises ``DataError`` for what are no URLs, texts or fields, before anything is changed.
        """
        urls, column, table = self._parted(pages, texts, fields)
        ids = self._ids(urls)
        with self._busy:
            return self._index.visit(ids, column, address_fields(self._index, urls, table), at=at)

    def _parted(self, pages: Any, texts: Any, fields: Any) -> tuple[list[Any], pa.ChunkedArray, pa.Table]:
        return _parted(pages, texts, fields, {*self._index.fields, *self._index.scheme.columns} - {TEXT})

    def _ids(self, urls: Sequence[Any]) -> list[str]:
        for position, url in enumerate(urls):
            if not isinstance(url, str) or not url.strip():
                what = "is empty" if isinstance(url, str) else f"is {kind_of(url)}, but must be a string"
                raise DataError(f"url {position}", what)
        return [self.id_of(url) for url in urls]


def address_fields(index: Index, urls: Sequence[str | None], fields: pa.Table) -> pa.Table:
    """Add the URLs and their hosts to the fields, if the index has such fields and they are not given."""
    for name, made in ((URL, _as_it_came), (HOST, host)):
        if index.fields.get(name) == STRING and name not in fields.column_names:
            values = [None if url is None else made(url) for url in urls]
            column = pa.array(values, pa.large_string())
            fields = fields.append_column(name, column) if fields.num_columns else pa.table({name: column})
    return fields


def _as_it_came(url: str) -> str:
    return url.encode("utf-8", "replace").decode()


def _parted(pages: Any, texts: Any, fields: Any, known: set[str]) -> tuple[list[Any], pa.ChunkedArray, pa.Table]:
    """Take a batch of pages apart: URLs, texts, fields. Of a table's columns only those that are *known* are fields."""
    source = table_or_column(pages)
    if isinstance(source, pa.Table):
        for name in (URL, TEXT):
            if name not in source.column_names:
                raise column_missing(name, source.column_names)
        others = source.select([name for name in source.column_names if name in known]) if fields is None else fields
        return source.column(URL).to_pylist(), text_column(source.column(TEXT)), field_table(others, len(source))
    if texts is None:
        source, texts = _unzipped(source)
    urls = source.to_pylist() if isinstance(source, pa.Array | pa.ChunkedArray) else list(source)
    column = text_column(texts)
    if len(urls) != len(column):
        raise DataError("pages", f"are {len(urls):,} URLs, but the texts are {len(column):,}")
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
