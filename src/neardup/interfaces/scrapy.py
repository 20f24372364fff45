"""Scrapy: an add-on that drops, or tags, repeated pages, and does not fetch known pages again.

    ADDONS = {"neardup.interfaces.scrapy.NeardupAddon": 500}
    NEARDUP_INDEX = "seen"

It requires Scrapy 2.19 or newer: ``pip install 'neardup[scrapy]'``.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from typing import Any, Final, Self, get_args
from weakref import WeakKeyDictionary

from itemadapter import ItemAdapter
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter
from scrapy.exceptions import DropItem
from scrapy.settings import BaseSettings
from scrapy.utils.job import job_dir

from neardup.interfaces.client import Client
from neardup.model.errors import (
    ParameterError,
    StorageDamaged,
    StorageError,
    require,
    require_choice,
    require_kind,
    require_path,
    require_share,
)
from neardup.model.verdicts import Known, Verdict, as_record
from neardup.pipeline.crawl.filter import CrawlFilter, extracted_pages
from neardup.pipeline.crawl.templates import known_templates
from neardup.pipeline.files.ingestion import is_index
from neardup.pipeline.index.fields import field_kinds
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.page_terms import extraction_for, require_extraction
from neardup.schemes.checksum import BODY
from neardup.sources.addresses import Addresses
from neardup.sources.collection import SITE
from neardup.sources.keys import key_in
from neardup.sources.output import atomic
from neardup.text.extraction import Extraction, View
from neardup.text.host_templates import HostTemplates

UNFINISHED: Final = "unfinished-crawl"  # the file of ``_UnfinishedCrawls``, in an index's folder or JOBDIR
SEEN: Final = "neardup.seen"  # the file in JOBDIR with requests and pages of an interrupted crawl, empty in others
_QUEUES: Final = "requests.queue"  # Scrapy's folder in JOBDIR

_PRIORITY: Final = 300
_OF_A_FOLDER: Final = ("scheme", "key_file", "fields", "texts", "durability")  # settings that a service has itself
_READ: Final = {  # how Scrapy reads settings that may be strings, such as those of its command line
    "changed": ("getfloat", "must be a number above 0 and at most 1"),
    "html": ("getbool", "must be True or False"),
    "texts": ("getbool", "must be True or False"),
    "signatures": ("getbool", "must be True or False"),
    "fields": ("getdict", "must map names to kinds"),
}
_TOKEN: Final = "NEARDUP_TOKEN"  # noqa: S105 - the name of a variable
_DIGEST_BYTES: Final = 16
_COUNTED: Final = "neardup/"
_FINISHED: Final = "finished"  # Scrapy's reason for the end of a complete crawl
_WRITTEN: Final = -1  # instead of an admission: Scrapy has written all items that were passed on


class NeardupAddon:
    """The add-on: installs the item pipeline and the filter of requests.

    Its settings, ``NEARDUP_INDEX`` and others, are described in the guide, in ``docs/guide/crawling.md``.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Check the settings, and add the parts."""
        Settings.of(settings)
        settings.set("DUPEFILTER_CLASS", AddressFilter, "addon")
        settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", NearDuplicatePipeline, _PRIORITY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of the add-on."""

    index: Any = None
    token: str | None = field(default=None, repr=False)
    changed: float | None = None
    action: str = "drop"
    refetch: str = "unfinished"
    url: str = "url"
    text: str = "text"
    html: bool = False
    text_view: Any = None
    templates: str | None = None
    tag: str = "neardup"
    addresses: Any = None
    scheme: Any = None
    key_file: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    texts: bool = False
    signatures: bool = False
    durability: Any = None

    @classmethod
    def of(cls, settings: BaseSettings) -> Self:
        """Read the settings, those that are ``None`` as their defaults; ``ParameterError`` for an invalid one."""
        known = {f"NEARDUP_{one.name.upper()}": one.name for one in fields(cls)}
        for name in settings:
            rule = f"is not a setting; the settings are {', '.join(known)}"
            require(name in known or not str(name).startswith("NEARDUP_"), str(name), settings[name], rule)
        given = {known[name]: settings[name] for name in known if settings.get(name) is not None}
        for part in given.keys() & _READ.keys():
            (getter, rule), name = _READ[part], f"NEARDUP_{part.upper()}"
            try:
                given[part] = getattr(settings, getter)(name)
            except (TypeError, ValueError, OverflowError) as error:
                raise ParameterError(name, settings[name], rule) from error
        return cls(**given)

    def __post_init__(self) -> None:
        holds = isinstance(self.index, str | os.PathLike) and str(self.index) != ""
        self.require(holds, "index", "must be the folder of the index, or the URL of a service")
        for part in ("url", "text", "tag"):
            name = getattr(self, part)
            self.require(isinstance(name, str) and name != "", part, "must be the name of a field of items")
        self.require(self.text != self.url, "text", "must not be the field that NEARDUP_URL names")
        require_choice("NEARDUP_ACTION", self.action, ("drop", "tag"), "must be drop or tag")
        overwrites = self.action == "tag" and self.tag in {self.url, self.text}
        self.require(not overwrites, "tag", "must not be a field that NEARDUP_URL or NEARDUP_TEXT names")
        refetches = ("unfinished", "never", "always")
        require_choice("NEARDUP_REFETCH", self.refetch, refetches, "must be unfinished, never or always")
        for part in _OF_A_FOLDER if self.is_service else ():
            signs = part == "key_file" and self.signatures
            self.require(signs or not getattr(self, part), part, "cannot be used with the index of a service")
        self.require(
            self.is_service or not self.signatures, "signatures", "needs the URL of a service in NEARDUP_INDEX"
        )
        for part in ("text_view", "templates"):
            self.require(self.html or getattr(self, part) is None, part, "needs NEARDUP_HTML = True")
        for part in ("index", "templates", "key_file"):
            path = getattr(self, part)
            require_path(f"NEARDUP_{part.upper()}", "unused" if path is None else path)
        if self.changed is not None:
            require_share("NEARDUP_CHANGED", self.changed)
        if self.addresses is not None:
            require_kind("NEARDUP_ADDRESSES", self.addresses, Addresses)
        require_choice("NEARDUP_TEXT_VIEW", self.view, get_args(View), "must be auto, main or visible")
        rule = "cannot be used with NEARDUP_SIGNATURES: a signature does not show which pages are of one site"
        self.require(not self.signatures or self.templates is None, "templates", rule)

    def require(self, holds: bool, part: str, rule: str) -> None:  # noqa: FBT001 - as the function
        """Raise ``ParameterError`` with this *rule* for a setting, unless it *holds*."""
        require(holds, f"NEARDUP_{part.upper()}", getattr(self, part), rule)

    @property
    def view(self) -> Any:
        """The text view in which HTML is read."""
        return "auto" if self.text_view is None else self.text_view

    @property
    def is_service(self) -> bool:
        """Whether the index is that of a service."""
        return str(self.index).startswith(("http://", "https://"))


class Crawl:
    """The state of one crawl: the index, which it writes, and the requests and pages of this run."""

    def __init__(self, crawler: Crawler) -> None:
        self.settings = Settings.of(crawler.settings)
        job = job_dir(crawler.settings)
        marker = self._marker_in(job)
        self._extraction = _extraction(self.settings) if self.settings.html else None
        self.index: Index | Client = _opened(self.settings, self._extraction)
        self._stats = crawler.stats
        try:
            if self._extraction is not None:
                self._extraction = _reading(self.index, self._extraction, self.settings)
            self.pages, self._signed = _pages_of(self.index, self.settings, self._extraction)
            self.fields = tuple(dict.fromkeys([*self._signed, *self.index.fields]))
            self.nulls = frozenset(self._signed) - {BODY}  # signed fields: null where an item lacks them
            self._unfinished = _UnfinishedCrawls(marker, self.index.next_admission)
        except BaseException:
            self.index.close()
            raise
        self._job = None if job is None else Path(job, SEEN)
        self._requested, self._delivered = _resumed(self._job)
        self._failed = False
        crawler.signals.connect(self.open, signal=signals.spider_opened)
        crawler.signals.connect(self.close, signal=signals.spider_closed)

    @classmethod
    def of(cls, crawler: Crawler) -> "Crawl":
        """Return the state of a crawler, which both parts share."""
        if crawler not in _crawls:
            _crawls[crawler] = cls(crawler)
        return _crawls[crawler]

    def text_of(self, url: str, page: str | bytes) -> tuple[str, dict[str, int]]:
        """Return the text of an item's page, and the field of its site; of a text, the text itself."""
        if self._extraction is None:
            return page if isinstance(page, str) else page.decode(errors="replace"), {}
        (text,), found = extracted_pages(self._extraction, [url], [page])
        return text, {SITE: found[SITE][0]} if SITE in found and not self._signed else {}

    def count(self, name: str) -> None:
        """Count something in the crawler's stats."""
        if self._stats is not None:
            self._stats.inc_value(_COUNTED + name)

    def wants(self, url: str, *, again: bool) -> bool:
        """Return whether to fetch a page; *again* if a request for it led back to it."""
        own = self.pages.id_of(url)
        if again:
            self._requested.add(_digest(own.encode()))
            return True
        if not self.requests(own.encode()):
            return False
        if self.settings.refetch != "always" and self._was_finished(own):
            self.count("requests/known")
            return False
        return True

    def requests(self, name: bytes) -> bool:
        """Record a request by its name; return whether it is the first one, and count it otherwise."""
        digest = _digest(name)
        if digest in self._requested:
            self.count("requests/repeated")
            return False
        self._requested.add(digest)
        return True

    def _was_finished(self, own: str) -> bool:
        """Return whether an earlier crawl admitted a page, and probably followed its links."""
        try:
            (admission,) = self.index.admissions([own])
        except StorageError:  # the request is lost
            self._failed = True
            raise
        return admission is not None and (self.settings.refetch == "never" or admission.number < self._unfinished.first)

    def judge(self, url: str, text: str, fields: Mapping[str, Any]) -> tuple[Verdict, bool]:
        """Record a page; return its verdict, and whether to pass it on."""
        own = self.pages.id_of(url)
        digest = _digest(own.encode())
        try:
            again = digest not in self._delivered and self._may_be_lost(own)
            (verdict,) = self.pages.judge_and_admit([url], [text], {name: [value] for name, value in fields.items()})
        except StorageError:
            self._failed = True
            raise
        self._requested.add(digest)
        self._delivered.add(digest)
        if isinstance(verdict, Known):
            self.count("changed" if verdict.changed else "known")
        else:
            self.count(verdict.name.replace(" ", "_"))
        if again and isinstance(verdict, Known) and verdict.representative is not None:
            self.count("passed_on_again")
            return verdict, True
        return verdict, verdict.representative is None

    def _may_be_lost(self, own: str) -> bool:
        """Return whether an unfinished crawl passed on the item of a page, which may not have been written."""
        refetch, known = self.settings.refetch, self._unfinished
        if not known.exist or refetch == "never" or (refetch == "always" and not known.was_killed):
            return False
        since = known.first if refetch == "unfinished" else known.unwritten
        (admission,) = self.index.admissions([own])
        return admission is not None and admission.reported >= since

    def _marker_in(self, job: str | None) -> Path | None:
        """Return the file that exists while a crawl is unfinished: several crawlers of a service have one each."""
        if not self.settings.is_service:
            return Path(str(self.settings.index), UNFINISHED)
        rule = 'needs JOBDIR, or NEARDUP_REFETCH = "never" or "always"'
        self.settings.require(job is not None or self.settings.refetch != "unfinished", "index", rule)
        return None if job is None else Path(job, UNFINISHED)

    def open(self) -> None:
        """Empty the file of an interrupted crawl, whose contents a kill would now leave out of date."""
        if self._job is not None:
            self._job.write_bytes(b"")

    def close(self, reason: str) -> None:
        """Sync and close the index; after a finished crawl, nothing is recorded as unfinished.

        An interrupted one with a JOBDIR, in which Scrapy has stored the waiting requests, stores the others.
        """
        self.index.close()
        if self._failed or reason == _FINISHED:
            if not self._failed:  # otherwise, no page counts as seen, but Scrapy stores the waiting requests
                self._unfinished.finish()
            if self._job is not None:
                self._job.unlink(missing_ok=True)
            return
        if self._job is not None:
            _store(self._job, self._requested, self._delivered)
        self._unfinished.interrupt()


class _UnfinishedCrawls:
    """The admissions of unfinished crawls, in a *file* that is removed when a crawl finishes; without a file, none.

    ``first`` is the first of them, and ``unwritten`` the first whose item may be lost, because its crawl was killed.
    Without such an admission, each is the *following* one.
    """

    def __init__(self, file: Path | None, following: int) -> None:
        self._file, self.exist = file, file is not None and file.exists()
        self.first, unwritten = following, _WRITTEN
        if file is not None and self.exist:
            try:
                self.first, unwritten = map(int, file.read_text("ascii").split())
            except ValueError:
                raise StorageDamaged(str(file), "is damaged; remove it") from None
        self.was_killed = unwritten != _WRITTEN
        self.unwritten = unwritten if self.was_killed else following
        if not self.was_killed:
            self._record(self.unwritten)

    def interrupt(self) -> None:
        """Record that all items are written, unless those of a killed crawl may still be missing."""
        if not self.was_killed:
            self._record(_WRITTEN)

    def finish(self) -> None:
        """Remove the file."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def _record(self, unwritten: int) -> None:
        if self._file is not None:
            with atomic(self._file) as stream:
                stream.write(f"{self.first} {unwritten}\n".encode())


def _store(file: Path, requested: set[bytes], delivered: set[bytes]) -> None:
    with atomic(file) as stream:
        for digests in (delivered, requested - delivered):
            stream.write(len(digests).to_bytes(8, "big"))
            stream.writelines(digests)


def _resumed(file: Path | None) -> tuple[set[bytes], set[bytes]]:
    """Return the requests and the pages of an interrupted crawl; a killed one has left the file empty.

    What Scrapy stores of the waiting requests is complete only if the crawl was not killed. Otherwise requests that it
    has lost must not count as seen, and its queues are removed: they can be unreadable, or have the wrong requests.
    """
    if file is None or not file.exists():
        return set(), set()
    content = file.read_bytes()
    if not content:
        rmtree(file.with_name(_QUEUES), ignore_errors=True)
    found: list[set[bytes]] = []
    for _ in range(2):
        size = int.from_bytes(content[:8], "big") * _DIGEST_BYTES
        whole, content = content[8 : 8 + size], content[8 + size :]
        found.append({whole[begin : begin + _DIGEST_BYTES] for begin in range(0, len(whole), _DIGEST_BYTES)})
    delivered, others = found
    return delivered | others, delivered


_crawls: WeakKeyDictionary[Crawler, Crawl] = WeakKeyDictionary()


class _Component:
    """A component of Scrapy, for one crawler."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler, self._crawl = crawler, Crawl.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the component as Scrapy does."""
        return cls(crawler)


class AddressFilter(_Component, BaseDupeFilter):
    """A filter of requests by address: for requests of this run, and for pages of earlier crawls.

    Across runs only pages count, not requests: a request that was not answered before the process was killed is made
    again. A crawl that is interrupted, but not killed, and resumed with the same ``JOBDIR`` is one run. Requests with a
    body, or of another method than GET, are distinguished by Scrapy's own fingerprint, for this run only.

    Requests with ``dont_filter``, such as those for start pages, are always made, and count for later ones.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        crawler.signals.connect(self._record, signal=signals.request_scheduled)

    def _record(self, request: Request) -> None:
        if request.dont_filter and _is_page(request):
            self._crawl.wants(request.url, again=True)

    def request_seen(self, request: Request) -> bool:
        """Return whether to skip a request."""
        if _is_page(request):
            hops = request.meta.get("redirect_urls", ())
            id_of = self._crawl.pages.id_of
            return not self._crawl.wants(request.url, again=id_of(request.url) in map(id_of, hops))
        return not self._crawl.requests(b"\0" + self._crawler.request_fingerprinter.fingerprint(request))

    def log(self, request: Request, spider: Spider) -> None:
        """Count a skipped request, and log it if ``DUPEFILTER_DEBUG`` is set."""
        if self._crawler.settings.getbool("DUPEFILTER_DEBUG"):
            spider.logger.debug("Filtered a request to a page that is known: %s", request)
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value("dupefilter/filtered")


def _is_page(request: Request) -> bool:
    return request.method == "GET" and not request.body


class NearDuplicatePipeline(_Component):
    """Drops or tags items by the verdicts on their pages, and records the pages."""

    def process_item(self, item: Any) -> Any:
        """Judge an item; pass it on unless its page repeats a kept page."""
        crawl, own = self._crawl, self._crawl.settings
        adapter = ItemAdapter(item)
        url, text = adapter.get(own.url), adapter.get(own.text)
        if not isinstance(url, str) or not url.strip() or not isinstance(text, str | bytes):
            crawl.count("not_judged")
            return item
        text, sites = crawl.text_of(url, text)
        if own.action == "tag":
            adapter[own.tag] = None  # an item without such a field is an error before its page is recorded
        fields = {name: adapter.get(name) for name in crawl.fields if name in adapter or name in crawl.nulls}
        verdict, passes = crawl.judge(url, text, fields | sites)
        if own.action == "tag":
            adapter[own.tag] = {**as_record(verdict), "representative": verdict.representative}
        elif not passes:
            crawl.count("dropped")
            raise DropItem(f"{verdict.name}: {verdict.representative} is kept", log_level="INFO")
        return item


def _opened(settings: Settings, extraction: Extraction | None) -> Index | Client:
    """Open the index to write, or create it, or connect to its service."""
    folder = settings.index
    key = None if settings.key_file is None else key_in(settings.key_file)
    durability: Any = "interval" if settings.durability is None else settings.durability
    if settings.is_service:
        ways: dict[str, Any] = {"addresses": settings.addresses, "changed_at_least": settings.changed}
        token = settings.token or os.environ.get(_TOKEN) or None
        return Client(folder, token=token, signatures=settings.signatures, key=key, **ways)
    if is_index(folder):
        return Index.open(folder, "w", key=key, scheme=settings.scheme, durability=durability)
    made: dict[str, Any] = {"fields": settings.fields, "texts": settings.texts}
    made["templates"] = None if extraction is None else known_templates(extraction)
    return Index.create(folder, settings.scheme, key=key, durability=durability, **made)


def _pages_of(
    index: Index | Client, settings: Settings, extraction: Extraction | None
) -> tuple[CrawlFilter | Client, Sequence[str]]:
    """Return what judges the pages of an index that reads them in the same way, and the fields that are signed."""
    if isinstance(index, Client):
        if settings.signatures:
            _require_signatures(index, settings)
        _require_same(index, extraction, settings)
        return index, index.about["signs"]
    kinds = dict(field_kinds(settings.fields))
    known = ", ".join(f"{name} ({kind})" for name, kind in index.fields.items()) or "none"
    rule = f"must be fields of the index, which has {known}; only a new index can have others"
    settings.require(kinds.items() <= index.fields.items(), "fields", rule)
    rule = "cannot be used with this index, which stores no texts; only a new index can"
    settings.require(index.keeps_texts or not settings.texts, "texts", rule)
    if extraction is not None:
        require_extraction(index, extraction)
    return CrawlFilter(index, settings.addresses, changed_at_least=settings.changed), index.scheme.columns


def _extraction(settings: Settings) -> Extraction:
    templates = None if settings.templates is None else HostTemplates.load(settings.templates)
    return Extraction(view=settings.view, templates=templates)


def _reading(index: Index | Client, extraction: Extraction, settings: Settings) -> Extraction:
    """Return how pages are read for an index: with its templates, or those of no host as a service."""
    if isinstance(index, Index):
        return extraction_for(index, extraction)
    of_no_host = replace(extraction, templates=known_templates(extraction))
    same = index.about["extraction"] == of_no_host.identity and not settings.signatures
    return of_no_host if same else extraction


def _require_signatures(client: Client, settings: Settings) -> None:
    """Raise an error if a service does not admit signatures, or if this crawl cannot sign as it does."""
    rule = "cannot be used with this service, whose {}; leave out NEARDUP_SIGNATURES, so that texts are sent"
    settings.require(not client.about["texts"], "signatures", rule.format("index stores texts"))
    settings.require(not client.about["signs"], "signatures", rule.format("scheme signs fields"))
    _ = client.scheme  # which needs the same key


def _require_same(client: Client, extraction: Extraction | None, settings: Settings) -> None:
    """Raise ``ParameterError`` if a service reads pages otherwise than this crawl."""
    known = client.about["extraction"]
    if extraction is None or known == extraction.identity or (known is None and extraction.templates is None):
        return
    rule = (
        f"must read pages as the service does: {known}; set NEARDUP_TEXT_VIEW, and NEARDUP_TEMPLATES to a copy of"
        " templates.arrow in the folder of the index; or start the service with neardup serve --templates FILE, and use"
        " the same file here"
    )
    raise ParameterError("NEARDUP_HTML", settings.html, rule)


def _digest(name: bytes) -> bytes:
    return blake2b(name, digest_size=_DIGEST_BYTES).digest()
