"""Learning the templates of hosts from their pages."""

import sqlite3
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from heapq import heappush, heapreplace
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.decisions.templates import PAGES, RULE, shared_lines, view_of
from neardup.engines.local import thread_count
from neardup.engines.processes import Processes, TableFunction
from neardup.model.arrays import Positions, Words
from neardup.model.errors import TEMPORARY, DataError, StorageFailed, counted, kind_of, require, require_kind
from neardup.pipeline.corpus.run import dedup
from neardup.schemes.minhash import MinHash
from neardup.sources.output import temporary_folder
from neardup.sources.pages import BATCH, Reader, both_views, host_of, processed, views, views_reader
from neardup.sources.request import AUTO
from neardup.text import sites
from neardup.text.extraction import LONG_LINES, OTHER_LINES, BothViews, Extraction, learned_otherwise
from neardup.text.host_templates import HostTemplates, PageView, Template
from neardup.text.lines import LINES, Lines

Page = tuple[str | None, bytes | str]  # its address, and its HTML
Records = Iterable[tuple[pa.Table, float]]
"""Records of archives, of ``neardup.sources.archives.undecoded``, and the share of all that was read to their end."""
Wanted = Callable[[str], bool]  # of a host
GivenPage = Page | tuple[str | None, bytes | str, str | None]  # also with the charset that HTTP declares

FROZEN: Final = 200  # different pages, from which on a template is not learned again on its own
LEAST: Final = PAGES  # different pages of a host with a template
MOST: Final = 500  # pages of a host that its template is learned from
STEP: Final = 20  # pages by which they grow at least, while fewer than ``FROZEN`` of them are different

_HOSTS: Final = 5  # that are named
_SAME: Final = MinHash()  # decides which pages of a host count as different
_PARTS: Final = (str | None, bytes | str, str | None)  # the kinds of the parts of a page
_SHOWN: Final = 100  # characters of the example of a line
_EXPANDED: Final = 1 << 23  # bytes of pages that are decoded together; records of an attack expand to 16 MiB each
_ROUND: Final = 1 << 10  # pages that are read together, of a few hosts
_TOGETHER: Final = 1 << 23  # bytes of pages that are written together
_FIRST: Final = 1 << 63  # SQLite has signed integers
_MADE: Final = "CREATE TABLE pages (host TEXT, number INTEGER, size INTEGER, packed BLOB, decoded, charset, plain)"
_ADDED: Final = "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?)"
_CHOSEN: Final = (
    "SELECT number, size, packed, decoded, charset, plain FROM pages"
    " WHERE host = ? AND number BETWEEN ? AND ? ORDER BY number"
)
_SCHEMA: Final = pa.schema(
    [
        ("host", pa.string()),
        ("order", pa.uint64()),
        ("markup", pa.large_binary()),
        ("decoded", pa.bool_()),  # then it is UTF-8
        ("charset", pa.string()),
        ("plain", pa.bool_()),  # a text instead of HTML
    ]
)


class OrderedPage(NamedTuple):
    """A row of ``_SCHEMA``; the pages with the smallest orders of a host are its sample."""

    host: str
    order: int
    markup: bytes
    decoded: bool
    charset: str | None
    plain: bool


def learn_templates(
    pages: Iterable[GivenPage],
    *,
    extraction: Extraction = AUTO,
    known: HostTemplates | None = None,
    threads: int | None = None,
) -> HostTemplates:
    """Learn the template of each host: the lines that many of its different pages share, and the view they are read in.

    *pages* are pairs of an address and the HTML of the page, or triples with the charset that HTTP declares. A page
    whose address has no host, such as one without a scheme, has the host of the absolute address that it names as
    canonical, or is ignored. Equal pages count once, and pages without words not at all. The pages of a host are
    deduplicated, without lines of links in their visible text, and lines count once for each kept page (see
    ``neardup.decisions.templates``). Of a host, the ``FROZEN`` pages with the smallest hash of their HTML are used and,
    if fewer than ``FROZEN`` are kept, more of them, up to ``MOST``. So the result depends neither on the order of the
    pages nor on other hosts. Pages are kept in temporary files; only those of two parts of the hosts are in memory
    together. Many pages are read by as many processes as there are *threads* (``None``: every core). Without pages,
    there are no templates.

    *known* templates of hosts stay as they are if they were found in at least ``FROZEN`` pages, so that the texts of
    these hosts do not change any more, and if the pages do not have enough of a host. Others are learned again, with
    the next version if they differ.

    Raises ``DataError`` for the first page of another form; ``ParameterError`` for an *extraction* that has templates
    already, and for *known* ones that were learned by another rule; ``ExtraMissing`` as ``Extraction`` does.
    """
    return learned(pages, (), extraction=extraction, known=known, threads=threads)


def learned(
    pages: Iterable[Any],
    records: Records,
    *,
    extraction: Extraction = AUTO,
    known: HostTemplates | None = None,
    threads: int | None = None,
) -> HostTemplates:
    """Learn the template of each host of some *pages*, and of those in *records*; see ``learn_templates``."""
    require_kind("extraction", extraction, Extraction)
    require(extraction.templates is None, "extraction", extraction, "must not have templates: they are learned now")
    known = known_templates(extraction) if known is None else known
    require_kind("known", known, HostTemplates)
    require_rule(known, extraction)
    frozen = {one.host for one in known.templates if one.kept >= FROZEN}
    with Processes(thread_count(threads)) as processes:
        return updated(known, pages, extraction, processes, wanted=lambda host: host not in frozen, records=records)


def updated(  # noqa: PLR0913 - what templates are learned from, and how
    known: HostTemplates,
    pages: Iterable[Any],
    extraction: Extraction,
    processes: Processes,
    *,
    wanted: Wanted,
    records: Records = (),
) -> HostTemplates:
    """Return the known templates with those of the *wanted* hosts of some pages.

    There are more pages in the *records*. The contents of the pages are added to those that the *extraction* knows, if
    it keeps them.
    """
    processes.turn_to(learning(replace(extraction, known=None)))
    with temporary_folder() as folder, _Gathered(str(folder), extraction, wanted, processes) as gathered:
        for page in _checked(pages):
            gathered.add(ordered(*page))
        gathered.add_records(records)
        return known.updated(_following(known.get(one.host), one) for one in gathered.templates())


def relearn(known: HostTemplates, host: str, pages: Iterable[GivenPage]) -> HostTemplates:
    """Learn the template of one *host* again from *pages*; those of all other hosts stay as they are.

    Pages of other hosts are ignored. The new template has the next version, even if it has the same lines. The view is
    that of the *known* templates.

    Raises ``DataError`` if too few of the pages are different ones of the host, and for the first page of another form;
    ``ParameterError`` for a host that is not in normal form, and if this library learns templates by another rule.
    """
    return learned_again(known, host, pages, ())


def learned_again(known: HostTemplates, host: str, pages: Iterable[Any], records: Records) -> HostTemplates:
    """Learn the template of one *host* again from *pages*, and those in *records*; see ``relearn``."""
    require_kind("known", known, HostTemplates)
    extraction = Extraction(view=known.rule["extraction"]["text_view"])
    require_rule(known, extraction)
    before = known.get(host)
    found: Counter[str] = Counter()

    def wanted(name: str) -> bool:
        found[name] += 1
        return name == host

    with Processes(thread_count(None)) as processes:
        none = known_templates(extraction)
        learned = updated(none, pages, extraction, processes, wanted=wanted, records=records).get(host)
    if learned is None:
        most = ", ".join(name for name, _ in found.most_common(_HOSTS)) or "none"
        rule = f"{counted(found[host], 'page')} of this host, and its template needs {PAGES} different ones"
        others = "" if most == host else f"; the hosts with most pages are: {most}"
        raise DataError(host, f"there {'is' if found[host] == 1 else 'are'} {rule}{others}")
    return known.updated([replace(learned, version=1 if before is None else before.version + 1)])


def _checked(pages: Iterable[Any]) -> Iterator[Any]:
    """Yield the pages; ``DataError`` for the first that is neither a pair nor a triple of the right kinds."""
    if isinstance(pages, str | bytes) or not isinstance(pages, Iterable):
        raise DataError("pages", f"must be a list of pages, not {kind_of(pages)}")
    rule = "must be a pair such as ('https://example.org/', '<p>...'), or a triple, with the charset or None"
    for position, page in enumerate(pages):
        form = isinstance(page, tuple | list) and len(page) in {2, 3}
        if not form or not all(map(isinstance, page, _PARTS)):
            raise DataError(f"page {position}", rule)
        yield page


def _following(before: Template | None, one: Template) -> Template:
    """Return a template that was learned after another one of its host, with its version."""
    if before is None:
        return one
    same = replace(one, version=before.version)
    return same if same.id == before.id else replace(one, version=before.version + 1)


def require_rule(known: HostTemplates, extraction: Extraction) -> None:
    """Raise ``ParameterError`` unless templates were learned as pages that are read by *extraction* would be."""
    wanted = rule_of(extraction)
    if known.rule != wanted:
        raise learned_otherwise(known, wanted["extraction"])


def known_templates(extraction: Extraction) -> HostTemplates:
    """Return the templates of an extraction: without any, those of no host, which its pages are learned with."""
    return HostTemplates((), rule_of(extraction)) if extraction.templates is None else extraction.templates


def rule_of(extraction: Extraction) -> dict[str, Any]:
    """Return everything that decides the template of a host, apart from its pages."""
    same = {"recipe": _SAME.recipe, "threshold": _SAME.threshold}
    return {
        **RULE,
        **sites.RULE,
        "extraction": extraction.identity | OTHER_LINES,
        "line": LINES.recipe,
        "long": LONG_LINES,
        "same": same,
        "frozen": FROZEN,
        "step": STEP,
        "most": MOST,
    }


def ordered(
    address: str | None, markup: bytes | str, declared: str | None = None, *, plain: bool = False
) -> OrderedPage | None:
    """Return a page, or a *plain* text, with its host and its order; ``None`` if it has no host."""
    own = host_of(address, "" if plain else markup)
    if own is None:
        return None
    raw = markup if isinstance(markup, bytes) else markup.encode(errors="replace")
    charset = None if declared is None else declared.encode(errors="replace").decode()
    form = "plain" if plain else "decoded" if isinstance(markup, str) else charset or ""
    hashed = blake2b(raw, digest_size=8)
    hashed.update(f"\0{form}".encode())
    return OrderedPage(own, int.from_bytes(hashed.digest()), raw, isinstance(markup, str), charset, plain)


def _ordered_pages(records: pa.Table, extraction: Extraction) -> Iterator[OrderedPage | None]:
    """Yield the page in each record of an archive; ``None`` if it has none, or one without a host."""
    from neardup.sources.archives import pages_in  # most runs have no archives

    for page in pages_in(records, extraction):
        yield None if page is None else ordered(page[0], page[1], plain=page[2])


def learning(extraction: Extraction) -> TableFunction:
    """Return the function of processes that find pages in records of archives, and both views of pages.

    A page that ends its process twice has its visible view only; a record that does is decoded by this one.
    """
    visible = Extraction(view="visible")
    fallback = partial(_answer, visible, partial(views, visible))
    return TableFunction(f"{__name__}:reader", extraction.to_dict(), fallback)


def reader(settings: Mapping[str, Any]) -> Reader:
    """Return the function of the processes for the extraction that ``to_dict`` described."""
    return partial(_answer, Extraction.from_dict(settings), views_reader(settings))


def _answer(extraction: Extraction, read: Reader, table: pa.Table) -> pa.Table:
    """Return the views of pages; of records, the pages in them, or only in the first ones if these expand to much.

    Then a last row, without a host, has the number of these records.
    """
    if table.schema == _SCHEMA:
        return read(table)
    found: list[tuple[Any, ...]] = []
    size = 0
    for row, one in enumerate(_ordered_pages(table, extraction)):
        if size > _EXPANDED:
            found.append((None, row, b"", False, None, False))
            break
        if one is not None:
            found.append(one)
            size += len(one.markup)
    return _table(found)


@dataclass(slots=True)
class _Round:
    """Pages that are read together: of each host, from a number up to another, and all that were found."""

    read: dict[str, tuple[int, int]] = field(default_factory=dict)
    found: defaultdict[str, list[tuple[int, BothViews]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, pages: pa.Table, views: Sequence[BothViews]) -> None:
        for host, order, one in zip(pages["host"].to_pylist(), pages["order"].to_pylist(), views, strict=True):
            self.found[host].append((order, one))


class _Gathered(AbstractContextManager["_Gathered"]):
    """Collects the pages that templates are learned from, in a file of SQLite.

    Pages wait as HTML: of a large host, most are replaced by others, and are never read.
    """

    def __init__(self, folder: str, extraction: Extraction, wanted: Wanted, processes: Processes) -> None:
        self._folder, self._extraction, self._wanted, self._processes = folder, extraction, wanted, processes
        self._largest: defaultdict[str, list[int]] = defaultdict(list)  # heaps of the negative orders of chosen pages
        self._waiting: list[OrderedPage] = []
        self._size = 0  # of these
        self._file = sqlite3.connect(Path(folder, "pages"), isolation_level=None)
        self._file.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_MADE}")
        self._expected = self._done = 0  # pages that are read at least, and those that were read

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, page: OrderedPage | None) -> None:
        """Add a page, unless its host has the same one, or enough pages that precede it."""
        if page is None or not self._wanted(page.host):
            return
        own, order = page.host, page.order
        heap = self._largest[own]
        full = len(heap) == MOST
        if (full and order >= -heap[0]) or -order in heap:  # one page with many copies must not be the whole sample
            return
        (heapreplace if full else heappush)(heap, -order)
        self._waiting.append(page)
        self._size += len(page.markup)
        if self._size > _TOGETHER:
            self._write()

    def add_records(self, records: Records) -> None:
        """Add the pages in records of archives, which the processes decode."""
        batches = ((table, table, share) for table, share in records)
        for table, found in processed(self._processes, batches):
            for page in zip(*(column.to_pylist() for column in found.columns), strict=True):
                if page[0] is not None:
                    self.add(OrderedPage(*page))
                    continue
                for one in _ordered_pages(table.slice(page[1]), self._extraction):
                    self.add(one)

    def templates(self) -> Iterator[Template]:
        """Yield the templates of the hosts with enough pages, once all pages were added.

        While this process learns those of a round, the others read the pages of the next.
        """
        rounds, begun = deque(self._first_rounds()), deque[_Round]()

        def tables() -> Iterator[tuple[_Round, pa.Table]]:
            while rounds:
                begun.append(rounds.popleft())
                for part in self._chosen(begun[-1]):
                    yield begun[-1], part

        while rounds:
            for one, pages, found in both_views(self._processes, tables(), self._share):
                while begun[0] is not one:
                    yield from self._of_round(begun.popleft(), rounds)
                one.add(pages, found)
            while begun:
                yield from self._of_round(begun.popleft(), rounds)

    def _first_rounds(self) -> list[_Round]:
        self._write()
        with self._temporary():
            self._file.execute("CREATE INDEX places ON pages (host, number)")
        rounds, room = list[_Round](), 0
        for own, heap in sorted(self._largest.items()):
            heap.sort(reverse=True)  # the negative orders: now the orders ascend
            if len(heap) < PAGES:
                continue
            pages = min(len(heap), FROZEN)
            if pages > room:
                rounds.append(_Round())
                room = _ROUND
            rounds[-1].read[own] = 0, FROZEN
            room -= pages
            self._expected += pages
        return rounds

    def _of_round(self, done: _Round, rounds: deque[_Round]) -> Iterator[Template]:
        """Yield the templates that are learned from the pages of a round; more pages are for the next of the rounds."""
        more = _Round()
        for own, (_, end) in done.read.items():
            pages = sorted(done.found.pop(own, []), key=itemgetter(0))
            template = _learned(own, [views for _, views in pages[:end]], self._extraction)
            kept = 0 if template is None else template.kept
            if kept < FROZEN and end < len(self._largest[own]):
                expected = MOST if kept == 0 else -(-end * FROZEN // kept)  # if as large a share differs
                more.read[own] = end, min(max(expected, end + STEP), MOST)
                more.found[own] = pages
                continue
            self._keep(template, pages)
            if template is not None:
                yield template
        if more.read:
            rounds.appendleft(more)

    def _share(self) -> float:
        """Return the share of the expected pages that were read."""
        return min(1.0, self._done / max(1, self._expected))

    def _keep(self, template: Template | None, pages: list[tuple[int, BothViews]]) -> None:
        """Add what is read of the pages of a host with this template to the known contents; without one, nothing."""
        if template is not None and self._extraction.known is not None:
            asked = self._extraction.view_with(template)
            contents = ((views.digest, *views.read(asked)) for _, views in pages if views.digest is not None)
            self._extraction.known.add(asked, contents)

    def _chosen(self, one: _Round) -> Iterator[pa.Table]:
        """Yield the pages of a round, some at a time."""
        rows, size = list[OrderedPage](), 0
        for page in self._pages_of(one):
            rows.append(page)
            size += len(page.markup)
            if size >= BATCH:
                yield _table(rows)
                rows, size = [], 0
        if rows:
            yield _table(rows)

    def _pages_of(self, one: _Round) -> Iterator[OrderedPage]:
        for own, (begin, end) in one.read.items():
            orders = self._largest[own]
            first, last = -orders[begin], -orders[min(end, len(orders)) - 1]
            for number, size, packed, *others in self._file.execute(_CHOSEN, (own, first - _FIRST, last - _FIRST)):
                decoded, charset, plain = others
                self._done += 1
                markup = pa.decompress(packed, size, "lz4", asbytes=True)
                yield OrderedPage(own, number + _FIRST, markup, bool(decoded), charset, bool(plain))

    def _write(self) -> None:
        rows = (
            (host, order - _FIRST, len(markup), pa.compress(markup, "lz4", asbytes=True), *others)
            for host, order, markup, *others in self._waiting
        )
        with self._temporary():
            self._file.execute("BEGIN")
            self._file.executemany(_ADDED, rows)
            self._file.execute("COMMIT")
        self._waiting, self._size = [], 0

    @contextmanager
    def _temporary(self) -> Iterator[None]:
        """Raise an error of SQLite in writing as ``StorageFailed``, as ``temporary_files`` does those of the system."""
        try:
            yield
        except sqlite3.Error as error:
            raise StorageFailed(str(Path(self._folder).parent), f"cannot be written: {error}", TEMPORARY) from error


def _table(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(_SCHEMA)
    return pa.table([pa.array(column, part.type) for column, part in zip(columns, _SCHEMA, strict=True)], _SCHEMA)


def _learned(host: str, pages: Sequence[BothViews], extraction: Extraction) -> Template | None:
    """Return the template of a host, whose pages are in the order of a hash; ``None`` if too few of them differ.

    Pages without words are ignored: they are never duplicates of each other, and would all count as different.
    """
    pages = [views for views in pages if any(map(str.isalnum, views.shown))]
    visible, heads, shared = _shared([views.shown for views in pages], [views.visible.whole for views in pages])
    view: PageView = "visible"
    lines, kept, seen = shared, heads, [visible]
    is_html = np.array([views.digest is not None for views in pages], np.bool_)
    if extraction.view != "visible" and is_html.any():
        main_texts = [views.main.whole for views in pages]
        main, main_heads, main_shared = _shared(main_texts, main_texts)
        both: Words = np.union1d(main_shared, shared)
        compared = heads if len(heads) >= PAGES else main_heads
        compared = compared[is_html[compared]]
        left = (_words_left(main, both)[compared], _words_left(visible, shared)[compared])
        view = "main" if extraction.view == "main" else view_of(*left)
        if view == "main":
            lines, kept, seen = both, main_heads, [main, visible]
    if len(kept) < PAGES:
        return None
    return Template(host=host, view=view, kept=len(kept), lines=lines, examples=_examples(lines, seen))


def _shared(texts: Sequence[str], compared: Sequence[str]) -> tuple[Lines, Positions, Words]:
    """Return the lines of the pages of a host, which pages are kept, and the lines that many of these share.

    Whether pages are kept is decided by their *compared* texts.
    """
    lines = Lines.of(texts)
    kept: Positions = dedup(compared, id=None, scheme=_SAME, threads=1).kept
    return lines, kept, shared_lines(lines.hashes, lines.parts, kept)


def _words_left(lines: Lines, listed: Words) -> Positions:
    flags = lines.listed(np.zeros(len(lines), np.int64), listed, np.array([0, len(listed)]))
    return lines.words_left(flags)


def _examples(wanted: Words, views: Sequence[Lines]) -> tuple[str, ...]:
    """Return an example of each line: the first that the pages have."""
    found: dict[int, str] = {}
    for lines in views:
        hashes, firsts = np.unique(lines.hashes, return_index=True)
        chosen = np.isin(hashes, wanted, assume_unique=True)
        for value, number in zip(hashes[chosen].tolist(), firsts[chosen].tolist(), strict=True):
            found.setdefault(value, lines.line(number)[:_SHOWN])
    return tuple(found[value] for value in wanted.tolist())
