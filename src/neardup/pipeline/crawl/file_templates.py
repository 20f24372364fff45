"""The templates of the pages in files: learned on request, or by a run before it reads its inputs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal
from weakref import finalize

import pyarrow as pa

from neardup.engines.local import thread_count
from neardup.engines.processes import open_processes
from neardup.model.engine import silent
from neardup.model.errors import ParameterError, require
from neardup.pipeline.crawl.templates import Page, Records, known_templates, learned, require_rule, updated
from neardup.pipeline.progress import Progress
from neardup.sources.copies import needs_copy
from neardup.sources.formats import PAGE_FORMATS, WARC, AnyPath, display
from neardup.sources.inputs import Inputs, inputs_of
from neardup.sources.output import check_file, temporary_folder, write_file
from neardup.sources.record_faults import RecordFaults, Rejected
from neardup.sources.request import Request
from neardup.sources.shards import SHARD, Shards, local_shards
from neardup.text.extraction import Extraction
from neardup.text.host_templates import HostTemplates
from neardup.text.page_contents import PageContents

ARROW: Final = (".arrow",)  # the ending of a file of templates
DEFAULT_HTML: Final = "html"


def learn_from_files(
    inputs: Sequence[AnyPath],
    *,
    html: str | None = None,
    url: str | None = None,
    format: str | None = None,  # noqa: A002 - what users call it
    learn: Callable[[Iterator[Page], Records], HostTemplates] = learned,
) -> tuple[HostTemplates, list[Rejected]]:
    """Learn the templates of the pages in files, and return the rejected records, too.

    *learn* is called with the pages, and with the records of archives. Inputs are those of a run in pieces, and are
    read piece by piece: archives; folders, whose pages have the host of the absolute address that they name as
    canonical; or tables, where the field *html* (``None``: ``html``) contains a page and *url* (``None``: ``url``) its
    address. Pages without a host are ignored. Raises ``DataError`` for inputs that cannot be read, and for a missing
    field, ``NothingRead`` if all records are rejected, and ``ParameterError`` for fields if no input is a table.
    """
    found = inputs_of(inputs, Request(format=format))
    tables = not found.formats <= PAGE_FORMATS
    rule = "must be only tables, or only folders and archives; learn from one kind, then add those of the other kind"
    require(not tables or found.formats.isdisjoint(PAGE_FORMATS), "inputs", [*map(display, found.paths)], rule)
    for name, field in (("html", html), ("url", url)):
        require(tables or field is None, name, field, "can only be used with tables, which have fields")
    html = html or DEFAULT_HTML if tables else None
    faults = RecordFaults()
    with local_shards(found, _asked(Request(format=format, html=html, url=url)), size=None) as shards:
        templates = learn(*_pages(shards, faults))
    faults.require_documents([*map(display, found.paths)])
    return templates, faults.rejected


@dataclass(frozen=True, slots=True)
class RunTemplates:
    """How a run reads pages, and whether it first ``learns`` templates of hosts from its inputs.

    ``extraction`` is how pages are read before that; its templates do not change. ``path`` is the file of these, to
    which learned templates are added; ``None`` without a file.
    """

    extraction: Extraction
    path: AnyPath | None = None
    learns: bool = False

    @property
    def known(self) -> HostTemplates:
        """The templates that the run has before it learns."""
        return known_templates(self.extraction)

    def extended(
        self, inputs: Inputs, request: Request, progress: Progress | None = None, threads: int | None = None
    ) -> Extraction:
        """Learn templates of hosts that have none; return how pages are read with all templates.

        *request* is that of the run, whose processes stay open. The file, if there is one, is replaced if it changes.
        The pages that templates are learned from are not extracted again. Without any, pages of one host must resemble
        each other more.
        """
        if not self.learns:
            return self.extraction
        replace(request, extraction=self.extraction).require_used(inputs.formats, folders=True)
        pages, records = _pages(Shards.opened(inputs, _asked(request)), RecordFaults(), progress or silent)
        extraction = replace(self.extraction, templates=None, known=_page_contents())
        own = {one.host for one in self.known.templates}
        with open_processes(request.processes, thread_count(threads)) as processes:
            found = updated(
                self.known, pages, extraction, processes, wanted=lambda host: host not in own, records=records
            )
        self.save(found)
        return replace(extraction, templates=found)

    def learned(self, found: HostTemplates | None) -> int:
        """Return the number of hosts whose templates were learned, if those of all hosts are *found*."""
        return 0 if found is None or not self.learns else len(found) - len(self.known)

    def save(self, found: HostTemplates) -> None:
        """Write the templates *found* to the file, if there is one, unless it has them already."""
        if self.path is not None and (found != self.known or not Path(self.path).exists()):
            write_file(self.path, found.to_bytes(), ARROW, force=True)


def _page_contents() -> PageContents:
    """Return contents of pages, none at first, whose file is removed when they are not used any more."""
    held = ExitStack()
    made = PageContents(str(held.enter_context(temporary_folder()) / "contents"))
    finalize(made, held.close)
    return made


def templates_of(
    learn: AnyPath | Literal[False] | None,
    inputs: Inputs,
    request: Request,
    stored: Callable[[], Sequence[Extraction]] = lambda: (),
) -> RunTemplates:
    """Return how a run reads pages, and whether it learns templates.

    *learn* is the file of templates, which need not exist, ``None`` to learn unasked, and ``False`` to learn none.
    Unasked, templates are only learned if some inputs are archives, or tables whose field of the address is named, and
    if all can be read twice; the pages of others are read with those that are stored.

    *stored* returns how the pages of a state or of indexes became texts, with which the documents are compared. Their
    templates are used, and those of other hosts are added. Pages that were stored without templates are compared with
    pages without templates.

    With a file, raises ``ParameterError`` for an extraction that has other templates, for inputs that can be read only
    once, and for templates that were learned by another rule; the errors of reading, and of writing such a file.
    """
    plain = request.extraction
    if learn is False or (learn is None and plain.templates is not None):
        return RunTemplates(plain)
    if learn is None:
        return _unasked(inputs, request, stored())
    rule = "must not have templates if a file of templates is named in learn_templates"
    require(plain.templates is None, "extraction", plain, rule)
    check_file(learn, ARROW, inputs.given, force=True)
    for one in filter(needs_copy, inputs.paths):
        rule = "can be read only once, but learning templates reads the inputs twice; save it to a file first"
        raise ParameterError("inputs", one, rule)
    known = HostTemplates.load(learn) if Path(learn).exists() else _latest(stored(), plain)
    if known is not None:
        require_rule(known, plain)
    return RunTemplates(_with_templates(plain, known), learn, learns=True)


def _unasked(inputs: Inputs, request: Request, stored: Sequence[Extraction]) -> RunTemplates:
    """Return how a run reads pages if no file of templates is named; *stored* pages are those it compares with."""
    plain = request.extraction
    known, addressed = _latest(stored, plain), request.has_urls or WARC in inputs.formats
    if (known is None and (stored or not addressed)) or not (addressed or request.reads_pages(inputs.formats)):
        return RunTemplates(plain)
    learns = addressed and not any(map(needs_copy, inputs.paths))
    return RunTemplates(_with_templates(plain, known), learns=learns)


def _with_templates(plain: Extraction, known: HostTemplates | None) -> Extraction:
    """Return how pages are read with these templates, none by default."""
    return replace(plain, templates=known_templates(plain) if known is None else known)


def _latest(stored: Sequence[Extraction], plain: Extraction) -> HostTemplates | None:
    """Return the latest templates of stored pages, if these replaced all others, and pages were else read as *plain*.

    ``None`` if there are none.
    """
    for one in stored:
        same = replace(one, templates=None) == plain
        if one.templates is not None and same and all(one.follows(other.identity) for other in stored):
            return one.templates
    return None


def _asked(request: Request) -> Request:
    """Return a request for pages with their addresses; it rejects the same records as a run with templates."""
    request = replace(request, processes=None)  # pages are not extracted
    if request.html is None:
        return replace(request, columns=())
    extraction = replace(request.extraction, templates=known_templates(request.extraction))
    return replace(request, columns=(request.url_field,), extraction=extraction)


def _pages(
    shards: Shards, faults: RecordFaults, progress: Progress = silent
) -> tuple[Iterator[Page], Iterator[tuple[pa.Table, float]]]:
    """Return the addresses and markup of all pages of inputs that are not cut yet, and the records of archives.

    Both collect the *faults* of records, and count these.
    """
    paths = [path for source, path in enumerate(shards.inputs) if shards.kinds[source].format == WARC]
    others = shards.without(paths).cut(SHARD)
    before = sum(shard.size for shard in others.shards)
    sizes = [Path(path).stat().st_size for path in paths]
    of_records = sum(sizes)

    def report(done: int, _: int = 0) -> None:
        progress("learn", done, before + of_records)

    def pages() -> Iterator[Page]:
        url = shards.request.url_field if shards.request.html is not None else None
        for piece in others.every_piece(report, markup=lambda: True):
            faults.add(piece)
            if len(piece):
                yield from piece.html_pages(url)

    def records() -> Iterator[tuple[pa.Table, float]]:
        from neardup.sources.archives import undecoded  # which other inputs do without

        done = 0
        for path, size in zip(paths, sizes, strict=True):
            for table, reached in undecoded(path, faults.rejected):
                faults.documents += len(table)
                report(before + done + reached)
                yield table, (done + reached) / max(1, of_records)
            done += size

    return pages(), records()
