"""Admitting the documents of files to an index."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from pathlib import Path
from shutil import rmtree
from typing import Any, Final, Literal

import numpy as np

from neardup.engines.files import has_file, why_no_folder
from neardup.index.disk.columns import STRING
from neardup.index.disk.store import Durability
from neardup.model.engine import StageProgress, silent
from neardup.model.errors import (
    DataError,
    OutputRefused,
    ParameterError,
    StorageRefused,
    require,
    require_other_fields,
    require_paths,
    require_whole,
)
from neardup.model.folders import INDEX
from neardup.model.memory import LEAST_OF_INDEX, OF_INDEX
from neardup.model.policy import Representative, require_representative
from neardup.model.verdicts import Empty, ExactDuplicate, Known, NearDuplicate, New, Verdict
from neardup.pipeline.corpus.documents import needs_text
from neardup.pipeline.crawl.file_templates import templates_of
from neardup.pipeline.files.named_documents import NamedDocuments
from neardup.pipeline.index.fields import HOST, TITLE, URL, field_kinds, has_sites
from neardup.pipeline.index.index import Index
from neardup.pipeline.index.page_terms import addresses_for, kept_extraction, require_extraction
from neardup.pipeline.index.records import RecordReader
from neardup.pipeline.index.transfer import Filled, fill
from neardup.pipeline.progress import Progress
from neardup.pipeline.query.search import has_table, keeping_up
from neardup.pipeline.spilled.state import State, is_state
from neardup.schemes import terms as schemes
from neardup.schemes.checksum import BODY
from neardup.schemes.scheme import Scheme
from neardup.sources.addresses import Addresses
from neardup.sources.formats import WARC, AnyPath
from neardup.sources.inputs import Inputs, inputs_of
from neardup.sources.output_places import require_outside
from neardup.sources.record_faults import QuotedLines, RecordFaults, Rejected, WithoutText, nothing_left
from neardup.sources.request import AUTO, DEFAULT_ID, DEFAULT_URL, Request
from neardup.sources.shards import SHARD, extracted_shards
from neardup.text.columns import text_lengths
from neardup.text.extraction import Extraction

_STEP_DOCUMENTS: Final = 1 << 13
_STEP_BITS: Final = 25  # 32 MiB of text
_REPLACED, _UNCHANGED, _NO_TEXT = "replaced", "unchanged", "no text"
_ANOTHER: Final = "Create another index for that"


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The result of admitting the documents of files: the counts add up to ``documents``.

    ``replaced`` and ``unchanged`` documents had a known id, with other or with the same content. ``repeated`` ones have
    the id of a later document of the same run, which is admitted instead. All others are new to the index and are
    counted by their verdict; of the ``empty`` ones, ``no_text`` have no text field or null in it, unless the index
    needs no texts. Of all of these, ``unnamed`` ones have no id and no URL, and are known by their file and line.
    ``rejected`` records and ``ignored`` files are not documents; ``quoted_lines``, ``skipped`` and ``body_faults`` are
    those of ``neardup.sources.collection.Collection``. ``without_text`` locates the first record without a text, also
    of known ones. ``created`` is whether the run made the index. If ``estimated``, near duplicates are decided by
    estimates, because the index has no texts. ``total`` is the number of documents in the index after the run. The
    templates that pages were read with are of ``hosts_with_templates`` hosts (``None`` without any); the run learned
    ``hosts_learned``. If ``lacks_templates``, pages with addresses were read without them, because the index was
    created without any.
    """

    documents: int
    new: int
    exact: int
    near: int
    estimated: bool
    empty: int
    no_text: int
    replaced: int
    unchanged: int
    repeated: int
    unnamed: int
    rejected: list[Rejected]
    without_text: WithoutText | None
    quoted_lines: QuotedLines | None
    ignored: int
    skipped: dict[str, int]
    body_faults: dict[str, int]
    created: bool
    total: int
    hosts_with_templates: int | None = None
    hosts_learned: int = 0
    lacks_templates: bool = False


def is_index(folder: AnyPath) -> bool:
    """Return whether a folder contains an index, even if its manifest is missing and only the copy of it is there."""
    return has_file(Path(folder), *INDEX)


def add_files(  # noqa: PLR0913 - every one an option of the command line
    inputs: Sequence[AnyPath],
    folder: AnyPath,
    *,
    text: str = "text",
    id: str = DEFAULT_ID,  # noqa: A002 - the field's name, as everywhere
    url: str | None = None,
    scheme: Scheme | None = None,
    key: bytes | None = None,
    fields: Mapping[str, Any] | None = None,
    texts: bool = False,
    representative: Representative | None = None,
    search: bool = False,
    durability: Durability = "commit",
    memory: int = OF_INDEX,
    extraction: Extraction = AUTO,
    learn_templates: AnyPath | Literal[False] | None = None,
    strict: bool = False,
    addresses: Addresses | None = None,
    progress: Progress | None = None,
    **reading: Any,
) -> Added:
    """Admit the documents of files to the index in a folder, which is created if it does not exist.

    A document's id is its URL in the normal form of *addresses*, if *url* names the field of the URL; by default,
    archives have the field ``url``, unless *id* names another one. Otherwise it is the field *id*, or its place,
    ``SOURCE:POSITION``, with the full path of its file: no other file replaces it then. Of several documents with one
    id, the last counts. Records without an id on standard input are rejected, and so are those with ids that are too
    long. *fields* of the index are filled from the records; ``url`` and ``host``, too.

    *learn_templates* is as in ``neardup.dedup_files``. The index keeps the templates that its pages were read with: by
    default, they are used, and those of other hosts are learned from archives, and from tables with *url* and ``html``.
    An index that was made without templates has none.

    *scheme*, *fields*, *texts* and *representative* define a new index; an existing one must agree with those that are
    given. A field of a new index must be in at least one record. Admitted documents remain in the index if the run is
    interrupted, and the same call continues; repeating a complete run changes nothing. Inputs, and the parameters
    *reading*, are as in ``neardup.sources.read``, *durability* and *memory* as in ``Index.create``.

    With *search* the index has a search table from then on, which every run updates, and a new index stores texts and
    the string fields ``title`` and ``url`` in addition to *fields*, unless a record has a list or an object in this
    field.

    Inputs that take more than *memory* are read twice, piece by piece: first for their ids and fields.

    Raises ``ParameterError``, ``DataError``, ``OutputRefused`` and ``StorageError``.
    """
    require_other_fields(text, id=id)
    require_paths("inputs", inputs)
    memory = require_whole("memory", memory, LEAST_OF_INDEX, unit="bytes")
    request = Request(**reading, text=text, id=id, strict=strict, extraction=extraction, full_names=True)
    found = inputs_of(inputs, request)
    archives = WARC in found.formats
    named = [] if url is None else [url]  # but archives, which have this field, may have no pages
    url = _url_field(url, addresses, default=archives and id == DEFAULT_ID)
    asked = dict(field_kinds(fields))
    kinds = {**dict.fromkeys((TITLE, URL), STRING), **asked} if search else asked
    ways: dict[str, Any] = {"key": key, "durability": durability, "memory": memory}
    tell = progress or silent
    with ExitStack() as stack:
        index: Index | None = None
        required, optional = set[str](), set[str]()  # fields that a new index needs, and that it may leave out
        if is_index(folder):
            index = stack.enter_context(Index.open(folder, "w", scheme=scheme, **ways))
            _require_such(index, asked, texts=texts, search=search)
            _require_representative(representative, index.store.manifest.terms.representative, "this index")
            addresses = addresses_for(index, addresses)
            kinds, scheme = index.fields, index.scheme
        else:
            if representative is not None:
                require_representative(representative)
                ways["representative"] = representative
            _require_room(folder)
            required = _required(asked, url=url, search=search)
            optional = {*kinds} - {*asked, *(scheme.columns if scheme else ())}
        signed = scheme.columns if scheme else ()
        request = replace(request, url=url, columns=(*signed, *kinds, *([url] if url else [])))
        if scheme is not None and not (index.keeps_texts if index is not None else texts or search):
            request = replace(request, needs_text=needs_text(scheme, text))
        extraction, learned = _with_templates(learn_templates, index, found, request, progress)
        size = min(SHARD, memory // 4)
        shards = stack.enter_context(extracted_shards(found, replace(request, extraction=extraction), size=size))
        reader = RecordReader(kinds=kinds, signed=signed, url=url, addresses=addresses or Addresses(), sites=not signed)
        documents = NamedDocuments(shards, reader)
        documents.find([*named, *({*signed} - {BODY} | required)], optional, memory, partial(tell, "read"))
        _require_accepted(documents, new=index is None)
        created = index is None
        if index is None:
            ways |= {"fields": documents.kinds, "texts": texts or search, "templates": extraction.templates}
            index = stack.enter_context(Index.create(folder, scheme, **ways))
            addresses_for(index, addresses)
        catch_up = stack.enter_context(keeping_up(index, make=search, progress=progress))
        if documents.has_pages:
            require_extraction(index, extraction)
        counts, faults, unnamed = _admitted(index, documents, catch_up, partial(tell, "admit"))
        total, estimated = len(index), index.estimates
    return Added(
        documents=documents.number,
        new=counts[New.name],
        exact=counts[ExactDuplicate.name],
        near=counts[NearDuplicate.name],
        estimated=estimated,
        empty=counts[Empty.name] + counts[_NO_TEXT],
        no_text=counts[_NO_TEXT],
        replaced=counts[_REPLACED],
        unchanged=counts[_UNCHANGED],
        repeated=documents.number - documents.admitted,
        unnamed=unnamed,
        rejected=documents.rejected,
        without_text=faults.without_text,
        quoted_lines=faults.quoted_lines,
        ignored=shards.ignored,
        skipped=faults.skipped,
        body_faults=faults.body_faults,
        created=created,
        total=total,
        hosts_with_templates=None if extraction.templates is None else len(extraction.templates),
        hosts_learned=learned,
        lacks_templates=learn_templates is None and (archives or request.has_urls) and faults.without_templates,
    )


def _url_field(url: str | None, addresses: Addresses | None, *, default: bool) -> str | None:
    """Return the field of the URL, if any; ``ParameterError`` for rules without one."""
    url = DEFAULT_URL if default and url is None else url
    if url is None and addresses is not None and addresses.rules is not None:
        raise ParameterError("rules", None, "needs the field of the URL", "no url")
    return url


def _require_accepted(documents: NamedDocuments, *, new: bool) -> None:
    """Raise ``DataError`` for a rejected record if the request is strict, and if nothing is left for a *new* index."""
    documents.shards.request.check(documents.rejected)
    if new and documents.rejected and not documents.number:
        left = nothing_left(documents.shards.names, documents.rejected)
        raise DataError(left.where, f"{left.rule}; no index is made")


def _with_templates(
    learn_templates: AnyPath | Literal[False] | None,
    index: Index | None,
    inputs: Inputs,
    request: Request,
    progress: Progress | None,
) -> tuple[Extraction, int]:
    """Return how pages are read, after the templates of new hosts were learned, and the number of these hosts."""
    own = templates_of(learn_templates, inputs, request, partial(_stored_pages, index))
    if index is not None and own.extraction != request.extraction:
        require_extraction(index, own.extraction)
    found = own.extended(inputs, replace(request, extraction=own.extraction), progress)
    return found, own.learned(found.templates)


def _stored_pages(index: Index | None) -> list[Extraction]:
    """Return how the pages of an index became texts: without templates if it has no field for the sites of pages."""
    if index is None or (index.extraction is None and (index.scheme.columns or has_sites(index.store))):
        return []
    return [kept_extraction(index)]


def fill_index(  # noqa: PLR0913 - every one an option of the command line
    state: AnyPath,
    folder: AnyPath,
    *,
    url: str | None = None,
    scheme: Scheme | None = None,
    key: bytes | None = None,
    fields: Mapping[str, Any] | None = None,
    texts: bool = False,
    representative: Representative | None = None,
    search: bool = False,
    durability: Durability = "commit",
    memory: int = OF_INDEX,
    addresses: Addresses | None = None,
    progress: Progress | None = None,
) -> Filled:
    """Make an index in a folder of the kept documents of a state; see ``Index.fill``.

    Its scheme is that of the state; *scheme*, if given, must have the same settings, and must be given if it has a list
    of common shingles or a table of weights. The state has the choice of a *representative*, too. The other options are
    as in ``add_files``. If it fails, there is no index, unless all documents are in it, and only the search table is
    missing: ``Search.rebuild`` builds that.
    """
    kinds = dict(field_kinds(fields))
    ways: dict[str, Any] = {"durability": durability, "memory": memory}
    with ExitStack() as undo, ExitStack() as stack:
        earlier = stack.enter_context(State.open(state))
        own = schemes.read(earlier.header.scheme, key, where=state) if scheme is None else scheme
        earlier.require(own)
        _require_representative(representative, earlier.header.policy["representative"], "this state")
        kinds = {**dict.fromkeys((TITLE, URL), STRING), **kinds} if search else kinds
        if is_index(folder):  # without documents, as of a killed run
            index = stack.enter_context(Index.open(folder, "w", scheme=own, **ways))
            if search and len(index) and not has_table(index.store.folder):
                rule = "has documents already; if this was interrupted, it only lacks its search table; build it"
                raise StorageRefused(str(folder), rule, "search table")
            _require_such(index, kinds, texts=texts, search=search)
        else:
            _require_room(folder)
            ways["representative"] = earlier.header.policy["representative"]
            pages = earlier.extraction
            ways["templates"] = None if pages is None else pages.templates
            index = Index.create(folder, own, fields=kinds, texts=texts or search, **ways)
            undo.callback(rmtree, folder, ignore_errors=True)
            stack.enter_context(index)
        required = _required(fields or (), url=url, search=search)
        follow = progress or silent
        done = fill(index, earlier, url=url, addresses=addresses, progress=follow, required=required)
        undo.pop_all()
        stack.enter_context(keeping_up(index, make=search, progress=progress))
    return done


def _admitted(
    index: Index,
    documents: NamedDocuments,
    catch_up: Callable[[], object],
    progress: StageProgress,
) -> tuple[Counter[str], RecordFaults, int]:
    """Admit documents step by step, and update the search table after each step.

    Return how many have each verdict, the faults of all records, and how many documents have no id of their own.
    """
    counts, faults, unnamed, done = Counter[str](), RecordFaults(), 0, 0
    for one, rows in documents.take():
        piece = one.piece
        sizes = text_lengths(piece.texts)[rows]
        unnamed += one.unnamed(rows)
        steps = np.flatnonzero(np.diff((np.cumsum(sizes) >> _STEP_BITS) + np.arange(len(rows)) // _STEP_DOCUMENTS)) + 1
        for some in np.split(rows, steps) if len(rows) else []:
            ids, texts, fields = one.at(index.fields, some)
            verdicts = index.visit(ids, texts, fields)
            lacks_text = texts.is_null().to_pylist() if documents.shards.request.needs_text else repeat(False)
            counts.update(map(_counted, verdicts, lacks_text))
            catch_up()
            done += len(some)
            progress(done, documents.admitted)
        faults.add(piece)
    return counts, faults, unnamed


def _counted(verdict: Verdict, lacks_text: bool) -> str:  # noqa: FBT001 - of one document
    if isinstance(verdict, Known):
        return _REPLACED if verdict.changed else _UNCHANGED
    return _NO_TEXT if isinstance(verdict, Empty) and lacks_text else verdict.name


def _required(fields: Iterable[str], *, url: str | None, search: bool) -> set[str]:
    """Return which of the fields of a new index some record must have."""
    return {*fields} - ({URL, HOST} if url else set()) - ({TITLE, URL} if search else set())


def _require_such(index: Index, kinds: Mapping[str, str], *, texts: bool, search: bool) -> None:
    """Raise ``ParameterError`` unless an existing index has these fields, and stores texts if requested."""
    for name, kind in kinds.items():
        own = ", ".join(f"{field}:{of}" for field, of in index.fields.items()) or "none"
        rule = f"cannot be added to or changed in an existing index; its fields are: {own}. {_ANOTHER}"
        require(index.fields.get(name) == kind, "field", f"{name}:{kind}", rule)
    if texts and not index.keeps_texts:
        rule = f"cannot be used with this index, which was created without texts. {_ANOTHER}"
        raise ParameterError("texts", None, rule)
    if search and not index.keeps_texts:
        raise ParameterError("search", None, f"requires texts, and this index was created without them. {_ANOTHER}")


def _require_representative(given: Representative | None, own: str, what: str) -> None:
    """Raise ``ParameterError`` if another choice of representatives is given than the *own* one."""
    if given is not None and given != own:
        rule = f"cannot be used with {what}, which was made with {own!r}; leave it out"
        raise ParameterError("representative", given, rule)


def _require_room(folder: AnyPath) -> None:
    """Raise ``OutputRefused``, or ``ParameterError`` for a state, if no index can be made, before anything is read."""
    path = Path(os.path.realpath(folder))
    if not path.parent.is_dir():
        raise OutputRefused(str(folder), why_no_folder(path.parent))
    if path.exists() and not path.is_dir():
        raise OutputRefused(str(folder), "it is a file; an index is a folder")
    rule = "is a state; name another folder for an index, and fill it from the state"
    require(not is_state(path), "to", str(folder), rule)
    require_outside(folder)
